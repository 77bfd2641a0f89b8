//===- Experts.cpp - Rows of Symbols.def for mixtures of experts ----------===//

#include "Experts.h"
#include "kv/Runtime/Device/Buffer.h"

using namespace kv;
using namespace kv::cuda;

/// Whether `view` is a dense matrix of this type; if not, records an error that
/// names `argument`.
static bool checkDense(Call &call, std::string_view argument,
                       const KvTensorView &view, KvDType type, int64_t rows,
                       int64_t columns) {
  if (view.dtype == type && view.rank == 2 && isDense(view) &&
      view.sizes[0] == rows && view.sizes[1] == columns &&
      rows * columns <= INT32_MAX)
    return true;
  call.unsupported(argument, " is ", describe(view), " with ", strides(view),
                   ": it must be dense ", dtypeName(static_cast<DType>(type)),
                   " [", rows, ", ", columns, "]");
  return false;
}

bool kv::cuda::orderOf(Call &call, const KvTensorView &order, int64_t xRows,
                       int64_t weightRows, const Rows &out, ExpertOrder &read) {
  if (xRows == 0 || out.count % xRows || weightRows == 0 ||
      weightRows % out.width || out.width % BlockRows ||
      weightRows > INT32_MAX) {
    call.fail(KV_STATUS_INVALID_ARGUMENT, "x has ", xRows, " rows, weight ",
              weightRows, ", out ", out.count, " of ", out.width,
              ": out must have as many rows for each of x, and weight the "
              "columns of out for each expert, a multiple of ",
              BlockRows);
    return false;
  }
  int64_t tiles = expertTilesBefore(weightRows / out.width, out.count);
  read = {static_cast<const int32_t *>(firstElement(order)), int32_t(tiles),
          int32_t(out.count / xRows)};
  return checkDense(call, "order", order, KV_DTYPE_I32, tiles, ExpertRecord);
}

/// Whether these are logits [T, E].
static bool checkLogits(Call &call, std::string_view argument,
                        const KvTensorView &logits) {
  if (logits.dtype == KV_DTYPE_F32 && logits.rank == 2 &&
      logits.strides[1] == 1 && logits.sizes[0] <= INT32_MAX &&
      logits.sizes[1] <= INT32_MAX)
    return true;
  call.unsupported(argument, " is ", describe(logits), " with ",
                   strides(logits), ": it must be rows of f32");
  return false;
}

/// Whether these are logits and experts [T, C] of them.
static bool checkChoices(Call &call, const KvTensorView &logits,
                         const KvTensorView &experts) {
  if (!checkLogits(call, "logits", logits))
    return false;
  int64_t choices = experts.rank == 2 ? experts.sizes[1] : 0;
  if (choices < 1 || choices > logits.sizes[1]) {
    call.fail(KV_STATUS_INVALID_ARGUMENT, "experts is ", describe(experts),
              ", needed: 1 to ", logits.sizes[1], " choices a row");
    return false;
  }
  return checkDense(call, "experts", experts, KV_DTYPE_I32, logits.sizes[0],
                    choices);
}

void rows::route(KvContext *context, const KvTensorView *logits,
                 const KvTensorView *experts) {
  Call call(context, "route");
  if (call.failed() || !checkChoices(call, *logits, *experts))
    return;
  RouteParams p{static_cast<const float *>(firstElement(*logits)),
                static_cast<int32_t *>(firstElement(*experts)),
                logits->strides[0],
                int32_t(logits->sizes[0]),
                int32_t(logits->sizes[1]),
                int32_t(experts->sizes[1])};
  move(call, kernelRow("kv_route"), int64_t(p.rows) * WarpLanes, p);
}

void rows::shares(KvContext *context, const KvTensorView *logits,
                  const KvTensorView *experts, int32_t how,
                  const KvTensorView *out) {
  Call call(context, "shares");
  if (call.failed() || !checkChoices(call, *logits, *experts) ||
      !checkDense(call, "out", *out, KV_DTYPE_F32, experts->sizes[0],
                  experts->sizes[1]))
    return;
  SharesParams p{static_cast<const float *>(firstElement(*logits)),
                 static_cast<const int32_t *>(firstElement(*experts)),
                 static_cast<float *>(firstElement(*out)),
                 logits->strides[0],
                 int32_t(logits->sizes[0]),
                 int32_t(logits->sizes[1]),
                 int32_t(experts->sizes[1]),
                 (how & KV_SHARES_NORMALISED) != 0,
                 (how & KV_SHARES_SIGMOID) != 0};
  move(call, kernelRow("kv_shares"), int64_t(p.rows) * WarpLanes, p);
}

void rows::keepGroups(KvContext *context, const KvTensorView *x, int32_t groups,
                      int32_t keep, int32_t best, const KvTensorView *out) {
  Call call(context, "keepGroups");
  if (call.failed() || !checkLogits(call, "x", *x))
    return;
  int64_t columns = x->sizes[1];
  if (groups < 1 || groups > WarpLanes || columns < 1 || columns % groups ||
      keep < 1 || keep > groups || best < 1 || best > columns / groups)
    return call.fail(KV_STATUS_INVALID_ARGUMENT, "x is ", describe(*x), ", ",
                     groups, " groups of which ", keep,
                     " are kept, by their best ", best,
                     ": at most 32 groups that divide the columns");
  if (!checkDense(call, "out", *out, KV_DTYPE_F32, x->sizes[0], columns))
    return;
  KeepGroupsParams p{static_cast<const float *>(firstElement(*x)),
                     static_cast<float *>(firstElement(*out)),
                     x->strides[0],
                     columns,
                     int32_t(x->sizes[0]),
                     groups,
                     int32_t(columns / groups),
                     keep,
                     best};
  move(call, kernelRow("kv_keep_groups"), int64_t(p.rows) * WarpLanes, p);
}

void rows::orderExperts(KvContext *context, const KvTensorView *experts,
                        int64_t count, const KvTensorView *out) {
  Call call(context, "orderExperts");
  if (call.failed())
    return;
  if (count < 1 || count > INT32_MAX || experts->rank != 2)
    return call.fail(KV_STATUS_INVALID_ARGUMENT, "experts is ",
                     describe(*experts), " of ", count,
                     ", needed: [T, C] of at least one");
  int64_t choices = elementsOf(*experts);
  if (!checkDense(call, "experts", *experts, KV_DTYPE_I32, experts->sizes[0],
                  experts->sizes[1]) ||
      !checkDense(call, "out", *out, KV_DTYPE_I32,
                  expertTilesBefore(count, choices), ExpertRecord))
    return;
  OrderExpertsParams p{static_cast<const int32_t *>(firstElement(*experts)),
                       static_cast<int32_t *>(firstElement(*out)),
                       int32_t(choices), int32_t(count)};
  if (choices)
    move(call, kernelRow("kv_order_experts"), count * MoverThreads, p);
}

void rows::expertMatmul(KvContext *context, const KvTensorView *x,
                        const KvTensorView *weight, const KvTensorView *order,
                        const KvTensorView *out) {
  Call call(context, "expertMatmul");
  Rows a, w, c;
  ExpertOrder read;
  if (call.failed() || !rowsOf(call, "x", *x, a) ||
      !rowsOf(call, "weight", *weight, w) || !rowsOf(call, "out", *out, c) ||
      c.count == 0)
    return;
  if (a.type != w.type || (a.type != KV_DTYPE_F32 && a.type != KV_DTYPE_BF16) ||
      (c.type != KV_DTYPE_F32 && c.type != a.type) || a.width != w.width ||
      w.stride != w.width)
    return call.unsupported("x is ", describe(*x), ", weight ",
                            describe(*weight), ", out ", describe(*out),
                            ": x and a dense weight are f32 or bf16 in rows of "
                            "one length, out f32 or the same");
  if (!orderOf(call, *order, a.count, w.count, c, read))
    return;
  ExpertMatmulParams p{
      a.data,           w.data,           c.data,     read.records,
      a.stride,         c.stride,         read.tiles, read.choicesPerRow,
      int32_t(c.width), int32_t(a.width), a.type,     c.type};
  int64_t across = (c.width + ExpertRows - 1) / ExpertRows;
  move(call, kernelRow("kv_expert_matmul"), p.tiles * across * MoverThreads, p);
}

void rows::gateRows(KvContext *context, const KvTensorView *x,
                    const KvTensorView *m, const KvTensorView *weight,
                    const KvTensorView *out) {
  Call call(context, "gateRows");
  Rows a, b, w, c;
  if (call.failed() || !rowsOf(call, "x", *x, a) || !rowsOf(call, "m", *m, b) ||
      !rowsOf(call, "weight", *weight, w) || !rowsOf(call, "out", *out, c) ||
      !sameRows(call, "x", a, c))
    return;
  if (b.count != c.count || w.count != 1 || w.width != b.width)
    return call.fail(KV_STATUS_INVALID_ARGUMENT, "x is ", describe(*x), ", m ",
                     describe(*m), ", weight ", describe(*weight),
                     ": needed are [T, N], [T, K] and [K]");
  GateRowsParams p{a.data,           b.data,
                   w.data,           c.data,
                   a.stride,         b.stride,
                   c.stride,         int32_t(c.count),
                   int32_t(c.width), int32_t(b.width),
                   a.type,           b.type,
                   w.type,           c.type};
  move(call, kernelRow("kv_gate_rows"), int64_t(p.rows) * MoverThreads, p);
}

void rows::sumChoices(KvContext *context, const KvTensorView *x,
                      const KvTensorView *shares, float scale,
                      const KvTensorView *out) {
  Call call(context, "sumChoices");
  Rows a, c;
  if (call.failed() || !rowsOf(call, "x", *x, a) ||
      !rowsOf(call, "out", *out, c))
    return;
  int64_t choices = x->rank == 3 ? x->sizes[1] : 0;
  if (choices < 1 || a.count != c.count * choices || a.width != c.width)
    return call.fail(KV_STATUS_INVALID_ARGUMENT, "x is ", describe(*x),
                     ", out ", describe(*out),
                     ": needed are [T, C, N] and [T, N]");
  if (!checkDense(call, "shares", *shares, KV_DTYPE_F32, c.count, choices))
    return;
  SumChoicesParams p{a.data,
                     static_cast<const float *>(firstElement(*shares)),
                     c.data,
                     a.stride,
                     c.stride,
                     int32_t(c.count),
                     int32_t(choices),
                     int32_t(c.width),
                     scale,
                     a.type,
                     c.type};
  move(call, kernelRow("kv_sum_choices"), chunksOf(c), p);
}
