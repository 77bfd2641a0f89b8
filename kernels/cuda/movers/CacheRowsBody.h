//===- CacheRowsBody.h - Rows of a cache, read and changed ------*- C++ -*-===//

#ifndef KV_KERNELS_CUDA_MOVERS_CACHEROWSBODY_H
#define KV_KERNELS_CUDA_MOVERS_CACHEROWSBODY_H

#include "MoverBodies.h"
#include "kernels/cuda/parameters/States.h"

namespace kv::cuda {

template <class T, class B>
KV_BODY void widenEight(B &b, const void *data, int64_t at, float (&x)[Eight]) {
  IntPair words = b.load(
      reinterpret_cast<const IntPair *>(static_cast<const T *>(data) + at));
  KV_UNROLL for (int i = 0; i < 4; ++i) {
    x[i] = widen(T{uint8_t(uint32_t(words.x) >> i * 8)});
    x[i + 4] = widen(T{uint8_t(uint32_t(words.y) >> i * 8)});
  }
}

/// A chunk of a cached row, times its scale if there is one.
template <class B>
KV_BODY void loadCached(B &b, const StoreParams &p, const ScalesView &s,
                        int groupChunks, const StoredRow &row, int chunk,
                        float (&x)[Eight]) {
  int64_t at =
      rowAt(p.cache, row.page, row.plane, p.layer, row.slot, row.head) +
      chunk * Eight;
  if (p.cacheType == KV_DTYPE_F8E4M3FN)
    widenEight<F8E4M3>(b, p.cache.data, at, x);
  else if (p.cacheType == KV_DTYPE_F8E5M2)
    widenEight<F8E5M2>(b, p.cache.data, at, x);
  else if (p.cacheType == KV_DTYPE_I8)
    widenEight<I8>(b, p.cache.data, at, x);
  else
    loadEight(b, p.cache.data, at, p.cacheType, x);
  if (!s.data)
    return;
  int64_t group = rowAt(s, row.page, row.plane, p.layer, row.slot, row.head) +
                  chunk / groupChunks;
  float scale = s.powers ? powerOfExponent(b.load(
                               static_cast<const uint8_t *>(s.data) + group))
                         : b.load(static_cast<const float *>(s.data) + group);
  KV_UNROLL for (float &element : x)
    element = kv::plan::multiply(element, scale);
}

/// One thread per chunk; chunks that are not seen are zeros.
template <class B> KV_BODY void loadBody(B &b, const LoadParams &p) {
  const StoreParams &s = p.store;
  int chunks = s.dim / Eight;
  int64_t perRow = int64_t(s.heads) * chunks, perSequence = p.rows * perRow;
  for (int64_t i = firstItem(b, MoverThreads);
       i < s.batch.sequences * (perSequence + 1);
       i += itemStep(b, MoverThreads)) {
    int32_t index = int32_t(i / (perSequence + 1));
    int64_t rest = i - index * (perSequence + 1);
    kv::plan::Sequence sequence = kv::plan::sequenceAt(s.batch, index);
    int64_t length = sequence.cached + sequence.added;
    if (rest == perSequence) {
      b.store(p.lengths + index,
              int32_t(kv::plan::lesser<int64_t>(length, INT32_MAX)));
      continue;
    }
    int64_t place = rest / perRow;
    int inRow = int(rest - place * perRow);
    StoredRow row{0, 0, p.plane, inRow / chunks};
    int chunk = inRow % chunks;
    int64_t most = kv::plan::lesser<int64_t>(length, int64_t(s.tableColumns) *
                                                         s.cache.pageSize);
    bool seen =
        place < most && (p.window == 0 || place + p.window > sequence.cached);
    if (seen) {
      row.page = b.load(s.table + index * s.tablePitch +
                        s.cache.pageSize.quotient(int32_t(place)));
      row.slot = s.cache.pageSize.remainder(int32_t(place));
      seen = row.page >= s.firstPage && row.page < s.cache.pages;
    }
    float x[Eight] = {};
    if (seen)
      loadCached(b, s, p.scales, p.groupChunks, row, chunk, x);
    storeEight(b, p.out, (int64_t(index) * perSequence + rest) * Eight,
               p.outType, x);
  }
}

/// One warp per head, and one lane per chunk.
template <class B> struct HeadUpdate {
  B &b;
  const UpdateParams &p;
  int warp = b.thread() / WarpLanes, chunk = b.thread() % WarpLanes;

  KV_BODY auto heads() {
    return b.template shared<float>(0, MoverWarps * kernels::MostUpdated);
  }
  KV_BODY int placeOf(int element) {
    return warp * kernels::MostUpdated + element;
  }
  KV_BODY void share(const float (&x)[Eight]) {
    KV_UNROLL for (int j = 0; j < Eight; ++j)
      heads().store(placeOf(chunk * Eight + j), x[j]);
  }

  KV_BODY void turn(int64_t position, float (&x)[Eight]) {
    int half = p.width / 2;
    const auto *angles =
        static_cast<const float *>(p.operand) +
        kv::plan::lesser<int64_t>(position, p.operandRows - 1) * p.width;
    KV_UNROLL for (int j = 0; j < Eight; ++j) {
      int i = chunk * Eight + j;
      if (i >= p.width)
        continue;
      bool second = p.interleaved ? i & 1 : i >= half;
      int pair = p.interleaved ? i / 2 : second ? i - half : i;
      int beside = p.interleaved ? i ^ 1 : second ? i - half : i + half;
      float left = x[j], right = heads().load(placeOf(beside));
      if (second) {
        float other = left;
        left = right;
        right = other;
      }
      rotate(left, right, b.load(angles + pair * 2),
             b.load(angles + pair * 2 + 1));
      x[j] = second ? right : left;
    }
  }

  /// All lanes of a warp call it.
  KV_BODY void normalise(float (&x)[Eight]) {
    float sum = 0;
    KV_UNROLL for (int j = 0; j < Eight; ++j)
      if (chunk * Eight + j < p.width)
        sum = kv::plan::fusedMultiplyAdd(x[j], x[j], sum);
    KV_UNROLL for (int mask = 1; mask < WarpLanes; mask *= 2)
      sum += b.shuffleXor(sum, mask);
    float inverse = 1.0f / sqrtf(sum / float(p.width) + p.epsilon);
    KV_UNROLL for (int j = 0; j < Eight; ++j)
      if (chunk * Eight + j < p.width)
        x[j] =
            x[j] * inverse *
            b.load(static_cast<const float *>(p.operand) + chunk * Eight + j);
  }

  KV_BODY void addRow(int64_t token, int head, float (&x)[Eight]) {
    float y[Eight];
    loadEight(b, p.operand,
              token * p.tokenStride + head * p.headStride + chunk * Eight,
              p.operandType, y);
    KV_UNROLL for (int j = 0; j < Eight; ++j)
      x[j] += y[j];
  }

  KV_BODY void run() {
    const StoreParams &s = p.store.store;
    kv::plan::Batch batch = s.batch;
    batch.capacity = int64_t(s.tableColumns) * s.cache.pageSize;
    int64_t rows = 0;
    if (batch.sequences > 0)
      rows = int64_t(kv::plan::lesser(
                 batch.tokens, b.load(batch.rowOffsets + batch.sequences))) *
             s.heads;
    // All threads of a block stay until its last row.
    for (int64_t first = int64_t(b.block()) * MoverWarps; first < rows;
         first += int64_t(b.blocks()) * MoverWarps) {
      int64_t row = first + warp, token = row / s.heads;
      StoredRow at{0, 0, p.plane, int(row % s.heads)};
      bool there = row < rows && chunk < s.dim / Eight &&
                   findStored(b, s, batch, token, at.page, at.slot);
      float x[Eight] = {};
      if (there)
        loadCached(b, s, p.store.scales, p.store.groupChunks, at, chunk, x);
      share(x);
      b.sync();
      if (p.kind == KV_UPDATE_RMS_NORM)
        normalise(x);
      if (there && p.kind == KV_UPDATE_ROPE) {
        kv::plan::Sequence sequence =
            kv::plan::sequenceAt(batch, sequenceOf(b, batch, token));
        turn(sequence.cached + token - sequence.token, x);
      }
      if (there && p.kind == KV_UPDATE_ADD)
        addRow(token, at.head, x);
      b.sync(); // partners are read
      if (p.scaled) {
        share(x);
        b.sync();
        float largest = 0;
        int group = p.store.groupChunks;
        for (int i = 0; there && i < group; ++i) {
          float y[Eight];
          KV_UNROLL for (int j = 0; j < Eight; ++j)
            y[j] =
                heads().load(placeOf((chunk / group * group + i) * Eight + j));
          largest = largestMagnitude(largest, y);
        }
        if (there)
          storeScaledChunk(b, p.store, at, chunk, largest, x);
        b.sync(); // the next row may come
      } else if (there) {
        storeEight(
            b, const_cast<void *>(s.cache.data),
            rowAt(s.cache, at.page, at.plane, s.layer, at.slot, at.head) +
                chunk * Eight,
            s.cacheType, x);
      }
    }
  }
};

template <class B> KV_BODY void updateBody(B &b, const UpdateParams &p) {
  HeadUpdate<B>{b, p}.run();
}

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_MOVERS_CACHEROWSBODY_H
