//===- Merge.cpp - Rows of Symbols.def for merged attentions --------------===//

#include "Movers.h"
#include "kv/Runtime/Device/Buffer.h"

using namespace kv;
using namespace kv::cuda;

/// Reads the logarithms of `rows` rows; false, with an error in the call that
/// names `argument`, unless they are dense f32.
static bool logarithmsOf(Call &call, std::string_view argument,
                         const KvTensorView &view, int64_t rows, float *&lse) {
  lse = static_cast<float *>(firstElement(view));
  if (view.dtype == KV_DTYPE_F32 && isDense(view) && elementsOf(view) == rows &&
      rows <= INT32_MAX)
    return true;
  call.fail(KV_STATUS_INVALID_ARGUMENT, argument, " is ", describe(view),
            " with ", strides(view), ", needed: dense f32 of ", rows, " rows");
  return false;
}

void rows::mergeSides(KvContext *context, const KvTensorView *a,
                      const KvTensorView *aLse, const KvTensorView *b,
                      const KvTensorView *bLse, const KvTensorView *out) {
  Call call(context, "mergeSides");
  Rows x, y, c;
  float *xLse, *yLse;
  if (call.failed() || !rowsOf(call, "a", *a, x) || !rowsOf(call, "b", *b, y) ||
      !rowsOf(call, "out", *out, c) || !sameRows(call, "a", x, c) ||
      !sameRows(call, "b", y, c) ||
      !logarithmsOf(call, "a_lse", *aLse, c.count, xLse) ||
      !logarithmsOf(call, "b_lse", *bLse, c.count, yLse))
    return;
  MergeSidesParams p{
      x.data,           y.data,   xLse,     yLse,     c.data,
      nullptr,          x.stride, y.stride, c.stride, int32_t(c.count),
      int32_t(c.width), x.type,   y.type,   c.type};
  move(call, kernelRow("kv_merge_sides"), chunksOf(c), p);
}

void rows::mergeLse(KvContext *context, const KvTensorView *aLse,
                    const KvTensorView *bLse, const KvTensorView *out) {
  Call call(context, "mergeLse");
  MergeSidesParams p{};
  int64_t rows = elementsOf(*out);
  float *a, *b;
  if (call.failed() || !logarithmsOf(call, "a_lse", *aLse, rows, a) ||
      !logarithmsOf(call, "b_lse", *bLse, rows, b) ||
      !logarithmsOf(call, "out", *out, rows, p.lse))
    return;
  p.aLse = a;
  p.bLse = b;
  p.rows = int32_t(rows);
  move(call, kernelRow("kv_merge_sides"), rows, p);
}
