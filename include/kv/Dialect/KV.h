//===- KV.h - The kv dialect ------------------------------------*- C++ -*-===//
//
// Types, attributes, operations and interfaces of the kv dialect, and the
// registration of its external models.
//
//===----------------------------------------------------------------------===//

#ifndef KV_DIALECT_KV_H
#define KV_DIALECT_KV_H

#include "kv/ABI/CacheGeometry.h"
#include "kv/Dialect/RuntimeFunction.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "kv/Dialect/KVDialect.h.inc"
#include "kv/Dialect/KVEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "kv/Dialect/KVAttributes.h.inc"
#define GET_TYPEDEF_CLASSES
#include "kv/Dialect/KVTypes.h.inc"

namespace kv {

/// The output of kv.print, which is no memory of a program.
struct OutputResource : mlir::SideEffects::Resource::Base<OutputResource> {
  llvm::StringRef getName() final { return "kv.output"; }
};

/// Where errors are recorded.
struct ErrorResource : mlir::SideEffects::Resource::Base<ErrorResource> {
  llvm::StringRef getName() final { return "kv.errors"; }
};

/// The exchanges of ranks: all take part in them, in one order.
struct RankResource : mlir::SideEffects::Resource::Base<RankResource> {
  llvm::StringRef getName() final { return "kv.ranks"; }
};

/// A dimension of a tensor or buffer, as an index.
mlir::Value sizeOf(mlir::OpBuilder &b, mlir::Location loc, mlir::Value shaped,
                   int64_t dimension);

/// The type of the collection that an operation names: its handle's, or `given`
/// with components.
CollectionType collectionOf(mlir::OperandRange cache,
                            std::optional<mlir::Type> given);

/// Row offsets of an operation on a cache, and what must agree with them.
struct StepRows {
  mlir::Value rowOffsets;
  /// Tensors or buffers with one row per token in dimension 0.
  llvm::SmallVector<mlir::Value, 2> rows = {};
  /// How many sequences the operation's types speak of, or kDynamic.
  int64_t sequences = mlir::ShapedType::kDynamic;
  /// Whether these rows have keys in the cache: then a sequence's keys fit its
  /// row of the table, and max_lengths speaks of them.
  bool haveKeys = false;
};

} // namespace kv

#include "kv/Dialect/KVInterfaces.h.inc"
#define GET_OP_CLASSES
#include "kv/Dialect/KVOps.h.inc"

namespace kv {

/// Output rows of a weight that the layout "n16k" interleaves.
constexpr int64_t kPackedRows = 16;

/// Neighbouring elements of a row that are rounded to i8 with one scale.
constexpr int64_t kActivationGroup = 32;

/// The sizes of a format of quantised weights, from QuantFormats.def.
struct QuantSizes {
  int64_t group; // elements of a row in a block; 0: a row is one block
  int64_t bytes; // of a packed block, kPackedRows rows; of its scales if 0

  /// The number that divides K of a weight [N, K].
  constexpr int64_t unit() const { return group ? group : kActivationGroup; }
  /// The sizes of the blocks of rows of `depth` elements.
  constexpr QuantSizes of(int64_t depth) const {
    return group ? *this : QuantSizes{depth, bytes + kPackedRows * depth};
  }
};
constexpr QuantSizes sizesOf(QuantFormat format) {
  switch (format) {
#define KV_QUANT_FORMAT(Name, Spelling, Group, FileBytes, Bytes)               \
  case QuantFormat::Name:                                                      \
    return {Group, Bytes};
#include "kv/ABI/QuantFormats.def"
  }
  return {};
}
/// Whether values are floats of 8 bits: their sums are f32.
constexpr bool hasFloats(QuantFormat format) {
  return format == QuantFormat::F8E4M3 || format == QuantFormat::F8E5M2;
}
/// K of a well-formed packed weight, [N / 16, blocks, bytes of a block].
int64_t depthOf(QuantFormat format, mlir::ShapedType packed);
/// The packed form of a weight [rows, depth] of whole blocks.
mlir::SmallVector<int64_t> packedShape(QuantFormat format, int64_t rows,
                                       int64_t depth);
/// The layout of a packed weight in manifests and weights files: "q4_0x16".
std::string layoutName(QuantFormat format);

/// Numbers of a row of a kv.plan.
constexpr int64_t kPlanWidth = 4;

/// Whether an attention by this kernel takes a plan.
constexpr bool takesPlan(KernelKind kernel) {
  return kernel != KernelKind::Reference;
}

/// Elements of a head that one instruction of 8 bits multiplies.
constexpr int64_t kProductDepth = 32;

/// Whether a kernel makes an attention's products of 8 bits.
constexpr bool multipliesEightBits(KernelKind kernel) {
  return kernel == KernelKind::Decomposition || kernel == KernelKind::Cuda;
}

/// The kernel that was chosen for an operation; null before.
KernelAttr getKernel(mlir::Operation *op);

/// The ABI's number of an element type; nothing when it cannot cross the ABI.
std::optional<KvDType> dtypeOf(mlir::Type type);
/// The type of a KvDType, the inverse of the function above.
mlir::Type typeOf(mlir::MLIRContext *context, KvDType dtype);

/// Adds the effects of an operation with two forms.
void addFormEffects(mlir::Operation *op,
                    llvm::SmallVectorImpl<mlir::SideEffects::EffectInstance<
                        mlir::MemoryEffects::Effect>> &effects);

/// Whether an operation of this dialect stands on tensors: its shaped operands,
/// the blocks of a cache and its outs apart. Nothing when they disagree, which
/// no verified operation's do.
std::optional<bool> isOnTensors(mlir::Operation *op);

/// Teaches One-Shot Bufferize the operations that live on tensors.
void registerBufferizationModels(mlir::DialectRegistry &registry);

/// Lowers the operations of KVRuntimeOps.td in convert-to-llvm.
void registerConvertToLLVMModel(mlir::DialectRegistry &registry);

/// The dialect and all of its external models.
void registerKVDialect(mlir::DialectRegistry &registry);

} // namespace kv

#endif // KV_DIALECT_KV_H
