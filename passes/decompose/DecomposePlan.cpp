//===- DecomposePlan.cpp - The plain meaning of kv.plan -------------------===//

#include "Decompositions.h"
#include "passes/common/Trees.h"
#include "passes/common/VisibleKeys.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace kv;

std::pair<Value, Value> kv::visibleKeys(Emitter &b, MaskAttr mask,
                                        Value position, Value length) {
  Value zero = b.index(0), one = b.index(1);
  Value after = b.add(position, one);
  Value window = b.index(mask.getWindow());
  auto windowStart = [&] {
    Value reaches = b.lessOrEqual(after, window);
    return b.select(reaches, zero, b.sub(after, window));
  };
  switch (mask.getKind()) {
  case MaskKind::None:
    return {zero, length};
  case MaskKind::Causal:
    return {zero, b.minimum(after, length)};
  case MaskKind::Sliding:
    return {windowStart(), b.minimum(after, length)};
  case MaskKind::SlidingNoncausal:
    return {windowStart(), length};
  case MaskKind::Chunked: {
    Value first = b.mul(b.div(position, window), window);
    return {first, b.add(first, b.minimum(window, b.sub(length, first)))};
  }
  case MaskKind::ChunkedCausal:
    return {b.mul(b.div(position, window), window), b.minimum(after, length)};
  }
  llvm_unreachable("a mask without a meaning");
}

std::pair<Value, Value> kv::plannedKeys(Emitter &b, MaskAttr mask,
                                        Value position, Value length,
                                        Value base) {
  auto keys = visibleKeys(b, mask, position, length);
  if (base)
    keys.first = visibleKeys(b, mask, b.minimum(position, base), length).first;
  return keys;
}

/// for b: for t in sequence b: result[t] = b, position, first, end
static SmallVector<Value> decompose(Emitter &b, PlanOp op) {
  Value offsets = op.getRowOffsets();
  Value lengths = cast<CacheOpInterface>(*op).getCacheLengths();
  auto type = op.getResult().getType();
  Value numRows = type.isDynamicDim(0)
                      ? b.extractIndex(offsets, b.dim(lengths, 0))
                      : b.index(type.getDimSize(0));
  SmallVector<Value> sizes;
  if (type.isDynamicDim(0))
    sizes.push_back(numRows);
  if (type.isDynamicDim(1))
    sizes.push_back(b.index(4));
  Value empty = tensor::EmptyOp::create(b, type, sizes);
  Value nothing = arith::ConstantIntOp::create(b, 0, 32);
  Value blank = linalg::FillOp::create(b, nothing, empty).getResult(0);

  Value length, base;
  return forEachRow(
      b, offsets, lengths, blank,
      [&](Emitter &b, const StepSequence &sequence) {
        length = sequence.length(b);
        if (op.getTree())
          base = treeBase(b, sequence);
      },
      [&](Emitter &b, const StepRow &row) -> SmallVector<Value> {
        auto [first, last] =
            plannedKeys(b, op.getMask(), row.position, length, base);
        Value next = row.carried.front();
        Value facts[] = {row.sequence.index, row.position, first, last};
        for (auto [column, fact] : llvm::enumerate(facts))
          next = tensor::InsertOp::create(
              b, b.asI32(fact), next,
              ValueRange{row.index, b.index(static_cast<int64_t>(column))});
        return {next};
      });
}

void kv::attachPlanDecomposition(MLIRContext *context) {
  PlanOp::attachInterface<Decomposition<PlanOp, decompose>>(*context);
}
