//===- CacheCalls.cpp - Calls of functions on caches ----------------------===//

#include "CacheCalls.h"

#include "CacheAccess.h"
#include "kv/ABI/Context.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

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

Value kv::constantI32(ImplicitLocOpBuilder &b, int64_t value) {
  return arith::ConstantIntOp::create(b, value, 32);
}

Value kv::constantI64(ImplicitLocOpBuilder &b, int64_t value) {
  return arith::ConstantIntOp::create(b, value, 64);
}

Value kv::constantF32(ImplicitLocOpBuilder &b, double value) {
  return arith::ConstantFloatOp::create(b, b.getF32Type(),
                                        APFloat(static_cast<float>(value)));
}

Value kv::indexAsI64(ImplicitLocOpBuilder &b, Value index) {
  return arith::IndexCastOp::create(b, b.getI64Type(), index);
}

SmallVector<Value> kv::cacheParameters(ImplicitLocOpBuilder &b,
                                       CacheOpInterface op) {
  Layout layout = op.getCollectionType().getLayout();
  auto inOrder = [&](Value buffer) {
    return inLogicalOrder(b, b.getLoc(), buffer, layout);
  };
  return {inOrder(op.getBlocks()),
          op.getScales() ? inOrder(op.getScales()) : Value(),
          op.getCacheLengths(), op.getLookupTable()};
}

FunctionCall kv::callOf(ImplicitLocOpBuilder &b, StoreOp op) {
  FunctionCall call{RuntimeFunction::store, cacheParameters(b, op)};
  llvm::append_values(call.parameters, op.getRowOffsets(),
                      indexAsI64(b, op.getLayer()), op.getK(), op.getV());
  return call;
}

FunctionCall kv::callOf(ImplicitLocOpBuilder &b, AttentionOp op, Value out,
                        Value lse) {
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
  llvm::append_values(call.parameters, indexAsI64(b, op.getLayer()), op.getQ(),
                      out, lse, constantF32(b, op.getScale().convertToDouble()),
                      constantF32(b, softcap), constantI32(b, mask),
                      constantI64(b, op.getMask().getWindow()), op.getSinks());
  if (tree)
    call.parameters.push_back(tree);
  else if (!planned)
    call.parameters.push_back(op.getKvRowOffsets());
  return call;
}

FunctionCall kv::callOf(ImplicitLocOpBuilder &b, GatherOp op, Value out) {
  int64_t inner = op.getInner();
  return {RuntimeFunction::gather,
          {op.getX(), constantI64(b, op.getShard() * inner),
           constantI64(b, op.getSize() * inner), constantI64(b, op.getRanks()),
           constantI64(b, op.getCopies()), out}};
}
