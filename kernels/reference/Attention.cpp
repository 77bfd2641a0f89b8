//===- Attention.cpp - Softmax attention over a cache ---------------===//
//
// Cuts the work into tiles (Tile.h), loads their queries and stores their
// results.
//
//===----------------------------------------------------------------------===//

#include "Elements.h"
#include "Tile.h"
#include "VectorMath.h"
#include "kv/ABI/Trees.h"

#include <bit>
#include <cstring>
#include <limits>
#include <memory>
#include <new>

using namespace kv::reference;

namespace {

/// How many rows a tile has at least room for.
constexpr int64_t TileRows = 48;
constexpr double Infinity = std::numeric_limits<double>::infinity();

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
  case KV_MASK_CHUNKED_CAUSAL:
    first = position / window * window;
    last = position + 1;
    break;
  default:
    break;
  }
  return {std::max<int64_t>(first, 0), std::min(last, length)};
}

/// Memory of this thread that is kept from call to call, in cache lines.
class Scratch {
  struct alignas(64) Line {
    char bytes[64];
  };

public:
  template <class T> static size_t linesFor(size_t count) {
    return (count * sizeof(T) + sizeof(Line) - 1) / sizeof(Line);
  }
  void reserve(size_t lines) {
    next = 0;
    if (lines <= capacity)
      return;
    memory = std::make_unique_for_overwrite<Line[]>(lines);
    capacity = lines;
  }
  template <class T> T *take(size_t count) {
    T *result = reinterpret_cast<T *>(memory.get() + next);
    next += linesFor<T>(count);
    return result;
  }

private:
  std::unique_ptr<Line[]> memory;
  size_t capacity = 0;
  size_t next = 0;
};

/// Tokens [lo, hi), all of one sequence, of one KV head.
class TileRunner {
public:
  TileRunner(const AttentionArguments &args, int lanes)
      : args(args), lanes(lanes),
        group(args.q->sizes[1] / args.blocks->sizes[4]), dim(args.q->sizes[2]),
        valueDim(args.out->sizes[2]),
        valueStride((valueDim + ValuePadding - 1) / ValuePadding *
                    ValuePadding),
        tileTokens(
            std::max<int64_t>(TileRows / std::max<int64_t>(group, 1), 1)) {}

  void run(int64_t sequence, int64_t head, int64_t lo, int64_t hi) const {
    for (; lo < hi; lo += tileTokens)
      runTokens(sequence, head, lo, std::min(lo + tileTokens, hi));
  }

private:
  Tile makeTile(int64_t rows) const {
    thread_local Scratch scratch;
    scratch.reserve(Scratch::linesFor<Row>(rows) +
                    Scratch::linesFor<double>(rows * dim) +
                    Scratch::linesFor<double>(rows * valueStride) +
                    Scratch::linesFor<double>(dim * KeyBlock) +
                    Scratch::linesFor<double>(KeyBlock * valueStride));
    Tile tile;
    tile.rowCount = rows;
    tile.dim = dim;
    tile.valueStride = valueStride;
    tile.keys = {std::numeric_limits<int64_t>::max(), 0};
    tile.rows = scratch.take<Row>(rows);
    tile.queries = scratch.take<double>(rows * dim);
    tile.accumulators = scratch.take<double>(rows * valueStride);
    tile.keysT = scratch.take<double>(dim * KeyBlock);
    tile.values = scratch.take<double>(KeyBlock * valueStride);
    std::fill_n(tile.accumulators, rows * valueStride, 0.0);
    // The padding of the values, and keys that no row sees, must hold numbers.
    std::fill_n(tile.keysT, dim * KeyBlock, 0.0);
    std::fill_n(tile.values, KeyBlock * valueStride, 0.0);
    return tile;
  }

  void runTokens(int64_t sequence, int64_t head, int64_t lo, int64_t hi) const {
    Tile tile = makeTile((hi - lo) * group);
    int64_t first = loadIndex(*args.rowOffsets, sequence);
    int64_t cached = loadIndex(*args.cacheLengths, sequence);
    const KvTensorView &keys =
        args.kvRowOffsets ? *args.kvRowOffsets : *args.rowOffsets;
    int64_t length = cached + loadIndex(keys, sequence + 1) -
                     int64_t(loadIndex(keys, sequence));
    for (int64_t r = 0; r < tile.rowCount; ++r) {
      int64_t token = lo + r / group;
      Row &row = tile.rows[r];
      row.keys =
          visibleKeys(args.mask, args.window, cached + token - first, length);
      row.tree = std::numeric_limits<int64_t>::max();
      if (args.ancestors)
        followPath(row, sequence, token);
      // A sink is a key of weight 1 that the row saw before all others.
      row.maximum = sinkOf(head * group + r % group);
      row.sum = row.maximum == -Infinity ? 0 : 1;
      if (row.keys.first < row.keys.last) {
        tile.keys.first = std::min(tile.keys.first, row.keys.first);
        tile.keys.last = std::max(tile.keys.last, row.keys.last);
      }
      loadQuery(token, head * group + r % group, tile.queries + r * dim);
    }
    if (tile.keys.first < tile.keys.last) {
      KeySource source{LayerBlocks(*args.blocks, args.layer),
                       LayerScales(args.scales, *args.blocks, args.layer),
                       *args.lookupTable,
                       sequence,
                       head,
                       valueDim};
      runTile(tile, source, args.scale, args.softcap, lanes);
    }
    for (int64_t r = 0; r < tile.rowCount; ++r)
      storeRow(tile, r, lo + r / group, head * group + r % group);
  }

  /// The keys that a token of a tree sees: those that it would see if only its
  /// ancestors and itself stood after the tokens before the tree.
  void followPath(Row &row, int64_t sequence, int64_t token) const {
    int64_t first = loadIndex(*args.rowOffsets, sequence);
    int64_t added = loadIndex(*args.rowOffsets, sequence + 1) - first;
    int64_t before = std::max<int64_t>(added - KV_TREE_ROWS, 0);
    int64_t node = token - first - before;
    if (node < 0)
      return;
    row.tree = loadIndex(*args.cacheLengths, sequence) + before;
    uint64_t own = uint64_t(1) << node;
    const KvTensorView &words = *args.ancestors;
    uint64_t ancestors =
        uint64_t(origin<const int64_t>(words)[token * words.strides[0]]) &
        (own - 1);
    row.path = ancestors | own;
    int64_t position = row.tree + std::popcount(ancestors);
    int64_t start =
        visibleKeys(args.mask, args.window, position, position + 1).first;
    // Tokens of the path that are too old are not seen, either.
    for (int64_t old = row.tree; old < start; ++old)
      row.path &= row.path - 1;
    row.keys = {std::min(start, row.tree), row.tree + node + 1};
  }

  double sinkOf(int64_t head) const {
    if (!args.sinks)
      return -Infinity;
    return origin<const float>(*args.sinks)[head * args.sinks->strides[0]];
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
    const double *sums = tile.accumulators + r * valueStride;
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
  int lanes;
  int64_t group; // query heads of one KV head
  int64_t dim;
  int64_t valueDim;
  int64_t valueStride;
  int64_t tileTokens;
};

} // namespace

int64_t kv::reference::attentionItems(const AttentionArguments &args) {
  return args.blocks->sizes[4] * args.q->sizes[0];
}

void kv::reference::attention(const AttentionArguments &args, int64_t lo,
                              int64_t hi) {
  attentionWithLanes(args, lo, hi, machineLanes());
}

void kv::reference::attentionWithLanes(const AttentionArguments &args,
                                       int64_t lo, int64_t hi, int lanes) {
  TileRunner runner(args, lanes);
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
