//===- Attention.cpp - Softmax attention over a paged cache ---------------===//
//
// A tile is up to a few dozen query rows of one KV head of one sequence. Its
// keys are taken in blocks of 32 consecutive absolute positions, aligned to
// 32; a block is widened to double once and then used by every row. A row is
// updated block by block (running maximum, sum, weighted values), each step in
// an order that absolute positions fix, and a block in which it sees nothing
// does not touch it.
//
//===----------------------------------------------------------------------===//

#include "Elements.h"
#include "PagedCache.h"
#include "VectorMath.h"
#include "kv/Kernels/Reference.h"

#include <cstring>
#include <limits>
#include <memory>
#include <new>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) &&         \
    !defined(KV_NO_CLONES)
#define KV_CLONES                                                              \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define KV_CLONES
#endif

using namespace kv::reference;

namespace {

constexpr int64_t Lanes = 8;
constexpr int64_t KeyVectors = 4;
constexpr int64_t KeyBlock = KeyVectors * Lanes;
/// How many rows a tile has at least room for.
constexpr int64_t TileRows = 48;
constexpr double Infinity = std::numeric_limits<double>::infinity();

/// The key positions that a query sees: [first, last).
struct Visible {
  int64_t first;
  int64_t last;
};

Visible visibleKeys(int32_t mask, int64_t window, int64_t position,
                    int64_t length) {
  int64_t first = 0, last = length;
  switch (mask) {
  case KV_MASK_CAUSAL:
    last = position + 1;
    break;
  case KV_MASK_SLIDING:
    first = position - window + 1;
    last = position + 1;
    break;
  case KV_MASK_CHUNKED:
    first = position / window * window;
    last = window > length - first ? length : first + window;
    break;
  case KV_MASK_SLIDING_NONCAUSAL:
    first = position - window + 1;
    break;
  default:
    break;
  }
  return {std::max<int64_t>(first, 0), std::min(last, length)};
}

/// One query row and its running softmax.
struct Row {
  Visible keys;
  double maximum;
  double sum;
};

/// Working memory of one tile. Everything is in vectors of eight doubles.
struct Tile {
  int64_t rowCount;
  int64_t dim;          // D
  int64_t valueVectors; // Dv rounded up to vectors
  Visible keys;         // what any row sees
  Row *rows;            // [rowCount]
  double *queries;      // [rowCount][D]
  V8 *accumulators;     // [rowCount][valueVectors]
  V8 *keysT;            // [D][KeyVectors]: the key block, transposed
  V8 *values;           // [KeyBlock][valueVectors]
};

/// Where a tile's keys are.
struct KeySource {
  LayerBlocks cache;
  const KvTensorView &table;
  int64_t sequence;
  int64_t head;
  int64_t valueDim;

  int64_t row(int64_t plane, int64_t position) const {
    int64_t page = loadIndex(table, sequence, position / cache.pageSize());
    return cache.row(plane, page, position % cache.pageSize(), head);
  }
};

/// Memory of this thread that is kept from call to call.
class Scratch {
public:
  void reserve(size_t vectors) {
    if (vectors <= capacity)
      return;
    memory.reset(static_cast<V8 *>(
        ::operator new(vectors * sizeof(V8), std::align_val_t(64))));
    capacity = vectors;
    next = 0;
  }
  void rewind() { next = 0; }
  template <class T> T *take(size_t count) {
    T *result = reinterpret_cast<T *>(memory.get() + next);
    next += vectorsFor<T>(count);
    return result;
  }
  template <class T> static size_t vectorsFor(size_t count) {
    return (count * sizeof(T) + sizeof(V8) - 1) / sizeof(V8);
  }

private:
  struct Free {
    void operator()(V8 *p) const { ::operator delete(p, std::align_val_t(64)); }
  };
  std::unique_ptr<V8, Free> memory;
  size_t capacity = 0;
  size_t next = 0;
};

/// Widens the keys and values at [first, last) of the block at `block`.
template <class Format>
KV_ALWAYS_INLINE void loadBlock(const Tile &tile, const KeySource &source,
                                int64_t block, int64_t first, int64_t last) {
  const auto *data =
      static_cast<const typename Format::Storage *>(source.cache.view.data);
  int64_t valuePlane = source.cache.planes() - 1;
  double *keysT = reinterpret_cast<double *>(tile.keysT);
  for (int64_t position = first; position < last; ++position) {
    int64_t i = position - block;
    const auto *key = data + source.row(0, position);
    for (int64_t d = 0; d < tile.dim; ++d)
      keysT[d * KeyBlock + i] = Format::widen(key[d]);
    const auto *value = data + source.row(valuePlane, position);
    double *target =
        reinterpret_cast<double *>(tile.values + i * tile.valueVectors);
    for (int64_t d = 0; d < source.valueDim; ++d)
      target[d] = Format::widen(value[d]);
  }
}

/// scores[r][key] = sum over d of queries[r][d] * keys[key][d], d ascending.
template <int Rows>
KV_ALWAYS_INLINE void dotBlock(const Tile &tile, int64_t row,
                               V8 (&scores)[Rows][KeyVectors]) {
  const double *queries = tile.queries + row * tile.dim;
  V8 sums[Rows][KeyVectors] = {};
  for (int64_t d = 0; d < tile.dim; ++d) {
    const V8 *keys = tile.keysT + d * KeyVectors;
#pragma GCC unroll 4
    for (int r = 0; r < Rows; ++r) {
      V8 query = V8{} + queries[r * tile.dim + d];
#pragma GCC unroll 4
      for (int j = 0; j < KeyVectors; ++j)
        sums[r][j] += keys[j] * query;
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 4
    for (int j = 0; j < KeyVectors; ++j)
      scores[r][j] = sums[r][j];
}

/// accumulators = accumulators * rescale + weights x values over the keys
/// [first, last) of the block, ascending; `Width` vectors from `vector` on.
template <int Width>
KV_ALWAYS_INLINE void weighValues(const Tile &tile, V8 *accumulators,
                                  int64_t vector, const double *weights,
                                  double rescale, int64_t first, int64_t last) {
  V8 sums[Width];
#pragma GCC unroll 8
  for (int j = 0; j < Width; ++j)
    sums[j] = accumulators[vector + j] * rescale;
  for (int64_t i = first; i < last; ++i) {
    const V8 *values = tile.values + i * tile.valueVectors + vector;
    V8 weight = V8{} + weights[i];
#pragma GCC unroll 8
    for (int j = 0; j < Width; ++j)
      sums[j] += values[j] * weight;
  }
#pragma GCC unroll 8
  for (int j = 0; j < Width; ++j)
    accumulators[vector + j] = sums[j];
}

/// Takes one row over the block at `block`, given its raw dot products.
KV_ALWAYS_INLINE void updateRow(const Tile &tile, int64_t r, int64_t block,
                                V8 (&scores)[KeyVectors], double scale,
                                double softcap) {
  Row &row = tile.rows[r];
  int64_t first = std::max(row.keys.first - block, int64_t(0));
  int64_t last = std::min(row.keys.last - block, KeyBlock);
  if (first >= last)
    return;

  V8 maxima = V8{} + row.maximum;
  I8 lane = {0, 1, 2, 3, 4, 5, 6, 7};
  for (int j = 0; j < KeyVectors; ++j, lane += Lanes) {
    V8 score = scores[j] * scale;
    if (softcap > 0) {
      score /= softcap;
      tanhVector(score);
      score *= softcap;
    }
    I8 seen = (lane >= first) & (lane < last);
    scores[j] = seen ? score : V8{} - Infinity;
    maxima = scores[j] > maxima ? scores[j] : maxima;
  }
  double maximum = row.maximum;
  for (int i = 0; i < Lanes; ++i)
    maximum = maxima[i] > maximum ? maxima[i] : maximum;
  if (maximum == -Infinity)
    return; // every weight so far is zero

  double rescale = 1;
  if (maximum != row.maximum) {
    V8 change = V8{} + (row.maximum - maximum);
    expNonPositive(change);
    rescale = change[0];
  }
  alignas(64) double weights[KeyBlock];
  for (int j = 0; j < KeyVectors; ++j) {
    scores[j] -= maximum;
    expNonPositive(scores[j]);
    *reinterpret_cast<V8 *>(weights + j * Lanes) = scores[j];
  }
  V8 sums = (scores[0] + scores[1]) + (scores[2] + scores[3]);
  double sum = ((sums[0] + sums[1]) + (sums[2] + sums[3])) +
               ((sums[4] + sums[5]) + (sums[6] + sums[7]));
  row.sum = row.sum * rescale + sum;
  row.maximum = maximum;

  V8 *accumulators = tile.accumulators + r * tile.valueVectors;
  int64_t vector = 0;
  for (; vector + 8 <= tile.valueVectors; vector += 8)
    weighValues<8>(tile, accumulators, vector, weights, rescale, first, last);
  for (; vector + 2 <= tile.valueVectors; vector += 2)
    weighValues<2>(tile, accumulators, vector, weights, rescale, first, last);
  for (; vector < tile.valueVectors; ++vector)
    weighValues<1>(tile, accumulators, vector, weights, rescale, first, last);
}

KV_ALWAYS_INLINE void runTile(const Tile &tile, const KeySource &source,
                              double scale, double softcap) {
  for (int64_t block = tile.keys.first / KeyBlock * KeyBlock;
       block < tile.keys.last; block += KeyBlock) {
    int64_t first = std::max(tile.keys.first, block);
    int64_t last = std::min(tile.keys.last, block + KeyBlock);
    withFormat(source.cache.view.dtype,
               [&](auto format) __attribute__((always_inline)) {
                 loadBlock<decltype(format)>(tile, source, block, first, last);
               });
    int64_t r = 0;
    for (; r + 2 <= tile.rowCount; r += 2) {
      V8 scores[2][KeyVectors];
      dotBlock<2>(tile, r, scores);
      updateRow(tile, r, block, scores[0], scale, softcap);
      updateRow(tile, r + 1, block, scores[1], scale, softcap);
    }
    if (r < tile.rowCount) {
      V8 scores[1][KeyVectors];
      dotBlock<1>(tile, r, scores);
      updateRow(tile, r, block, scores[0], scale, softcap);
    }
  }
}

KV_CLONES void runTileClones(const Tile &tile, const KeySource &source,
                             double scale, double softcap) {
  runTile(tile, source, scale, softcap);
}

/// Tokens [lo, hi), all of one sequence, of one KV head.
class TileRunner {
public:
  TileRunner(const AttentionArguments &args)
      : args(args), group(args.q->sizes[1] / args.blocks->sizes[4]),
        dim(args.q->sizes[2]), valueDim(args.out->sizes[2]),
        valueVectors((valueDim + Lanes - 1) / Lanes),
        tileTokens(
            std::max<int64_t>(TileRows / std::max<int64_t>(group, 1), 1)) {}

  void run(int64_t sequence, int64_t head, int64_t lo, int64_t hi) const {
    for (; lo < hi; lo += tileTokens)
      runTokens(sequence, head, lo, std::min(lo + tileTokens, hi));
  }

private:
  Tile makeTile(int64_t rows) const {
    thread_local Scratch scratch;
    scratch.reserve(Scratch::vectorsFor<Row>(rows) +
                    Scratch::vectorsFor<double>(rows * dim) +
                    rows * valueVectors + dim * KeyVectors +
                    KeyBlock * valueVectors);
    scratch.rewind();
    Tile tile;
    tile.rowCount = rows;
    tile.dim = dim;
    tile.valueVectors = valueVectors;
    tile.keys = {std::numeric_limits<int64_t>::max(), 0};
    tile.rows = scratch.take<Row>(rows);
    tile.queries = scratch.take<double>(rows * dim);
    tile.accumulators = scratch.take<V8>(rows * valueVectors);
    tile.keysT = scratch.take<V8>(dim * KeyVectors);
    tile.values = scratch.take<V8>(KeyBlock * valueVectors);
    std::memset(tile.accumulators, 0, rows * valueVectors * sizeof(V8));
    // The padding of the values, and keys that no row sees, must hold numbers.
    std::memset(tile.keysT, 0, dim * KeyVectors * sizeof(V8));
    std::memset(tile.values, 0, KeyBlock * valueVectors * sizeof(V8));
    return tile;
  }

  void runTokens(int64_t sequence, int64_t head, int64_t lo, int64_t hi) const {
    Tile tile = makeTile((hi - lo) * group);
    int64_t first = loadIndex(*args.rowOffsets, sequence);
    int64_t cached = loadIndex(*args.cacheLengths, sequence);
    int64_t length = cached + loadIndex(*args.rowOffsets, sequence + 1) - first;
    for (int64_t r = 0; r < tile.rowCount; ++r) {
      int64_t token = lo + r / group;
      Row &row = tile.rows[r];
      row.keys =
          visibleKeys(args.mask, args.window, cached + token - first, length);
      row.maximum = -Infinity;
      row.sum = 0;
      if (row.keys.first < row.keys.last) {
        tile.keys.first = std::min(tile.keys.first, row.keys.first);
        tile.keys.last = std::max(tile.keys.last, row.keys.last);
      }
      loadQuery(token, head * group + r % group, tile.queries + r * dim);
    }
    if (tile.keys.first < tile.keys.last) {
      KeySource source{LayerBlocks(*args.blocks, args.layer), *args.lookupTable,
                       sequence, head, valueDim};
      runTileClones(tile, source, args.scale, args.softcap);
    }
    for (int64_t r = 0; r < tile.rowCount; ++r)
      storeRow(tile, r, lo + r / group, head * group + r % group);
  }

  void loadQuery(int64_t token, int64_t head, double *target) const {
    const KvTensorView &q = *args.q;
    withFormat(q.dtype, [&](auto format) {
      using Format = decltype(format);
      const auto *source = origin<const typename Format::Storage>(q) +
                           token * q.strides[0] + head * q.strides[1];
      for (int64_t d = 0; d < dim; ++d)
        target[d] = Format::widen(source[d]);
    });
  }

  void storeRow(const Tile &tile, int64_t r, int64_t token,
                int64_t head) const {
    const KvTensorView &out = *args.out;
    const Row &row = tile.rows[r];
    const double *sums =
        reinterpret_cast<const double *>(tile.accumulators + r * valueVectors);
    bool empty = row.sum == 0;
    withFormat(out.dtype, [&](auto format) {
      using Format = decltype(format);
      auto *target = origin<typename Format::Storage>(out) +
                     token * out.strides[0] + head * out.strides[1];
      for (int64_t d = 0; d < valueDim; ++d)
        target[d] = Format::narrow(
            empty ? 0.0f : static_cast<float>(sums[d] / row.sum));
    });
    if (!args.lse)
      return;
    double lse = empty                ? -Infinity
                 : row.sum == row.sum ? row.maximum + logPositive(row.sum)
                                      : row.sum;
    origin<float>(
        *args.lse)[token * args.lse->strides[0] + head * args.lse->strides[1]] =
        static_cast<float>(lse);
  }

  const AttentionArguments &args;
  int64_t group; // query heads of one KV head
  int64_t dim;
  int64_t valueDim;
  int64_t valueVectors;
  int64_t tileTokens;
};

} // namespace

int64_t kv::reference::attentionItems(const AttentionArguments &args) {
  return args.blocks->sizes[4] * args.q->sizes[0];
}

void kv::reference::attention(const AttentionArguments &args, int64_t lo,
                              int64_t hi) {
  TileRunner runner(args);
  int64_t tokens = args.q->sizes[0];
  while (lo < hi) {
    int64_t head = lo / tokens, token = lo % tokens;
    int64_t sequence = sequenceOf(*args.rowOffsets, token);
    int64_t last = std::min<int64_t>(loadIndex(*args.rowOffsets, sequence + 1),
                                     token + hi - lo);
    runner.run(sequence, head, token, last);
    lo += last - token;
  }
}
