//===- Queries.h - The queries of a unit ------------------------*- C++ -*-===//

#ifndef KV_KERNELS_CUDA_ATTENTION_COMMON_QUERIES_H
#define KV_KERNELS_CUDA_ATTENTION_COMMON_QUERIES_H

#include "Rows.h"
#include "kernels/block/Widen.h"
#include "kernels/cuda/parameters/AttentionTiles.h"

namespace kv::cuda {

/// The least power of two that is not below x.
KV_HD constexpr int powerAbove(int x) {
  int power = 1;
  while (power < x)
    power *= 2;
  return power;
}

/// Brings queries to shared memory, where they are scaled to f16, or to the
/// type of products of 8 bits, if the cache has 8 bits.
template <Block B, class C> class Queries {
public:
  /// The elements of a query that a thread copies at a time, the lanes per row,
  /// and the turns. Lanes that find a row's largest element are a power of two.
  static constexpr int PartChunks = C::Widens ? 2 : 1;
  static constexpr int Parts = C::QueryChunks / PartChunks;
  static constexpr int Lanes = C::Widens ? powerAbove(Parts) : Parts;
  static constexpr int Turns = (C::Rows * Lanes + C::Threads - 1) / C::Threads;
  using Part = Chunk[PartChunks];

  KV_BODY Queries(B &b, const AttentionParams &p) : b(b), p(p) {}

  /// `Together`: where registers are free, this number of loads waits together.
  template <int Together> KV_BODY void copy(const Rows<B, C> &rows) {
    KV_UNROLL_BY(1)
    for (int turn = 0; turn < Turns; turn += Together) {
      Part parts[Together];
      KV_UNROLL for (int i = 0; i < Together; ++i)
        load(rows, parts[i], turn + i);
      KV_UNROLL for (int i = 0; i < Together; ++i)
        store(parts[i], turn + i);
    }
  }

  KV_BODY void load(const Rows<B, C> &rows, Part &chunks, int turn) {
    const auto *q = static_cast<const typename C::Query *>(p.q);
    int i = late(b.thread()) + turn * C::Threads, row = i / Lanes,
        part = i % Lanes;
    KV_UNROLL for (Chunk &chunk : chunks)
      chunk = {};
    if (row < rows.liveRows && part < Parts) {
      const auto *from = reinterpret_cast<const Chunk *>(
          q + rows.tokenOf(row) * p.qTokenStride +
          rows.queryHeadOf(row) * p.qHeadStride);
      KV_UNROLL for (int j = 0; j < PartChunks; ++j)
        chunks[j] = b.load(from + part * PartChunks + j);
    }
  }

  KV_BODY void store(const Part &chunks, int turn) {
    int i = late(b.thread()) + turn * C::Threads, row = i / Lanes,
        part = i % Lanes;
    if (row >= C::Rows)
      return;
    if constexpr (C::Widens)
      storeScaled(row, part, chunks);
    else if (part < Parts)
      stored().store(C::QueryRows::chunk(row, part), chunks[0]);
  }

private:
  KV_BODY auto stored() const { return view<C, slot::Queries, Chunk>(b); }

  /// Sixteen elements of a row, by the lanes of the row together.
  KV_BODY void storeScaled(int row, int pair, const Chunk (&chunks)[2]) {
    float x[16], largest = 0;
    KV_UNROLL for (int i = 0; i < 16; ++i) {
      x[i] =
          widenHalf<typename C::Query>(chunks[i / 8].words[i / 2 % 4], i % 2);
      largest = kv::plan::larger(largest, x[i] < 0 ? -x[i] : x[i]);
    }
    KV_UNROLL for (int mask = 1; mask < Lanes; mask *= 2)
      largest = kv::plan::larger(largest, b.shuffleXor(largest, mask));
    RangeScale scale =
        ByteProducts<C> ? byteScale(largest) : rangeScale(largest);
    if (pair == 0)
      view<C, slot::QueryScales, float>(b).store(row, scale.inverse);
    if constexpr (ByteProducts<C>) {
      Chunk bytes;
      KV_UNROLL for (float &each : x)
        each = kv::plan::multiply(each, scale.factor);
      KV_UNROLL for (int i = 0; i < 4; ++i)
        bytes.words[i] = narrowFour<typename C::Product>(
            x[i * 4], x[i * 4 + 1], x[i * 4 + 2], x[i * 4 + 3]);
      if (pair < Parts)
        stored().store(C::QueryRows::chunk(row, pair), bytes);
    } else {
      // A lane has four elements of K side by side, of which an mma takes the
      // first two and, in its other register, the last two.
      Chunk ordered[2];
      KV_UNROLL for (int i = 0; i < 8; ++i)
        ordered[i % 2].words[i / 2] =
            narrowPair<F16>(kv::plan::multiply(x[i * 2], scale.factor),
                            kv::plan::multiply(x[i * 2 + 1], scale.factor));
      if (pair >= Parts)
        return;
      KV_UNROLL for (int i = 0; i < 2; ++i)
        stored().store(C::QueryRows::chunk(row, pair * 2 + i), ordered[i]);
    }
  }

  B &b;
  const AttentionParams &p;
};

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTION_COMMON_QUERIES_H
