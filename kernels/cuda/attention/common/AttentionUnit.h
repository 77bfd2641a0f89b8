//===- AttentionUnit.h - One tile of rows with one KV head ------*- C++ -*-===//
//
// Part of AttentionBody.h: a unit from its queries to its last leaf, or what a
// part has of it.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_ATTENTION_COMMON_ATTENTIONUNIT_H
#define KV_KERNELS_CUDA_ATTENTION_COMMON_ATTENTIONUNIT_H

#include "AttentionBody.h"

namespace kv::cuda {

template <Block B, class C>
KV_BODY void AttentionBody<B, C>::runWork(Work &work,
                                          const kv::plan::Tile &tile) {
  bool any = work.leafBegin < work.leafEnd;
  tableRow = p.table + tile.sequence * p.tablePitch;
  {
    // Not kept: the leaves need registers more.
    kv::plan::Sequence sequence = sequenceOf(p, tile.sequence);
    seeRows(work, tile, sequence);
    kv::plan::Keys keys = kv::plan::tileKeys<HasChunks<C>>(
        p.shape, sequence, firstRow - rowsBefore());
    keysFirst = int32_t(keys.first);
    keysLast = int32_t(kv::plan::lesser<int64_t>(keys.last, INT32_MAX));
    int32_t pages[3];
    if (any)
      firstPages(work, pages);
    constexpr int Turns = QueriesFirst ? QueryTurns : 0;
    QueryPart queries[QueriesFirst ? Turns : 1];
    KV_UNROLL
    for (int turn = 0; turn < Turns; ++turn)
      loadQueryPart(queries[turn], turn);
    if (any)
      firstRowPlaces(pages);
    // The places are there, and nobody reads anything of the last unit.
    b.sync();
    if (any)
      fillRing();
    storeBounds(sequence);
    if constexpr (KeepsUnit<C>)
      keepUnit(work);
    // While keys are under way.
    KV_UNROLL
    for (int turn = 0; turn < Turns; ++turn)
      storeQueryPart(queries[turn], turn);
  }
  loadQueries();
  b.sync();
  totalState[0] = totalState[1] = Softmax();
  if constexpr (KeepsUnit<C>)
    keepTotalState();
  if (any)
    runLeaves(work);
  else
    clear(group);
  if constexpr (KeepsUnit<C>) {
    work = keptUnit().load(0).work;
  } else if constexpr (TileRows<C> || DraftRows<C>) {
    // Nor these, from before.
    const kv::plan::Tile again = b.load(p.tiles + late(work.tile));
    seeRows(work, again, sequenceOf(p, again.sequence));
  }
  rarely([&] {
    if (work.whole())
      finishRows();
    else
      arriveAndMerge(work);
  });
  if constexpr (KeepsUnit<C>)
    work = keptUnit().load(0).work;
}

template <Block B, class C>
KV_BODY void AttentionBody<B, C>::seeRows(const Work &work,
                                          const kv::plan::Tile &tile,
                                          const kv::plan::Sequence &sequence) {
  head = work.head;
  firstRow = tile.row;
  if constexpr (PartBlocks<C> > 1)
    firstRow += b.clusterRank() * C::Rows;
  firstToken = int32_t(sequence.token);
  liveRows = int32_t(kv::plan::lesser<int64_t>(
      C::Rows, sequence.added * p.shape.group - firstRow));
}

template <Block B, class C> KV_BODY void AttentionBody<B, C>::loadQueries() {
  if constexpr (!QueriesFirst)
    copyQueries();
}

template <Block B, class C> KV_BODY void AttentionBody<B, C>::copyQueries() {
  // Where registers are free meanwhile, loads wait for memory together.
  constexpr int Together = LatentRows<C> ? QueryTurns
                           : TileRows<C> ? kv::plan::lesser(QueryTurns, 4)
                                         : 1;
  KV_UNROLL_BY(1)
  for (int turn = 0; turn < QueryTurns; turn += Together) {
    QueryPart parts[Together];
    KV_UNROLL
    for (int i = 0; i < Together; ++i)
      loadQueryPart(parts[i], turn + i);
    KV_UNROLL
    for (int i = 0; i < Together; ++i)
      storeQueryPart(parts[i], turn + i);
  }
}

template <Block B, class C>
KV_BODY void AttentionBody<B, C>::loadQueryPart(QueryPart &chunks, int turn) {
  const auto *q = static_cast<const typename C::Query *>(p.q);
  int i = late(b.thread()) + turn * C::Threads, row = i / QueryLanes,
      part = i % QueryLanes;
  KV_UNROLL
  for (Chunk &chunk : chunks)
    chunk = {};
  if (row < liveRows && part < QueryParts) {
    const auto *from = reinterpret_cast<const Chunk *>(
        q + tokenOf(row) * p.qTokenStride + queryHeadOf(row) * p.qHeadStride);
    KV_UNROLL
    for (int j = 0; j < PartChunks; ++j)
      chunks[j] = b.load(from + part * PartChunks + j);
  }
}

template <Block B, class C>
KV_BODY void AttentionBody<B, C>::storeQueryPart(const QueryPart &chunks,
                                                 int turn) {
  int i = late(b.thread()) + turn * C::Threads, row = i / QueryLanes,
      part = i % QueryLanes;
  if (row >= C::Rows)
    return;
  if constexpr (C::Widens)
    storeScaled(row, part, chunks);
  else if (part < QueryParts)
    queriesView().store(C::QueryRows::chunk(row, part), chunks[0]);
}

template <Block B, class C>
KV_BODY void AttentionBody<B, C>::storeScaled(int row, int pair,
                                              const Chunk (&chunks)[2]) {
  float x[16], largest = 0;
  KV_UNROLL
  for (int i = 0; i < 16; ++i) {
    x[i] = widenHalf<typename C::Query>(chunks[i / 8].words[i / 2 % 4], i % 2);
    largest = kv::plan::larger(largest, x[i] < 0 ? -x[i] : x[i]);
  }
  KV_UNROLL
  for (int mask = 1; mask < QueryLanes; mask *= 2)
    largest = kv::plan::larger(largest, b.shuffleXor(largest, mask));
  RangeScale scale = ByteProducts<C> ? byteScale(largest) : rangeScale(largest);
  if (pair == 0)
    queryScales().store(row, scale.inverse);
  if constexpr (ByteProducts<C>) {
    Chunk bytes;
    KV_UNROLL
    for (float &each : x)
      each = kv::plan::multiply(each, scale.factor);
    KV_UNROLL
    for (int i = 0; i < 4; ++i)
      bytes.words[i] = narrowFour<typename C::Product>(
          x[i * 4], x[i * 4 + 1], x[i * 4 + 2], x[i * 4 + 3]);
    if (pair < QueryParts)
      queriesView().store(C::QueryRows::chunk(row, pair), bytes);
  } else {
    // A lane has four elements of K side by side, of which an mma takes the
    // first two and, in its other register, the last two.
    Chunk ordered[2];
    KV_UNROLL
    for (int i = 0; i < 8; ++i)
      ordered[i % 2].words[i / 2] =
          narrowPair<F16>(kv::plan::multiply(x[i * 2], scale.factor),
                          kv::plan::multiply(x[i * 2 + 1], scale.factor));
    if (pair >= QueryParts)
      return;
    KV_UNROLL
    for (int i = 0; i < 2; ++i)
      queriesView().store(C::QueryRows::chunk(row, pair * 2 + i), ordered[i]);
  }
}

template <Block B, class C>
KV_BODY void
AttentionBody<B, C>::storeBounds(const kv::plan::Sequence &sequence) {
  auto bounds = view<C, slot::Bounds, IntPair>(b);
  for (int row = threadNow(); row < C::Rows; row += C::Threads) {
    bool live = row < liveRows;
    bounds.store(row, live ? visible(sequence, row) : IntPair{0, 0});
    if constexpr (!TileRows<C>)
      placesView().store(row, live ? outPlace(row) : -1);
  }
  if constexpr (!TileRows<C>)
    clearUpperWeights();
  allSeeFrom = visible(sequence, liveRows - 1).x;
  allSeeTo = visible(sequence, 0).y;
  if (p.ancestors)
    storePaths(sequence);
}

template <Block B, class C>
KV_BODY uint64_t AttentionBody<B, C>::pathOf(const kv::plan::Sequence &sequence,
                                             int row, IntPair &seen) const {
  int token = p.shape.group.quotient(firstRow + row);
  kv::plan::TreeNode node =
      kv::plan::nodeAt(sequence.cached, sequence.added, token,
                       b.load(p.ancestors + firstToken + token));
  kv::plan::Keys keys = kv::plan::visibleKeys<HasChunks<C>>(
      p.shape.mask, p.shape.window, node.position, sequence.length);
  seen.x = int32_t(kv::plan::lesser<int64_t>(keys.first, seen.y));
  return node.path();
}

template <Block B, class C>
KV_BODY void
AttentionBody<B, C>::storePaths(const kv::plan::Sequence &sequence) {
  auto bounds = view<C, slot::Bounds, IntPair>(b);
  for (int row = b.thread(); row < C::Rows; row += C::Threads) {
    if (row >= liveRows) {
      pathsView().store(row, {-1, -1});
      continue;
    }
    IntPair seen = bounds.load(row);
    uint64_t path = pathOf(sequence, row, seen);
    bounds.store(row, seen);
    pathsView().store(row, {int32_t(path >> 32), int32_t(path)});
  }
  // Before the tree all is as it was.
  allSeeTo = int32_t(kv::plan::lesser<int64_t>(
      allSeeTo, sequence.cached + kv::plan::tokensBeforeTree(sequence.added)));
}

template <Block B, class C> KV_BODY void AttentionBody<B, C>::fillRing() {
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

template <Block B, class C>
KV_BODY void AttentionBody<B, C>::computeLeaf(int leaf) {
  nextRowPlaces(leaf);
  computeScores(leaf);
  if constexpr (C::Scaled)
    storeScales(leaf + 1);
  computeMaxima(leaf);
  b.sync();
  computeWeights(leaf);
  computeValues(leaf);
  foldLeaf();
}

template <Block B, class C>
KV_BODY void AttentionBody<B, C>::runLeaves(const Work &work) {
  if constexpr (C::QueriesInRegisters) {
    KV_UNROLL
    for (int d = 0; d < C::HeadDim / ProductDepth; ++d)
      loadQueryFragment(queryFragments[d], 0, d);
  }
  int pieces = 0, groups = 0;
  // A loop of its own for the leaves of a piece: registers that change where a
  // piece ends would be moved to and fro in every leaf.
  KV_UNROLL_BY(1)
  for (int leaf = leafBegin; leaf < leafEnd;) {
    clear(group);
    groupState[0] = groupState[1] = Softmax();
    int end = pieceEnd(work, leaf);
    KV_UNROLL_BY(1)
    do
      computeLeaf(leaf);
    while (++leaf < end);
    bool last = leaf == leafEnd;
    if constexpr (DraftRows<C>)
      renewThread();
    if (work.whole())
      foldGroup(groups++ == 0, last);
    else
      storePiece(kv::plan::slotOf(p.shape, part(), work.starts, pieces++));
  }
}

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTION_COMMON_ATTENTIONUNIT_H
