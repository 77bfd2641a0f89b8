//===- AttentionUnit.h - One tile of rows with one KV head ------*- C++ -*-===//
//
// Part of AttentionBody.h: a unit from its queries to its last leaf, or what a
// part has of it.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_ATTENTIONUNIT_H
#define KV_KERNELS_CUDA_ATTENTIONUNIT_H

#include "AttentionBody.h"

namespace kv::cuda {

template <Block B, class C, Fault F>
KV_BODY void AttentionBody<B, C, F>::runWork(const Work &work,
                                             const kv::plan::Tile &tile) {
  bool any = work.leafBegin < work.leafEnd;
  tableRow = p.table + tile.sequence * p.tablePitch;
  {
    // Not kept: the leaves need registers more.
    kv::plan::Sequence sequence = sequenceOf<F>(p, tile.sequence);
    seeRows(work, tile, sequence);
    kv::plan::Keys keys = kv::plan::tileKeys(p.shape, sequence, firstRow);
    keysFirst = int32_t(keys.first);
    keysLast = int32_t(kv::plan::lesser<int64_t>(keys.last, INT32_MAX));
    if (any)
      firstRowPlaces(work);
    // The places are there, and nobody reads anything of the last unit.
    if constexpr (F != Fault::MissingUnitBarrier)
      b.sync();
    if (any)
      fillRing();
    storeBounds(sequence);
  }
  // While keys are under way.
  loadQueries();
  if constexpr (F != Fault::MissingQueriesBarrier)
    b.sync();
  clear(group);
  totalState[0] = totalState[1] = Softmax();
  if (any)
    runLeaves(work);
  if constexpr (TileRows<C>) {
    // Nor these, from before.
    const kv::plan::Tile again = b.load(p.tiles + late(work.tile));
    seeRows(work, again, sequenceOf<F>(p, again.sequence));
  }
  if (work.whole())
    finishRows();
  else
    arriveAndMerge(work);
}

template <Block B, class C, Fault F>
KV_BODY void
AttentionBody<B, C, F>::seeRows(const Work &work, const kv::plan::Tile &tile,
                                const kv::plan::Sequence &sequence) {
  head = work.head;
  firstRow = tile.row;
  firstToken = int32_t(sequence.token);
  liveRows = int32_t(kv::plan::lesser<int64_t>(
      C::Rows, sequence.added * p.shape.group - firstRow));
}

template <Block B, class C, Fault F>
KV_BODY void AttentionBody<B, C, F>::loadQueries() {
  loadQueryChunks();
}

template <Block B, class C, Fault F>
KV_BODY void AttentionBody<B, C, F>::loadQueryChunks() {
  auto queries = queriesView();
  const auto *q = static_cast<const typename C::Query *>(p.q);
  constexpr int Together = C::Widens ? 2 : 1, Parts = C::QueryChunks / Together;
  // Lanes that find a row's largest element are a power of two.
  constexpr int Lanes = C::Widens ? powerAbove(Parts) : Parts;
  // Not known before: nothing of it is kept from unit to unit.
  int first = TileRows<C> ? late(b.thread()) : b.thread();
  // Where registers are free meanwhile, loads wait for memory together.
  KV_UNROLL_BY(TileRows<C> ? 4 : 1)
  for (int i = first; i < C::Rows * Lanes; i += C::Threads) {
    int row = i / Lanes, part = i % Lanes;
    Chunk chunks[Together] = {};
    if (row < liveRows && part < Parts) {
      const auto *from = reinterpret_cast<const Chunk *>(
          q + tokenOf(row) * p.qTokenStride + queryHeadOf(row) * p.qHeadStride);
      KV_UNROLL
      for (int j = 0; j < Together; ++j)
        chunks[j] = b.load(from + part * Together + j);
    }
    if constexpr (C::Widens)
      storeScaled(row, part, chunks);
    else
      queries.store(C::QueryRows::chunk(row, part), chunks[0]);
  }
}

template <Block B, class C, Fault F>
KV_BODY void AttentionBody<B, C, F>::storeScaled(int row, int pair,
                                                 const Chunk (&chunks)[2]) {
  float x[16], largest = 0;
  KV_UNROLL
  for (int i = 0; i < 16; ++i) {
    x[i] = widenHalf<typename C::Query>(chunks[i / 8].words[i / 2 % 4], i % 2);
    largest = kv::plan::larger(largest, x[i] < 0 ? -x[i] : x[i]);
  }
  KV_UNROLL
  for (int mask = 1; mask < powerAbove(C::QueryChunks / 2); mask *= 2)
    largest = kv::plan::larger(largest, b.shuffleXor(largest, mask));
  RangeScale scale = rangeScale(largest);
  if constexpr (F == Fault::UnscaledQueries)
    scale = {1, 1};
  if (pair == 0)
    queryScales().store(row, scale.inverse);
  // A lane has four elements of K side by side, of which an mma takes the first
  // two and, in its other register, the last two.
  Chunk ordered[2];
  KV_UNROLL
  for (int i = 0; i < 8; ++i)
    ordered[i % 2].words[i / 2] =
        narrowPair<F16>(kv::plan::multiply(x[i * 2], scale.factor),
                        kv::plan::multiply(x[i * 2 + 1], scale.factor));
  if (pair >= C::QueryChunks / 2)
    return;
  KV_UNROLL
  for (int i = 0; i < 2; ++i)
    queriesView().store(C::QueryRows::chunk(row, pair * 2 + i), ordered[i]);
}

template <Block B, class C, Fault F>
KV_BODY void
AttentionBody<B, C, F>::storeBounds(const kv::plan::Sequence &sequence) {
  auto bounds = b.template shared<IntPair>(C::Bounds, C::Rows);
  for (int row = b.thread(); row < C::Rows; row += C::Threads) {
    bool live = row < liveRows;
    bounds.store(row, live ? visible(sequence, row) : IntPair{0, 0});
    if constexpr (!TileRows<C>)
      placesView().store(row, live ? outPlace(row) : -1);
  }
  if constexpr (!TileRows<C>)
    clearUpperWeights();
  allSeeFrom = visible(sequence, liveRows - 1).x;
  allSeeTo = visible(sequence, 0).y;
}

template <Block B, class C, Fault F>
KV_BODY void AttentionBody<B, C, F>::fillRing() {
  stage = 0;
  KV_UNROLL
  for (int i = 0; i < C::Ahead; ++i) {
    nextStage();
    issueTile(leafBegin, i);
  }
  // The stage that no copy is under way to is "read" already.
  lastStage = stage;
  stage = 0;
}

template <Block B, class C, Fault F>
KV_BODY void AttentionBody<B, C, F>::computeLeaf(int leaf) {
  nextRowPlaces(leaf);
  computeScores(leaf);
  if constexpr (C::Scaled)
    storeScales(leaf + 1);
  computeMaxima(leaf);
  if constexpr (F != Fault::MissingMaximaBarrier)
    b.sync();
  computeWeights(leaf);
  computeValues(leaf);
  foldLeaf();
}

template <Block B, class C, Fault F>
KV_BODY void AttentionBody<B, C, F>::runLeaves(const Work &work) {
  if constexpr (C::QueriesInRegisters) {
    KV_UNROLL
    for (int d = 0; d < C::HeadDim / 16; ++d)
      loadQueryFragment(queryFragments[d], 0, d);
  }
  putPartAside();
  groupState[0] = groupState[1] = Softmax();
  int pieces = 0, groups = 0;
  for (int leaf = leafBegin; leaf < leafEnd; ++leaf) {
    computeLeaf(leaf);
    bool last = leaf + 1 == leafEnd;
    // A piece ends with its group, or with its leaf where the group began in
    // another part.
    if (work.whole()) {
      if (!last && (leaf + 1) % kv::plan::LeavesPerGroup)
        continue;
      foldGroup(groups++ == 0, last);
      if (last)
        return;
    } else {
      bool foreign = leaf / kv::plan::LeavesPerGroup ==
                         leafBegin / kv::plan::LeavesPerGroup &&
                     leafBegin % kv::plan::LeavesPerGroup;
      if (!last && !foreign && (leaf + 1) % kv::plan::LeavesPerGroup)
        continue;
      takePartBack();
      storePiece(kv::plan::slotOf(p.shape, b.block(), work.starts, pieces++));
    }
    clear(group);
    putPartAside();
    groupState[0] = groupState[1] = Softmax();
  }
}

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTIONUNIT_H
