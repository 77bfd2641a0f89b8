//===- AttentionMerge.h - Results, and units that parts share ---*- C++ -*-===//
//
// Part of AttentionBody.h: the end of a unit. A part that has all of it
// finishes it; else each leaves pieces. Of the parts that share a leaf group
// the last to arrive folds its pieces to one, and who completes the unit's last
// group folds the groups.
//
// What a fold multiplies by depends on the states of the pieces alone: a warp
// has a row, a lane a piece, and the weights lie where the ring was. Then every
// thread folds four columns of a row, piece by piece.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_ATTENTION_COMMON_ATTENTIONMERGE_H
#define KV_KERNELS_CUDA_ATTENTION_COMMON_ATTENTIONMERGE_H

#include "AttentionBody.h"

namespace kv::cuda {

template <Block B, class C> KV_BODY void AttentionBody<B, C>::finishRows() {
  auto finishes = view<C, slot::Finishes, FloatPair>(b);
  // The rows' paths lay there, and no barrier came behind the last leaf's where
  // a part waits or nobody takes turns.
  constexpr bool Races = KeepsPart || (TileRows<C> && DraftRows<C>);
  if (Races && p.ancestors)
    b.sync();
  KV_UNROLL
  for (int side = 0; side < 2; ++side) {
    int row = rowOf(stateTile(), side);
    if (stateTile() < C::RowTiles && row < liveRows) {
      kv::plan::Finish finish = kv::plan::finish(totalState[side], sinkOf(row));
      if (lane % 4 == 0 && storesStates()) {
        finishes.store(row, {finish.weight, finish.inverse});
        storeLogOfSum(row, totalState[side]);
      }
    }
  }
  b.sync();
  KV_UNROLL
  for (int m = 0; m < ValueTiles; ++m)
    KV_UNROLL
  for (int side = 0; side < 2; ++side) {
    int row = rowOf(valueTile(m), side);
    int64_t place = storedPlace(row);
    if (place < 0)
      continue;
    FloatPair pair = finishes.load(row);
    kv::plan::Finish finish{pair.x, pair.y};
    KV_UNROLL
    for (int n = 0; n < C::ColumnTiles; ++n) {
      FloatPair two = pairOf(group[m], n, side);
      if (exists(columnOf(n)))
        storeOut(place + columnOf(0), columnOf(n) - columnOf(0),
                 finishValue(two.x, finish), finishValue(two.y, finish));
    }
  }
}

template <Block B, class C>
KV_BODY void AttentionBody<B, C>::storePiece(int64_t slot) {
  KV_UNROLL
  for (int m = 0; m < ValueTiles; ++m)
    KV_UNROLL
  for (int side = 0; side < 2; ++side) {
    int row = rowOf(valueTile(m), side);
    if (row >= liveRows)
      continue;
    float *target = pieceValues(slot, row) + columnOf(0);
    KV_UNROLL
    for (int n = 0; n < C::ColumnTiles; ++n) {
      if (!exists(columnOf(n)))
        continue;
      auto *place =
          reinterpret_cast<FloatPair *>(target + (columnOf(n) - columnOf(0)));
      b.storeScratch(place, pairOf(group[m], n, side));
    }
    if (valueTile(m) == stateTile() && lane % 4 == 0 && storesStates())
      b.storeScratch(pieceState(slot, row),
                     FloatPair{groupState[side].maximum, groupState[side].sum});
  }
}

template <Block B, class C>
KV_BODY bool AttentionBody<B, C>::arrive(uint32_t *counter, uint32_t count,
                                         uint32_t expected) {
  bool last =
      b.template arrive<Order::AcquireRelease>(counter, count) + count ==
      expected;
  if (last)
    b.store(counter, 0u);
  return last;
}

template <Block B, class C>
KV_BODY void AttentionBody<B, C>::arriveAndMerge(const Work &work) {
  using namespace kv::plan;
  const Tile tile = b.load(p.tiles + work.tile);
  const Shared s{tile, unitParts(p.shape, *p.header, tile, work.head)};
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
  if (p.mergesApart || (PartBlocks<C> > 1 && liveRows <= 0))
    return;
  // The first and the last group may be shared with other parts: at both this
  // part arrives at once. Other warps find their pieces meanwhile.
  const int thread = late(b.thread()), i = thread / WarpLanes,
            lane = thread % WarpLanes;
  if (i < 2 && lane == 0) {
    Leaves leaves = groupLeaves(tile, i ? lastGroup : firstGroup);
    bool last = false;
    if (isShared(leaves) && (i == 0 || lastGroup > firstGroup)) {
      int64_t first = partOfLeaf(s, leaves.begin);
      last = arrive(counters() + p.shape.parts + first, 1,
                    uint32_t(partOfLeaf(s, leaves.end - 1) - first + 1));
    }
    ticket.store(i, last);
  } else if (i == 2 && lane < 2 * LeavesPerGroup) {
    bool end = lane >= LeavesPerGroup;
    Leaves leaves = groupLeaves(tile, end ? lastGroup : firstGroup);
    int32_t leaf = leaves.begin + lane % LeavesPerGroup;
    pieceSlots().store(lane, leaf < leaves.end ? pieceSlot(s, leaf) : NoPiece);
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
      mergeGroup(s, end * LeavesPerGroup, leaves.end - leaves.begin);
  }
  int32_t from = 0, count = tile.leafEnd - tile.leafBegin;
  if (!merges) {
    if (complete == 0)
      return;
    if (b.thread() == 0)
      ticket.store(2, arrive(counters() + s.parts.first, uint32_t(complete),
                             uint32_t(groups)));
    else if (b.thread() >= WarpLanes)
      findGroups(s, groups);
    b.sync();
    if (!ticket.load(2))
      return;
    from = 2 * LeavesPerGroup;
    count = groups;
  }
  finishMerged(s, from, count);
}

template <Block B, class C>
KV_BODY int32_t AttentionBody<B, C>::pieceSlot(const Shared &s,
                                               int32_t leaf) const {
  return int32_t(
      kv::plan::pieceSlot(p.shape, *p.header, s.tile, head, s.parts, leaf));
}

template <Block B, class C>
KV_BODY int32_t AttentionBody<B, C>::groupSlot(const Shared &s,
                                               int32_t group) const {
  return pieceSlot(s, kv::plan::groupLeaves(s.tile, group).begin);
}

template <Block B, class C>
KV_BODY void AttentionBody<B, C>::findGroups(const Shared &s, int32_t count) {
  int32_t known = kv::plan::lesser(count, PieceWeights);
  int32_t all = kv::plan::ceilDivide(known, PiecesTogether) * PiecesTogether;
  for (int32_t i = b.thread() - WarpLanes; i < all; i += C::Threads - WarpLanes)
    pieceSlots().store(2 * kv::plan::LeavesPerGroup + i,
                       i < known ? groupSlot(s, i) : NoPiece);
}

template <Block B, class C>
KV_BODY void AttentionBody<B, C>::weighPieces(int32_t from, int32_t count) {
  // Of a warp's rows; over latent ones no register is left for two.
  constexpr int Together = LatentRows<C> ? 1 : 2;
  auto slots = pieceSlots();
  auto weights = pieceWeights();
  const int thread = late(b.thread()), warp = thread / WarpLanes,
            lane = thread % WarpLanes;
  KV_UNROLL_BY(1)
  for (int first = warp; first < liveRows; first += Together * C::Warps) {
    float maxima[Together];
    KV_UNROLL
    for (float &maximum : maxima)
      maximum = kv::plan::NoScore;
    KV_UNROLL_BY(1)
    for (int32_t i = lane; i < count + lane; i += WarpLanes) {
      int32_t slot = i < count ? slots.load(from + i) : NoPiece;
      // Where no piece begins the first is read again, and is forgotten: a
      // branch would wait for one piece after the other.
      int32_t known = slot < 0 ? slots.load(from) : slot;
      FloatPair its[Together];
      KV_UNROLL
      for (int r = 0; r < Together; ++r) {
        int row = kv::plan::lesser(first + r * C::Warps, liveRows - 1);
        its[r] = b.loadScratch(pieceState(known, row));
        if (slot < 0)
          its[r] = {kv::plan::NoScore, 0};
      }
      KV_UNROLL
      for (int r = 0; r < Together; ++r) {
        // The largest of the pieces before this lane's, and of all 32: a
        // maximum is the same in whatever order it is found.
        float before = kv::plan::NoScore, all = its[r].x;
        KV_UNROLL
        for (int mask = 1; mask < WarpLanes; mask *= 2) {
          float other = b.shuffleXor(all, mask);
          if (lane & mask)
            before = kv::plan::larger(before, other);
          all = kv::plan::larger(all, other);
        }
        float left = kv::plan::larger(maxima[r], before);
        kv::plan::Weights pair = kv::plan::foldMaximum(left, its[r].x);
        maxima[r] = kv::plan::larger(maxima[r], all);
        if (i < PieceWeights && first + r * C::Warps < liveRows)
          weights.store(i * C::Rows + first + r * C::Warps,
                        {pair.left, pair.right,
                         kv::plan::multiply(its[r].y, pair.right),
                         slot < 0 ? 0.0f : 1.0f});
      }
    }
    KV_UNROLL
    for (int r = 0; r < Together; ++r)
      if (lane == 0 && first + r * C::Warps < liveRows)
        pieceMaxima().store(first + r * C::Warps, maxima[r]);
  }
  b.sync();
}

template <Block B, class C>
KV_BODY void AttentionBody<B, C>::loadPieces(FloatQuad (&quads)[PiecesTogether],
                                             int32_t from, int item) const {
  constexpr int Quads = C::HeadDim / 4;
  auto slots = pieceSlots();
  int64_t first = opaque(addressOf(pieceQuad(0, item / Quads, item % Quads)));
  int32_t known = slots.load(from);
  KV_UNROLL
  for (int j = 0; j < PiecesTogether; ++j) {
    int32_t slot = slots.load(from + j);
    // Where no piece begins the first is read again, and is forgotten.
    auto *four = reinterpret_cast<const FloatQuad *>(
        first + (slot < 0 ? known : slot) * int64_t(C::SlotFloats * 4));
    quads[j] = b.loadScratch(four);
  }
}

template <Block B, class C>
template <class Finish>
KV_BODY void AttentionBody<B, C>::foldPieces(int32_t from, int32_t count,
                                             Finish finish) {
  constexpr int Quads = C::HeadDim / 4;
  auto weights = pieceWeights();
  int items = liveRows * Quads, thread = late(b.thread());
  // So many pieces are under way while those before are folded: what costs is
  // latency. The first come while weights are computed.
  FloatQuad quads[PiecesTogether], next[PiecesTogether];
  loadPieces(next, from, kv::plan::lesser(thread, items - 1));
  weighPieces(from, count);
  KV_UNROLL_BY(1)
  for (int item = thread; item < items; item += C::Threads) {
    int row = item / Quads;
    float values[4] = {0, 0, 0, 0}, sum = 0;
    KV_UNROLL_BY(1)
    for (int32_t first = 0; first < count; first += PiecesTogether) {
      KV_UNROLL
      for (int j = 0; j < PiecesTogether; ++j)
        quads[j] = next[j];
      bool more = first + PiecesTogether < count;
      if (more || item + C::Threads < items)
        loadPieces(next, more ? from + first + PiecesTogether : from,
                   more ? item : item + C::Threads);
      KV_UNROLL
      for (int j = 0; j < PiecesTogether; ++j) {
        FloatQuad each = weights.load((first + j) * C::Rows + row);
        FloatQuad none = {0, 0, 0, 0};
        foldQuad(values, each.w > 0 ? quads[j] : none, {each.x, each.y});
        sum = kv::plan::fusedMultiplyAdd(sum, each.x, each.z);
      }
    }
    finish(row, item % Quads, Softmax{pieceMaxima().load(row), sum}, values);
  }
}

template <Block B, class C>
KV_BODY void AttentionBody<B, C>::mergeGroup(const Shared &s, int32_t from,
                                             int32_t count) {
  // The group's first piece becomes the group. All lanes of a row have read its
  // state before it changes.
  int32_t slot = pieceSlots().load(from);
  foldPieces(from, count,
             [&](int row, int quad, Softmax state, const float (&four)[4]) {
               auto *target =
                   reinterpret_cast<FloatPair *>(pieceValues(slot, row)) +
                   quad * 2;
               b.storeScratch(target, FloatPair{four[0], four[1]});
               b.storeScratch(target + 1, FloatPair{four[2], four[3]});
               if (quad == 0)
                 b.storeScratch(pieceState(slot, row),
                                FloatPair{state.maximum, state.sum});
             });
  // It is stored, and another merge's weights come to where these are.
  b.sync();
}

template <Block B, class C>
KV_BODY void AttentionBody<B, C>::finishMerged(const Shared &s, int32_t from,
                                               int32_t count) {
  foldPieces(from, kv::plan::lesser(count, PieceWeights),
             [&](int row, int quad, Softmax total, float (&four)[4]) {
               // Of a unit of so many groups that their weights find no room.
               KV_UNROLL_BY(1)
               for (int32_t i = PieceWeights; i < count; ++i) {
                 int32_t slot = groupSlot(s, i);
                 FloatPair state = b.loadScratch(pieceState(slot, row));
                 FloatQuad its = b.loadScratch(pieceQuad(slot, row, quad));
                 foldQuad(four, its, kv::plan::fold(total, {state.x, state.y}));
               }
               kv::plan::Finish finish = kv::plan::finish(total, sinkOf(row));
               KV_UNROLL
               for (int j = 0; j < 4; j += 2)
                 storeOut(outPlace(row), quad * 4 + j,
                          finishValue(four[j], finish),
                          finishValue(four[j + 1], finish));
               if (quad == 0)
                 storeLogOfSum(row, total);
             });
  // The next unit's places of rows come to where the pieces' are.
  b.sync();
}

template <Block B, class C>
KV_BODY void AttentionBody<B, C>::foldQuad(float (&values)[4], FloatQuad four,
                                           kv::plan::Weights weights) {
  values[0] = kv::plan::foldValue(values[0], four.x, weights);
  values[1] = kv::plan::foldValue(values[1], four.y, weights);
  values[2] = kv::plan::foldValue(values[2], four.z, weights);
  values[3] = kv::plan::foldValue(values[3], four.w, weights);
}

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTION_COMMON_ATTENTIONMERGE_H
