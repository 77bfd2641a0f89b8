//===- States.cpp - Rows of Symbols.def for recurrent layers --------------===//

#include "kernels/cuda/parameters/States.h"
#include "Movers.h"
#include "kv/Runtime/Device/Buffer.h"

#include <algorithm>

using namespace kv;
using namespace kv::cuda;

/// Reads the states of one layer. False, with an error in the call, where
/// kernels cannot find them.
static bool statesOf(Call &call, const KvTensorView &blocks,
                     const KvTensorView &states, int64_t layer,
                     StatesView &view) {
  Cache cache;
  if (!poolOf(call, blocks, cache))
    return false;
  const CacheView &v = cache.view;
  if (!kernels::isRowType(blocks.dtype) || cache.planes != 1 ||
      v.pageSize != 1 || cache.dim % kernels::RowChunk ||
      v.pageStride % kernels::RowChunk || v.layerStride % kernels::RowChunk ||
      v.headStride % kernels::RowChunk) {
    call.unsupported("blocks is ", describe(blocks), " with ", strides(blocks),
                     ": states are [states, 1, layers, 1, heads, dim] of ",
                     kernels::rowTypes("or"), ", in chunks of ",
                     kernels::RowChunk, " elements");
    return false;
  }
  if (states.dtype != KV_DTYPE_I32 || states.rank != 2 ||
      states.sizes[1] != 2 || states.strides[1] != 1 || layer < 0 ||
      layer >= cache.layers) {
    call.fail(KV_STATUS_INVALID_ARGUMENT, "layer ", layer, ", states ",
              describe(states), ", blocks ", describe(blocks),
              ": the table is i32 [B, 2], and the layer one of the blocks'");
    return false;
  }
  int64_t bytes = dtypeBytes(static_cast<DType>(blocks.dtype));
  view = {static_cast<char *>(const_cast<void *>(v.data)) +
              layer * v.layerStride * bytes,
          v.pageStride,
          v.headStride,
          v.pages,
          int32_t(cache.heads),
          int32_t(cache.dim),
          static_cast<const int32_t *>(firstElement(states)),
          states.strides[0],
          int32_t(blocks.dtype)};
  return true;
}

static void copyStates(Call &call, const KvTensorView &blocks,
                       const KvTensorView &states, int64_t layer,
                       const KvTensorView &rows, bool toStates) {
  CopyStatesParams p{};
  if (call.failed() || !statesOf(call, blocks, states, layer, p.states))
    return;
  if (!kernels::isRowType(rows.dtype) || rows.rank != 3 || !isDense(rows) ||
      !aligned(rows) || rows.sizes[0] != states.sizes[0] ||
      rows.sizes[1] != p.states.heads || rows.sizes[2] != p.states.dim)
    return call.unsupported("rows is ", describe(rows), " with ", strides(rows),
                            ", states ", describe(states), ", blocks ",
                            describe(blocks), ": needed are dense [B, ",
                            p.states.heads, ", ", p.states.dim, "] of ",
                            kernels::rowTypes("or"));
  p.rows = firstElement(rows);
  p.sequences = int32_t(rows.sizes[0]);
  p.rowsType = int32_t(rows.dtype);
  p.toStates = toStates;
  move(call, kernelRow("kv_copy_states"), elementsOf(rows) / kernels::RowChunk,
       p);
}

void rows::stateRead(KvContext *context, const KvTensorView *blocks,
                     const KvTensorView *states, int64_t layer,
                     const KvTensorView *rows) {
  Call call(context, "stateRead");
  copyStates(call, *blocks, *states, layer, *rows, /*toStates=*/false);
}

void rows::stateWrite(KvContext *context, const KvTensorView *blocks,
                      const KvTensorView *states, int64_t layer,
                      const KvTensorView *rows) {
  Call call(context, "stateWrite");
  copyStates(call, *blocks, *states, layer, *rows, /*toStates=*/true);
}

/// The common begin of both recurrences: f32 states, and a batch of `tokens`.
static bool recurrenceOf(Call &call, const KvTensorView &blocks,
                         const KvTensorView &cacheLengths,
                         const KvTensorView &states,
                         const KvTensorView &rowOffsets, int64_t layer,
                         int64_t tokens, StatesView &view,
                         kv::plan::Batch &batch) {
  if (!statesOf(call, blocks, states, layer, view) ||
      !batchOf(call, cacheLengths, rowOffsets, tokens, batch))
    return false;
  if (view.type == KV_DTYPE_F32 && states.sizes[0] == batch.sequences)
    return true;
  call.unsupported("blocks is ", describe(blocks), ", states ",
                   describe(states), ", cache_lengths ", describe(cacheLengths),
                   ": needed are f32 states, and a row of the table for each "
                   "sequence");
  return false;
}

/// An f32 tensor of these sizes without gaps within a row; the first size may
/// be any where it is negative. Null, with an error in the call, if it is not.
static float *floatsOf(Call &call, std::string_view name,
                       const KvTensorView &view,
                       std::initializer_list<int64_t> sizes,
                       int64_t *rowStride) {
  bool fits = view.dtype == KV_DTYPE_F32 &&
              view.rank == int64_t(sizes.size()) &&
              std::equal(sizes.begin(), sizes.end(), view.sizes);
  int64_t dense = 1;
  for (int64_t d = view.rank - 1; fits && d >= (rowStride ? 1 : 0); --d) {
    fits = view.sizes[d] == 1 || view.strides[d] == dense;
    dense *= view.sizes[d];
  }
  if (fits) {
    if (rowStride)
      *rowStride = view.strides[0];
    return static_cast<float *>(firstElement(view));
  }
  std::string wanted;
  for (int64_t size : sizes)
    wanted += concat(wanted.empty() ? "" : ", ", size);
  call.unsupported(name, " is ", describe(view), " with ", strides(view),
                   ": needed is f32 [", wanted, "] without gaps in a row");
  return nullptr;
}

void rows::stateConvolution(KvContext *context, const KvTensorView *blocks,
                            const KvTensorView *cacheLengths,
                            const KvTensorView *states,
                            const KvTensorView *rowOffsets, int64_t layer,
                            const KvTensorView *x, const KvTensorView *weight,
                            const KvTensorView *bias, const KvTensorView *out) {
  Call call(context, "stateConvolution");
  StateConvolutionParams p{};
  if (call.failed())
    return;
  if (x->rank != 2 || weight->rank != 2)
    return call.unsupported("x is ", describe(*x), ", weight ",
                            describe(*weight), ": they are [T, C] and [K, C]");
  int64_t tokens = x->sizes[0], width = x->sizes[1], taps = weight->sizes[0];
  if (!recurrenceOf(call, *blocks, *cacheLengths, *states, *rowOffsets, layer,
                    tokens, p.states, p.batch))
    return;
  if (taps < 2 || taps > kernels::MostTaps || p.states.heads != taps - 1 ||
      p.states.dim != width)
    return call.unsupported(
        "x is ", describe(*x), ", weight ", describe(*weight), ", blocks ",
        describe(*blocks), ": needed are 2 to ", kernels::MostTaps,
        " taps, and states of the rows before the last one");
  p.x = floatsOf(call, "x", *x, {tokens, width}, &p.xStride);
  p.weight = floatsOf(call, "weight", *weight, {taps, width}, &p.weightStride);
  p.out = floatsOf(call, "out", *out, {tokens, width}, &p.outStride);
  if (bias)
    p.bias = floatsOf(call, "bias", *bias, {width}, nullptr);
  if (call.failed())
    return;
  bool chunks = aligned(*x) && aligned(*weight) && aligned(*out) &&
                (!bias || aligned(*bias));
  for (int64_t stride : {p.xStride, p.weightStride, p.outStride})
    chunks = chunks && stride % kernels::RowChunk == 0;
  if (!chunks)
    return call.unsupported("x is ", describe(*x), " with ", strides(*x),
                            ": rows are chunks of 8 elements, aligned to 16 "
                            "bytes");
  p.width = int32_t(width);
  p.taps = int32_t(taps);
  move(call, kernelRow("kv_state_convolution"),
       (tokens + p.batch.sequences) * (width / kernels::RowChunk), p);
}

void rows::stateScan(KvContext *context, const KvTensorView *blocks,
                     const KvTensorView *cacheLengths,
                     const KvTensorView *states, const KvTensorView *rowOffsets,
                     int64_t layer, const KvTensorView *q,
                     const KvTensorView *k, const KvTensorView *v,
                     const KvTensorView *decay, const KvTensorView *strength,
                     const KvTensorView *skip, int32_t delta,
                     const KvTensorView *out) {
  Call call(context, "stateScan");
  StateScanParams p{};
  if (call.failed())
    return;
  if (q->rank != 3 || v->rank != 4)
    return call.unsupported("q is ", describe(*q), ", v ", describe(*v),
                            ": they are [T, G, N] and [T, G, R, P]");
  int64_t tokens = q->sizes[0], keyHeads = q->sizes[1], keyDim = q->sizes[2];
  int64_t perKey = v->sizes[2], valueDim = v->sizes[3];
  if (!recurrenceOf(call, *blocks, *cacheLengths, *states, *rowOffsets, layer,
                    tokens, p.states, p.batch))
    return;
  if (keyDim > kernels::MostScanKeys || valueDim % kernels::RowChunk ||
      p.states.heads != keyHeads * perKey || p.states.dim != keyDim * valueDim)
    return call.unsupported("q is ", describe(*q), ", v ", describe(*v),
                            ", blocks ", describe(*blocks),
                            ": needed are keys of at most ",
                            kernels::MostScanKeys,
                            " elements, values of a multiple of 8, and states "
                            "of a key times a value");
  p.q = floatsOf(call, "q", *q, {tokens, keyHeads, keyDim}, &p.qStride);
  p.k = floatsOf(call, "k", *k, {tokens, keyHeads, keyDim}, &p.kStride);
  p.v =
      floatsOf(call, "v", *v, {tokens, keyHeads, perKey, valueDim}, &p.vStride);
  p.decay = floatsOf(call, "decay", *decay, {tokens, keyHeads, perKey},
                     &p.decayStride);
  p.strength = floatsOf(call, "strength", *strength, {tokens, keyHeads, perKey},
                        &p.strengthStride);
  p.out = floatsOf(call, "out", *out, {tokens, keyHeads, perKey, valueDim},
                   &p.outStride);
  if (skip)
    p.skip = floatsOf(call, "skip", *skip, {keyHeads, perKey}, nullptr);
  if (call.failed())
    return;
  p.valueHeads = int32_t(keyHeads * perKey);
  p.perKey = int32_t(perKey);
  p.keyDim = int32_t(keyDim);
  p.valueDim = int32_t(valueDim);
  p.delta = delta != 0;
  int64_t warps =
      p.batch.sequences * p.valueHeads * (valueDim / scanColumns(p.keyDim));
  move(call, kernelRow("kv_state_scan"), warps * WarpLanes, p);
}
