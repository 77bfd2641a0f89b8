//===- Merge.h - Units that parts share -------------------------*- C++ -*-===//
//
// The end of a unit that several parts compute: each leaves pieces. Of the
// parts that share a leaf group the last to arrive folds its pieces to one, and
// who completes the unit's last group folds the groups.
//
// The weights of a fold depend on the states of the pieces alone. For them a
// warp has a row and each lane has a piece; the weights lie where the ring was.
// Then every thread folds four columns of a row, piece by piece.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_ATTENTION_COMMON_MERGE_H
#define KV_KERNELS_CUDA_ATTENTION_COMMON_MERGE_H

#include "Output.h"
#include "Pieces.h"

namespace kv::cuda {

template <Block B, class C> class Merge {
public:
  KV_BODY Merge(B &b, const AttentionParams &p)
      : b(b), p(p), pieces(p), out(b, p) {}

  KV_BODY void arriveAndMerge(const Rows<B, C> &rows,
                              const kv::plan::Work &work) {
    using namespace kv::plan;
    const Tile tile = b.load(p.tiles + work.tile);
    const SharedUnit s{tile, unitParts(p.shape, *p.header, tile, work.head)};
    auto ticket = view<C, slot::Ticket, uint32_t>(b);
    int32_t before = tile.leafBegin / LeavesPerGroup;
    int32_t groups = groupCount(tile);
    int32_t firstGroup = work.leafBegin / LeavesPerGroup - before;
    int32_t lastGroup = (work.leafEnd - 1) / LeavesPerGroup - before;
    auto isShared = [&](Leaves leaves) {
      return leaves.begin < work.leafBegin || leaves.end > work.leafEnd;
    };
    // Where the unit begins within its first group, that group's pieces are
    // leaves even if this part has all of them.
    auto isInPieces = [&](Leaves leaves) {
      return isShared(leaves) || leaves.begin % LeavesPerGroup != 0;
    };
    b.sync(); // all pieces are stored: one thread's release is for all
    // Without rows of the tile a block has no pieces, in no part of the unit.
    if (p.mergesApart || (PartBlocks<C> > 1 && rows.liveRows <= 0))
      return;
    // The first and the last group may be shared with other parts: at both this
    // part arrives at once. Other warps find their pieces meanwhile.
    const int thread = late(b.thread()), i = thread / WarpLanes,
              lane = thread % WarpLanes;
    if (i < 2 && lane == 0) {
      Leaves leaves = groupLeaves(tile, i ? lastGroup : firstGroup);
      bool last = false;
      if (isShared(leaves) && (i == 0 || lastGroup > firstGroup)) {
        int64_t first = partOfLeaf(rows, s, leaves.begin);
        last =
            arrive(counters(rows) + p.shape.parts + first, 1,
                   uint32_t(partOfLeaf(rows, s, leaves.end - 1) - first + 1));
      }
      ticket.store(i, last);
    } else if (i == 2 && lane < 2 * LeavesPerGroup) {
      bool end = lane >= LeavesPerGroup;
      Leaves leaves = groupLeaves(tile, end ? lastGroup : firstGroup);
      int32_t leaf = leaves.begin + lane % LeavesPerGroup;
      pieceSlots().store(lane, leaf < leaves.end ? pieceSlot(rows, s, leaf)
                                                 : NoPiece);
    }
    b.sync();
    int32_t complete = lastGroup - firstGroup + 1;
    bool merges = false;
    KV_UNROLL_BY(1)
    for (int end = 0; end < 2; ++end) {
      Leaves leaves = groupLeaves(tile, end ? lastGroup : firstGroup);
      if (!isInPieces(leaves) || (end && lastGroup == firstGroup))
        continue;
      if (isShared(leaves) && !ticket.load(end))
        --complete;
      else if (groups == 1) // its pieces are all there is
        merges = true;
      else
        mergeGroup(rows, s, end * LeavesPerGroup, leaves.end - leaves.begin);
    }
    int32_t from = 0, count = tile.leafEnd - tile.leafBegin;
    if (!merges) {
      if (complete == 0)
        return;
      if (b.thread() == 0)
        ticket.store(2, arrive(counters(rows) + s.parts.first,
                               uint32_t(complete), uint32_t(groups)));
      else if (b.thread() >= WarpLanes)
        findGroups(rows, s, groups);
      b.sync();
      if (!ticket.load(2))
        return;
      from = 2 * LeavesPerGroup;
      count = groups;
    }
    finishMerged(rows, s, from, count);
  }

private:
  /// A unit that several parts compute.
  struct SharedUnit {
    const kv::plan::Tile &tile;
    kv::plan::Parts parts;
  };

  /// By one thread, for all: says that what the block stored is there. Whether
  /// it makes `expected` arrivals; then the counter is zero for the next
  /// launch.
  KV_BODY bool arrive(uint32_t *counter, uint32_t count, uint32_t expected) {
    bool last =
        b.template arrive<Order::AcquireRelease>(counter, count) + count ==
        expected;
    if (last)
      b.store(counter, 0u);
    return last;
  }

  /// The counters of this block, of AttentionParams::counters.
  KV_BODY uint32_t *counters(const Rows<B, C> &rows) const {
    if constexpr (PartBlocks<C> == 1)
      return p.counters;
    else
      return p.counters + rows.rowsBefore() / C::Rows * (2 * p.shape.parts);
  }

  KV_BODY int64_t partOfLeaf(const Rows<B, C> &rows, const SharedUnit &s,
                             int32_t leaf) const {
    return kv::plan::partOf(p.shape, *p.header, s.tile, rows.head, s.parts,
                            leaf);
  }
  /// The slot of the piece that begins at a leaf, or -1; that of a whole group.
  KV_BODY int32_t pieceSlot(const Rows<B, C> &rows, const SharedUnit &s,
                            int32_t leaf) const {
    return int32_t(kv::plan::pieceSlot(p.shape, *p.header, s.tile, rows.head,
                                       s.parts, leaf));
  }
  KV_BODY int32_t groupSlot(const Rows<B, C> &rows, const SharedUnit &s,
                            int32_t group) const {
    return pieceSlot(rows, s, kv::plan::groupLeaves(s.tile, group).begin);
  }

  /// In shared memory: the slots of the pieces that merges read. The pieces are
  /// leaves of the part's first and last group, and groups of the unit. NoPiece
  /// stands where no piece begins, and after the last. PiecesTogether slots are
  /// read at a time.
  static constexpr int32_t NoPiece = -1;
  static constexpr int PiecesTogether = kv::plan::LeavesPerGroup;
  KV_BODY auto pieceSlots() const {
    return view<C, slot::PieceSlots, int32_t>(b);
  }
  /// Pieces whose weights find room, at most.
  static constexpr int32_t PieceWeights =
      kv::plan::lesser(BytesOf<C, slot::PieceSlots> / 4 -
                           2 * kv::plan::LeavesPerGroup,
                       BytesOf<C, slot::PieceWeights> / (C::Rows * 16)) /
      PiecesTogether * PiecesTogether;
  static_assert(PieceWeights >= PiecesTogether && C::Warps >= 4);
  /// Of a piece and a row: the factors of the fold before it and of the piece,
  /// the piece's sum times its factor, and whether there is a piece.
  KV_BODY auto pieceWeights() const {
    return view<C, slot::PieceWeights, FloatQuad>(b);
  }
  KV_BODY auto pieceMaxima() const {
    return view<C, slot::PieceMaxima, float>(b);
  }

  /// By all warps but the first.
  KV_BODY void findGroups(const Rows<B, C> &rows, const SharedUnit &s,
                          int32_t count) {
    int32_t known = kv::plan::lesser(count, PieceWeights);
    int32_t all = kv::plan::ceilDivide(known, PiecesTogether) * PiecesTogether;
    for (int32_t i = b.thread() - WarpLanes; i < all;
         i += C::Threads - WarpLanes)
      pieceSlots().store(2 * kv::plan::LeavesPerGroup + i,
                         i < known ? groupSlot(rows, s, i) : NoPiece);
  }

  /// The weights of `count` pieces that begin at a place of pieceSlots.
  KV_BODY void weighPieces(const Rows<B, C> &rows, int32_t from,
                           int32_t count) {
    // Of a warp's rows; over latent ones no register is left for two.
    constexpr int Together = LatentRows<C> ? 1 : 2;
    auto slots = pieceSlots();
    auto weights = pieceWeights();
    const int thread = late(b.thread()), warp = thread / WarpLanes,
              lane = thread % WarpLanes;
    KV_UNROLL_BY(1)
    for (int first = warp; first < rows.liveRows;
         first += Together * C::Warps) {
      float maxima[Together];
      KV_UNROLL for (float &maximum : maxima)
        maximum = kv::plan::NoScore;
      KV_UNROLL_BY(1)
      for (int32_t i = lane; i < count + lane; i += WarpLanes) {
        int32_t slot = i < count ? slots.load(from + i) : NoPiece;
        // Where no piece begins the first is read again, and is forgotten: a
        // branch would wait for one piece after the other.
        int32_t known = slot < 0 ? slots.load(from) : slot;
        FloatPair its[Together];
        KV_UNROLL for (int r = 0; r < Together; ++r) {
          int row = kv::plan::lesser(first + r * C::Warps, rows.liveRows - 1);
          its[r] = b.loadScratch(pieces.state(rows, known, row));
          if (slot < 0)
            its[r] = {kv::plan::NoScore, 0};
        }
        KV_UNROLL for (int r = 0; r < Together; ++r) {
          // The largest of the pieces before this lane's, and of all 32: a
          // maximum is the same in whatever order it is found.
          float before = kv::plan::NoScore, all = its[r].x;
          KV_UNROLL for (int mask = 1; mask < WarpLanes; mask *= 2) {
            float other = b.shuffleXor(all, mask);
            if (lane & mask)
              before = kv::plan::larger(before, other);
            all = kv::plan::larger(all, other);
          }
          float left = kv::plan::larger(maxima[r], before);
          kv::plan::Weights pair = kv::plan::foldMaximum(left, its[r].x);
          maxima[r] = kv::plan::larger(maxima[r], all);
          if (i < PieceWeights && first + r * C::Warps < rows.liveRows)
            weights.store(i * C::Rows + first + r * C::Warps,
                          {pair.left, pair.right,
                           kv::plan::multiply(its[r].y, pair.right),
                           slot < 0 ? 0.0f : 1.0f});
        }
      }
      KV_UNROLL for (int r = 0; r < Together; ++r)
        if (lane == 0 && first + r * C::Warps < rows.liveRows)
          pieceMaxima().store(first + r * C::Warps, maxima[r]);
    }
    b.sync();
  }

  /// Four columns of a row, of PiecesTogether pieces.
  KV_BODY void loadPieces(const Rows<B, C> &rows,
                          FloatQuad (&quads)[PiecesTogether], int32_t from,
                          int item) const {
    constexpr int Quads = C::HeadDim / 4;
    auto slots = pieceSlots();
    int64_t first =
        opaque(addressOf(pieces.quad(rows, 0, item / Quads, item % Quads)));
    int32_t known = slots.load(from);
    KV_UNROLL for (int j = 0; j < PiecesTogether; ++j) {
      int32_t slot = slots.load(from + j);
      // Where no piece begins the first is read again, and is forgotten.
      auto *four = reinterpret_cast<const FloatQuad *>(
          first + (slot < 0 ? known : slot) * int64_t(C::SlotFloats * 4));
      quads[j] = b.loadScratch(four);
    }
  }

  /// finish(row, quad, state, values) for every four columns of the rows.
  template <class Finish>
  KV_BODY void foldPieces(const Rows<B, C> &rows, int32_t from, int32_t count,
                          Finish finish) {
    constexpr int Quads = C::HeadDim / 4;
    auto weights = pieceWeights();
    int items = rows.liveRows * Quads, thread = late(b.thread());
    // The loads of the next pieces are in flight while the pieces before them
    // are folded, since latency is the cost. The first come while weights are
    // computed.
    FloatQuad quads[PiecesTogether], next[PiecesTogether];
    loadPieces(rows, next, from, kv::plan::lesser(thread, items - 1));
    weighPieces(rows, from, count);
    KV_UNROLL_BY(1)
    for (int item = thread; item < items; item += C::Threads) {
      int row = item / Quads;
      float values[4] = {0, 0, 0, 0}, sum = 0;
      KV_UNROLL_BY(1)
      for (int32_t first = 0; first < count; first += PiecesTogether) {
        KV_UNROLL for (int j = 0; j < PiecesTogether; ++j)
          quads[j] = next[j];
        bool more = first + PiecesTogether < count;
        if (more || item + C::Threads < items)
          loadPieces(rows, next, more ? from + first + PiecesTogether : from,
                     more ? item : item + C::Threads);
        KV_UNROLL for (int j = 0; j < PiecesTogether; ++j) {
          FloatQuad each = weights.load((first + j) * C::Rows + row);
          FloatQuad none = {0, 0, 0, 0};
          foldQuad(values, each.w > 0 ? quads[j] : none, {each.x, each.y});
          sum = kv::plan::fusedMultiplyAdd(sum, each.x, each.z);
        }
      }
      finish(row, item % Quads, kv::plan::Softmax{pieceMaxima().load(row), sum},
             values);
    }
  }

  /// Of a group to one piece, of the unit to its result.
  KV_BODY void mergeGroup(const Rows<B, C> &rows, const SharedUnit &s,
                          int32_t from, int32_t count) {
    // The group's first piece becomes the group. All lanes of a row have read
    // its state before it changes.
    int32_t slot = pieceSlots().load(from);
    foldPieces(rows, from, count,
               [&](int row, int quad, kv::plan::Softmax state,
                   const float (&four)[4]) {
                 auto *target = reinterpret_cast<FloatPair *>(
                                    pieces.values(rows, slot, row)) +
                                quad * 2;
                 b.storeScratch(target, FloatPair{four[0], four[1]});
                 b.storeScratch(target + 1, FloatPair{four[2], four[3]});
                 if (quad == 0)
                   b.storeScratch(pieces.state(rows, slot, row),
                                  FloatPair{state.maximum, state.sum});
               });
    // The result is stored, and the weights of another merge come to the place
    // of these.
    b.sync();
  }
  KV_BODY void finishMerged(const Rows<B, C> &rows, const SharedUnit &s,
                            int32_t from, int32_t count) {
    foldPieces(
        rows, from, kv::plan::lesser(count, PieceWeights),
        [&](int row, int quad, kv::plan::Softmax total, float (&four)[4]) {
          // For a unit with more groups than there is room for weights.
          KV_UNROLL_BY(1)
          for (int32_t i = PieceWeights; i < count; ++i) {
            int32_t slot = groupSlot(rows, s, i);
            FloatPair state = b.loadScratch(pieces.state(rows, slot, row));
            FloatQuad its = b.loadScratch(pieces.quad(rows, slot, row, quad));
            foldQuad(four, its, kv::plan::fold(total, {state.x, state.y}));
          }
          kv::plan::Finish finish =
              kv::plan::finish(total, out.sinkOf(rows, row));
          KV_UNROLL for (int j = 0; j < 4; j += 2)
            out.storeOut(rows.outPlace(row), quad * 4 + j,
                         finishValue(four[j], finish),
                         finishValue(four[j + 1], finish));
          if (quad == 0)
            out.storeLogOfSum(rows, row, total);
        });
    // The next unit's places of rows come to where the pieces' are.
    b.sync();
  }

  static KV_BODY void foldQuad(float (&values)[4], FloatQuad four,
                               kv::plan::Weights weights) {
    values[0] = kv::plan::foldValue(values[0], four.x, weights);
    values[1] = kv::plan::foldValue(values[1], four.y, weights);
    values[2] = kv::plan::foldValue(values[2], four.z, weights);
    values[3] = kv::plan::foldValue(values[3], four.w, weights);
  }

  B &b;
  const AttentionParams &p;
  const Pieces<B, C> pieces;
  const Output<B, C> out;
};

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTION_COMMON_MERGE_H
