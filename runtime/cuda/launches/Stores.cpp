//===- Stores.cpp - Rows of Symbols.def that rotate and store -------------===//

#include "Movers.h"
#include "kv/Runtime/Device/Buffer.h"

#include <bit>
#include <tuple>

using namespace kv;
using namespace kv::cuda;

/// Reads a rope; x and out are [tokens, heads, dim]. False, with an error in
/// the call, where kernels cannot do it.
static bool ropeOf(Call &call, const KvTensorView &x,
                   const KvTensorView &positions, const KvTensorView &freqs,
                   int32_t interleaved, const KvTensorView &out,
                   RopeParams &p) {
  if (!checkHeads(call, "x", x) || !checkHeads(call, "out", out) ||
      !checkIntegers(call, "positions", positions))
    return false;
  int64_t tokens = x.sizes[0], heads = x.sizes[1], dim = x.sizes[2];
  int64_t width = freqs.rank == 2 ? freqs.sizes[1] : 0;
  if (freqs.dtype != KV_DTYPE_F32 || !isDense(freqs) || !aligned(freqs) ||
      width % 2 || width <= 0 || width > dim || freqs.sizes[0] > INT32_MAX ||
      positions.sizes[0] != tokens || out.sizes[0] != tokens ||
      out.sizes[1] != heads || out.sizes[2] != dim) {
    call.unsupported("x is ", describe(x), ", positions ", describe(positions),
                     ", freqs ", describe(freqs), ", out ", describe(out),
                     ": a position a token, f32 angles in dense rows of "
                     "an even number, at most a head's");
    return false;
  }
  p = {firstElement(x),
       firstElement(out),
       x.strides[0],
       x.strides[1],
       out.strides[0],
       out.strides[1],
       int32_t(tokens),
       int32_t(heads),
       int32_t(dim),
       int32_t(width),
       static_cast<const int32_t *>(firstElement(positions)),
       static_cast<const float *>(firstElement(freqs)),
       int32_t(freqs.sizes[0]),
       interleaved != 0,
       int32_t(x.dtype),
       int32_t(out.dtype),
       Context::of(call.state).stepErrors()};
  return true;
}

void rows::rope(KvContext *context, const KvTensorView *x,
                const KvTensorView *positions, const KvTensorView *freqs,
                int32_t interleaved, const KvTensorView *out) {
  Call call(context, "rope");
  RopeParams p;
  if (!call.failed() &&
      ropeOf(call, *x, *positions, *freqs, interleaved, *out, p))
    move(call, kernelRow("kv_rope"),
         int64_t(p.tokens) * p.heads * ropeItems(p.dim, p.width), p);
}

bool kv::cuda::placesOf(Call &call, const KvTensorView &blocks,
                        const KvTensorView *scales,
                        const KvTensorView &cacheLengths,
                        const KvTensorView &lookupTable,
                        const KvTensorView &rowOffsets, int64_t layer,
                        int64_t tokens, Cache &cache,
                        StoreScaledParams &scaled) {
  Table table;
  StoreParams &p = scaled.store;
  if (!cacheOf(call, blocks, cache) ||
      !scalesOf(call, scales, blocks, scaled.scales) ||
      !tableOf(call, cacheLengths, lookupTable, rowOffsets, tokens, cache,
               table, p.batch))
    return false;
  if (layer < 0 || layer >= cache.layers) {
    call.fail(KV_STATUS_INVALID_ARGUMENT, "layer ", layer, ", blocks ",
              describe(blocks), ": they do not fit");
    return false;
  }
  p.cache = cache.view;
  p.layer = layer;
  p.table = table.entries;
  p.tablePitch = table.pitch;
  p.tableColumns = table.columns;
  p.firstPage = table.firstPage;
  p.heads = int32_t(cache.heads);
  p.dim = int32_t(cache.dim);
  p.cacheType = cache.type;
  if (!scales)
    return true;
  int64_t chunks = cache.dim / kernels::RowChunk;
  if (chunks > WarpLanes) {
    call.unsupported("blocks is ", describe(blocks),
                     ": with scales a row has at most 256 elements");
    return false;
  }
  scaled.groupChunks = int32_t(chunks / scaled.scales.groups);
  return true;
}

/// Reads a store, whose k and v may have different types if `mixed`. False,
/// with an error in the call, where kernels cannot do it.
static bool
storeOf(Call &call, const KvTensorView &blocks, const KvTensorView *scales,
        const KvTensorView &cacheLengths, const KvTensorView &lookupTable,
        const KvTensorView &rowOffsets, int64_t layer, const KvTensorView &k,
        const KvTensorView *v, bool mixed, StoreScaledParams &scaled) {
  Cache cache;
  StoreParams &p = scaled.store;
  if (!checkHeads(call, "k", k) || (v && !checkHeads(call, "v", *v)) ||
      !placesOf(call, blocks, scales, cacheLengths, lookupTable, rowOffsets,
                layer, k.sizes[0], cache, scaled))
    return false;
  if ((v ? 2 : 1) != cache.planes || k.sizes[1] != cache.heads ||
      k.sizes[2] != cache.dim ||
      (v && (!std::equal(v->sizes, v->sizes + 3, k.sizes) ||
             (!mixed && v->dtype != k.dtype)))) {
    call.fail(KV_STATUS_INVALID_ARGUMENT, "layer ", layer, ", k ", describe(k),
              ", v ", v ? describe(*v) : "absent", ", blocks ",
              describe(blocks), ": they do not fit");
    return false;
  }
  p.k = firstElement(k);
  p.kTokenStride = k.strides[0];
  p.kHeadStride = k.strides[1];
  if (v) {
    p.v = firstElement(*v);
    p.vTokenStride = v->strides[0];
    p.vHeadStride = v->strides[1];
  }
  p.rowsType = int32_t(k.dtype);
  return true;
}

/// Lanes of a row: a power of two.
static int64_t lanesOf(int32_t dim) {
  return int64_t(std::bit_ceil(uint32_t(dim / kernels::RowChunk)));
}

void rows::store(KvContext *context, const KvTensorView *blocks,
                 const KvTensorView *scales, const KvTensorView *cacheLengths,
                 const KvTensorView *lookupTable,
                 const KvTensorView *rowOffsets, int64_t layer,
                 const KvTensorView *k, const KvTensorView *v) {
  Call call(context, "store");
  StoreScaledParams scaled{};
  const StoreParams &p = scaled.store;
  if (call.failed() ||
      !storeOf(call, *blocks, scales, *cacheLengths, *lookupTable, *rowOffsets,
               layer, *k, v, /*mixed=*/false, scaled))
    return;
  int64_t rows = int64_t(p.batch.tokens) * (v ? 2 : 1) * p.heads;
  if (scales)
    return move(call, kernelRow("kv_store_scaled"), rows * lanesOf(p.dim),
                scaled);
  move(call, kernelRow("kv_store"), rows * (p.dim / kernels::RowChunk), p);
}

void rows::ropeStore(
    KvContext *context, const KvTensorView *blocks, const KvTensorView *scales,
    const KvTensorView *cacheLengths, const KvTensorView *lookupTable,
    const KvTensorView *rowOffsets, int64_t layer, const KvTensorView *q,
    const KvTensorView *k, const KvTensorView *v, const KvTensorView *positions,
    const KvTensorView *freqs, int32_t interleaved, const KvTensorView *qWeight,
    const KvTensorView *kWeight, float epsilon, float offset, int32_t flags,
    const KvTensorView *out) {
  Call call(context, "ropeStore");
  RopeStoreParams p{};
  if (flags < 0 || flags > 3)
    return call.unsupported("flags are ", flags, ", allowed: 0 to 3");
  bool normed = flags & 1;
  p.scaled = flags & 2;
  if (call.failed() ||
      !ropeOf(call, *q, *positions, *freqs, interleaved, *out, p.q) ||
      !storeOf(call, *blocks, p.scaled ? scales : nullptr, *cacheLengths,
               *lookupTable, *rowOffsets, layer, *k, v, /*mixed=*/true,
               p.store))
    return;
  const StoreParams &store = p.store.store;
  int32_t group = p.store.groupChunks;
  if (store.dim != p.q.dim || store.batch.tokens != p.q.tokens ||
      p.q.dim % 16 || p.q.width % 16 || p.q.dim > 256 ||
      (p.scaled && p.store.scales.groups > 1 && group & (group - 1)))
    return call.unsupported("q is ", describe(*q), ", k ", describe(*k),
                            ", freqs ", describe(*freqs),
                            ": heads and angles are multiples of 16 elements, "
                            "at most 256, and a scale's a power of two");
  p.kType = int32_t(k->dtype);
  p.vType = int32_t(v->dtype);
  for (auto [name, given, weight, type] :
       {std::tuple("q_weight", qWeight, &p.qWeight, &p.qWeightType),
        std::tuple("k_weight", kWeight, &p.kWeight, &p.kWeightType)}) {
    Rows row;
    if (!normed)
      continue;
    if (!rowsOf(call, name, *given, row))
      return;
    if (row.count != 1 || row.width != p.q.dim)
      return call.fail(KV_STATUS_INVALID_ARGUMENT, name, " is ",
                       describe(*given), ", needed: ", p.q.dim, " elements");
    *weight = row.data;
    *type = row.type;
  }
  p.epsilon = epsilon;
  p.offset = offset;
  move(call, kernelRow("kv_rope_store"),
       int64_t(p.q.tokens) * (p.q.heads + 2 * store.heads) * lanesOf(p.q.dim),
       p);
}
