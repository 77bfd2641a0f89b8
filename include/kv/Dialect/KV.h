//===- KV.h - The kv dialect ------------------------------------*- C++ -*-===//
//
// Types, attributes, operations and interfaces of the kv dialect, and the
// registration of its external models.
//
//===----------------------------------------------------------------------===//

#ifndef KV_DIALECT_KV_H
#define KV_DIALECT_KV_H

#include "kv/ABI/CacheGeometry.h"
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

#include "kv/Dialect/KVInterfaces.h.inc"
#define GET_OP_CLASSES
#include "kv/Dialect/KVOps.h.inc"

namespace kv {

/// Output rows of a weight that the layout "n16k" interleaves.
constexpr int64_t kPackedRows = 16;

/// Whether an attention by this kernel takes a plan.
constexpr bool takesPlan(KernelKind kernel) {
  return kernel != KernelKind::Reference;
}

/// The kernel that was chosen for an operation; null before.
KernelAttr getKernel(mlir::Operation *op);

/// The ABI's number of an element type; nothing when it cannot cross the ABI.
std::optional<KvDType> dtypeOf(mlir::Type type);
/// Its inverse.
mlir::Type typeOf(mlir::MLIRContext *context, KvDType dtype);

/// Whether an operation of this dialect stands on tensors: its shaped operands,
/// the blocks of a cache and `outs` apart. Nothing when they disagree, which no
/// verified operation's do.
std::optional<bool> isOnTensors(mlir::Operation *op,
                                mlir::ValueRange outs = {});

/// Teaches One-Shot Bufferize the operations that live on tensors.
void registerBufferizationModels(mlir::DialectRegistry &registry);

/// Lowers the operations of KVRuntimeOps.td in convert-to-llvm.
void registerConvertToLLVMModel(mlir::DialectRegistry &registry);

/// The dialect and all of its external models.
void registerKVDialect(mlir::DialectRegistry &registry);

} // namespace kv

#endif // KV_DIALECT_KV_H
