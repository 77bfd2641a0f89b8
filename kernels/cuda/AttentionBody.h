//===- AttentionBody.h - Attention over a paged cache -----------*- C++ -*-===//
//
// One thread block works on one part of the plan. For each leaf of 128 keys:
//
//   scores      S = Q K^T, each warp 32 of the keys
//   maxima      of each row over the leaf, through shared memory
//   weights     P = 2^(S - maximum), 16 bit, through shared memory
//   values      O = P V, each warp a quarter of the columns, and P 1, the
//               row's sum, on the tensor cores as well
//   fold        of the leaf into its group
//
// K and V come in tiles of 64 keys through a ring of asynchronous copies that
// runs `Ahead` tiles in front and never stops at the end of a leaf. A group
// folds into the total, or, where the unit is shared with other parts, goes to
// scratch; the last part to arrive folds what all have left there.
//
// The bits of a row depend on absolute positions only: a leaf's result is
// computed from nothing, its sums run over all 128 keys, those that a row does
// not see with weight zero, and leaves fold by plan/Fold.h alone.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_ATTENTIONBODY_H
#define KV_KERNELS_CUDA_ATTENTIONBODY_H

#include "Attention.h"
#include "Body.h"
#include "Faults.h"
#include "Widen.h"

namespace kv::cuda {

/// Right to about 1e-7. The GPU's own approximation is off by 2^-11 of the
/// result, which a soft cap of 50 makes two percent of a weight.
KV_BODY float hyperbolicTangent(float x) {
  float power = kv::plan::powerOfTwo(x * (2 * kv::plan::Log2E));
  return kv::plan::fusedMultiplyAdd(-2.0f, kv::plan::reciprocal(power + 1),
                                    1.0f);
}

template <Block B, class C, Fault F = Fault::None> class AttentionBody {
  using Softmax = kv::plan::Softmax;
  using Work = kv::plan::Work;

public:
  KV_BODY AttentionBody(B &b, const AttentionParams &p)
      : b(b), p(p), warp(b.thread() / WarpLanes), lane(b.thread() % WarpLanes),
        batch(p.batch) {
    // Lengths are believed as far as a row of the table goes.
    batch.capacity = F == Fault::UncheckedTable
                         ? INT64_MAX
                         : int64_t(p.tableColumns) * p.cache.pageSize;
    // A score's raw value times this is in units of log2. A scale that would
    // turn the order of scores is applied before.
    scaleFirst = p.softcap > 0 || !(p.scale > 0);
    toLog2 = scaleFirst ? kv::plan::Log2E : p.scale * kv::plan::Log2E;
  }

  KV_BODY void run() {
    kv::plan::Cut at = p.cuts[b.block()];
    Work work;
    while (kv::plan::nextWork(p.shape, *p.header, p.tiles, at,
                              p.cuts[b.block() + 1], work))
      runWork(work);
  }

private:
  //===--- A unit ---------------------------------------------------------===//

  KV_BODY void runWork(const Work &work) {
    const kv::plan::Tile &tile = p.tiles[work.tile];
    ++unitNumber;
    head = work.head;
    firstRow = tile.row;
    tableRow = p.table + tile.sequence * p.tablePitch;
    {
      // Not kept: the leaves need registers more.
      kv::plan::Sequence sequence = kv::plan::sequenceAt(batch, tile.sequence);
      firstToken = int32_t(sequence.token);
      liveRows = int32_t(kv::plan::lesser<int64_t>(
          C::Rows, sequence.added * p.shape.group - firstRow));
      kv::plan::Keys keys = kv::plan::tileKeys(p.shape, sequence, firstRow);
      keysFirst = int32_t(keys.first);
      keysLast = int32_t(kv::plan::lesser<int64_t>(keys.last, INT32_MAX));
      storeBounds(sequence);
    }
    loadQueries();
    bool any = work.leafBegin < work.leafEnd;
    if (any)
      firstOffsets(work);
    if constexpr (F != Fault::MissingUnitBarrier)
      b.sync();
    clear(group);
    totalState[0] = totalState[1] = Softmax();
    if (any)
      runLeaves(work);
    if (work.whole())
      finishRows();
    else
      arriveAndMerge(work, tile);
  }

  KV_BODY IntPair visible(const kv::plan::Sequence &sequence, int row) const {
    kv::plan::Keys seen = kv::plan::visibleKeys(
        p.shape.mask, p.shape.window,
        sequence.cached + (firstRow + row) / p.shape.group, sequence.length);
    return {int32_t(kv::plan::lesser<int64_t>(seen.first, INT32_MAX)),
            int32_t(seen.last)};
  }
  KV_BODY int64_t tokenOf(int row) const {
    return firstToken + (firstRow + row) / p.shape.group;
  }
  KV_BODY int queryHeadOf(int row) const {
    return head * p.shape.group + (firstRow + row) % p.shape.group;
  }

  KV_BODY void loadQueries() {
    auto queries = b.template shared<Chunk>(C::Queries, C::Rows * C::RowChunks);
    const auto *q = static_cast<const typename C::Query *>(p.q);
    KV_UNROLL_BY(C::Unroll)
    for (int i = b.thread(); i < C::Rows * C::RowChunks; i += C::Threads) {
      int row = i / C::RowChunks, column = i % C::RowChunks;
      Chunk chunk{};
      if (row < liveRows)
        chunk = b.load(
            reinterpret_cast<const Chunk *>(q + tokenOf(row) * p.qTokenStride +
                                            queryHeadOf(row) * p.qHeadStride) +
            column);
      queries.store(Swizzled<C::RowChunks>::chunk(row, column), chunk);
    }
  }

  /// What each row sees and where its result goes; rows that are none see
  /// nothing. What all see needs no mask.
  KV_BODY void storeBounds(const kv::plan::Sequence &sequence) {
    auto bounds = b.template shared<IntPair>(C::Bounds, C::Rows);
    auto places = placesView();
    for (int row = b.thread(); row < C::Rows; row += C::Threads) {
      bool live = row < liveRows;
      bounds.store(row, live ? visible(sequence, row) : IntPair{0, 0});
      places.store(row, live ? outPlace(row) : -1);
    }
    allSeeFrom = visible(sequence, liveRows - 1).x;
    allSeeTo = visible(sequence, 0).y;
  }

  KV_BODY void runLeaves(const Work &work) {
    step = 0;
    KV_UNROLL
    for (int i = 0; i < C::Ahead; ++i)
      issueTile(i);
    groupState[0] = groupState[1] = Softmax();
    int pieces = 0, groups = 0;
    for (int leaf = leafBegin; leaf < leafEnd; ++leaf) {
      nextOffsets(leaf);
      computeScores();
      computeMaxima(leaf);
      if constexpr (F != Fault::MissingMaximaBarrier)
        b.sync();
      computeWeights();
      computeValues();
      foldLeaf();
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
        storePiece(kv::plan::slotOf(p.shape, b.block(), work.starts, pieces++));
      }
      clear(group);
      groupState[0] = groupState[1] = Softmax();
    }
  }

  //===--- Where keys are -------------------------------------------------===//

  /// The page of this thread's key of a leaf; -1 if there is nothing that may
  /// be read.
  KV_BODY int32_t lookUp(int leaf) const {
    if (leaf >= leafEnd)
      return -1;
    int32_t position = leaf * C::Leaf + b.thread();
    bool inside = position >= keysFirst && position < keysLast;
    if constexpr (F != Fault::NoTailFill)
      if (!inside)
        return -1;
    int32_t column = uint32_t(position) / uint32_t(p.cache.pageSize);
    int32_t page = b.load(tableRow + column);
    if constexpr (F != Fault::UncheckedPage)
      if (page < 0 || page >= p.cache.pages)
        return -1;
    return page;
  }

  /// The place of this thread's key of a leaf, in elements from the cache's
  /// first: K's row; or -1.
  KV_BODY int64_t keyPlace(int leaf, int32_t page) const {
    if (page < 0)
      return -1;
    int32_t position = leaf * C::Leaf + b.thread();
    uint32_t slot = uint32_t(position) % uint32_t(p.cache.pageSize);
    return page * p.cache.pageStride + p.layer * p.cache.layerStride +
           slot * p.cache.tokenStride + head * p.cache.headStride;
  }

  KV_BODY auto offsetsView() const {
    return b.template shared<int64_t>(C::Offsets, C::OffsetBuffers * C::Leaf);
  }
  static KV_BODY int offsetPlace(int leafNumber, int key) {
    return leafNumber % C::OffsetBuffers * C::Leaf + key;
  }

  /// Leaves are numbered from the work's first.
  KV_BODY void firstOffsets(const Work &work) {
    leafEnd = work.leafEnd;
    leafBegin = work.leafBegin;
    KV_UNROLL
    for (int i = 0; i < 2; ++i)
      storeOffset(i, lookUp(leafBegin + i));
    nextPage = lookUp(leafBegin + 2);
  }

  KV_BODY void storeOffset(int leafNumber, int32_t page) {
    offsetsView().store(offsetPlace(leafNumber, b.thread()),
                        keyPlace(leafBegin + leafNumber, page));
  }

  /// Shares the places of the leaf after the next, and looks the one after
  /// that up: its page is known long before it is needed.
  KV_BODY void nextOffsets(int leaf) {
    storeOffset(leaf - leafBegin + 2, nextPage);
    nextPage = lookUp(leaf + 3);
  }

  //===--- The ring of tiles ----------------------------------------------===//

  KV_BODY auto ringView() const {
    return b.template shared<Chunk>(C::Ring, C::Stages * C::StageChunks);
  }
  KV_BODY auto wideView() const {
    return b.template shared<Chunk>(C::Wide, 2 * C::TileChunks);
  }

  /// Where chunk i of a thread's part of a tile comes from and goes to.
  static KV_BODY Place rawPlace(int thread, int i) {
    return {thread / C::RawChunks + i * (C::Threads / C::RawChunks),
            thread % C::RawChunks};
  }
  static constexpr int RawPerThread = C::StageChunks / C::Threads;

  /// Tile t of the work is K or V (half, of 64 keys) of leaf t / 4.
  KV_BODY void issueTile(int t) {
    if (t < (leafEnd - leafBegin) * C::TilesPerLeaf) {
      int half = t % 2, plane = t / 2 % 2;
      auto ring = ringView();
      auto offsets = offsetsView();
      int stage = t % C::Stages * C::StageChunks;
      const auto *data = static_cast<const typename C::Cache *>(p.cache.data);
      KV_UNROLL_BY(C::Unroll)
      for (int i = 0; i < RawPerThread; ++i) {
        Place place = rawPlace(b.thread(), i);
        int64_t offset = offsets.load(
            offsetPlace(t / C::TilesPerLeaf, half * C::TileKeys + place.row));
        const auto *source = data;
        if (offset >= 0)
          source += offset + plane * p.cache.planeStride +
                    place.column * (ChunkBytes / int(sizeof(*data)));
        b.copyAsync(ring, stage + rawChunk(place), source,
                    offset >= 0 ? ChunkBytes : 0);
      }
    }
    b.commit();
  }

  static KV_BODY int rawChunk(Place place) {
    if constexpr (C::Widens) // only the thread that copied it reads it
      return place.row * C::RawChunks + place.column;
    else
      return Swizzled<C::RowChunks>::chunk(place.row, place.column);
  }

  /// Makes the next tile readable for all, and lets a later one come into the
  /// place of the one before. Returns the tile's first chunk.
  KV_BODY int nextTile() {
    constexpr int Pending = C::Ahead - 1 + (F == Fault::WaitOneShort);
    if constexpr (F == Fault::LoadBeforeBarrier)
      issueTile(step + C::Ahead);
    if constexpr (F != Fault::MissingWait)
      b.template wait<Pending + (F == Fault::LoadBeforeBarrier)>();
    if constexpr (C::Widens)
      widenTile();
    if constexpr (F == Fault::SkippedBarrier) {
      if (b.thread() != 37)
        b.sync();
    } else if constexpr (F != Fault::MissingStageBarrier) {
      b.sync();
    }
    if constexpr (F != Fault::LoadBeforeBarrier)
      issueTile(step + C::Ahead);
    int chunk = C::Widens ? step % 2 * C::TileChunks
                          : step % C::Stages * C::StageChunks;
    ++step;
    return chunk;
  }

  /// 8-bit elements to 16 bits, by the thread that copied them. The other of
  /// the two wide tiles may still be read.
  KV_BODY void widenTile() {
    auto ring = ringView();
    auto wide = wideView();
    int stage = step % C::Stages * C::StageChunks;
    int target = step % 2 * C::TileChunks;
    KV_UNROLL
    for (int i = 0; i < RawPerThread; ++i) {
      Place place = rawPlace(b.thread(), i);
      Chunk raw = ring.load(stage + rawChunk(place));
      KV_UNROLL
      for (int half = 0; half < 2; ++half) {
        Chunk chunk;
        widenFour(raw.words[half * 2], chunk.words[0], chunk.words[1]);
        widenFour(raw.words[half * 2 + 1], chunk.words[2], chunk.words[3]);
        wide.store(target + Swizzled<C::RowChunks>::chunk(
                                place.row, place.column * 2 + half),
                   chunk);
      }
    }
  }

  KV_BODY auto tileView() const {
    if constexpr (C::Widens)
      return wideView();
    else
      return ringView();
  }

  //===--- A leaf ---------------------------------------------------------===//

  /// Warp w has keys 16 w .. 16 w + 15 of both halves of the leaf.
  KV_BODY void computeScores() {
    KV_UNROLL
    for (int m = 0; m < C::RowTiles; ++m)
      KV_UNROLL
    for (int n = 0; n < C::KeyTiles; ++n)
      KV_UNROLL
    for (int i = 0; i < 4; ++i)
      scores[m][n][i] = 0;
    KV_UNROLL
    for (int half = 0; half < 2; ++half) {
      int tile = nextTile();
      scoreHalf(half, tile);
    }
  }

  KV_BODY void scoreHalf(int half, int tile) {
    auto queries = b.template shared<Chunk>(C::Queries, C::Rows * C::RowChunks);
    auto k = tileView();
    Place a = loadA(lane), kt = loadTransposedB(lane);
    KV_UNROLL_BY(C::Unroll)
    for (int d = 0; d < C::HeadDim / 16; ++d) {
      uint32_t kFragment[4];
      b.loadMatrix(kFragment, k,
                   tile + Swizzled<C::RowChunks>::chunk(warp * 16 + kt.row,
                                                        d * 2 + kt.column));
      KV_UNROLL
      for (int m = 0; m < C::RowTiles; ++m) {
        uint32_t qFragment[4];
        b.loadMatrix(
            qFragment, queries,
            Swizzled<C::RowChunks>::chunk(m * 16 + a.row, d * 2 + a.column));
        KV_UNROLL
        for (int n = 0; n < 2; ++n)
          b.template multiplyAdd<typename C::Query>(scores[m][half * 2 + n],
                                                    qFragment, kFragment[n * 2],
                                                    kFragment[n * 2 + 1]);
      }
    }
  }

  /// The leaf's key of score n, i of this thread.
  KV_BODY int keyOf(int n, int i) const {
    return n / 2 * C::TileKeys + warp * 16 + n % 2 * 8 + lane % 4 * 2 + i % 2;
  }
  /// The row of accumulators 0, 1 (side 0) or 2, 3 (side 1) of row tile m.
  KV_BODY int rowOf(int m, int side) const {
    return m * 16 + lane / 4 + side * 8;
  }

  /// Each row's largest score over this warp's keys. Keys that a row does not
  /// see get no score, so that even a NaN there counts for nothing.
  KV_BODY void computeMaxima(int leaf) {
    if (scaleFirst)
      scaleScores();
    int first = leaf * C::Leaf;
    if (F != Fault::ForgottenMask &&
        (first < allSeeFrom || first > allSeeTo - C::Leaf ||
         liveRows < C::Rows))
      maskScores(first);
    auto maxima = b.template shared<float>(C::Maxima, C::Rows * C::Warps);
    KV_UNROLL
    for (int m = 0; m < C::RowTiles; ++m)
      KV_UNROLL
    for (int side = 0; side < 2; ++side) {
      float largest = kv::plan::NoScore;
      KV_UNROLL
      for (int n = 0; n < C::KeyTiles; ++n)
        KV_UNROLL
      for (int i = 0; i < 2; ++i)
        largest = larger(largest, scores[m][n][side * 2 + i]);
      if (F != Fault::SkippedShuffle || b.thread() != 37)
        largest = larger(largest, b.shuffleXor(largest, 1));
      largest = larger(largest, b.shuffleXor(largest, 2));
      if (lane % 4 == 0)
        maxima.store(rowOf(m, side) * C::Warps + warp, largest);
    }
  }

  static KV_BODY float larger(float a, float b) { return b > a ? b : a; }

  KV_BODY void scaleScores() {
    float before = p.softcap > 0 ? p.scale / p.softcap : p.scale;
    KV_UNROLL
    for (int m = 0; m < C::RowTiles; ++m)
      KV_UNROLL
    for (int n = 0; n < C::KeyTiles; ++n)
      KV_UNROLL
    for (int i = 0; i < 4; ++i) {
      float &score = scores[m][n][i];
      score = kv::plan::multiply(score, before);
      if (p.softcap > 0)
        score = kv::plan::multiply(hyperbolicTangent(score), p.softcap);
    }
  }

  KV_BODY void maskScores(int first) {
    auto bounds = b.template shared<IntPair>(C::Bounds, C::Rows);
    KV_UNROLL
    for (int m = 0; m < C::RowTiles; ++m)
      KV_UNROLL
    for (int side = 0; side < 2; ++side) {
      IntPair seen = bounds.load(rowOf(m, side));
      KV_UNROLL
      for (int n = 0; n < C::KeyTiles; ++n)
        KV_UNROLL
      for (int i = 0; i < 2; ++i) {
        int key = first + keyOf(n, i);
        if (key < seen.x || key >= seen.y)
          scores[m][n][side * 2 + i] = kv::plan::NoScore;
      }
    }
  }

  /// Scores to 16-bit weights for all warps. Warp m keeps the state of row
  /// tile m and says how the leaf folds into the group.
  KV_BODY void computeWeights() {
    auto maxima = b.template shared<FloatQuad>(C::Maxima, C::Rows);
    auto weights =
        b.template shared<uint32_t>(C::Weights, C::Rows * C::LeafPairs);
    KV_UNROLL
    for (int m = 0; m < C::RowTiles; ++m)
      KV_UNROLL
    for (int side = 0; side < 2; ++side) {
      int row = rowOf(m, side);
      FloatQuad four = maxima.load(row);
      float maximum =
          larger(larger(four.x, four.y), larger(four.z, four.w)) * toLog2;
      float base = kv::plan::scoreBase(maximum);
      KV_UNROLL
      for (int n = 0; n < C::KeyTiles; ++n) {
        float w[2];
        KV_UNROLL
        for (int i = 0; i < 2; ++i)
          w[i] = kv::plan::powerOfTwo(kv::plan::fusedMultiplyAdd(
              scores[m][n][side * 2 + i], toLog2, -base));
        weights.store(Swizzled<C::LeafPairs / 4>::word(row, keyOf(n, 0) / 2),
                      narrowPair<typename C::Query>(w[0], w[1]));
      }
      if (m == warp)
        leafWeights[side] =
            announce(C::GroupWeights, row,
                     kv::plan::foldMaximum(groupState[side].maximum, maximum));
    }
  }

  /// Tells all warps how a row folds.
  KV_BODY kv::plan::Weights announce(int offset, int row,
                                     kv::plan::Weights weights) {
    if (lane % 4 == 0)
      b.template shared<FloatPair>(offset, C::Rows)
          .store(row, {weights.left, weights.right});
    return weights;
  }

  /// Warp w has columns w * WarpColumns and on.
  KV_BODY void computeValues() {
    clear(values);
    KV_UNROLL
    for (int i = 0; i < 4; ++i)
      sums[i] = 0;
    KV_UNROLL
    for (int half = 0; half < 2; ++half) {
      int tile = nextTile();
      valueHalf(half, tile);
    }
    KV_UNROLL
    for (int side = 0; side < 2; ++side)
      if (warp < C::RowTiles)
        groupState[side].sum = kv::plan::foldValue(
            groupState[side].sum, sums[side * 2], leafWeights[side]);
  }

  KV_BODY void valueHalf(int half, int tile) {
    auto weights =
        b.template shared<Chunk>(C::Weights, C::Rows * C::LeafPairs / 4);
    auto v = tileView();
    Place a = loadA(lane), vt = loadB(lane);
    constexpr uint32_t One = OnePair<typename C::Query>;
    KV_UNROLL_BY(C::Unroll)
    for (int k = 0; k < C::TileKeys / 16; ++k) {
      uint32_t vFragments[C::ColumnTiles / 2][4];
      KV_UNROLL
      for (int n = 0; n < C::ColumnTiles / 2; ++n)
        b.loadMatrixTransposed(
            vFragments[n], v,
            tile + Swizzled<C::RowChunks>::chunk(k * 16 + vt.row,
                                                 warp * (C::WarpColumns / 8) +
                                                     n * 2 + vt.column));
      KV_UNROLL
      for (int m = 0; m < C::RowTiles; ++m) {
        uint32_t pFragment[4];
        b.loadMatrix(pFragment, weights,
                     Swizzled<C::LeafPairs / 4>::chunk(
                         m * 16 + a.row, half * 8 + k * 2 + a.column));
        KV_UNROLL
        for (int n = 0; n < C::ColumnTiles; ++n)
          b.template multiplyAdd<typename C::Query>(
              values[m][n], pFragment, vFragments[n / 2][n % 2 * 2],
              vFragments[n / 2][n % 2 * 2 + 1]);
      }
      // Loaded again: to pick a fragment by the warp's number would take an
      // array in memory.
      if (warp < C::RowTiles) {
        uint32_t pFragment[4];
        b.loadMatrix(pFragment, weights,
                     Swizzled<C::LeafPairs / 4>::chunk(
                         warp * 16 + a.row, half * 8 + k * 2 + a.column));
        b.template multiplyAdd<typename C::Query>(sums, pFragment, One, One);
      }
    }
  }

  //===--- Folding --------------------------------------------------------===//

  using Accumulators = float[C::RowTiles][C::ColumnTiles][4];

  static KV_BODY void clear(Accumulators &x) {
    KV_UNROLL
    for (int m = 0; m < C::RowTiles; ++m)
      KV_UNROLL
    for (int n = 0; n < C::ColumnTiles; ++n)
      KV_UNROLL
    for (int i = 0; i < 4; ++i)
      x[m][n][i] = 0;
  }

  KV_BODY void foldLeaf() {
    auto weights = b.template shared<FloatPair>(C::GroupWeights, C::Rows);
    KV_UNROLL
    for (int m = 0; m < C::RowTiles; ++m)
      KV_UNROLL
    for (int side = 0; side < 2; ++side) {
      FloatPair pair = weights.load(rowOf(m, side));
      KV_UNROLL
      for (int n = 0; n < C::ColumnTiles; ++n)
        KV_UNROLL
      for (int i = side * 2; i < side * 2 + 2; ++i)
        group[m][n][i] = kv::plan::foldValue(group[m][n][i], values[m][n][i],
                                             {pair.x, pair.y});
    }
  }

  /// Folds the group into the total; the last one leaves it in `group`. The
  /// total waits in registers where there are enough, else in memory that only
  /// this thread uses, and only where there is more than one group.
  KV_BODY void foldGroup(bool first, bool last) {
    KV_UNROLL
    for (int side = 0; side < 2; ++side)
      if (warp < C::RowTiles) {
        kv::plan::Weights weights =
            kv::plan::fold(totalState[side], groupState[side]);
        if (!first)
          announce(C::TotalWeights, rowOf(warp, side), weights);
      }
    if (first) {
      if (!last)
        keepTotal();
      return;
    }
    if constexpr (F != Fault::MissingTotalBarrier)
      b.sync();
    foldTotal();
    if (!last)
      keepTotal();
  }

  static KV_BODY int accumulator(int m, int n, int side) {
    return (m * C::ColumnTiles + n) * 2 + side;
  }
  KV_BODY FloatPair *totalPlace(int index) const {
    return reinterpret_cast<FloatPair *>(p.totals) +
           (int64_t(b.block()) * (C::TotalFloats / 2 / C::Threads) + index) *
               C::Threads +
           b.thread();
  }

  KV_BODY void keepTotal() {
    KV_UNROLL
    for (int m = 0; m < C::RowTiles; ++m)
      KV_UNROLL
    for (int n = 0; n < C::ColumnTiles; ++n)
      KV_UNROLL
    for (int side = 0; side < 2; ++side) {
      float *pair = group[m][n] + side * 2;
      if constexpr (C::TotalInRegisters) {
        total[m][n][side * 2] = pair[0];
        total[m][n][side * 2 + 1] = pair[1];
      } else {
        b.storeScratch(totalPlace(accumulator(m, n, side)),
                       FloatPair{pair[0], pair[1]});
      }
    }
  }

  KV_BODY void foldTotal() {
    auto weights = b.template shared<FloatPair>(C::TotalWeights, C::Rows);
    KV_UNROLL
    for (int m = 0; m < C::RowTiles; ++m)
      KV_UNROLL
    for (int side = 0; side < 2; ++side) {
      FloatPair pair = weights.load(rowOf(m, side));
      KV_UNROLL
      for (int n = 0; n < C::ColumnTiles; ++n) {
        FloatPair left;
        if constexpr (C::TotalInRegisters)
          left = {total[m][n][side * 2], total[m][n][side * 2 + 1]};
        else
          left = b.loadScratch(totalPlace(accumulator(m, n, side)));
        float *right = group[m][n] + side * 2;
        right[0] = kv::plan::foldValue(left.x, right[0], {pair.x, pair.y});
        right[1] = kv::plan::foldValue(left.y, right[1], {pair.x, pair.y});
      }
    }
  }

  //===--- Results --------------------------------------------------------===//

  KV_BODY Softmax sinkOf(int row) const {
    if (!p.sinks)
      return Softmax();
    return {b.load(p.sinks + queryHeadOf(row)) * kv::plan::Log2E, 1.0f};
  }

  /// Two buffers: the last unit's may still be read.
  KV_BODY auto placesView() const {
    return b.template shared<int64_t>(
        C::OutPlaces + unitNumber % 2 * C::Rows * 8, C::Rows);
  }
  KV_BODY int64_t outPlace(int row) const {
    return tokenOf(row) * p.outTokenStride + queryHeadOf(row) * p.outHeadStride;
  }
  /// Two elements of a row's result.
  KV_BODY void storeOut(int64_t place, int column, float low,
                        float high) const {
    auto *out = static_cast<typename C::Query *>(p.out) + place + column;
    b.store(reinterpret_cast<uint32_t *>(out),
            narrowPair<typename C::Query>(low, high));
  }

  KV_BODY void storeLogOfSum(int row, const Softmax &state) const {
    if (p.lse)
      b.store(p.lse + tokenOf(row) * p.lseTokenStride +
                  queryHeadOf(row) * p.lseHeadStride,
              kv::plan::logOfSum(state));
  }

  KV_BODY void finishRows() {
    auto finishes = b.template shared<FloatPair>(C::Finishes, C::Rows);
    KV_UNROLL
    for (int side = 0; side < 2; ++side) {
      int row = rowOf(warp, side);
      if (warp < C::RowTiles && row < liveRows) {
        kv::plan::Finish finish =
            kv::plan::finish(totalState[side], sinkOf(row));
        if (lane % 4 == 0) {
          finishes.store(row, {finish.weight, finish.inverse});
          storeLogOfSum(row, totalState[side]);
        }
      }
    }
    b.sync();
    auto places = placesView();
    KV_UNROLL
    for (int m = 0; m < C::RowTiles; ++m)
      KV_UNROLL
    for (int side = 0; side < 2; ++side) {
      int64_t place = places.load(rowOf(m, side));
      if (place < 0)
        continue;
      FloatPair pair = finishes.load(rowOf(m, side));
      kv::plan::Finish finish{pair.x, pair.y};
      KV_UNROLL
      for (int n = 0; n < C::ColumnTiles; ++n)
        storeOut(place, warp * C::WarpColumns + n * 8 + lane % 4 * 2,
                 finishValue(group[m][n][side * 2], finish),
                 finishValue(group[m][n][side * 2 + 1], finish));
    }
  }

  //===--- Units that parts share -----------------------------------------===//

  KV_BODY void storePiece(int64_t slot) {
    float *piece = p.scratch + slot * C::SlotFloats;
    KV_UNROLL
    for (int m = 0; m < C::RowTiles; ++m)
      KV_UNROLL
    for (int side = 0; side < 2; ++side) {
      int row = rowOf(m, side);
      if (row >= liveRows)
        continue;
      float *target =
          piece + row * C::HeadDim + warp * C::WarpColumns + lane % 4 * 2;
      KV_UNROLL
      for (int n = 0; n < C::ColumnTiles; ++n)
        b.storeScratch(
            reinterpret_cast<FloatPair *>(target + n * 8),
            FloatPair{group[m][n][side * 2], group[m][n][side * 2 + 1]});
      if (m == warp && lane % 4 == 0)
        b.storeScratch(
            reinterpret_cast<FloatPair *>(piece + C::Rows * C::HeadDim) + row,
            FloatPair{groupState[side].maximum, groupState[side].sum});
    }
  }

  KV_BODY void arriveAndMerge(const Work &work, const kv::plan::Tile &tile) {
    kv::plan::Parts parts =
        kv::plan::unitParts(p.shape, *p.header, tile, work.head);
    auto ticket = b.template shared<uint32_t>(C::Ticket, 1);
    b.sync(); // all pieces are stored: one thread's fence is for all
    if (b.thread() == 0) {
      if constexpr (F != Fault::MissingFence)
        b.fence();
      uint32_t number = b.arrive(p.counters + parts.first);
      b.fence();
      bool last = number == parts.last - parts.first;
      if (last) // for the next launch
        b.store(p.counters + parts.first, 0u);
      ticket.store(0, last);
    }
    b.sync();
    if (ticket.load(0))
      mergePieces(tile, parts);
  }

  /// Every thread folds four columns of a row over all pieces.
  KV_BODY void mergePieces(const kv::plan::Tile &tile, kv::plan::Parts parts) {
    constexpr int Quads = C::HeadDim / 4;
    for (int i = b.thread(); i < liveRows * Quads; i += C::Threads)
      mergeRow(tile, parts, i / Quads, i % Quads);
  }

  KV_BODY void mergeRow(const kv::plan::Tile &tile, kv::plan::Parts parts,
                        int row, int quad) {
    // So many pieces are read before they are folded: what costs is latency.
    constexpr int Together = 4;
    Softmax totals, groups;
    float totalValues[4] = {}, groupValues[4] = {};
    for (int64_t part = parts.first; part <= parts.last; ++part) {
      kv::plan::Leaves leaves =
          kv::plan::partLeaves(p.shape, *p.header, tile, head, parts, part);
      int leaf = leaves.begin;
      for (int64_t index = 0; leaf < leaves.end; index += Together) {
        FloatPair state[Together];
        FloatQuad quads[Together];
        bool opensGroup[Together];
        KV_UNROLL
        for (int j = 0; j < Together; ++j) {
          opensGroup[j] = leaf % kv::plan::LeavesPerGroup == 0;
          state[j] = {kv::plan::NoScore, 0};
          quads[j] = {0, 0, 0, 0};
          if (leaf < leaves.end) {
            const float *piece =
                p.scratch + kv::plan::slotOf(p.shape, part, part == parts.first,
                                             index + j) *
                                C::SlotFloats;
            state[j] = b.loadScratch(reinterpret_cast<const FloatPair *>(
                                         piece + C::Rows * C::HeadDim) +
                                     row);
            quads[j] = b.loadScratch(
                reinterpret_cast<const FloatQuad *>(piece + row * C::HeadDim) +
                quad);
            leaf = int(kv::plan::pieceEnd(leaf, leaves.end));
          }
        }
        KV_UNROLL
        for (int j = 0; j < Together; ++j) {
          if (opensGroup[j]) {
            foldFour(totals, totalValues, groups, groupValues);
            groups = Softmax();
            KV_UNROLL
            for (float &value : groupValues)
              value = 0;
          }
          float four[4] = {quads[j].x, quads[j].y, quads[j].z, quads[j].w};
          foldFour(groups, groupValues, {state[j].x, state[j].y}, four);
        }
      }
    }
    foldFour(totals, totalValues, groups, groupValues);
    kv::plan::Finish finish = kv::plan::finish(totals, sinkOf(row));
    KV_UNROLL
    for (int i = 0; i < 4; i += 2)
      storeOut(outPlace(row), quad * 4 + i, finishValue(totalValues[i], finish),
               finishValue(totalValues[i + 1], finish));
    if (quad == 0)
      storeLogOfSum(row, totals);
  }

  static KV_BODY void foldFour(Softmax &left, float (&leftValues)[4],
                               const Softmax &right,
                               const float (&rightValues)[4]) {
    kv::plan::Weights weights = kv::plan::fold(left, right);
    KV_UNROLL
    for (int i = 0; i < 4; ++i)
      leftValues[i] =
          kv::plan::foldValue(leftValues[i], rightValues[i], weights);
  }

  B &b;
  const AttentionParams &p;
  const int warp, lane;
  kv::plan::Batch batch;
  bool scaleFirst;
  float toLog2;

  // The unit.
  const int32_t *tableRow;
  int32_t head, firstToken, firstRow, liveRows;
  int32_t keysFirst, keysLast; // what any row sees
  int32_t allSeeFrom, allSeeTo;
  int unitNumber = 0;
  int leafBegin, leafEnd, step;
  int32_t nextPage;

  // The leaf, its group, the total. Warp m < RowTiles has the states of row
  // tile m.
  float scores[C::RowTiles][C::KeyTiles][4];
  float sums[4];
  kv::plan::Weights leafWeights[2];
  Softmax groupState[2], totalState[2];
  Accumulators values, group;
  float total[C::TotalInRegisters ? C::RowTiles : 1][C::ColumnTiles][4];
};

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTIONBODY_H
