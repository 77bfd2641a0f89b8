//===- RopeStoreBody.h - Norm, rotation and store at once -------*- C++ -*-===//
//
// Norm, rope and store in one launch, in the order of operations of the
// separate kernels, so with the same bits. A few lanes have a row: of q, of k
// or of v.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_MOVERS_ROPESTOREBODY_H
#define KV_KERNELS_CUDA_MOVERS_ROPESTOREBODY_H

#include "MoverBodies.h"

namespace kv::cuda {

/// A row of heads, and the weight of its norm.
struct HeadRow {
  const void *data;
  int64_t at; // its first element
  int32_t type;
  const void *weight; // null: no norm
  int32_t weightType;
};

/// 1 / sqrt(mean(x^2) + epsilon), of a row whose chunks some lanes have: the
/// sum is that of normBody, whose other lanes and warps add zeros. All lanes of
/// a warp call it.
template <class B>
KV_BODY float inverseNorm(B &b, const float (&x)[Eight], int lanes, int dim,
                          float epsilon) {
  float sum = 0;
  KV_UNROLL for (int j = 0; j < Eight; ++j)
    sum = kv::plan::fusedMultiplyAdd(x[j], x[j], sum);
  for (int mask = 1; mask < lanes; mask *= 2)
    sum += b.shuffleXor(sum, mask);
  return 1.0f / sqrtf(sum / float(dim) + epsilon);
}

template <class B>
KV_BODY void normChunk(B &b, const HeadRow &row, int chunk, float inverse,
                       float offset, float (&x)[Eight]) {
  float w[Eight];
  loadEight(b, row.weight, chunk * Eight, row.weightType, w);
  KV_UNROLL for (int j = 0; j < Eight; ++j)
    x[j] = x[j] * inverse * (w[j] + offset);
}

/// A chunk, rotated with its partner. `partner` is filled if the halves of a
/// head turn together.
template <class B>
KV_BODY void turnChunk(B &b, const RopeParams &p, int32_t position, int chunk,
                       float (&x)[Eight], float (&partner)[Eight]) {
  bool known = position >= 0 && position < p.freqRows;
  int half = p.width / 2 / Eight;
  int64_t angles = int64_t(position) * p.width;
  float f[Eight];
  if (p.interleaved) {
    fillNaN(f);
    if (known)
      loadEight(b, p.freqs, angles + chunk * Eight, KV_DTYPE_F32, f);
    KV_UNROLL for (int j = 0; j < Eight; j += 2)
      rotate(x[j], x[j + 1], f[j], f[j + 1]);
    return;
  }
  bool isFirst = chunk < half;
  KV_UNROLL for (int part = 0; part < 2; ++part) {
    fillNaN(f);
    if (known)
      loadEight(b, p.freqs, angles + (chunk % half * 2 + part) * Eight,
                KV_DTYPE_F32, f);
    KV_UNROLL for (int j = 0; j < Eight / 2; ++j) {
      int i = part * (Eight / 2) + j;
      float left = isFirst ? x[i] : partner[i];
      float right = isFirst ? partner[i] : x[i];
      rotate(left, right, f[2 * j], f[2 * j + 1]);
      x[i] = isFirst ? left : right;
    }
  }
}

template <class B> KV_BODY void ropeStoreBody(B &b, const RopeStoreParams &p) {
  const StoreParams &store = p.store.store;
  kv::plan::Batch batch = store.batch;
  batch.capacity = int64_t(store.tableColumns) * store.cache.pageSize;
  int dim = p.q.dim, chunks = dim / Eight, lanes = lanesOf(dim);
  int half = p.q.width / 2 / Eight;
  int perToken = p.q.heads + 2 * store.heads;
  int64_t rows = int64_t(p.q.tokens) * perToken;
  // All lanes of a warp stay until its last row.
  for (int64_t first = int64_t(b.block()) * MoverThreads; first < rows * lanes;
       first += itemStep(b, MoverThreads)) {
    int64_t number = (first + b.thread()) / lanes;
    int chunk = int((first + b.thread()) % lanes);
    bool isThere = number < rows && chunk < chunks;
    int64_t token = number / perToken;
    int place = int(number % perToken), stored = place - p.q.heads;
    bool isQuery = stored < 0;
    StoredRow to{0, 0, stored >= store.heads,
                 isQuery ? place : stored % store.heads};
    bool isValue = !isQuery && to.plane;
    HeadRow row =
        isQuery ? HeadRow{p.q.x,
                          token * p.q.xTokenStride + to.head * p.q.xHeadStride,
                          p.q.xType, p.qWeight, p.qWeightType}
        : isValue
            ? HeadRow{store.v,
                      token * store.vTokenStride + to.head * store.vHeadStride,
                      p.vType, nullptr, 0}
            : HeadRow{store.k,
                      token * store.kTokenStride + to.head * store.kHeadStride,
                      p.kType, p.kWeight, p.kWeightType};
    float x[Eight] = {}, partner[Eight] = {};
    if (isThere)
      loadEight(b, row.data, row.at + chunk * Eight, row.type, x);
    bool turned = isThere && !isValue && chunk * Eight < p.q.width;
    int beside = chunk < half ? chunk + half : chunk - half;
    if (turned && !p.q.interleaved)
      loadEight(b, row.data, row.at + beside * Eight, row.type, partner);
    if (p.qWeight) { // and kWeight
      float inverse = inverseNorm(b, x, lanes, dim, p.epsilon);
      if (isThere && row.weight)
        normChunk(b, row, chunk, inverse, p.offset, x);
      if (turned && !p.q.interleaved)
        normChunk(b, row, beside, inverse, p.offset, partner);
    }
    if (turned) {
      int32_t position = b.load(p.q.positions + token);
      if ((position < 0 || position >= p.q.freqRows) && place == 0 &&
          chunk == 0)
        raiseStepError(b, p.q.errors, StepErrorKind::RopePosition, token,
                       position);
      turnChunk(b, p.q, position, chunk, x, partner);
    }
    bool kept = isThere && !isQuery && batch.sequences > 0 &&
                findStored(b, store, batch, token, to.page, to.slot);
    if (isThere && isQuery)
      storeEight(b, p.q.out,
                 token * p.q.outTokenStride + to.head * p.q.outHeadStride +
                     chunk * Eight,
                 p.q.outType, x);
    if (!p.scaled) {
      if (kept)
        storeEight(b, const_cast<void *>(store.cache.data),
                   rowAt(store.cache, to.page, to.plane, store.layer, to.slot,
                         to.head) +
                       chunk * Eight,
                   store.cacheType, x);
      continue;
    }
    float largest = largestOfLanes(b, x, scaleLanes(p.store, lanes));
    if (kept)
      storeScaledChunk(b, p.store, to, chunk, largest, x);
  }
}

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_MOVERS_ROPESTOREBODY_H
