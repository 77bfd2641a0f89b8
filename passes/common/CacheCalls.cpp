//===- CacheCalls.cpp - Calls of functions on caches ----------------------===//

#include "CacheCalls.h"

#include "CacheAccess.h"
#include "kv/ABI/Context.h"

using namespace mlir;
using namespace kv;

static_assert((int)MaskKind::None == KV_MASK_NONE &&
                  (int)MaskKind::Causal == KV_MASK_CAUSAL &&
                  (int)MaskKind::Sliding == KV_MASK_SLIDING &&
                  (int)MaskKind::Chunked == KV_MASK_CHUNKED &&
                  (int)MaskKind::SlidingNoncausal ==
                      KV_MASK_SLIDING_NONCAUSAL &&
                  (int)MaskKind::ChunkedCausal == KV_MASK_CHUNKED_CAUSAL,
              "the dialect's masks are the ABI's");

SmallVector<Value> kv::cacheParameters(Emitter &b, CacheOpInterface op) {
  Layout layout = op.getCollectionType().getLayout();
  auto inOrder = [&](Value buffer) {
    return inLogicalOrder(b, b.getLoc(), buffer, layout);
  };
  return {inOrder(op.getBlocks()),
          op.getScales() ? inOrder(op.getScales()) : Value(),
          op.getCacheLengths(), op.getLookupTable()};
}

FunctionCall kv::callOf(Emitter &b, StoreOp op) {
  FunctionCall call{RuntimeFunction::store, cacheParameters(b, op)};
  llvm::append_values(call.parameters, op.getRowOffsets(),
                      b.asI64(op.getLayer()), op.getK(), op.getV());
  return call;
}

FunctionCall kv::callOf(Emitter &b, AttentionOp op, Value out, Value lse) {
  int64_t mask = static_cast<int64_t>(op.getMask().getKind()) |
                 (op.getProducts() ? KV_MASK_EIGHT_BIT_PRODUCTS : 0);
  bool planned = op.getPlan() != nullptr;
  Value tree = op.getAncestors();
  FunctionCall call{planned ? (tree ? RuntimeFunction::plannedTreeAttention
                                    : RuntimeFunction::plannedAttention)
                            : (tree ? RuntimeFunction::treeAttention
                                    : RuntimeFunction::attention),
                    cacheParameters(b, op)};
  call.parameters.push_back(op.getRowOffsets());
  if (planned)
    llvm::append_values(call.parameters,
                        cast<CacheOpInterface>(*op).getMaxLengths(),
                        op.getPlan());
  double softcap = op.getSoftcap() ? op.getSoftcap()->convertToDouble() : 0;
  llvm::append_values(
      call.parameters, b.asI64(op.getLayer()), op.getQ(), out, lse,
      b.constant(b.getF32Type(), op.getScale().convertToDouble()),
      b.constant(b.getF32Type(), softcap), b.i32(mask),
      b.i64(op.getMask().getWindow()), op.getSinks());
  if (tree)
    call.parameters.push_back(tree);
  else if (!planned)
    call.parameters.push_back(op.getKvRowOffsets());
  return call;
}

FunctionCall kv::callOf(Emitter &b, GatherOp op, Value out) {
  int64_t inner = op.getInner();
  return {RuntimeFunction::gather,
          {op.getX(), b.i64(op.getShard() * inner), b.i64(op.getSize() * inner),
           b.i64(op.getRanks()), b.i64(op.getCopies()), out}};
}
