//===- CacheRows.cpp - Rows of Symbols.def that read and change a cache ---===//

#include "Movers.h"
#include "kernels/cuda/parameters/States.h"
#include "kv/Runtime/Device/Buffer.h"

using namespace kv;
using namespace kv::cuda;

/// Whether there is such a plane.
static bool checkPart(Call &call, int64_t part, const Cache &cache) {
  if (part >= 0 && part < cache.planes)
    return true;
  call.fail(KV_STATUS_INVALID_ARGUMENT, "part ", part, " of ", cache.planes);
  return false;
}

void rows::load(KvContext *context, const KvTensorView *blocks,
                const KvTensorView *scales, const KvTensorView *cacheLengths,
                const KvTensorView *lookupTable, const KvTensorView *rowOffsets,
                int64_t layer, int64_t part, int64_t window,
                const KvTensorView *out, const KvTensorView *lengths) {
  Call call(context, "load");
  StoreScaledParams places{};
  Cache cache;
  // The step's rows are counted, not looked at.
  if (call.failed() ||
      !placesOf(call, *blocks, scales, *cacheLengths, *lookupTable, *rowOffsets,
                layer, /*tokens=*/INT32_MAX, cache, places) ||
      !checkPart(call, part, cache) ||
      !checkIntegers(call, "lengths", *lengths))
    return;
  int64_t sequences = places.store.batch.sequences;
  if (!kernels::isRowType(out->dtype) || out->rank != 4 || !isDense(*out) ||
      !aligned(*out) || out->sizes[0] != sequences ||
      out->sizes[1] > INT32_MAX || out->sizes[2] != cache.heads ||
      out->sizes[3] != cache.dim || lengths->sizes[0] != sequences)
    return call.unsupported("out is ", describe(*out), ", lengths ",
                            describe(*lengths), ", blocks ", describe(*blocks),
                            ": needed are dense [B, S, ", cache.heads, ", ",
                            cache.dim, "] and [B]");
  LoadParams p{places.store,
               places.scales,
               int32_t(part),
               scales ? places.groupChunks : 1,
               window,
               firstElement(*out),
               static_cast<int32_t *>(firstElement(*lengths)),
               int32_t(out->sizes[1]),
               int32_t(out->dtype)};
  move(call, kernelRow("kv_load"),
       elementsOf(*out) / kernels::RowChunk + sequences, p);
}

void rows::update(KvContext *context, const KvTensorView *blocks,
                  const KvTensorView *scales, const KvTensorView *cacheLengths,
                  const KvTensorView *lookupTable,
                  const KvTensorView *rowOffsets, int64_t layer, int64_t part,
                  int32_t kind, const KvTensorView *operand, float epsilon,
                  int32_t interleaved) {
  Call call(context, "update");
  UpdateParams p{};
  Cache cache;
  if (call.failed())
    return;
  bool adds = kind == KV_UPDATE_ADD;
  if (adds && !checkHeads(call, "operand", *operand))
    return;
  // Where rows are not given, the host does not know their number: the offsets
  // tell the device.
  int64_t tokens = adds ? operand->sizes[0] : INT32_MAX;
  if (!placesOf(call, *blocks, scales, *cacheLengths, *lookupTable, *rowOffsets,
                layer, tokens, cache, p.store) ||
      !checkPart(call, part, cache))
    return;
  int64_t rank = kind == KV_UPDATE_ROPE       ? 2
                 : kind == KV_UPDATE_RMS_NORM ? 1
                                              : 3;
  int64_t width = operand->sizes[operand->rank - 1];
  bool fits = operand->rank == rank && width >= 1 && width <= cache.dim &&
              cache.dim <= kernels::MostUpdated && kind >= 0 && kind <= 2;
  if (adds)
    fits = fits && operand->sizes[1] == cache.heads && width == cache.dim;
  else
    fits = fits && operand->dtype == KV_DTYPE_F32 && isDense(*operand) &&
           (rank == 1 || (width % 2 == 0 && operand->sizes[0] >= 1 &&
                          operand->sizes[0] <= INT32_MAX));
  if (!fits)
    return call.unsupported("kind ", kind, ", operand ", describe(*operand),
                            ", blocks ", describe(*blocks),
                            ": heads have at most ", kernels::MostUpdated,
                            " elements, and an operand no more");
  p.scaled = scales != nullptr;
  if (!scales)
    p.store.groupChunks = 1;
  p.plane = int32_t(part);
  p.kind = kind;
  p.operand = firstElement(*operand);
  p.operandType = int32_t(operand->dtype);
  p.operandRows = int32_t(operand->sizes[0]);
  p.width = int32_t(width);
  p.epsilon = epsilon;
  p.interleaved = interleaved != 0;
  if (adds) {
    p.tokenStride = operand->strides[0];
    p.headStride = operand->strides[1];
  }
  move(call, kernelRow("kv_update"), INT64_MAX / 2, p);
}
