//===- Tile.cpp - The inner loops of attention ----------------------------===//
//
// Written once with vectors of a parameter's width, and instantiated for each
// level of the architecture. Every operation is lane by lane except the sums
// over keys, whose order is written out.
//
//===----------------------------------------------------------------------===//

#include "Tile.h"
#include "Elements.h"
#include "VectorMath.h"

#include <limits>

using namespace kv::reference;

namespace {

constexpr double Infinity = std::numeric_limits<double>::infinity();

template <int Lanes>
KV_ALWAYS_INLINE typename Vector<Lanes>::D &vectorAt(double *p) {
  return *reinterpret_cast<typename Vector<Lanes>::D *>(p);
}

/// Gives fn(d, number) every element of a row, times its scale.
template <class Format, class Fn>
KV_ALWAYS_INLINE void forElements(const typename Format::Storage *row,
                                  int64_t count, const LayerScales &scales,
                                  int64_t scaleRow, Fn fn) {
  if (!scales) {
    for (int64_t d = 0; d < count; ++d)
      fn(d, Format::widen(row[d]));
    return;
  }
  for (int64_t first = 0; first < count; first += scales.groupSize()) {
    float scale = scales.load(scaleRow, first / scales.groupSize());
    int64_t last = std::min(first + scales.groupSize(), count);
    for (int64_t d = first; d < last; ++d)
      fn(d, Format::widen(row[d]) * scale);
  }
}

/// Widens the keys and values at [first, last) of the block at `block`.
template <class Format>
KV_ALWAYS_INLINE void loadBlock(const Tile &tile, const KeySource &source,
                                int64_t block, int64_t first, int64_t last) {
  const auto *data =
      static_cast<const typename Format::Storage *>(source.cache.view.data);
  int64_t valuePlane = source.cache.planes() - 1;
  for (int64_t position = first; position < last; ++position) {
    int64_t i = position - block;
    int64_t page = source.page(position), slot = source.slot(position);
    auto visit = [&](int64_t plane, int64_t count, auto fn) {
      int64_t scaleRow =
          source.scales ? source.scales.row(plane, page, slot, source.head) : 0;
      forElements<Format>(data +
                              source.cache.row(plane, page, slot, source.head),
                          count, source.scales, scaleRow, fn);
    };
    visit(0, tile.dim,
          [&](int64_t d, float x) { tile.keysT[d * KeyBlock + i] = x; });
    double *target = tile.values + i * tile.valueStride;
    visit(valuePlane, source.valueDim,
          [&](int64_t d, float x) { target[d] = x; });
  }
}

/// scores[r][key] = sum over d of queries[r][d] * keys[key][d], d ascending,
/// for `Rows` rows and `Count` vectors of keys from key `first` of the block.
template <int Lanes, int Rows, int Count>
KV_ALWAYS_INLINE void dotKeys(const Tile &tile, int64_t row, int64_t first,
                              double (&scores)[Rows][KeyBlock]) {
  using V = typename Vector<Lanes>::D;
  const double *queries = tile.queries + row * tile.dim;
  V sums[Rows][Count] = {};
  for (int64_t d = 0; d < tile.dim; ++d) {
    double *keys = tile.keysT + d * KeyBlock + first;
#pragma GCC unroll 4
    for (int r = 0; r < Rows; ++r) {
      V query = V{} + queries[r * tile.dim + d];
#pragma GCC unroll 8
      for (int j = 0; j < Count; ++j)
        sums[r][j] += vectorAt<Lanes>(keys + j * Lanes) * query;
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 8
    for (int j = 0; j < Count; ++j)
      vectorAt<Lanes>(scores[r] + first + j * Lanes) = sums[r][j];
}

/// accumulators = accumulators * rescale + weights x values over the keys
/// [first, last) of the block, ascending, for `Count` vectors from element
/// `begin` on.
template <int Lanes, int Count>
KV_ALWAYS_INLINE void weighValues(const Tile &tile, double *accumulators,
                                  int64_t begin, const double *weights,
                                  double rescale, int64_t first, int64_t last) {
  using V = typename Vector<Lanes>::D;
  V sums[Count];
#pragma GCC unroll 8
  for (int j = 0; j < Count; ++j)
    sums[j] = vectorAt<Lanes>(accumulators + begin + j * Lanes) * rescale;
  for (int64_t i = first; i < last; ++i) {
    double *values = tile.values + i * tile.valueStride + begin;
    V weight = V{} + weights[i];
#pragma GCC unroll 8
    for (int j = 0; j < Count; ++j)
      sums[j] += vectorAt<Lanes>(values + j * Lanes) * weight;
  }
#pragma GCC unroll 8
  for (int j = 0; j < Count; ++j)
    vectorAt<Lanes>(accumulators + begin + j * Lanes) = sums[j];
}

/// The sum of a block's weights in one fixed order: key i with i + 8, i + 16
/// and i + 24, then neighbours.
KV_ALWAYS_INLINE double sumWeights(const double *w) {
  double s[8];
  for (int i = 0; i < 8; ++i)
    s[i] = (w[i] + w[i + 8]) + (w[i + 16] + w[i + 24]);
  return ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
}

/// Takes one row over the block at `block`. `scores` holds the raw dot
/// products and becomes the weights.
template <int Lanes>
KV_ALWAYS_INLINE void updateRow(const Tile &tile, int64_t r, int64_t block,
                                double *scores, double scale, double softcap) {
  using V = typename Vector<Lanes>::D;
  using I = typename Vector<Lanes>::I;
  Row &row = tile.rows[r];
  int64_t first = std::max(row.keys.first - block, int64_t(0));
  int64_t last = std::min(row.keys.last - block, KeyBlock);
  if (first >= last)
    return;

  V maxima = V{} + row.maximum;
  I key = {};
  for (int i = 0; i < Lanes; ++i)
    key[i] = i;
  for (int64_t i = 0; i < KeyBlock; i += Lanes, key += Lanes) {
    V score = vectorAt<Lanes>(scores + i) * scale;
    if (softcap > 0) {
      score /= softcap;
      tanhVector<Lanes>(score);
      score *= softcap;
    }
    I seen = (key >= first) & (key < last);
    if (row.tree < block + last) [[unlikely]]
      for (int j = 0; j < Lanes; ++j)
        if (seen[j] && !row.sees(block + i + j))
          seen[j] = 0;
    score = seen ? score : V{} - Infinity;
    maxima = score > maxima ? score : maxima;
    vectorAt<Lanes>(scores + i) = score;
  }
  double maximum = row.maximum;
  for (int i = 0; i < Lanes; ++i)
    maximum = maxima[i] > maximum ? maxima[i] : maximum;
  if (maximum == -Infinity)
    return; // every weight so far is zero

  double rescale = 1;
  if (maximum != row.maximum) {
    V change = V{} + (row.maximum - maximum);
    expNonPositive<Lanes>(change);
    rescale = change[0];
  }
  for (int64_t i = 0; i < KeyBlock; i += Lanes) {
    V weight = vectorAt<Lanes>(scores + i) - maximum;
    expNonPositive<Lanes>(weight);
    vectorAt<Lanes>(scores + i) = weight;
  }
  row.sum = row.sum * rescale + sumWeights(scores);
  row.maximum = maximum;

  double *accumulators = tile.accumulators + r * tile.valueStride;
  for (int64_t key = first; key < last;) {
    // The keys that the row sees without a gap: all, except those of a tree.
    int64_t end = std::max(key, std::min(last, row.tree - block));
    while (end < last && row.sees(block + end))
      ++end;
    int64_t d = 0;
    for (; d + 8 * Lanes <= tile.valueStride; d += 8 * Lanes)
      weighValues<Lanes, 8>(tile, accumulators, d, scores, rescale, key, end);
    for (; d < tile.valueStride; d += ValuePadding)
      weighValues<Lanes, ValuePadding / Lanes>(tile, accumulators, d, scores,
                                               rescale, key, end);
    rescale = 1;
    key = end + 1;
  }
}

template <int Lanes>
KV_ALWAYS_INLINE void runTileImpl(const Tile &tile, const KeySource &source,
                                  double scale, double softcap) {
  // Sums at a time: as many as the level has registers for, 16, or 32 from
  // AVX-512 on.
  constexpr int Rows = Lanes == 8 ? 2 : 1;
  constexpr int Count = Lanes == 8 ? 4 : 8;
  for (int64_t block = tile.keys.first / KeyBlock * KeyBlock;
       block < tile.keys.last; block += KeyBlock) {
    int64_t first = std::max(tile.keys.first, block);
    int64_t last = std::min(tile.keys.last, block + KeyBlock);
    withCacheFormat(source.cache.view.dtype,
                    [&](auto format) __attribute__((always_inline)) {
                      loadBlock<decltype(format)>(tile, source, block, first,
                                                  last);
                    });
    int64_t r = 0;
    for (; r + Rows <= tile.rowCount; r += Rows) {
      alignas(64) double scores[Rows][KeyBlock];
      for (int64_t i = 0; i < KeyBlock; i += Count * Lanes)
        dotKeys<Lanes, Rows, Count>(tile, r, i, scores);
      for (int j = 0; j < Rows; ++j)
        updateRow<Lanes>(tile, r + j, block, scores[j], scale, softcap);
    }
    for (; r < tile.rowCount; ++r) {
      alignas(64) double scores[1][KeyBlock];
      for (int64_t i = 0; i < KeyBlock; i += Count * Lanes)
        dotKeys<Lanes, 1, Count>(tile, r, i, scores);
      updateRow<Lanes>(tile, r, block, scores[0], scale, softcap);
    }
  }
}

void runTileBaseline(const Tile &tile, const KeySource &source, double scale,
                     double softcap) {
  runTileImpl<2>(tile, source, scale, softcap);
}

#ifdef __x86_64__
__attribute__((target("arch=x86-64-v3"))) void
runTileV3(const Tile &tile, const KeySource &source, double scale,
          double softcap) {
  runTileImpl<4>(tile, source, scale, softcap);
}

__attribute__((target("arch=x86-64-v4"))) void
runTileV4(const Tile &tile, const KeySource &source, double scale,
          double softcap) {
  runTileImpl<8>(tile, source, scale, softcap);
}
#endif

} // namespace

int kv::reference::machineLanes() {
#ifdef __x86_64__
  static const int lanes = __builtin_cpu_supports("x86-64-v4")   ? 8
                           : __builtin_cpu_supports("x86-64-v3") ? 4
                                                                 : 2;
  return lanes;
#else
  return 2;
#endif
}

void kv::reference::runTile(const Tile &tile, const KeySource &source,
                            double scale, double softcap, int lanes) {
#ifdef __x86_64__
  if (lanes == 8)
    return runTileV4(tile, source, scale, softcap);
  if (lanes == 4)
    return runTileV3(tile, source, scale, softcap);
#endif
  runTileBaseline(tile, source, scale, softcap);
}
