//===- SplitDestinations.cpp - One operation a destination ----------------===//
//
// CSE makes one tensor.empty of all that are alike, and a network's layers are.
// To One-Shot Bufferize that is one buffer which every layer writes: it
// compares each write with each read of all layers, and copies what it cannot
// prove apart. Apart from the start, each is a buffer of its own.
//
// Likewise an argument that all layers read, lengths and tables of a cache: it
// looks at all readers of a tensor for each of them. What is only read may be
// as many tensors as it has readers.
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

/// Every operation but one that uses a tensor of a buffer that is only read
/// gets a tensor of its own.
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

/// So many readers of a computed tensor are worth it.
constexpr unsigned kManyReaders = 8;

/// What a loop computed and nothing writes to, positions of all layers, is from
/// there on a buffer.
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
