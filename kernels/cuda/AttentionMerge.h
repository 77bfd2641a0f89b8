//===- AttentionMerge.h - Results, and units that parts share ---*- C++ -*-===//
//
// Part of AttentionBody.h: the end of a unit. A part that has all of it
// finishes it; else each leaves pieces. Of the parts that share a leaf group
// the last to arrive folds its pieces to one, and who completes the unit's last
// group folds the groups.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_ATTENTIONMERGE_H
#define KV_KERNELS_CUDA_ATTENTIONMERGE_H

#include "AttentionBody.h"

namespace kv::cuda {

template <Block B, class C, Fault F>
KV_BODY void AttentionBody<B, C, F>::finishRows() {
  auto finishes = b.template shared<FloatPair>(C::Finishes, C::Rows);
  KV_UNROLL
  for (int side = 0; side < 2; ++side) {
    int row = rowOf(stateTile(), side);
    if (stateTile() < C::RowTiles && row < liveRows) {
      kv::plan::Finish finish = kv::plan::finish(totalState[side], sinkOf(row));
      if (lane % 4 == 0) {
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

template <Block B, class C, Fault F>
KV_BODY void AttentionBody<B, C, F>::storePiece(int64_t slot) {
  float *piece = p.scratch + slot * C::SlotFloats;
  KV_UNROLL
  for (int m = 0; m < ValueTiles; ++m)
    KV_UNROLL
  for (int side = 0; side < 2; ++side) {
    int row = rowOf(valueTile(m), side);
    if (row >= liveRows)
      continue;
    float *target = piece + row * C::HeadDim + columnOf(0);
    KV_UNROLL
    for (int n = 0; n < C::ColumnTiles; ++n) {
      if (!exists(columnOf(n)))
        continue;
      auto *place =
          reinterpret_cast<FloatPair *>(target + (columnOf(n) - columnOf(0)));
      if constexpr (F == Fault::PlainScratchStore)
        b.store(place, pairOf(group[m], n, side));
      else
        b.storeScratch(place, pairOf(group[m], n, side));
    }
    if (valueTile(m) == stateTile() && lane % 4 == 0)
      b.storeScratch(
          reinterpret_cast<FloatPair *>(piece + C::Rows * C::HeadDim) + row,
          FloatPair{groupState[side].maximum, groupState[side].sum});
  }
}

template <Block B, class C, Fault F>
KV_BODY bool AttentionBody<B, C, F>::arrive(uint32_t *counter, uint32_t count,
                                            uint32_t expected) {
  constexpr Order order = F == Fault::MissingRelease   ? Order::Acquire
                          : F == Fault::MissingAcquire ? Order::Release
                                                       : Order::AcquireRelease;
  bool last = b.template arrive<order>(counter, count) + count == expected;
  if (last && F != Fault::MissingReset)
    b.store(counter, 0u);
  return last;
}

template <Block B, class C, Fault F>
KV_BODY void AttentionBody<B, C, F>::arriveAndMerge(const Work &work) {
  using namespace kv::plan;
  const Tile tile = b.load(p.tiles + work.tile);
  const Shared s{tile, unitParts(p.shape, *p.header, tile, work.head)};
  auto ticket = b.template shared<uint32_t>(C::Ticket, 4);
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
  if constexpr (F != Fault::MissingArrivalBarrier)
    b.sync(); // all pieces are stored: one thread's release is for all
  // The first and the last group may be shared with other parts: at both this
  // part arrives at once.
  int i = b.thread() / WarpLanes;
  if (i < 2 && lane == 0) {
    Leaves leaves = groupLeaves(tile, i ? lastGroup : firstGroup);
    bool last = false;
    if (isShared(leaves) && (i == 0 || lastGroup > firstGroup)) {
      int64_t first = partOfLeaf(s, leaves.begin);
      last = arrive(p.counters + p.shape.parts + first, 1,
                    uint32_t(partOfLeaf(s, leaves.end - 1) - first + 1));
    }
    ticket.store(i, last);
  }
  if constexpr (F != Fault::MissingTicketBarrier)
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
      mergeGroup(s, leaves);
  }
  if (!merges) {
    if (complete == 0)
      return;
    b.sync();
    if (b.thread() == 0)
      ticket.store(2, arrive(p.counters + s.parts.first, uint32_t(complete),
                             uint32_t(groups)));
    b.sync();
    if (!ticket.load(2))
      return;
  }
  finishMerged(s, groups == 1 ? tile.leafEnd - tile.leafBegin : groups,
               groups > 1);
}

template <Block B, class C, Fault F>
KV_BODY int32_t AttentionBody<B, C, F>::pieceSlot(const Shared &s,
                                                  int32_t leaf) const {
  int64_t part = partOfLeaf(s, leaf);
  kv::plan::Leaves leaves =
      kv::plan::partLeaves(p.shape, *p.header, s.tile, head, s.parts, part);
  if (!kv::plan::pieceBegins(leaves, leaf))
    return -1;
  return int32_t(kv::plan::slotOf(p.shape, part, part == s.parts.first,
                                  kv::plan::pieceCount(leaves.begin, leaf)));
}

template <Block B, class C, Fault F>
KV_BODY int32_t AttentionBody<B, C, F>::groupSlot(const Shared &s,
                                                  int32_t group) const {
  if (F == Fault::SlotOfAnotherGroup && group == 1)
    group = 0;
  return pieceSlot(s, kv::plan::groupLeaves(s.tile, group).begin);
}

template <Block B, class C, Fault F>
KV_BODY void AttentionBody<B, C, F>::findPieces(const Shared &s, int32_t first,
                                                int32_t count, bool groups) {
  auto slots = b.template shared<int32_t>(C::RowPlaces, C::MergeTable);
  int32_t known = kv::plan::lesser(count, C::MergeTable);
  for (int32_t i = b.thread(); i < known; i += C::Threads)
    slots.store(i, groups ? groupSlot(s, i) : pieceSlot(s, first + i));
  b.sync();
  if constexpr (LatentRows<C>)
    weighPieces(count);
}

template <Block B, class C, Fault F>
KV_BODY kv::plan::Softmax
AttentionBody<B, C, F>::foldPieces(const Shared &s, int row, int quad,
                                   int32_t count, bool groups,
                                   float (&values)[4]) {
  // So many pieces are read before they are folded: what costs is latency.
  constexpr int Together = 8;
  auto slots = b.template shared<int32_t>(C::RowPlaces, C::MergeTable);
  Softmax state;
  KV_UNROLL
  for (float &value : values)
    value = 0;
  int32_t known = kv::plan::lesser(count, C::MergeTable);
  KV_UNROLL_BY(1)
  for (int32_t first = 0; first < known; first += Together) {
    FloatPair states[Together];
    FloatQuad quads[Together];
    KV_UNROLL
    for (int j = 0; j < Together; ++j) {
      int32_t slot = first + j < known ? slots.load(first + j) : -1;
      // Where no piece begins the first is read again, and is forgotten: a
      // branch would wait for one piece after the other.
      loadPiece(slot < 0 ? slots.load(0) : slot, row, quad, states[j],
                quads[j]);
      if (slot < 0) {
        states[j] = {kv::plan::NoScore, 0};
        quads[j] = {0, 0, 0, 0};
      }
    }
    KV_UNROLL
    for (int j = 0; j < Together; ++j)
      foldPiece(state, values, states[j], quads[j]);
  }
  // Of a unit of more than a million keys.
  KV_UNROLL_BY(1)
  for (int32_t i = known; i < count; ++i) {
    FloatPair its;
    FloatQuad four;
    loadPiece(groupSlot(s, i), row, quad, its, four);
    foldPiece(state, values, its, four);
  }
  return state;
}

template <Block B, class C, Fault F>
KV_BODY void AttentionBody<B, C, F>::loadPiece(int32_t slot, int row, int quad,
                                               FloatPair &state,
                                               FloatQuad &four) const {
  if constexpr (F == Fault::PlainScratchLoad) {
    state = b.load(pieceState(slot, row));
    four = b.load(pieceQuad(slot, row, quad));
  } else {
    state = b.loadScratch(pieceState(slot, row));
    four = b.loadScratch(pieceQuad(slot, row, quad));
  }
}

template <Block B, class C, Fault F>
KV_BODY void AttentionBody<B, C, F>::mergeGroup(const Shared &s,
                                                kv::plan::Leaves leaves) {
  findPieces(s, leaves.begin, leaves.end - leaves.begin, false);
  auto slots = b.template shared<int32_t>(C::RowPlaces, C::MergeTable);
  auto states = b.template shared<FloatPair>(C::GroupWeights, C::Rows);
  // The group's first piece becomes the group. All lanes of a row read its
  // state before it changes.
  float *piece = p.scratch + slots.load(0) * int64_t(C::SlotFloats);
  constexpr int Quads = C::HeadDim / 4;
  for (int i = b.thread(); i < liveRows * Quads; i += C::Threads) {
    int row = i / Quads, quad = i % Quads;
    float four[4];
    Softmax state =
        foldPieces(s, row, quad, leaves.end - leaves.begin, false, four);
    auto *target =
        reinterpret_cast<FloatPair *>(piece + row * C::HeadDim) + quad * 2;
    b.storeScratch(target, FloatPair{four[0], four[1]});
    b.storeScratch(target + 1, FloatPair{four[2], four[3]});
    if (quad == 0)
      states.store(row, {state.maximum, state.sum});
  }
  b.sync();
  for (int row = b.thread(); row < liveRows; row += C::Threads)
    b.storeScratch(reinterpret_cast<FloatPair *>(piece + C::Rows * C::HeadDim) +
                       row,
                   states.load(row));
}

template <Block B, class C, Fault F>
KV_BODY void AttentionBody<B, C, F>::finishMerged(const Shared &s,
                                                  int32_t count, bool groups) {
  findPieces(s, s.tile.leafBegin, count, groups);
  constexpr int Quads = C::HeadDim / 4;
  for (int i = b.thread(); i < liveRows * Quads; i += C::Threads) {
    int row = i / Quads, quad = i % Quads;
    float four[4];
    Softmax total = foldPieces(s, row, quad, count, groups, four);
    kv::plan::Finish finish = kv::plan::finish(total, sinkOf(row));
    KV_UNROLL
    for (int j = 0; j < 4; j += 2)
      storeOut(outPlace(row), quad * 4 + j, finishValue(four[j], finish),
               finishValue(four[j + 1], finish));
    if (quad == 0)
      storeLogOfSum(row, total);
  }
  // The next unit's places of rows come to where the pieces' are.
  if constexpr (F != Fault::MissingMergeBarrier)
    b.sync();
}

template <Block B, class C, Fault F>
KV_BODY void
AttentionBody<B, C, F>::foldPiece(Softmax &left, float (&values)[4],
                                  FloatPair state, FloatQuad four) {
  foldQuad(values, four, kv::plan::fold(left, {state.x, state.y}));
}

template <Block B, class C, Fault F>
KV_BODY void AttentionBody<B, C, F>::foldQuad(float (&values)[4],
                                              FloatQuad four,
                                              kv::plan::Weights weights) {
  values[0] = kv::plan::foldValue(values[0], four.x, weights);
  values[1] = kv::plan::foldValue(values[1], four.y, weights);
  values[2] = kv::plan::foldValue(values[2], four.z, weights);
  values[3] = kv::plan::foldValue(values[3], four.w, weights);
}

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTIONMERGE_H
