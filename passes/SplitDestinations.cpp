//===- SplitDestinations.cpp - One operation a destination ----------------===//
//
// CSE makes one tensor.empty of all that are alike, and a network's layers are.
// To One-Shot Bufferize that is one buffer which every layer writes: it
// compares each write with each read of all layers, and copies what it cannot
// prove apart. Apart from the start, each is a buffer of its own.
//
//===----------------------------------------------------------------------===//

#include "kv/Passes/Passes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace kv {
#define GEN_PASS_DEF_KVSPLITDESTINATIONS
#include "kv/Passes/Passes.h.inc"
} // namespace kv

using namespace mlir;

/// Whether the value is where an operation or a loop starts to write.
static bool isDestination(OpOperand &use) {
  Operation *user = use.getOwner();
  if (auto op = dyn_cast<DestinationStyleOpInterface>(user))
    return op.isDpsInit(&use);
  auto loop = dyn_cast<LoopLikeOpInterface>(user);
  return loop && llvm::any_of(loop.getInitsMutable(),
                              [&](OpOperand &init) { return &init == &use; });
}

/// Every destination but one gets a copy of `op`, in the block of `op`: in a
/// loop inside it would be made again in each iteration.
static int64_t split(Operation *op) {
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : op->getUses())
    if (isDestination(use))
      uses.push_back(&use);
  bool all = llvm::range_size(op->getUses()) == uses.size();
  // Readers keep the original to themselves; else the first user does, whose
  // use is the last of the list.
  for (OpOperand *use : ArrayRef(uses).drop_back(all && !uses.empty())) {
    OpBuilder b(op->getBlock()->findAncestorOpInBlock(*use->getOwner()));
    use->set(b.clone(*op)->getResult(0));
  }
  return uses.empty() ? 0 : uses.size() - all;
}

namespace {
struct SplitDestinations
    : kv::impl::KVSplitDestinationsBase<SplitDestinations> {
  void runOnOperation() override {
    // Fills first: each copy of one has a destination of its own.
    SmallVector<Operation *> fills, empties;
    getOperation().walk([&](Operation *op) {
      if (auto fill = dyn_cast<linalg::FillOp>(op);
          fill && fill.hasPureTensorSemantics())
        fills.push_back(op);
    });
    for (Operation *fill : fills)
      numSplit += split(fill);
    getOperation().walk([&](tensor::EmptyOp op) { empties.push_back(op); });
    for (Operation *empty : empties)
      numSplit += split(empty);
  }
};
} // namespace
