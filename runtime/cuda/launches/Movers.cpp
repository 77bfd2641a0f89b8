//===- Movers.cpp - Rows of Symbols.def that move rows --------------------===//

#include "Movers.h"
#include "kv/Definition/Sampling.h"
#include "kv/Runtime/Device/Buffer.h"

#include <algorithm>

using namespace kv;
using namespace kv::cuda;

/// The items of a mover that handles each row with one thread block.
static int64_t rowItems(const Rows &rows) { return rows.count * MoverThreads; }

bool kv::cuda::sameRows(Call &call, std::string_view argument, const Rows &a,
                        const Rows &out) {
  if (a.count == out.count && a.width == out.width)
    return true;
  call.fail(KV_STATUS_INVALID_ARGUMENT, argument, " has ", a.count, " rows of ",
            a.width, ", out ", out.count, " of ", out.width);
  return false;
}

bool kv::cuda::pairedRows(Call &call, const KvTensorView &a,
                          const KvTensorView &b, const KvTensorView &out,
                          Rows &x, Rows &y, Rows &made) {
  if (!rowsOf(call, "a", a, x) || !rowsOf(call, "b", b, y) ||
      !rowsOf(call, "out", out, made) || !sameRows(call, "a", x, made))
    return false;
  if (b.rank != 1 || y.width != made.width)
    return sameRows(call, "b", y, made);
  y.stride = 0; // every row of a takes the same row of b
  return true;
}

/// Queues a product, unless it is of nothing.
static void multiply(Call &call, const Product &product) {
  if (product.m == 0 || product.n == 0)
    return;
  Expected<void> done = Context::of(call.state).matmuls().multiply(product);
  if (!done)
    call.state.recordError(done.error().code, done.error().message);
}

/// The product of each head.
static void multiplyHeads(Call &call, const KvTensorView &x,
                          const KvTensorView &weight, const KvTensorView &out) {
  Rows w;
  if (!checkHeads(call, "x", x) || !checkHeads(call, "out", out) ||
      !rowsOf(call, "weight", weight, w))
    return;
  int64_t heads = x.sizes[1], n = out.sizes[2];
  if (weight.rank != 3 || weight.sizes[0] != heads || weight.sizes[1] != n ||
      w.width != x.sizes[2] || w.type != int32_t(x.dtype) ||
      out.sizes[0] != x.sizes[0] || out.sizes[1] != heads || heads > INT32_MAX)
    return call.fail(KV_STATUS_INVALID_ARGUMENT, "x is ", describe(x),
                     ", weight ", describe(weight), ", out ", describe(out),
                     ": they do not fit");
  if (heads == 0)
    return;
  multiply(call, {firstElement(x), w.data, firstElement(out), x.sizes[0], n,
                  w.width, x.strides[0], w.stride, out.strides[0],
                  KvDType(x.dtype), KvDType(out.dtype), int32_t(heads),
                  x.strides[1], n * w.stride, out.strides[1]});
}

void rows::matmul(KvContext *context, const KvTensorView *x,
                  const KvTensorView *weight, const KvTensorView *out) {
  Call call(context, "matmul");
  if (!call.failed() && x->rank == 3)
    return multiplyHeads(call, *x, *weight, *out);
  Rows a, b, c;
  if (call.failed() || !rowsOf(call, "x", *x, a) ||
      !rowsOf(call, "weight", *weight, b) || !rowsOf(call, "out", *out, c))
    return;
  if (a.type != b.type || a.width != b.width || c.count != a.count ||
      c.width != b.count)
    return call.fail(KV_STATUS_INVALID_ARGUMENT, "x is ", describe(*x),
                     ", weight ", describe(*weight), ", out ", describe(*out),
                     ": they do not fit");
  multiply(call, {a.data, b.data, c.data, a.count, b.count, a.width, a.stride,
                  b.stride, c.stride, KvDType(a.type), KvDType(c.type)});
}

/// Rows of x that are normed to those of out: as many, or wider ones of which
/// each is several.
static bool normOf(Call &call, const KvTensorView &x, const KvTensorView &out,
                   NormParams &p) {
  Rows a, c;
  if (!rowsOf(call, "x", x, a) || !rowsOf(call, "out", out, c))
    return false;
  int64_t together = c.width ? a.width / c.width : 0;
  if (together < 1 || a.width != together * c.width ||
      c.count != together * a.count)
    return sameRows(call, "x", a, c);
  p = {a.data,  c.data, a.stride, c.stride, int32_t(c.count), int32_t(c.width),
       nullptr, 0,      0,        a.type,   KV_DTYPE_F32,     c.type};
  p.together = int32_t(together);
  return true;
}

void rows::norm(KvContext *context, const KvTensorView *x,
                const KvTensorView *weight, float epsilon, float offset,
                const KvTensorView *out) {
  Call call(context, "norm");
  NormParams p;
  Rows w;
  if (call.failed() || !normOf(call, *x, *out, p) ||
      !rowsOf(call, "weight", *weight, w))
    return;
  if (weight->rank > 2 || w.width != p.width || w.count < 1 ||
      p.rows % w.count || !isDense(*weight))
    return call.fail(KV_STATUS_INVALID_ARGUMENT, "weight is ",
                     describe(*weight), ", needed: ", p.width,
                     " elements, or dense rows of as many for rows in turn");
  p.weight = w.data;
  p.weightType = w.type;
  p.weightRows = int32_t(w.count);
  p.epsilon = epsilon;
  p.offset = offset;
  move(call, kernelRow("kv_norm"), int64_t(p.rows) * MoverThreads, p);
}

void rows::unitNorm(KvContext *context, const KvTensorView *x, float epsilon,
                    float factor, const KvTensorView *out) {
  Call call(context, "unitNorm");
  NormParams p;
  if (call.failed() || !normOf(call, *x, *out, p))
    return;
  p.epsilon = epsilon;
  p.offset = factor;
  move(call, kernelRow("kv_norm"), int64_t(p.rows) * MoverThreads, p);
}

void rows::pair(KvContext *context, int32_t function, const KvTensorView *a,
                const KvTensorView *b, const KvTensorView *out) {
  Call call(context, "pair");
  Rows x, y, c;
  if (call.failed() || !pairedRows(call, *a, *b, *out, x, y, c))
    return;
  if (function != KV_PAIR_ADD && function != KV_PAIR_SILU_MUL)
    return call.unsupported("function ", function, ", allowed: 0 and 1");
  PairParams p{x.data,   y.data,   c.data,           x.stride,
               y.stride, c.stride, int32_t(c.count), int32_t(c.width),
               function, x.type,   y.type,           c.type};
  move(call, kernelRow("kv_pair"), chunksOf(c), p);
}

void rows::embedding(KvContext *context, const KvTensorView *ids,
                     const KvTensorView *table, const KvTensorView *out) {
  Call call(context, "embedding");
  Rows t, c;
  if (call.failed() || !checkIntegers(call, "ids", *ids) ||
      !rowsOf(call, "table", *table, t) || !rowsOf(call, "out", *out, c))
    return;
  if (t.width != c.width || c.count != ids->sizes[0])
    return call.fail(KV_STATUS_INVALID_ARGUMENT, "ids is ", describe(*ids),
                     ", table ", describe(*table), ", out ", describe(*out),
                     ": they do not fit");
  EmbeddingParams p{static_cast<const int32_t *>(firstElement(*ids)),
                    t.data,
                    c.data,
                    t.stride,
                    c.stride,
                    int32_t(c.count),
                    int32_t(c.width),
                    int32_t(t.count),
                    t.type,
                    c.type,
                    Context::of(call.state).stepErrors()};
  move(call, kernelRow("kv_embedding"), chunksOf(c), p);
}

void rows::cast(KvContext *context, const KvTensorView *x,
                const KvTensorView *out) {
  Call call(context, "cast");
  if (call.failed())
    return;
  if (x->dtype == out->dtype && isDense(*x) && isDense(*out)) {
    if (describe(*x) != describe(*out))
      return call.fail(KV_STATUS_INVALID_ARGUMENT, "x is ", describe(*x),
                       ", out ", describe(*out), ": they have one shape");
    int64_t bytes =
        elementsOf(*x) * int64_t(dtypeBytes(static_cast<DType>(x->dtype)));
    if (bytes)
      call.state.backend->copyOnDevice(firstElement(*out), firstElement(*x),
                                       bytes);
    return;
  }
  Rows a, c;
  if (!rowsOf(call, "x", *x, a) || !rowsOf(call, "out", *out, c) ||
      !sameRows(call, "x", a, c))
    return;
  CastParams p{a.data,           c.data,           a.stride, c.stride,
               int32_t(a.count), int32_t(a.width), a.type,   c.type};
  move(call, kernelRow("kv_cast"), chunksOf(c), p);
}

void rows::argmax(KvContext *context, const KvTensorView *x,
                  const KvTensorView *out) {
  Call call(context, "argmax");
  Rows a;
  if (call.failed() || !rowsOf(call, "x", *x, a) ||
      !checkIntegers(call, "out", *out))
    return;
  if (out->sizes[0] != a.count)
    return call.fail(KV_STATUS_INVALID_ARGUMENT, "x is ", describe(*x),
                     ", out ", describe(*out), ": they do not fit");
  ArgmaxParams p{a.data,           static_cast<int32_t *>(firstElement(*out)),
                 a.stride,         int32_t(a.count),
                 int32_t(a.width), a.type};
  move(call, kernelRow("kv_argmax"), rowItems(a), p);
}

void rows::sample(KvContext *context, const KvTensorView *logits,
                  const KvTensorView *temperature, const KvTensorView *topK,
                  const KvTensorView *topP, const KvTensorView *minP,
                  const KvTensorView *seeds, const KvTensorView *indices,
                  const KvTensorView *out) {
  Call call(context, "sample");
  Rows x;
  if (call.failed() || !rowsOf(call, "logits", *logits, x))
    return;
  auto fits = [&](std::string_view name, const KvTensorView &list, DType type) {
    if (static_cast<DType>(list.dtype) == type && list.rank == 1 &&
        list.sizes[0] == x.count && isDense(list))
      return true;
    call.fail(KV_STATUS_INVALID_ARGUMENT, name, " is ", describe(list),
              ", needed: ", dtypeName(type), " of the ", x.count,
              " rows of logits, contiguous");
    return false;
  };
  if (x.type != KV_DTYPE_F32 || x.width > sampling::MostTokens)
    return call.unsupported("logits is ", describe(*logits),
                            ", needed: f32 rows of at most ",
                            sampling::MostTokens, " elements");
  if (!fits("temperature", *temperature, DType::F32) ||
      !fits("top_k", *topK, DType::I32) || !fits("top_p", *topP, DType::F32) ||
      !fits("min_p", *minP, DType::F32) || !fits("seed", *seeds, DType::I64) ||
      !fits("index", *indices, DType::I32) || !fits("out", *out, DType::I32))
    return;
  SampleParams p{static_cast<const float *>(x.data),
                 static_cast<int32_t *>(firstElement(*out)),
                 x.stride,
                 int32_t(x.count),
                 int32_t(x.width),
                 static_cast<const float *>(firstElement(*temperature)),
                 static_cast<const float *>(firstElement(*topP)),
                 static_cast<const float *>(firstElement(*minP)),
                 static_cast<const int32_t *>(firstElement(*topK)),
                 static_cast<const int64_t *>(firstElement(*seeds)),
                 static_cast<const int32_t *>(firstElement(*indices))};
  if (x.count > 0)
    launch(call.state, kernelRow("kv_sample"),
           std::min<int64_t>(x.count, call.multiprocessors() * 8), &p,
           sampleBlocks(x.count, x.width, call.multiprocessors()));
}

static void makePositions(Call &call, const KvTensorView &cacheLengths,
                          const KvTensorView &rowOffsets,
                          const KvTensorView *ancestors,
                          const KvTensorView &out) {
  PositionsParams p{};
  if (call.failed() || !checkIntegers(call, "out", out) ||
      !batchOf(call, cacheLengths, rowOffsets, out.sizes[0], p.batch) ||
      (ancestors && !treeOf(call, *ancestors, out.sizes[0], p.ancestors)))
    return;
  p.out = static_cast<int32_t *>(firstElement(out));
  move(call, kernelRow("kv_positions"), out.sizes[0], p);
}

void rows::positions(KvContext *context, const KvTensorView *cacheLengths,
                     const KvTensorView *rowOffsets, const KvTensorView *out) {
  Call call(context, "positions");
  makePositions(call, *cacheLengths, *rowOffsets, nullptr, *out);
}

void rows::treePositions(KvContext *context, const KvTensorView *cacheLengths,
                         const KvTensorView *rowOffsets,
                         const KvTensorView *ancestors,
                         const KvTensorView *out) {
  Call call(context, "treePositions");
  makePositions(call, *cacheLengths, *rowOffsets, ancestors, *out);
}

void rows::growLengths(KvContext *context, const KvTensorView *lengths,
                       const KvTensorView *rowOffsets, int32_t sign,
                       const KvTensorView *out) {
  Call call(context, "growLengths");
  kv::plan::Batch batch;
  if (call.failed() || !checkIntegers(call, "out", *out) ||
      !batchOf(call, *lengths, *rowOffsets, /*tokens=*/0, batch))
    return;
  if (out->sizes[0] != batch.sequences)
    return call.fail(KV_STATUS_INVALID_ARGUMENT, "lengths is ",
                     describe(*lengths), ", out ", describe(*out),
                     ": they do not fit");
  GrowLengthsParams p{batch.cacheLengths, batch.rowOffsets,
                      static_cast<int32_t *>(firstElement(*out)),
                      batch.sequences, sign};
  move(call, kernelRow("kv_grow_lengths"), batch.sequences, p);
}

void rows::copyPages(KvContext *context, const KvTensorView *blocks,
                     const KvTensorView *source,
                     const KvTensorView *destination, int64_t layer) {
  Call call(context, "copyPages");
  Cache cache;
  if (call.failed() || !poolOf(call, *blocks, cache) ||
      !checkIntegers(call, "source", *source) ||
      !checkIntegers(call, "destination", *destination))
    return;
  if (layer >= cache.layers || source->sizes[0] != destination->sizes[0])
    return call.fail(KV_STATUS_INVALID_ARGUMENT, "layer ", layer, " of ",
                     cache.layers, ", source ", describe(*source),
                     ", destination ", describe(*destination));
  // A whole page is one contiguous run of bytes. One layer of a page is one run
  // where the layer dimension lies outside of the planes, and otherwise one run
  // for each plane. The stride of a dimension of size 1 does not matter.
  const CacheView &view = cache.view;
  int64_t run = view.pageSize * cache.heads * cache.dim;
  int64_t whole = run * cache.planes * cache.layers;
  auto lie = [&](int64_t planeStride, int64_t layerStride) {
    return (cache.planes == 1 || view.planeStride == planeStride) &&
           (cache.layers == 1 || view.layerStride == layerStride);
  };
  bool layersOutside = lie(run, run * cache.planes);
  if (view.pageStride < whole ||
      (!layersOutside && !lie(run * cache.layers, run)))
    return call.unsupported("blocks is ", describe(*blocks), " with ",
                            strides(*blocks),
                            ": a page, its planes and its layers must be "
                            "contiguous");
  int64_t bytes = dtypeBytes(static_cast<DType>(cache.type));
  CopyPagesParams p{};
  p.data = const_cast<void *>(view.data);
  p.pageStride = view.pageStride * bytes;
  p.runs = 1;
  p.runBytes = whole * bytes;
  if (layer >= 0) {
    p.data = static_cast<char *>(p.data) + layer * view.layerStride * bytes;
    p.runBytes = (layersOutside ? run * cache.planes : run) * bytes;
    if (!layersOutside) {
      p.runs = int32_t(cache.planes);
      p.runStride = view.planeStride * bytes;
    }
  }
  if (p.runBytes % 16 || p.pageStride % 16 || p.runStride % 16)
    return call.unsupported("blocks is ", describe(*blocks),
                            ": what is copied must be a multiple of 16 bytes");
  p.pages = cache.view.pages;
  p.source = static_cast<const int32_t *>(firstElement(*source));
  p.destination = static_cast<const int32_t *>(firstElement(*destination));
  p.count = int32_t(source->sizes[0]);
  move(call, kernelRow("kv_copy_pages"),
       int64_t(p.count) * p.runs * (p.runBytes / 16), p);
}
