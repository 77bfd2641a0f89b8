//===- SplitDestinations.cpp - One operation a destination ----------------===//
//
// CSE merges all equal tensor.empty operations, and the layers of a network
// have equal ones. One-Shot Bufferize then sees one buffer that every layer
// writes: it compares each write with each read of all layers, and inserts
// copies where it cannot prove that they do not conflict. This pass gives each
// destination a tensor.empty of its own, which becomes a buffer of its own.
//
// Similarly, for an argument that all layers read, such as the lengths and
// tables of a cache, One-Shot Bufferize looks at all readers for each of them.
// Memory that is only read may be a separate tensor for each reader.
//
//===----------------------------------------------------------------------===//

#include "kv/Passes/Passes.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace kv {
#define GEN_PASS_DEF_KVSPLITDESTINATIONS
#include "kv/Passes/Passes.h.inc"
} // namespace kv

using namespace mlir;

/// Whether the value is the destination of an operation, or an initial value of
/// a loop.
static bool isDestination(OpOperand &use) {
  Operation *user = use.getOwner();
  if (auto op = dyn_cast<DestinationStyleOpInterface>(user))
    return op.isDpsInit(&use);
  auto loop = dyn_cast<LoopLikeOpInterface>(user);
  return loop && llvm::any_of(loop.getInitsMutable(),
                              [&](OpOperand &init) { return &init == &use; });
}

/// Clones `op` for each use as a destination, except for one use that may keep
/// the original. Clones stay in the block of `op`: inside a loop, they would be
/// allocated in each iteration.
static int64_t split(Operation *op) {
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : op->getUses())
    if (isDestination(use))
      uses.push_back(&use);
  bool all = llvm::range_size(op->getUses()) == uses.size();
  // If there are other users, these keep the original; otherwise the first user
  // keeps it, which is the last in the list of uses.
  for (OpOperand *use : ArrayRef(uses).drop_back(all && !uses.empty())) {
    OpBuilder b(op->getBlock()->findAncestorOpInBlock(*use->getOwner()));
    use->set(b.clone(*op)->getResult(0));
  }
  return uses.empty() ? 0 : uses.size() - all;
}

/// Clones a tensor of a buffer that is only read, so that each reader has a
/// tensor of its own.
static int64_t splitReaders(bufferization::ToTensorOp op) {
  llvm::MapVector<Operation *, SmallVector<OpOperand *>> readers;
  for (OpOperand &use : op->getUses())
    readers[use.getOwner()].push_back(&use);
  OpBuilder b(op);
  int64_t copies = 0;
  for (auto &[reader, uses] : llvm::drop_begin(readers)) {
    Value tensor = b.clone(*op)->getResult(0);
    for (OpOperand *use : uses)
      use->set(tensor);
    ++copies;
  }
  return copies;
}

/// Readers from which on asBuffer() pays off for a tensor.
constexpr unsigned kManyReaders = 8;

/// Turns a loop's result that many operations only read, such as the positions,
/// into a read-only buffer after the loop. splitReaders() then makes a tensor
/// for each reader.
static void asBuffer(OpResult value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !value.hasNUsesOrMore(kManyReaders))
    return;
  for (OpOperand &use : value.getUses()) {
    auto op = dyn_cast<DestinationStyleOpInterface>(use.getOwner());
    if (op ? op.isDpsInit(&use)
           : !isa<tensor::ExtractOp, tensor::DimOp>(use.getOwner()))
      return;
  }
  OpBuilder b(value.getOwner()->getContext());
  b.setInsertionPointAfter(value.getOwner());
  auto memref = MemRefType::get(type.getShape(), type.getElementType());
  Value buffer = bufferization::ToBufferOp::create(b, value.getLoc(), memref,
                                                   value, /*read_only=*/true);
  auto tensor = bufferization::ToTensorOp::create(b, value.getLoc(), type,
                                                  buffer, /*restrict=*/true);
  value.replaceAllUsesExcept(tensor, buffer.getDefiningOp());
}

namespace {
struct SplitDestinations
    : kv::impl::KVSplitDestinationsBase<SplitDestinations> {
  void runOnOperation() override {
    // Fills before empties: each clone of a fill needs a tensor.empty, too.
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
    SmallVector<OpResult> computed;
    getOperation().walk([&](LoopLikeOpInterface loop) {
      llvm::append_range(computed, loop->getResults());
    });
    for (OpResult value : computed)
      asBuffer(value);
    SmallVector<bufferization::ToTensorOp> readOnly;
    getOperation().walk([&](bufferization::ToTensorOp op) {
      if (!op.getWritable())
        readOnly.push_back(op);
    });
    for (bufferization::ToTensorOp op : readOnly)
      numSplit += splitReaders(op);
  }
};
} // namespace
