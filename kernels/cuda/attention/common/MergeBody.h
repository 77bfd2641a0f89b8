//===- MergeBody.h - Folds the pieces of units apart ------------*- C++ -*-===//
//
// The kernel `merge`. An attention kernel that is launched with mergesApart
// leaves the pieces of units that several parts share where AttentionParams
// says. This kernel is launched next on the stream with the same parameters.
// The kernel folds the pieces and stores their rows' results. Any kernel that
// follows a plan may use it:
//
//   piece `slot`   scratch[slot * tileRows * (headDim + 2)]: the values of all
//                  rows of the tile, [tileRows, headDim], then (maximum, sum)
//                  of each; only live rows are read
//   its slot       plan::pieceSlot of the leaf where it begins
//
// The last block of a unit alone would read all pieces of all rows: two
// megabytes for 32k latent keys. Here a block has 128 columns of a row. Of 32
// groups at a time, each thread finds the place and the weights of one piece.
// Then a warp folds the pieces of a group, and two warps fold the groups.
// Leaves and groups are folded in the order of a single worker, by Fold.h
// alone.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_ATTENTION_COMMON_MERGEBODY_H
#define KV_KERNELS_CUDA_ATTENTION_COMMON_MERGEBODY_H

#include "Works.h"
#include "kernels/cuda/parameters/Movers.h"

namespace kv::cuda {

/// A row of a unit that several parts share, and its pieces.
template <class B> class MergedRow {
public:
  KV_BODY MergedRow(B &b, const MergeParams &m)
      : b(b), m(m), p(m.attention), header(b.load(p.header)),
        pieceFloats(p.shape.tileRows * (m.headDim + 2)) {}

  KV_BODY void setUnit(IntPair unit) {
    head = unit.y;
    tile = b.load(p.tiles + unit.x);
    sequence = sequenceOf(p, tile.sequence);
    parts = kv::plan::unitParts(p.shape, header, tile, head);
  }

  /// False: the tile has no such row.
  KV_BODY bool setRow(int index) {
    int32_t packed = tile.row + index;
    row = index;
    token = sequence.token + p.shape.group.quotient(packed);
    queryHead = head * p.shape.group + p.shape.group.remainder(packed);
    return packed < sequence.added * p.shape.group;
  }

  KV_BODY const float *pieceAt(int32_t slot) const {
    return p.scratch + slot * int64_t(pieceFloats);
  }
  KV_BODY FloatPair stateOf(int32_t slot) const {
    if (slot < 0)
      return {kv::plan::NoScore, 0};
    const float *states = pieceAt(slot) + p.shape.tileRows * m.headDim;
    return b.loadScratch(reinterpret_cast<const FloatPair *>(states) + row);
  }
  /// The slot of the piece that begins at a leaf, or -1.
  KV_BODY int32_t slotOf(int32_t leaf) const {
    if (leaf < tile.leafBegin || leaf >= tile.leafEnd)
      return -1;
    return int32_t(
        kv::plan::pieceSlot(p.shape, header, tile, head, parts, leaf));
  }

  KV_BODY void store(int column, FloatPair x, kv::plan::Softmax total) const {
    kv::plan::Softmax sink;
    if (p.sinks)
      sink = {b.load(p.sinks + queryHead) * kv::plan::Log2E, 1.0f};
    kv::plan::Finish finish = kv::plan::finish(total, sink);
    if (column == 0 && p.lse)
      b.store(p.lse + token * p.lseTokenStride + queryHead * p.lseHeadStride,
              kv::plan::logOfSum(total));
    if (column >= m.headDim)
      return;
    float low = kv::plan::finishValue(x.x, finish),
          high = kv::plan::finishValue(x.y, finish);
    int64_t place =
        token * p.outTokenStride + queryHead * p.outHeadStride + column;
    b.store(
        reinterpret_cast<uint32_t *>(static_cast<uint16_t *>(p.out) + place),
        m.type == KV_DTYPE_F16 ? narrowPair<F16>(low, high)
                               : narrowPair<Bf16>(low, high));
  }

  B &b;
  const MergeParams &m;
  const AttentionParams &p;
  const kv::plan::Header header;
  const int32_t pieceFloats;

  kv::plan::Tile tile;
  kv::plan::Sequence sequence;
  kv::plan::Parts parts;
  int32_t head, row, queryHead;
  int64_t token;
};

template <class B> class MergeBody {
  static constexpr int Pieces = kv::plan::LeavesPerGroup;
  /// Groups at a time.
  static constexpr int Groups = MoverThreads / Pieces;
  static_assert(Groups == WarpLanes, "a lane has a group");
  static constexpr int Quads = MergeColumns / 4;
  static_assert(Quads == WarpLanes, "a lane has four columns");

  struct Config {
    using Shared =
        SharedLayout<Slot<slot::PieceSlots, int32_t, MoverThreads>,
                     Slot<slot::PieceWeights, FloatQuad, MoverThreads>,
                     Slot<slot::PieceMaxima, float, Groups>,
                     Slot<slot::RowSums, float, Groups>,
                     Slot<slot::GroupWeights, FloatPair, Groups>,
                     Slot<slot::MergedUnits, IntPair, MoverThreads>,
                     Slot<slot::MergedValues, FloatQuad, Groups * Quads>>;
  };
  static_assert(Config::Shared::bytes() == MergeSharedBytes);

public:
  KV_BODY MergeBody(B &b, const MergeParams &m)
      : b(b), m(m), p(m.attention), warp(b.thread() / WarpLanes),
        lane(b.thread() % WarpLanes), merged(b, m) {}

  KV_BODY void run() {
    int slices = kv::plan::ceilDivide(m.headDim, MergeColumns);
    int each = p.shape.tileRows * slices; // items of a unit
    auto units = view<Config, slot::MergedUnits, IntPair>(b);
    for (int32_t base = 0; base < p.shape.parts; base += MoverThreads) {
      IntPair own;
      float ends = endsShared(base + b.thread(), own), all = ends;
      int place = int(sumBefore(all));
      if (ends > 0)
        units.store(place, own);
      b.sync();
      int count = int(all);
      // Neighbours, so that a unit's pieces are looked up once.
      int items = count * each;
      int share = kv::plan::ceilDivide(items, b.blocks());
      int last = kv::plan::lesser((b.block() + 1) * share, items);
      int unit = -1;
      KV_UNROLL_BY(1)
      for (int item = b.block() * share; item < last; ++item) {
        int within = item % each;
        if (unit != item / each) {
          unit = item / each;
          merged.setUnit(units.load(unit));
          found = false;
        }
        if (merged.setRow(within / slices))
          mergeRow(within % slices * MergeColumns);
      }
      // Of the next parts: sums come to where those of groups are read.
      b.sync();
    }
  }

private:
  /// 1 if a unit that several parts share ends in this one, else 0; and its
  /// tile and head. Loaded without looking: each look is a wait.
  KV_BODY float endsShared(int32_t part, IntPair &unit) const {
    int32_t known = kv::plan::lesser(part, p.shape.parts - 1);
    kv::plan::Cut cut = b.load(p.cuts + known);
    kv::plan::Cut next = b.load(p.cuts + known + 1);
    unit = {cut.tile, cut.head};
    if (merged.header.tiles == 0)
      return 0;
    int32_t begin =
        b.load(&p.tiles[kv::plan::lesser(cut.tile, merged.header.tiles - 1)]
                    .leafBegin);
    bool ends = (part == known) & (cut.tile < merged.header.tiles) &
                (cut.leaf > begin) &
                ((next.tile != cut.tile) | (next.head != cut.head));
    return ends ? 1 : 0;
  }

  /// The sum of x over the threads before this one; x becomes that of all.
  KV_BODY float sumBefore(float &x) {
    float before = 0;
    KV_UNROLL for (int mask = 1; mask < WarpLanes; mask *= 2) {
      float other = b.shuffleXor(x, mask);
      if (lane & mask)
        before += other;
      x += other;
    }
    auto sums = view<Config, slot::RowSums, float>(b);
    if (lane == 0)
      sums.store(warp, x);
    b.sync();
    x = 0;
    KV_UNROLL for (int w = 0; w < MoverWarps; ++w) {
      float its = sums.load(w);
      before += w < warp ? its : 0;
      x += its;
    }
    return before;
  }

  /// Four columns of the pieces of a group, one of `first` and on.
  KV_BODY void loadGroup(FloatQuad (&quads)[Pieces], int32_t first, int group,
                         int column) {
    auto slots = view<Config, slot::PieceSlots, int32_t>(b);
    int begin = first + group == 0 ? merged.tile.leafBegin % Pieces : 0;
    int32_t known = slots.load(group * Pieces + begin);
    int32_t at =
        merged.row * m.headDim + kv::plan::lesser(column, m.headDim - 4);
    KV_UNROLL for (int j = 0; j < Pieces; ++j) {
      int32_t slot = slots.load(group * Pieces + j);
      // Where no piece begins the first is read again, and is forgotten: a
      // branch would wait for one piece after the other.
      quads[j] = b.loadScratch(reinterpret_cast<const FloatQuad *>(
          merged.pieceAt(slot < 0 ? known : slot) + at));
    }
  }

  /// The largest of the lanes before this one, of `Lanes` side by side; x
  /// becomes that of all. A maximum is the same in whatever order it is found.
  template <int Lanes> KV_BODY float largestBefore(float &x) {
    float before = kv::plan::NoScore;
    KV_UNROLL for (int mask = 1; mask < Lanes; mask *= 2) {
      float other = b.shuffleXor(x, mask);
      if (lane & mask)
        before = kv::plan::larger(before, other);
      x = kv::plan::larger(x, other);
    }
    return before;
  }

  /// Where this thread's piece of the groups from `first` on begins.
  KV_BODY void findPiece(int32_t first) {
    int32_t leaf =
        (merged.tile.leafBegin / Pieces + first) * Pieces + int32_t(b.thread());
    view<Config, slot::PieceSlots, int32_t>(b).store(b.thread(),
                                                     merged.slotOf(leaf));
  }

  /// In addition: the factors of the fold before it and of the piece, its sum
  /// times its factor, and whether there is a piece.
  KV_BODY void weighPiece() {
    auto slots = view<Config, slot::PieceSlots, int32_t>(b);
    int32_t slot = slots.load(b.thread());
    FloatPair state = merged.stateOf(slot);
    float all = state.x, left = largestBefore<Pieces>(all);
    kv::plan::Weights pair = kv::plan::foldMaximum(left, state.x);
    view<Config, slot::PieceWeights, FloatQuad>(b).store(
        b.thread(),
        {pair.left, pair.right, kv::plan::multiply(state.y, pair.right),
         slot < 0 ? 0.0f : 1.0f});
    if (lane % Pieces == 0)
      view<Config, slot::PieceMaxima, float>(b).store(b.thread() / Pieces, all);
  }

  /// The weights of groups, one group per lane; `maximum` is that of the groups
  /// before.
  KV_BODY void weighGroups(float &maximum) {
    float all = view<Config, slot::PieceMaxima, float>(b).load(lane), its = all;
    float left = kv::plan::larger(maximum, largestBefore<Groups>(all));
    kv::plan::Weights pair = kv::plan::foldMaximum(left, its);
    if (warp == 0)
      view<Config, slot::GroupWeights, FloatPair>(b).store(
          lane, {pair.left, pair.right});
    maximum = kv::plan::larger(maximum, all);
  }

  /// Folds a group's pieces to its values and its sum.
  KV_BODY void foldPieces(const FloatQuad (&quads)[Pieces], int group) {
    auto weights = view<Config, slot::PieceWeights, FloatQuad>(b);
    FloatQuad x = {0, 0, 0, 0};
    float sum = 0;
    KV_UNROLL for (int j = 0; j < Pieces; ++j) {
      FloatQuad each = weights.load(group * Pieces + j);
      FloatQuad none = {0, 0, 0, 0}, its = each.w > 0 ? quads[j] : none;
      kv::plan::Weights pair{each.x, each.y};
      x = {kv::plan::foldValue(x.x, its.x, pair),
           kv::plan::foldValue(x.y, its.y, pair),
           kv::plan::foldValue(x.z, its.z, pair),
           kv::plan::foldValue(x.w, its.w, pair)};
      sum = kv::plan::fusedMultiplyAdd(sum, each.x, each.z);
    }
    view<Config, slot::MergedValues, FloatQuad>(b).store(group * Quads + lane,
                                                         x);
    if (lane == 0)
      view<Config, slot::RowSums, float>(b).store(group, sum);
  }

  /// Folds groups into this thread's two columns.
  KV_BODY void foldGroups(FloatPair &x, float &sum, int count) {
    auto weights = view<Config, slot::GroupWeights, FloatPair>(b);
    auto sums = view<Config, slot::RowSums, float>(b);
    auto values = view<Config, slot::MergedValues, FloatPair>(b);
    KV_UNROLL_BY(8)
    for (int group = 0; group < count; ++group) {
      FloatPair each = weights.load(group);
      FloatPair two = values.load(group * Quads * 2 + b.thread());
      kv::plan::Weights pair{each.x, each.y};
      x = {kv::plan::foldValue(x.x, two.x, pair),
           kv::plan::foldValue(x.y, two.y, pair)};
      sum = kv::plan::foldValue(sum, sums.load(group), pair);
    }
  }

  /// The columns of the row from `column` on.
  KV_BODY void mergeRow(int column) {
    int32_t groups = kv::plan::groupCount(merged.tile);
    bool folds = b.thread() < Quads * 2;
    FloatPair x = {0, 0};
    float sum = 0, maximum = kv::plan::NoScore;
    KV_UNROLL_BY(1)
    for (int32_t first = 0; first < groups; first += Groups) {
      int count = int(kv::plan::lesser(groups - first, Groups));
      if (!found) {
        findPiece(first);
        b.sync();
        found = groups <= Groups;
      }
      // A group's values come while the weights are computed, and while those
      // of the group before are folded.
      FloatQuad quads[2][Pieces];
      auto load = [&](FloatQuad(&to)[Pieces], int group) {
        if (group < count)
          loadGroup(to, first, group, column + lane * 4);
      };
      load(quads[0], warp);
      weighPiece();
      b.sync();
      weighGroups(maximum);
      KV_UNROLL_BY(1)
      for (int group = warp; group < count; group += 2 * MoverWarps) {
        load(quads[1], group + MoverWarps);
        foldPieces(quads[0], group);
        load(quads[0], group + 2 * MoverWarps);
        if (group + MoverWarps < count)
          foldPieces(quads[1], group + MoverWarps);
      }
      b.sync();
      if (folds)
        foldGroups(x, sum, count);
    }
    if (folds)
      merged.store(column + b.thread() * 2, x, {maximum, sum});
  }

  B &b;
  const MergeParams &m;
  const AttentionParams &p;
  const int warp, lane;
  MergedRow<B> merged;
  bool found; // whether the places of the unit's pieces are all known
};

template <class B> KV_BODY void mergeBody(B &b, const MergeParams &m) {
  MergeBody<B>(b, m).run();
}

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTION_COMMON_MERGEBODY_H
