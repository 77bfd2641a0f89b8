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

/// The cache is the handle, or the blocks and scales; the small components are
/// inputs.
static void addCacheEffects(CacheOpInterface op, ValueRange outs,
                            Effects &effects) {
  unsigned first = op.getCacheOperands().getBeginOperandIndex();
  SmallVector<OpOperand *> cache = {&op->getOpOperand(first)};
  if (op.isResolved() && op.getScales())
    cache.push_back(&op->getOpOperand(first + 4));
  for (OpOperand *operand : cache) {
    if (op.writesCache())
      effects.emplace_back(MemoryEffects::Write::get(), operand);
    if (op.readsCache())
      effects.emplace_back(MemoryEffects::Read::get(), operand);
  }
  addBufferEffects(op, outs, effects, cache);
}

void PositionsOp::getEffects(Effects &effects) {
  addCacheEffects(*this, {getOut()}, effects);
}
void RowOffsetsOp::getEffects(Effects &effects) {
  addCacheEffects(*this, {getOut()}, effects);
}
void LoadOp::getEffects(Effects &effects) {
  addCacheEffects(*this, {getOut(), getOutLengths()}, effects);
}
namespace {
/// Where kv.print prints: no memory of a program.
struct Output : SideEffects::Resource::Base<Output> {
  StringRef getName() final { return "kv.output"; }
};
} // namespace

namespace {
/// Where errors are recorded.
struct ErrorSlot : SideEffects::Resource::Base<ErrorSlot> {
  StringRef getName() final { return "kv.errors"; }
};
} // namespace

void PrintOp::getEffects(Effects &effects) {
  addCacheEffects(*this, {}, effects);
  effects.emplace_back(MemoryEffects::Write::get(), Output::get());
}
void CopyPagesOp::getEffects(Effects &effects) {
  OpOperand &blocks = getBlocksMutable();
  effects.emplace_back(MemoryEffects::Read::get(), &blocks);
  effects.emplace_back(MemoryEffects::Write::get(), &blocks);
  addBufferEffects(*this, {}, effects, &blocks);
}
void AssertOp::getEffects(Effects &effects) {
  effects.emplace_back(MemoryEffects::Write::get(), ErrorSlot::get());
}
void CheckStepOp::getEffects(Effects &effects) {
  addBufferEffects(*this, {}, effects);
  effects.emplace_back(MemoryEffects::Write::get(), ErrorSlot::get());
}
void CheckResultOp::getEffects(Effects &effects) {
  // Of the buffer only the shape is looked at.
  effects.emplace_back(MemoryEffects::Write::get(), ErrorSlot::get());
}
void StoreOp::getEffects(Effects &effects) {
  addCacheEffects(*this, {}, effects);
}
void AttentionOp::getEffects(Effects &effects) {
  addCacheEffects(*this, {getOut(), getOutLse()}, effects);
}
void RopeOp::getEffects(Effects &effects) {
  addBufferEffects(*this, {getOut()}, effects);
}
void MergeOp::getEffects(Effects &effects) {
  addBufferEffects(*this, {getOut(), getOutLse()}, effects);
}
void MatmulOp::getEffects(Effects &effects) {
  addBufferEffects(*this, getOuts(), effects);
}
void UpdateOp::getEffects(Effects &effects) {
  addCacheEffects(*this, {}, effects);
}
void LaunchOp::getEffects(Effects &effects) {
  // On tensors the one buffer is a cache's blocks, for their shape.
  if (isa<BaseMemRefType>(getOut().getType()))
    addBufferEffects(*this, {getOut()}, effects);
}
void PlanOp::getEffects(Effects &effects) {
  addCacheEffects(*this, {getOut()}, effects);
}
