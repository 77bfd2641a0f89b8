//===- MoverBodies.h - The kernels that move rows ---------------*- C++ -*-===//
//
// Each computes an element from its own row only, in an order that the grid
// does not change.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_MOVERS_MOVERBODIES_H
#define KV_KERNELS_CUDA_MOVERS_MOVERBODIES_H

#include "Chunks.h"
#include "kernels/block/Widen.h"
#include "kernels/cuda/parameters/Movers.h"
#include "kernels/cuda/parameters/StepErrors.h"

namespace kv::cuda {

/// The sequence whose rows a token lies in, if offsets are in order.
template <class B>
KV_BODY int32_t sequenceOf(B &b, const kv::plan::Batch &batch, int64_t token) {
  int32_t low = 0, high = batch.sequences;
  while (high - low > 1) {
    int32_t middle = low + (high - low) / 2;
    (b.load(batch.rowOffsets + middle) <= token ? low : high) = middle;
  }
  return low;
}

template <class B> KV_BODY void positionsBody(B &b, const PositionsParams &p) {
  for (int64_t token = firstItem(b, MoverThreads); token < p.batch.tokens;
       token += itemStep(b, MoverThreads)) {
    int32_t position = -1;
    if (p.batch.sequences > 0) {
      kv::plan::Sequence sequence =
          kv::plan::sequenceAt(p.batch, sequenceOf(b, p.batch, token));
      int64_t number = token - sequence.token;
      if (number >= 0 && number < sequence.added) {
        int64_t place = sequence.cached + number;
        if (p.ancestors)
          place = kv::plan::nodeAt(sequence.cached, sequence.added, number,
                                   b.load(p.ancestors + token))
                      .position;
        position = int32_t(kv::plan::lesser<int64_t>(place, INT32_MAX));
      }
    }
    b.store(p.out + token, position);
  }
}

/// Where a new token's row goes; false if nowhere.
template <class B>
KV_BODY bool findStored(B &b, const StoreParams &p,
                        const kv::plan::Batch &batch, int64_t token,
                        int32_t &page, int32_t &slot) {
  int32_t index = sequenceOf(b, batch, token);
  kv::plan::Sequence sequence = kv::plan::sequenceAt(batch, index);
  int64_t number = token - sequence.token;
  int64_t place = sequence.cached + number;
  if (number < 0 || number >= sequence.added ||
      place >= kv::plan::lesser<int64_t>(batch.capacity, INT32_MAX))
    return false;
  page = b.load(p.table + index * p.tablePitch +
                p.cache.pageSize.quotient(int32_t(place)));
  slot = p.cache.pageSize.remainder(int32_t(place));
  return page >= p.firstPage && page < p.cache.pages;
}

/// The first element of a row of a cache or of its scales.
template <class View>
KV_BODY int64_t rowAt(const View &view, int32_t page, int plane, int64_t layer,
                      int32_t slot, int head) {
  return page * view.pageStride + plane * view.planeStride +
         layer * view.layerStride + slot * view.tokenStride +
         head * view.headStride;
}

template <class B>
KV_BODY void growLengthsBody(B &b, const GrowLengthsParams &p) {
  for (int64_t i = firstItem(b, MoverThreads); i < p.sequences;
       i += itemStep(b, MoverThreads)) {
    // Wraps if offsets are wrong: every reader of lengths clamps them.
    uint32_t rows = uint32_t(b.load(p.rowOffsets + i + 1)) -
                    uint32_t(b.load(p.rowOffsets + i));
    b.store(p.out + i,
            int32_t(uint32_t(b.load(p.lengths + i)) + uint32_t(p.sign) * rows));
  }
}

template <class B> KV_BODY void storeBody(B &b, const StoreParams &p) {
  kv::plan::Batch batch = p.batch;
  batch.capacity = int64_t(p.tableColumns) * p.cache.pageSize;
  int chunks = p.dim / Eight, planes = p.v ? 2 : 1;
  int64_t perToken = int64_t(planes) * p.heads * chunks;
  int64_t items = batch.sequences > 0 ? batch.tokens * perToken : 0;
  for (int64_t i = firstItem(b, MoverThreads); i < items;
       i += itemStep(b, MoverThreads)) {
    int64_t token = i / perToken;
    int rest = int(i - token * perToken);
    int column = rest % chunks * Eight, head = rest / chunks % p.heads;
    int plane = rest / chunks / p.heads;
    int32_t page, slot;
    if (!findStored(b, p, batch, token, page, slot))
      continue;
    int64_t from = token * (plane ? p.vTokenStride : p.kTokenStride) +
                   head * (plane ? p.vHeadStride : p.kHeadStride) + column;
    float x[Eight];
    loadEight(b, plane ? p.v : p.k, from, p.rowsType, x);
    storeEight(b, const_cast<void *>(p.cache.data),
               rowAt(p.cache, page, plane, p.layer, slot, head) + column,
               p.cacheType, x);
  }
}

/// The larger of `largest` and of all magnitudes; NaN if there is one.
KV_BODY float largestMagnitude(float largest, const float (&x)[Eight]) {
  uint32_t bits = bitsAs<uint32_t>(largest);
  KV_UNROLL for (float element : x)
    bits = kv::plan::greater(bits, bitsAs<uint32_t>(element) & 0x7fffffff);
  return bitsAs<float>(bits);
}

/// The scale of a group, as it is stored and as it is read back.
struct StoredScale {
  uint32_t bits;
  float value;
};
KV_BODY StoredScale scaleFor(float largest, int32_t cacheType, bool powers) {
  float most = cacheType == KV_DTYPE_I8       ? LargestOf<I8>
               : cacheType == KV_DTYPE_F8E5M2 ? LargestOf<F8E5M2>
                                              : LargestOf<F8E4M3>;
  float ratio = largest / most;
  if (!powers)
    return {bitsAs<uint32_t>(ratio), ratio};
  uint32_t bits = bitsAs<uint32_t>(ratio);
  uint32_t exponent =
      kv::plan::lesser<uint32_t>((bits >> 23) + ((bits & 0x7fffff) != 0), 255);
  return {exponent, powerOfExponent(exponent)};
}

/// Lanes that have a row together, a chunk each: a power of two, no more than a
/// warp. The last ones may have none.
KV_BODY int lanesOf(int dim) {
  int lanes = 1;
  while (lanes < dim / Eight)
    lanes *= 2;
  return lanes;
}

/// Lanes that find a scale together; 1: each looks at its whole group.
KV_BODY int scaleLanes(const StoreScaledParams &p, int lanes) {
  int group = p.groupChunks;
  return p.scales.groups == 1 ? lanes : group & (group - 1) ? 1 : group;
}

/// The largest magnitude in `together` neighbouring lanes. All lanes of a warp
/// call it.
template <class B>
KV_BODY float largestOfLanes(B &b, const float (&x)[Eight], int together) {
  float largest = largestMagnitude(0, x);
  for (int mask = 1; mask < together; mask *= 2)
    largest = bitsAs<float>(
        kv::plan::greater(bitsAs<uint32_t>(largest),
                          bitsAs<uint32_t>(b.shuffleXor(largest, mask))));
  return largest;
}

/// Where a row of a cache lies.
struct StoredRow {
  int32_t page, slot;
  int plane, head;
};

/// A chunk of a row whose group has no larger magnitude; the first of a group
/// stores its scale.
template <class B>
KV_BODY void storeScaledChunk(B &b, const StoreScaledParams &params,
                              const StoredRow &row, int chunk, float largest,
                              float (&x)[Eight]) {
  const StoreParams &p = params.store;
  const ScalesView &s = params.scales;
  StoredScale scale = scaleFor(largest, p.cacheType, s.powers);
  KV_UNROLL for (float &element : x)
    element = scale.value == 0 ? 0.0f : element / scale.value;
  storeEight(b, const_cast<void *>(p.cache.data),
             rowAt(p.cache, row.page, row.plane, p.layer, row.slot, row.head) +
                 chunk * Eight,
             p.cacheType, x);
  if (chunk % params.groupChunks)
    return;
  int64_t at = rowAt(s, row.page, row.plane, p.layer, row.slot, row.head) +
               chunk / params.groupChunks;
  void *scales = const_cast<void *>(s.data);
  if (s.powers)
    b.store(static_cast<uint8_t *>(scales) + at, uint8_t(scale.bits));
  else
    b.store(static_cast<uint32_t *>(scales) + at, scale.bits);
}

template <class B>
KV_BODY void storeScaledBody(B &b, const StoreScaledParams &params) {
  const StoreParams &p = params.store;
  kv::plan::Batch batch = p.batch;
  batch.capacity = int64_t(p.tableColumns) * p.cache.pageSize;
  int chunks = p.dim / Eight, planes = p.v ? 2 : 1, lanes = lanesOf(p.dim);
  int group = params.groupChunks, together = scaleLanes(params, lanes);
  int64_t perToken = int64_t(planes) * p.heads;
  int64_t rows = batch.sequences > 0 ? batch.tokens * perToken : 0;
  // All lanes of a warp stay until its last row.
  for (int64_t first = int64_t(b.block()) * MoverThreads; first < rows * lanes;
       first += itemStep(b, MoverThreads)) {
    int64_t row = (first + b.thread()) / lanes;
    int chunk = int((first + b.thread()) % lanes);
    int64_t token = row / perToken;
    StoredRow at{0, 0, int(row % perToken) / p.heads,
                 int(row % perToken) % p.heads};
    bool stored =
        row < rows && findStored(b, p, batch, token, at.page, at.slot);
    int64_t from = token * (at.plane ? p.vTokenStride : p.kTokenStride) +
                   at.head * (at.plane ? p.vHeadStride : p.kHeadStride);
    const void *source = at.plane ? p.v : p.k;
    float x[Eight] = {};
    if (stored && chunk < chunks)
      loadEight(b, source, from + chunk * Eight, p.rowsType, x);
    float largest = largestOfLanes(b, x, together);
    stored = stored && chunk < chunks;
    for (int i = 0; together == 1 && stored && i < group; ++i) {
      float y[Eight];
      loadEight(b, source, from + (chunk / group * group + i) * Eight,
                p.rowsType, y);
      largest = largestMagnitude(largest, y);
    }
    if (stored)
      storeScaledChunk(b, params, at, chunk, largest, x);
  }
}

KV_BODY void fillNaN(float (&x)[Eight]) {
  KV_UNROLL for (float &element : x)
    element = kv::plan::NoScore - kv::plan::NoScore;
}

/// (x, y) turned by an angle.
KV_BODY void rotate(float &x, float &y, float cosine, float sine) {
  float turned =
      kv::plan::fusedMultiplyAdd(x, cosine, -kv::plan::multiply(y, sine));
  y = kv::plan::fusedMultiplyAdd(x, sine, kv::plan::multiply(y, cosine));
  x = turned;
}

/// An item is two spans of at most 8 elements, which are turned together or
/// pass. The spans are whole chunks if the rotated width and the head are
/// multiples of 16.
template <class B> KV_BODY void ropeBody(B &b, const RopeParams &p) {
  int half = p.width / 2, turns = ropeTurns(p.width);
  int perRow = ropeItems(p.dim, p.width);
  int64_t items = int64_t(p.tokens) * p.heads * perRow;
  for (int64_t i = firstItem(b, MoverThreads); i < items;
       i += itemStep(b, MoverThreads)) {
    int part = int(i % perRow);
    int head = int(i / perRow % p.heads);
    int64_t token = i / perRow / p.heads;
    int64_t from = token * p.xTokenStride + head * p.xHeadStride;
    int64_t to = token * p.outTokenStride + head * p.outHeadStride;
    bool turned = part < turns, apart = turned && !p.interleaved;
    int pairs = kv::plan::lesser(Eight, half - part * Eight);
    int first = turned ? part * (apart ? Eight : 2 * Eight)
                       : p.width + (part - turns) * 2 * Eight;
    int count = turned ? 2 * pairs : kv::plan::lesser(2 * Eight, p.dim - first);
    int firsts = apart ? pairs : kv::plan::lesser(Eight, count);
    int seconds = count - firsts;
    int second = apart ? first + half : first + Eight;
    float x[Eight], y[Eight];
    loadSpan(b, p.x, from + first, p.xType, firsts, x);
    loadSpan(b, p.x, from + second, p.xType, seconds, y);
    if (turned) {
      int32_t position = b.load(p.positions + token);
      bool known = position >= 0 && position < p.freqRows;
      if (!known && part == 0 && head == 0)
        raiseStepError(b, p.errors, StepErrorKind::RopePosition, token,
                       position);
      // Angles part * 8 and on, as pairs.
      float f[2][Eight];
      KV_UNROLL for (int quad = 0; quad < 2; ++quad) {
        int at = part * 2 * Eight + quad * Eight;
        if (known)
          loadSpan(b, p.freqs, int64_t(position) * p.width + at, KV_DTYPE_F32,
                   kv::plan::lesser(Eight, p.width - at), f[quad]);
        else
          fillNaN(f[quad]);
      }
      KV_UNROLL for (int j = 0; j < Eight; ++j) {
        float cosine = f[j / 4][j % 4 * 2], sine = f[j / 4][j % 4 * 2 + 1];
        if (apart)
          rotate(x[j], y[j], cosine, sine);
        else if (j < 4)
          rotate(x[j * 2], x[j * 2 + 1], cosine, sine);
        else
          rotate(y[j * 2 - 8], y[j * 2 - 7], cosine, sine);
      }
    }
    storeSpan(b, p.out, to + first, p.outType, firsts, x);
    storeSpan(b, p.out, to + second, p.outType, seconds, y);
  }
}

/// The sum of what a block's threads have, in the same order for any row. All
/// threads have left the one before when it returns.
template <class B> KV_BODY float sumOfBlock(B &b, float sum) {
  auto sums = b.template shared<float>(0, MoverWarps);
  KV_UNROLL for (int mask = 1; mask < WarpLanes; mask *= 2)
    sum += b.shuffleXor(sum, mask);
  if (b.thread() % WarpLanes == 0)
    sums.store(b.thread() / WarpLanes, sum);
  b.sync();
  sum = 0;
  KV_UNROLL for (int w = 0; w < MoverWarps; ++w)
    sum += sums.load(w);
  b.sync(); // the next row's sums may come
  return sum;
}

template <class B> KV_BODY void normBody(B &b, const NormParams &p) {
  for (int row = b.block(); row < p.rows; row += b.blocks()) {
    int32_t group = row / p.together;
    int64_t x = group * p.xStride + int64_t(row - group * p.together) * p.width;
    int64_t out = row * p.outStride;
    float sum = 0;
    for (int i = b.thread() * Eight; i < p.width; i += MoverThreads * Eight) {
      float v[Eight];
      loadEight(b, p.x, x + i, p.xType, v);
      KV_UNROLL for (int j = 0; j < Eight; ++j)
        sum = kv::plan::fusedMultiplyAdd(v[j], v[j], sum);
    }
    sum = sumOfBlock(b, sum);
    float inverse = 1.0f / sqrtf(sum / float(p.width) + p.epsilon);
    int64_t weight = int64_t(row % p.weightRows) * p.width;
    for (int i = b.thread() * Eight; i < p.width; i += MoverThreads * Eight) {
      float v[Eight], w[Eight] = {};
      loadEight(b, p.x, x + i, p.xType, v);
      if (p.weight)
        loadEight(b, p.weight, weight + i, p.weightType, w);
      KV_UNROLL for (int j = 0; j < Eight; ++j)
        v[j] = v[j] * inverse * (w[j] + p.offset);
      storeEight(b, p.out, out + i, p.outType, v);
    }
  }
}

/// Calls f(row, column) for every chunk of a matrix.
template <class B, class Function>
KV_BODY void forEachChunk(B &b, int32_t rows, int32_t width, Function f) {
  int chunks = width / Eight;
  for (int64_t i = firstItem(b, MoverThreads); i < int64_t(rows) * chunks;
       i += itemStep(b, MoverThreads)) {
    int64_t row = i / chunks;
    f(row, int(i - row * chunks) * Eight);
  }
}

template <class B> KV_BODY void pairBody(B &b, const PairParams &p) {
  forEachChunk(b, p.rows, p.width, [&](int64_t row, int column) {
    float x[Eight], y[Eight];
    loadEight(b, p.a, row * p.aStride + column, p.aType, x);
    loadEight(b, p.b, row * p.bStride + column, p.bType, y);
    KV_UNROLL for (int j = 0; j < Eight; ++j)
      x[j] = p.function == KV_PAIR_ADD ? x[j] + y[j]
                                       : x[j] / (1.0f + expf(-x[j])) * y[j];
    storeEight(b, p.out, row * p.outStride + column, p.outType, x);
  });
}

template <class B> KV_BODY void embeddingBody(B &b, const EmbeddingParams &p) {
  forEachChunk(b, p.rows, p.width, [&](int64_t row, int column) {
    int32_t id = b.load(p.ids + row);
    float x[Eight];
    if (id >= 0 && id < p.tableRows) {
      loadEight(b, p.table, id * p.tableStride + column, p.tableType, x);
    } else {
      fillNaN(x);
      if (column == 0)
        raiseStepError(b, p.errors, StepErrorKind::EmbeddingId, row, id);
    }
    storeEight(b, p.out, row * p.outStride + column, p.outType, x);
  });
}

template <class B> KV_BODY void castBody(B &b, const CastParams &p) {
  forEachChunk(b, p.rows, p.width, [&](int64_t row, int column) {
    float x[Eight];
    loadEight(b, p.x, row * p.xStride + column, p.xType, x);
    storeEight(b, p.out, row * p.outStride + column, p.outType, x);
  });
}

/// The better of two candidates: larger, or as large and earlier.
KV_BODY void keepBetter(float &x, int &at, float y, int other) {
  if (y > x || (y == x && other < at)) {
    x = y;
    at = other;
  }
}

template <class B> KV_BODY void argmaxBody(B &b, const ArgmaxParams &p) {
  auto best = b.template shared<float>(0, MoverWarps);
  auto places = b.template shared<int32_t>(MoverWarps * 4, MoverWarps);
  for (int row = b.block(); row < p.rows; row += b.blocks()) {
    float largest = kv::plan::NoScore;
    int at = INT32_MAX;
    for (int i = b.thread() * Eight; i < p.width; i += MoverThreads * Eight) {
      float v[Eight];
      loadEight(b, p.x, row * p.xStride + i, p.xType, v);
      KV_UNROLL for (int j = 0; j < Eight; ++j)
        keepBetter(largest, at, v[j], i + j);
    }
    KV_UNROLL for (int mask = 1; mask < WarpLanes; mask *= 2) {
      float other = b.shuffleXor(largest, mask);
      int place = bitsAs<int>(b.shuffleXor(bitsAs<float>(at), mask));
      keepBetter(largest, at, other, place);
    }
    if (b.thread() % WarpLanes == 0) {
      best.store(b.thread() / WarpLanes, largest);
      places.store(b.thread() / WarpLanes, at);
    }
    b.sync();
    if (b.thread() == 0) {
      for (int w = 1; w < MoverWarps; ++w)
        keepBetter(largest, at, best.load(w), places.load(w));
      // A row of NaN has none: its first element.
      b.store(p.out + row, at == INT32_MAX ? 0 : at);
    }
    b.sync();
  }
}

template <class B> KV_BODY void copyPagesBody(B &b, const CopyPagesParams &p) {
  int64_t chunks = p.runBytes / ChunkBytes, perPage = chunks * p.runs;
  auto *data = static_cast<char *>(p.data);
  for (int64_t i = firstItem(b, MoverThreads); i < p.count * perPage;
       i += itemStep(b, MoverThreads)) {
    int64_t pair = i / perPage, rest = i - pair * perPage;
    int32_t from = b.load(p.source + pair), to = b.load(p.destination + pair);
    if (from < 0 || from >= p.pages || to <= 0 || to >= p.pages)
      continue;
    int64_t run = rest / chunks;
    int64_t place = run * p.runStride + (rest - run * chunks) * ChunkBytes;
    b.store(reinterpret_cast<Chunk *>(data + to * p.pageStride + place),
            b.load(reinterpret_cast<const Chunk *>(data + from * p.pageStride +
                                                   place)));
  }
}

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_MOVERS_MOVERBODIES_H
