//===- FunctionBuilder.h - One random function ------------------*- C++ -*-===//

#ifndef KV_TEST_FUZZ_FUNCTIONBUILDER_H
#define KV_TEST_FUZZ_FUNCTIONBUILDER_H

#include "Generator.h"
#include "Random.h"

#include "kv/Dialect/KV.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace kv::fuzz {

/// What a value stands for, beyond its type: row offsets and positions are both
/// tensor<?xi32>. An executable module passes only what is meant.
enum class Role {
  Handle,     // a collection
  Cache,      // the keys or values of a layer
  Rows,       // [T, H, D]
  Flat,       // [T, N]
  Logarithms, // [T, Hq] f32
  Offsets,    // [B + 1]
  Positions,  // [T]
  Lengths,    // [B]
  MaxLengths, // [steps, 2]
  Table,      // [B, pitch]
  Blocks,     // a memref
  Scales,     // a memref
  Pages,      // ids of pages [n]
  Freqs,      // [max, W]
  Sinks,      // [Hq]
  Tree,       // [T] of words
  Weight,     // a matrix, packed or not
  Dense,      // [B, S, H, D]
  Layer,      // an index below the number of layers
};

/// The roles of a collection's components, in the order of kv.fetch.
inline constexpr Role kComponentRoles[] = {
    Role::Blocks, Role::Lengths, Role::Table, Role::MaxLengths, Role::Scales};

/// What the functions of a module have in common.
struct ModuleState {
  Random random;
  GeneratorOptions options;
  llvm::SmallVector<CollectionType> collections;
  int64_t tokens, sequences; // where they are static
  struct Helper {
    mlir::func::FuncOp function;
    llvm::SmallVector<Role> arguments, results;
    int64_t advances; // of handles, one after the other, at most
  };
  llvm::SmallVector<Helper> helpers;
};

class FunctionBuilder {
public:
  FunctionBuilder(ModuleState &module, mlir::func::FuncOp function,
                  bool isEntry);

  /// Operations, and the return with what they made. Sets the signature.
  void build(int64_t numOperations);

  mlir::ImplicitLocOpBuilder b;
  ModuleState &module;
  Random &random;
  const bool executable, isEntry;
  llvm::SmallVector<Role> argumentRoles, resultRoles;
  int64_t advances = 0; // made on some way through the function, at most
  int64_t repeats = 1;  // of the place where `b` stands

  /// A value that operations may take from here on.
  mlir::Value define(mlir::Value value, Role role);

  /// One of the visible values with this role, or null.
  mlir::Value find(Role role,
                   llvm::function_ref<bool(mlir::Type)> wanted = nullptr);
  mlir::Value find(Role role, mlir::Type type);

  /// The same, or a new argument of the function.
  /// Words of ancestors for rows of `tokens`, now and then, where the mask of a
  /// tree may be `mask`; null otherwise.
  mlir::Value treeFor(MaskAttr mask, int64_t tokens);
  mlir::Value operand(Role role, mlir::Type type);
  mlir::Value argument(Role role, mlir::Type type);

  Role roleOf(mlir::Value value) const { return roles.lookup(value); }

  /// A handle of some collection; null when the module has none.
  mlir::TypedValue<CollectionType> handle();
  /// A constant or a loop's counter below the layers.
  mlir::Value layer(CollectionType type);
  mlir::Value offsets();
  mlir::Value index(int64_t value);

  // Types; sizes that may be dynamic are sometimes static.
  mlir::Type f32() { return b.getF32Type(); }
  mlir::Type anyFloat();
  int64_t tokens();
  int64_t sequences(int64_t plus = 0);
  mlir::RankedTensorType rows(int64_t heads, int64_t dim, mlir::Type element);
  mlir::RankedTensorType tensor(llvm::ArrayRef<int64_t> shape,
                                mlir::Type element);

  /// Some operations in the region where `b` stands; what they define is
  /// forgotten at the end, when `yields` has picked from it.
  void nested(int64_t numOperations, llvm::function_ref<void()> yields);
  /// Up to `most` visible values to carry or to yield.
  llvm::SmallVector<mlir::Value> pickValues(int64_t most);
  /// A value that can stand for `value`: `value` itself if there is no other.
  mlir::Value substitute(mlir::Value value);

private:
  void emitOne();

  mlir::func::FuncOp function;
  llvm::SmallVector<mlir::Value> visible;
  llvm::DenseMap<mlir::Value, Role> roles;
  int64_t depth = 0;
};

/// One kind of operation that functions are made of.
struct Production {
  llvm::StringRef name;
  int64_t weight;
  /// Emits it; false when its operands cannot be had here.
  bool (*emit)(FunctionBuilder &);
  bool executable = true;
};

/// Operations.cpp, ControlFlow.cpp: the places to add a new operation to.
llvm::ArrayRef<Production> cacheProductions();
llvm::ArrayRef<Production> tensorProductions();
llvm::ArrayRef<Production> controlFlowProductions();

} // namespace kv::fuzz

#endif // KV_TEST_FUZZ_FUNCTIONBUILDER_H
