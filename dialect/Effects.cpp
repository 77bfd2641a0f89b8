//===- Effects.cpp - What operations read and write -----------------------===//
//
// Computed from the operands: on tensors an operation touches the cache
// alone; on buffers it also reads its inputs and writes its output. Static
// effects would let an operation whose result became a buffer be deleted.
//
//===----------------------------------------------------------------------===//

#include "kv/Dialect/KV.h"

using namespace mlir;
using namespace kv;

using Effects =
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

/// Every buffer operand is read, except `skip` and `outs`; those are written.
static void addBufferEffects(Operation *op, ValueRange outs, Effects &effects,
                             ArrayRef<OpOperand *> skip = {}) {
  for (OpOperand &operand : op->getOpOperands()) {
    if (llvm::is_contained(skip, &operand) ||
        !isa<BaseMemRefType>(operand.get().getType()))
      continue;
    if (llvm::is_contained(outs, operand.get()))
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
    else
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
  }
}

/// Operands that are a cache in either form, and what happens to it.
struct CacheAccesses {
  SmallVector<OpOperand *> operands;
  bool writes = false, reads = false;
};

/// The cache is the handle, or the blocks and scales; the small components are
/// inputs.
static CacheAccesses accessesOf(Operation *op) {
  if (auto copy = dyn_cast<CopyPagesOp>(op))
    return {{&copy.getBlocksMutable()}, /*writes=*/true, /*reads=*/true};
  auto cacheOp = dyn_cast<CacheOpInterface>(op);
  if (!cacheOp)
    return {};
  unsigned first = cacheOp.getCacheOperands().getBeginOperandIndex();
  CacheAccesses accesses{
      {&op->getOpOperand(first)}, cacheOp.writesCache(), cacheOp.readsCache()};
  if (cacheOp.isResolved() && cacheOp.getScales())
    accesses.operands.push_back(&op->getOpOperand(first + 4));
  return accesses;
}

void kv::addFormEffects(Operation *op, Effects &effects) {
  CacheAccesses cache = accessesOf(op);
  for (OpOperand *operand : cache.operands) {
    if (cache.writes)
      effects.emplace_back(MemoryEffects::Write::get(), operand);
    if (cache.reads)
      effects.emplace_back(MemoryEffects::Read::get(), operand);
  }
  addBufferEffects(op, cast<TwoFormOpInterface>(op).getOutValues(), effects,
                   cache.operands);
}

void AssertOp::getEffects(Effects &effects) {
  effects.emplace_back(MemoryEffects::Write::get(), ErrorResource::get());
}

void CheckResultOp::getEffects(Effects &effects) {
  // The operation reads only the shape of the buffer.
  effects.emplace_back(MemoryEffects::Write::get(), ErrorResource::get());
}

void LaunchOp::getEffects(Effects &effects) {
  // The caches, which are buffers in either form.
  auto kinds = rowOf(getCallee()).parameters.drop_front();
  SmallVector<OpOperand *> caches;
  for (auto [kind, operand] : llvm::zip_equal(kinds, getParameters())) {
    if (!operand ||
        (kind != ParameterKind::Pool && kind != ParameterKind::PoolOut))
      continue;
    caches.push_back(operand);
    if (kind == ParameterKind::PoolOut)
      effects.emplace_back(MemoryEffects::Write::get(), operand);
    effects.emplace_back(MemoryEffects::Read::get(), operand);
  }
  // If there are tensors, an operation only looks at the shape of its other
  // buffers.
  if (llvm::none_of((*this)->getOperandTypes(), llvm::IsaPred<TensorType>))
    addBufferEffects(*this, getOuts(), effects, caches);
}
