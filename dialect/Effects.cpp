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

/// Every buffer operand but `skip` is read, except `out`, which is written.
static void addBufferEffects(Operation *op, Value out, Effects &effects,
                             OpOperand *skip = nullptr) {
  for (OpOperand &operand : op->getOpOperands()) {
    if (&operand == skip || !isa<BaseMemRefType>(operand.get().getType()))
      continue;
    if (out && operand.get() == out)
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
    else
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
  }
}

/// The cache is the handle, or the blocks; the small components are inputs.
static void addCacheEffects(CacheOpInterface op, Value out, Effects &effects) {
  OpOperand &cache =
      op->getOpOperand(op.getCacheOperands().getBeginOperandIndex());
  if (op.writesCache())
    effects.emplace_back(MemoryEffects::Write::get(), &cache);
  if (op.readsCache())
    effects.emplace_back(MemoryEffects::Read::get(), &cache);
  addBufferEffects(op, out, effects, &cache);
}

void PositionsOp::getEffects(Effects &effects) {
  addCacheEffects(*this, getOut(), effects);
}
void StoreOp::getEffects(Effects &effects) {
  addCacheEffects(*this, nullptr, effects);
}
void AttentionOp::getEffects(Effects &effects) {
  addCacheEffects(*this, getOut(), effects);
}
void RopeOp::getEffects(Effects &effects) {
  addBufferEffects(*this, getOut(), effects);
}
void MatmulOp::getEffects(Effects &effects) {
  addBufferEffects(*this, getOut(), effects);
}
