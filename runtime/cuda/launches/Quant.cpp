//===- Quant.cpp - Quantised weights --------------------------------------===//

#include "Experts.h"
#include "kv/Runtime/Device/Buffer.h"

using namespace kv;
using namespace kv::cuda;

namespace {
struct Format {
  std::string_view name;
  int64_t group, bytes;
};
constexpr Format Formats[] = {
#define KV_QUANT_FORMAT(Name, spelling, group, fileBytes, bytes)               \
  {#spelling, group, bytes},
#include "kv/ABI/QuantFormats.def"
};

struct Weight {
  QuantWeight view;
  int64_t rows, depth;
};
} // namespace

/// Reads the packed blocks of a weight. If there are none, records an error
/// that names `argument` and returns false.
static bool weightOf(Call &call, std::string_view argument,
                     const KvTensorView &view, int32_t format, Weight &weight) {
  if (format < 0 || format >= int32_t(std::size(Formats))) {
    call.unsupported("format ", format, " is none of QuantFormats.def");
    return false;
  }
  const Format &f = Formats[format];
  constexpr int64_t Unit = BlockRows * QuantGroup;
  if (view.dtype == KV_DTYPE_I8 && view.rank == 3 && isDense(view) &&
      aligned(view) && view.sizes[1] > 0 &&
      (f.group ? view.sizes[2] == f.bytes
               : view.sizes[1] == 1 && view.sizes[2] > f.bytes &&
                     (view.sizes[2] - f.bytes) % Unit == 0)) {
    int64_t group = f.group ? f.group : (view.sizes[2] - f.bytes) / BlockRows;
    weight = {{static_cast<const uint8_t *>(firstElement(view)),
               view.sizes[1] * view.sizes[2], int32_t(group / QuantGroup),
               int32_t(view.sizes[2])},
              view.sizes[0] * BlockRows,
              view.sizes[1] * group};
    if (weight.rows <= INT32_MAX && weight.depth <= INT32_MAX)
      return true;
  }
  call.unsupported(argument, " is ", describe(view), " with ", strides(view),
                   ": it must be the packed blocks of ", f.name);
  return false;
}

/// Whether `view` is rows of i8, at distances that are multiples of 8 bytes. If
/// not, records an error that names `argument`.
static bool checkBytes(Call &call, std::string_view argument,
                       const KvTensorView &view, int64_t rows, int64_t width) {
  if (view.dtype == KV_DTYPE_I8 && view.rank == 2 && view.strides[1] == 1 &&
      view.strides[0] % 8 == 0 && aligned(view) && view.sizes[0] == rows &&
      view.sizes[1] == kernels::roundedRowBytes(width))
    return true;
  call.unsupported(argument, " is ", describe(view), " with ", strides(view),
                   ": it must be i8 [", rows, ", ",
                   kernels::roundedRowBytes(width), "], the rounded rows of ",
                   width, " elements");
  return false;
}

void rows::roundRows(KvContext *context, const KvTensorView *x,
                     const KvTensorView *out) {
  Call call(context, "roundRows");
  Rows a;
  if (call.failed() || !rowsOf(call, "x", *x, a) ||
      !checkBytes(call, "out", *out, a.count, a.width))
    return;
  if (a.width % QuantGroup)
    return call.unsupported("x has rows of ", a.width,
                            " elements, needed: a multiple of ", QuantGroup);
  RoundRowsParams p{a.data,
                    static_cast<int8_t *>(firstElement(*out)),
                    a.stride,
                    out->strides[0],
                    int32_t(a.count),
                    int32_t(a.width),
                    a.type};
  move(call, kernelRow("kv_round_rows"), a.count * (a.width / QuantGroup), p);
}

void rows::quantMatmul(KvContext *context, const KvTensorView *x,
                       const KvTensorView *weight, int32_t format,
                       const KvTensorView *out) {
  Call call(context, "quantMatmul");
  Weight w;
  Rows c;
  if (call.failed() || !weightOf(call, "weight", *weight, format, w) ||
      !rowsOf(call, "out", *out, c) ||
      !checkBytes(call, "x", *x, c.count, w.depth))
    return;
  if (c.width != w.rows)
    return call.fail(KV_STATUS_INVALID_ARGUMENT, "weight has ", w.rows,
                     " rows, out is ", describe(*out), ": they do not fit");
  QuantMatmulParams p{static_cast<const int8_t *>(firstElement(*x)),
                      w.view,
                      c.data,
                      x->strides[0],
                      c.stride,
                      int32_t(c.count),
                      int32_t(c.width),
                      int32_t(w.depth),
                      c.type,
                      QuantFormat(format)};
  // A thread block at a time makes 16 rows of 16 columns.
  int64_t tiles = (c.count + 15) / 16 * (c.width / BlockRows);
  move(call, kernelRow("kv_quant_matmul"), tiles * MoverThreads, p);
}

void rows::expertQuantMatmul(KvContext *context, const KvTensorView *x,
                             const KvTensorView *weight, int32_t format,
                             const KvTensorView *order,
                             const KvTensorView *out) {
  Call call(context, "expertQuantMatmul");
  Weight w;
  Rows c;
  ExpertOrder read;
  int64_t xRows = x->rank ? x->sizes[0] : 0;
  if (call.failed() || !weightOf(call, "weight", *weight, format, w) ||
      !rowsOf(call, "out", *out, c) || c.count == 0 ||
      !checkBytes(call, "x", *x, xRows, w.depth) ||
      !orderOf(call, *order, xRows, w.rows, c, read))
    return;
  ExpertQuantMatmulParams p{{static_cast<const int8_t *>(firstElement(*x)),
                             w.view, c.data, x->strides[0], c.stride,
                             int32_t(c.count), int32_t(c.width),
                             int32_t(w.depth), c.type, QuantFormat(format)},
                            read.records,
                            read.tiles,
                            read.choicesPerRow};
  int64_t tiles = p.tiles * (ExpertRows / BlockRows) * (c.width / BlockRows);
  move(call, kernelRow("kv_expert_quant_matmul"), tiles * MoverThreads, p);
}

void rows::quantEmbedding(KvContext *context, const KvTensorView *ids,
                          const KvTensorView *table, int32_t format,
                          const KvTensorView *out) {
  Call call(context, "quantEmbedding");
  Weight t;
  Rows c;
  if (call.failed() || !checkIntegers(call, "ids", *ids) ||
      !weightOf(call, "table", *table, format, t) ||
      !rowsOf(call, "out", *out, c))
    return;
  if (t.depth != c.width || c.count != ids->sizes[0])
    return call.fail(KV_STATUS_INVALID_ARGUMENT, "ids is ", describe(*ids),
                     ", rows of table have ", t.depth, " elements, out is ",
                     describe(*out), ": they do not fit");
  QuantEmbeddingParams p{static_cast<const int32_t *>(firstElement(*ids)),
                         t.view,
                         c.data,
                         c.stride,
                         int32_t(c.count),
                         int32_t(c.width),
                         int32_t(t.rows),
                         c.type,
                         QuantFormat(format),
                         Context::of(call.state).stepErrors()};
  move(call, kernelRow("kv_quant_embedding"), c.count * (c.width / 16), p);
}
