//===- Decompose.cpp - The plain meaning of kv operations -----------------===//
//
// Which operations have one, and what it is, the other files say: by the
// interface that Decompositions.h attaches.
//
//===----------------------------------------------------------------------===//

#include "kv/Passes/Passes.h"

#include "Decompositions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/StringExtras.h"

namespace kv {
#define GEN_PASS_DEF_KVDECOMPOSE
#include "kv/Passes/Passes.h.inc"
} // namespace kv

using namespace mlir;
using namespace kv;

void kv::addDecompositions(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, KVDialect *) {
    attachAttentionDecompositions(context);
    attachCacheDecompositions(context);
    attachExpertDecompositions(context);
    attachMergeDecomposition(context);
    attachPlanDecomposition(context);
    attachQuantizedDecompositions(context);
    attachRecurrenceDecompositions(context);
    attachStateDecompositions(context);
    attachUpdateDecomposition(context);
    attachValueDecompositions(context);
  });
}

static bool isDecomposable(OperationName name) {
  return name.getDialectNamespace() == KVDialect::getDialectNamespace() &&
         name.hasInterface<linalg::AggregatedOpInterface>();
}

namespace {
struct Decompose : kv::impl::KVDecomposeBase<Decompose> {
  using KVDecomposeBase::KVDecomposeBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    KVDecomposeBase::getDependentDialects(registry);
    addDecompositions(registry);
  }

  void runOnOperation() override {
    if (failed(checkNames(ops)) || failed(checkNames(except)))
      return signalPassFailure();
    SmallVector<Operation *> work;
    getOperation().walk([&](Operation *op) {
      if (isDecomposable(op->getName()) && wanted(op))
        work.push_back(op);
    });
    // The last first: each sees those before it as they were.
    for (Operation *op : llvm::reverse(work))
      if (failed(decompose(op)))
        return signalPassFailure();
  }

  LogicalResult checkNames(ArrayRef<std::string> names) {
    SmallVector<StringRef> known;
    for (RegisteredOperationName name : getContext().getRegisteredOperations())
      if (isDecomposable(name))
        known.push_back(name.stripDialect());
    llvm::sort(known);
    for (const std::string &name : names)
      if (!llvm::is_contained(known, name))
        return emitError(getOperation().getLoc())
               << "kv-decompose: no operation '" << name
               << "' to decompose, only " << llvm::join(known, ", ");
    return success();
  }

  bool wanted(Operation *op) {
    StringRef name = op->getName().stripDialect();
    if ((!ops.empty() && !llvm::is_contained(ops, name)) ||
        llvm::is_contained(except, name))
      return false;
    KernelAttr kernel = getKernel(op);
    if (keepKernels && kernel && kernel.getKind() != KernelKind::Decomposition)
      return false;
    return !pure || isMemoryEffectFree(op);
  }

  LogicalResult decompose(Operation *op) {
    auto cacheOp = dyn_cast<CacheOpInterface>(op);
    if (cacheOp && !cacheOp.isResolved())
      return op->emitOpError("has a handle: run kv-resolve-collections before");
    if (cacheOp && cacheOp.getCollectionType().getGeometry().bands() > 1)
      return op->emitOpError("has a collection with 'page_layers': run "
                             "kv-resolve-bands before");
    if (cacheOp &&
        ShapedType::isDynamic(cacheOp.getCollectionType().getHeads()))
      return op->emitOpError("has a collection with heads = ?: run kv-shard "
                             "before");
    if (isOnTensors(op) != true)
      return op->emitOpError("is on buffers: run kv-decompose before "
                             "bufferization");
    IRRewriter rewriter(op);
    FailureOr<SmallVector<Value>> values =
        cast<linalg::AggregatedOpInterface>(op).decomposeOperation(rewriter);
    if (failed(values))
      return op->emitOpError("has no plain meaning");
    rewriter.replaceOp(op, *values);
    return success();
  }
};
} // namespace
