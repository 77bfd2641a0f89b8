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

#ifndef KV_KERNELS_CUDA_ATTENTION_COMMON_ATTENTIONBODY_H
#define KV_KERNELS_CUDA_ATTENTION_COMMON_ATTENTIONBODY_H

#include "RowScales.h"
#include "Unit.h"
#include "kernels/block/Body.h"
#include "kernels/block/Widen.h"
#include "kernels/cuda/parameters/Attention.h"
#include "kernels/cuda/parameters/AttentionTiles.h"
#include "kernels/cuda/parameters/ByteTiles.h"
#include "kernels/cuda/parameters/Latent.h"
#include "kernels/cuda/parameters/LatentTiles.h"

namespace kv::cuda {

/// Right to about 1e-7. The GPU's own approximation is off by 2^-11 of the
/// result, which a soft cap of 50 makes two percent of a weight.
KV_BODY float hyperbolicTangent(float x) {
  float power = kv::plan::powerOfTwo(x * (2 * kv::plan::Log2E));
  return kv::plan::fusedMultiplyAdd(-2.0f, kv::plan::reciprocal(power + 1),
                                    1.0f);
}

/// The least power of two that is not below x.
KV_HD constexpr int powerAbove(int x) {
  int power = 1;
  while (power < x)
    power *= 2;
  return power;
}

template <Block B, class C> class AttentionBody {
  using Softmax = kv::plan::Softmax;
  using Work = kv::plan::Work;

public:
  KV_BODY AttentionBody(B &b, const AttentionParams &p)
      : b(b), p(p), warp(b.thread() / WarpLanes), lane(b.thread() % WarpLanes),
        own(ownOf(b.thread())) {
    // A score's raw value times this is in units of log2. A scale that would
    // turn the order of scores is applied before.
    scaleFirst = p.softcap > 0 || !(p.scale > 0);
    toLog2 = scaleFirst ? kv::plan::Log2E : p.scale * kv::plan::Log2E;
    if constexpr (TileRows<C>)
      stage = phase = scaleBuffer = 0;
    if constexpr (LatentTiles<C>)
      half = b.uniform(warp / GroupWarps);
    if constexpr (TensorTiles<C>) {
      slicePlace = half;
      slices = leafPhase = 0;
    }
  }

  KV_BODY void run() {
    forEachWork<C::RowTiles == 1 && !C::Scaled, TileRows<C>, PartBlocks<C>>(
        b, p,
        [&](Work &work, const kv::plan::Tile &tile) { runWork(work, tile); });
  }

protected:
  //===--- A unit ---------------------------------------------------------===//

  KV_BODY void runWork(Work &work, const kv::plan::Tile &tile);

  KV_BODY IntPair visible(const kv::plan::Sequence &sequence, int row) const {
    kv::plan::Keys seen = kv::plan::visibleKeys<HasChunks<C>>(
        p.shape.mask, p.shape.window,
        sequence.cached + p.shape.group.quotient(firstRow + row),
        sequence.length);
    return {int32_t(kv::plan::lesser<int64_t>(seen.first, INT32_MAX)),
            int32_t(seen.last)};
  }
  KV_BODY int64_t tokenOf(int row) const {
    return firstToken + p.shape.group.quotient(firstRow + row);
  }
  KV_BODY int queryHeadOf(int row) const {
    return head * p.shape.group + p.shape.group.remainder(firstRow + row);
  }

  /// This block's, which it may have with others.
  KV_BODY int part() const { return b.block() / PartBlocks<C>; }
  /// Rows of the tile that blocks before this one have. A tile begins at a
  /// multiple of all of them.
  KV_BODY int rowsBefore() const {
    return firstRow & (PartBlocks<C> - 1) * C::Rows;
  }
  static_assert((PartBlocks<C> & (PartBlocks<C> - 1)) == 0 &&
                (PartBlocks<C> == 1 || (C::Rows & (C::Rows - 1)) == 0));

  /// Which rows of which head the unit's are.
  KV_BODY void seeRows(const Work &work, const kv::plan::Tile &tile,
                       const kv::plan::Sequence &sequence);

  /// What a thread copies of a query at a time, by how many lanes a row, in how
  /// many turns. Lanes that find a row's largest element are a power of two.
  static constexpr int PartChunks = C::Widens ? 2 : 1;
  static constexpr int QueryParts = C::QueryChunks / PartChunks;
  static constexpr int QueryLanes =
      C::Widens ? powerAbove(QueryParts) : QueryParts;
  static constexpr int QueryTurns =
      (C::Rows * QueryLanes + C::Threads - 1) / C::Threads;
  using QueryPart = Chunk[PartChunks];
  /// Where registers are free meanwhile, all are asked for before the first
  /// keys are looked up, and stored while these come.
  static constexpr bool QueriesFirst = C::RowTiles == 1 && QueryTurns <= 4;

  KV_BODY void loadQueryPart(QueryPart &chunks, int turn);
  KV_BODY void storeQueryPart(const QueryPart &chunks, int turn);
  KV_BODY void loadQueries();
  KV_BODY void loadQueries()
    requires TileRows<C>;
  KV_BODY void copyQueries();
  /// To f16, sixteen elements of a row, by the lanes of the row together; or to
  /// the type of products of 8 bits.
  KV_BODY void storeScaled(int row, int pair, const Chunk (&chunks)[2]);

  /// What each row sees and where its result goes; rows that are none see
  /// nothing. What all see needs no mask.
  KV_BODY void storeBounds(const kv::plan::Sequence &sequence);
  /// The path of a row of a tree, whose window `seen` begins where that says.
  KV_BODY uint64_t pathOf(const kv::plan::Sequence &sequence, int row,
                          IntPair &seen) const;
  /// The same of rows of trees, and their paths.
  KV_BODY void storePaths(const kv::plan::Sequence &sequence);
  /// Each row's path as two words, the upper first. They lie where finishes
  /// do, which come behind the last leaf.
  KV_BODY auto pathsView() { return view<C, slot::Paths, IntPair>(b); }

  /// Begins to copy the first tiles of a work.
  KV_BODY void fillRing();
  KV_BODY void fillRing()
    requires TileRows<C>
  {}

  KV_BODY void runLeaves(const Work &work);
  KV_BODY void runLeaves(const Work &work)
    requires(TileRows<C> && !ByteProducts<C>);
  KV_BODY void runLeaves(const Work &work)
    requires ByteTiles<C>;
  /// A piece ends with its group, or with its leaf where the group began in
  /// another part.
  KV_BODY int pieceEnd(const Work &work, int leaf) const {
    constexpr int Group = kv::plan::LeavesPerGroup;
    bool foreign =
        !work.whole() && leafBegin % Group && leaf / Group == leafBegin / Group;
    return kv::plan::lesser(foreign ? leaf + 1 : (leaf / Group + 1) * Group,
                            leafEnd);
  }
  /// From the keys of a leaf to its values and the group they fold into.
  KV_BODY void computeLeaf(int leaf);
  KV_BODY void computeLeaf(int leaf)
    requires TileRows<C>;
  KV_BODY void computeLeaf(int leaf)
    requires LatentTiles<C>;
  KV_BODY void computeLeaf(int leaf)
    requires ByteTiles<C>;

  //===--- Where keys are -------------------------------------------------===//

  /// The table's entry for this thread's key of a leaf; -1 if there is nothing
  /// that may be read. Nobody looks at it before the next leaf, so that nobody
  /// waits for it.
  KV_BODY int32_t lookUp(int leaf) const;

  /// The address of this thread's key of a leaf: K's row; or NoAddress. The
  /// place of its scales goes to scaleAt.
  KV_BODY int64_t keyPlace(int leaf, int32_t page);

  /// The rows of a half that a thread copies lie side by side.
  static KV_BODY uint32_t rowPlace(uint32_t leaf, uint32_t key) {
    uint32_t row = key % C::TileKeys;
    return leaf % C::RowPlaceBuffers * C::Leaf + key - row +
           row % C::CopiedRows * C::ThreadRows + row / C::CopiedRows;
  }

  /// What the first keys of a work need: their pages, asked for, and their
  /// places.
  KV_BODY void firstPages(const Work &work, int32_t (&pages)[3]);
  KV_BODY void firstPages(const Work &work, int32_t (&)[3])
    requires TileRows<C>
  {
    leafBegin = b.uniform(work.leafBegin);
    leafEnd = b.uniform(work.leafEnd);
  }
  KV_BODY void firstRowPlaces(const int32_t (&pages)[3]);
  KV_BODY void firstRowPlaces(const int32_t (&)[3])
    requires TileRows<C>
  {}

  /// Of this layer and head: the first key's place on page 0, in elements.
  template <class View> KV_BODY int64_t firstPlace(const View &view) const {
    return int64_t(uint64_t(p.layer) * uint64_t(view.layerStride) +
                   uint64_t(head) * uint64_t(view.headStride));
  }
  KV_BODY int64_t firstAddress() const {
    return addressOf(p.cache.data) +
           firstPlace(p.cache) * int64_t(sizeof(typename C::Cache));
  }

  //===--- Scales of keys and values --------------------------------------===//

  /// Where the scales of a plane lie, of the leaf and of the next in turn.
  static KV_BODY int scalePlace(int leaf, int plane) {
    return ((leaf & 1) * 2 + plane) * C::Leaf;
  }
  /// The same of a group's shares.
  static KV_BODY int sharePlace(int leaf, int plane, int group) {
    return scalePlace(leaf, plane) * C::ScaleGroups + group * C::Leaf;
  }
  static KV_BODY float magnitudeOf(float x) { return fabsf(x); }

  /// Those of this thread's key at scaleAt, as they lie in memory; zero where
  /// there is nothing that may be read.
  KV_BODY void loadScales();
  /// For all threads, what was loaded.
  KV_BODY void storeScales(int leaf);

  /// The scales of rows of the keys of scores n, 0 and n, 1 of this thread.
  KV_BODY FloatPair scalesOf(int leaf, int plane, int n) const;
  KV_BODY void applyKeyScales(int leaf);
  /// The largest scale of a value that a row sees, over this warp's keys.
  KV_BODY void shareLargestScales(int leaf, bool masked);
  /// Over the four lanes that have keys of a row.
  KV_BODY float largestOfRow(float x) {
    x = kv::plan::larger(x, b.shuffleXor(x, 1));
    return kv::plan::larger(x, b.shuffleXor(x, 2));
  }
  /// What a row's weights of this leaf are divided by.
  KV_BODY RangePower weightPower(int row) const;
  /// A row's sum of weights, which are f32 here, over this warp's keys.
  KV_BODY void shareSum(int row, float sum);
  KV_BODY void foldSums();

  /// What a group's elements of a key, or of two neighbouring values, are
  /// multiplied by once they are widened, as a pair.
  KV_BODY uint32_t keyShares(int leaf, int half, int d, int n) const;
  KV_BODY uint32_t valueShares(int leaf, int k, int chunk, int high) const;

  KV_BODY void storeRowPlace(int leaf, int32_t page) {
    if (C::Threads > C::Leaf && b.thread() >= C::Leaf)
      return;
    view<C, slot::RowPlaces, int64_t>(b).store(rowPlace(leaf, 0) + own.place,
                                               keyPlace(leaf, page));
  }

  /// Shares the places of the leaf after the next, and looks the one after
  /// that up: its page is known long before it is needed.
  KV_BODY void nextRowPlaces(int leaf) {
    if constexpr (C::Scaled)
      loadScales();
    storeRowPlace(leaf + 2, nextPage);
    nextPage = lookUp(leaf + 3);
  }

  //===--- The ring of tiles ----------------------------------------------===//

  KV_BODY auto ringView() const { return view<C, slot::Ring, Chunk>(b); }

  /// The first chunk of a tile that a thread copies; the others are every
  /// CopiedRows rows below.
  static KV_BODY Place firstCopied(int thread) {
    return {int(uint32_t(thread) / C::CopiedColumns),
            int(uint32_t(thread) % C::CopiedColumns)};
  }
  /// What a thread copies of a tile: its first chunk, the places of its rows,
  /// its column's byte; and of a leaf the place of its key.
  struct Own {
    int chunk, rows, byte, place;
  };
  static KV_BODY Own ownOf(int)
    requires TileRows<C>
  {
    return {};
  }
  static KV_BODY Own ownOf(int thread) {
    Place first = firstCopied(thread);
    return {opaque(C::CacheRows::chunk(first.row, first.column)),
            opaque(first.row * C::ThreadRows / C::PlacesTogether),
            opaque(first.column * ChunkBytes),
            opaque(int(rowPlace(0, thread)))};
  }
  /// Begins to copy a tile into the stage that was read last. The first half of
  /// a leaf's tiles are K, the others V; those from TilesPerLeaf on are of the
  /// leaves after it.
  KV_BODY void issueTile(int leaf, int tile);
  KV_BODY void issueTile(int leaf, int tile)
    requires LatentRows<C>;

  /// So many rows' places, of this thread's from row `from` on.
  template <int Count>
  KV_BODY void loadRowPlaces(int64_t (&rows)[Count], uint32_t first) const;

  /// Makes tile `tile` of a leaf, which is the next, readable for all, and lets
  /// a later one come into the place of the one before. Returns the tile's
  /// first chunk.
  KV_BODY int nextTile(int leaf, int tile);
  KV_BODY int nextTile(int leaf, int tile)
    requires LatentRows<C>;

  /// The same for a half of a leaf's keys or values, where the tile has it.
  KV_BODY int nextHalf(int leaf, int plane, int half) {
    if constexpr (LatentRows<C>)
      return nextTile(leaf, plane * 2 + half);
    else if (half % C::TileHalves)
      return lastStage +
             half % C::TileHalves * C::HalfKeys * C::CacheRows::Pitch;
    else
      return nextTile(leaf,
                      plane * (C::TilesPerLeaf / 2) + half / C::TileHalves);
  }

  KV_BODY void nextStage() {
    lastStage = stage;
    stage += C::StageChunks;
    if (stage == C::Stages * C::StageChunks)
      stage = 0;
  }

  //===--- Tiles that others copy -----------------------------------------===//

  /// Until the tile is there that comes after so many others.
  KV_BODY void awaitTile(int ahead);
  /// Its stage, which this warp has read, may be filled again.
  KV_BODY void releaseTile();
  /// Whether any row of the unit is this warpgroup's. The second one has none
  /// of a few drafts, nor of the end of many a prompt.
  KV_BODY bool groupHasRows() const;
  /// Such a one's leaves: it takes its turns and gives the tiles back, so that
  /// the other one has the tensor cores and whoever copies need not know.
  KV_BODY void passTiles();
  /// The part of the operand that begins at a byte of the ring or the queries.
  KV_BODY Descriptor operandAt(int offset) const;
  /// That tile.
  KV_BODY Descriptor tileAt(int ahead) const;
  /// Multiplies the queries by the leaf's keys: the scores.
  KV_BODY void multiplyQueries();
  KV_BODY void multiplyQueries()
    requires LatentTiles<C>;
  KV_BODY void multiplyQueries()
    requires TensorTiles<C>;
  /// Scores times this are in units of log2.
  KV_BODY float logFactor() const {
    // Computed anew: leaves have no register for it.
    if constexpr (TileRows<C> && ByteProducts<C>)
      return scaleFirst ? kv::plan::Log2E : p.scale * kv::plan::Log2E;
    else
      return toLog2;
  }
  /// What a row's scores are multiplied by for the powers that weights are of.
  KV_BODY float powerFactor(int row) const {
    return scaleFirst ? logFactor() : logFactor() * scoreFactor(row);
  }
  /// A leaf's weights: the accumulators of two column tiles of the scores are
  /// the fragment of sixteen keys, or those of four that of 32.
  using Fragments = uint32_t[C::KeyTiles / (ByteTiles<C> ? 4 : 2)][4];
  KV_BODY void weighScores(Fragments &weights, int leaf);
  /// Of the two rows of a thread: a weight is two to the score times `factor`
  /// less `base`, for which values' scales were divided by `power`.
  struct Powers {
    float factor[2], base[2];
    RangePower power[2];
  };
  /// The weights, and the rows' sums of them.
  KV_BODY void narrowWeights(const Powers &powers, Fragments &weights,
                             int leaf);
  KV_BODY void narrowWeights(const Powers &powers, Fragments &weights, int leaf)
    requires ByteTiles<C>;
  /// The row's sums of weights of a leaf into the group's.
  KV_BODY void foldRowSums();
  /// Multiplies them by the next tile, part of the values.
  KV_BODY void multiplyWeights(Fragments &weights, int part);

  //===--- And where all products are bytes' ------------------------------===//

  /// Whether this warpgroup has rows: a decode step has few, and a unit's last
  /// tile as well.
  KV_BODY bool multiplies() const;
  /// Of one without: it takes part in the ring and the turns.
  KV_BODY void passLeaf();
  /// Begins to multiply the queries by the next tile.
  KV_BODY void beginScores();
  KV_BODY void awaitScores();
  /// Column tiles of a leaf's values that are there at a time.
  static constexpr int PartTiles = [] {
    if constexpr (requires { C::PartTiles; })
      return C::PartTiles;
    else
      return C::ColumnTiles;
  }();
  /// Of a leaf's values, whose last part has the sums of weights as well.
  using LastPart = float[PartTiles + 1][4];
  template <int Tiles>
  KV_BODY void multiplyPart(float (&part)[Tiles][4], const Fragments &weights,
                            Descriptor tile);
  template <int Tiles>
  KV_BODY void foldPart(int part, const float (&tiles)[Tiles][4]);
  KV_BODY void foldLastPart(const LastPart &part);

  //===--- And of latent rows, whose columns two warpgroups share ---------===//

  /// The row tile of this warp, where it has all keys of a leaf's scores.
  KV_BODY int rowTile() const {
    return LatentTiles<C> ? warp & (C::RowTiles - 1) : warp;
  }
  /// The weights of the leaf in this warpgroup's stage, for both.
  KV_BODY void shareWeights(int leaf);
  /// With them, of each row: its largest score and the sum of its weights.
  /// A leaf's are read until the second pair after it begins.
  KV_BODY auto leafStates(int leaf) const {
    return b.template shared<FloatPair>(
        OffsetOf<C, slot::LeafStates> + ((leaf - leafBegin) & 3) * C::Rows * 8,
        C::Rows);
  }
  /// How the leaf in `stage` folds, whose weights are there then.
  KV_BODY void foldStates(int leaf);
  /// Multiplies them by this warpgroup's columns of the leaf and folds it.
  KV_BODY void foldSlices();
  KV_BODY void foldSlices()
    requires TensorTiles<C>;
  /// A column tile of the group, with what the leaf has of it.
  KV_BODY void foldTile(int n, const float (&tile)[4]);
  /// By one lane for its warp, which has read that slab of `stage`.
  KV_BODY void releaseSlab(int slab);

  /// b.thread(); where leaves leave few registers, what is made of it is
  /// computed where that is used.
  KV_BODY int threadNow() const {
    return KeepsUnit<C> || DraftRows<C> ? late(b.thread()) : b.thread();
  }
  KV_BODY void renewThread() {
    warp = threadNow() / WarpLanes;
    lane = threadNow() % WarpLanes;
  }
  /// f(), which is not for every leaf: likewise. And what only it needs of a
  /// unit waits in shared memory for it.
  template <class Function> KV_BODY void rarely(Function f) {
    if constexpr (KeepsUnit<C>) {
      renewThread();
      recallUnit();
      f();
      keepTotalState();
    } else {
      if constexpr (DraftRows<C>)
        renewThread();
      f();
    }
  }
  struct KeptUnit {
    Work work;
    int32_t head, firstToken, firstRow, liveRows, allSeeFrom, allSeeTo;
    bool scaleFirst;
  };
  KV_BODY auto keptUnit() const { return view<C, slot::KeptUnit, KeptUnit>(b); }
  /// Of this thread alone.
  KV_BODY auto keptTotalStates() const {
    return view<C, slot::TotalStates, FloatQuad>(b);
  }
  KV_BODY void keepTotalState() const {
    keptTotalStates().store(warp * WarpLanes + lane,
                            {totalState[0].maximum, totalState[0].sum,
                             totalState[1].maximum, totalState[1].sum});
  }
  KV_BODY void keepUnit(const Work &work) const {
    if (b.thread() == 0)
      keptUnit().store(0, {work, head, firstToken, firstRow, liveRows,
                           allSeeFrom, allSeeTo, scaleFirst});
  }
  /// The work, between leaves: of latent rows in registers.
  KV_BODY Work inLeaves(const Work &work) const {
    if constexpr (KeepsUnit<C> && !LatentTiles<C>)
      return keptUnit().load(0).work;
    else
      return work;
  }
  /// What each leaf needs of it.
  KV_BODY void recallLeaves() {
    KeptUnit unit = keptUnit().load(0);
    allSeeFrom = unit.allSeeFrom;
    allSeeTo = unit.allSeeTo;
    scaleFirst = unit.scaleFirst;
  }
  KV_BODY void recallUnit() {
    KeptUnit unit = keptUnit().load(0);
    head = unit.head;
    firstToken = unit.firstToken;
    firstRow = unit.firstRow;
    liveRows = unit.liveRows;
    FloatQuad four = keptTotalStates().load(threadNow());
    totalState[0] = {four.x, four.y};
    totalState[1] = {four.z, four.w};
  }

  //===--- A leaf ---------------------------------------------------------===//

  /// Warp w has keys 16 w .. 16 w + 15 of both halves of the leaf.
  KV_BODY void computeScores(int leaf);
  KV_BODY void computeScores(int leaf)
    requires LatentRows<C>;
  KV_BODY void clearScores();

  KV_BODY void scoreHalf(int leaf, int half, int tile);
  KV_BODY void scoreHalf(int leaf, int half, int tile)
    requires ByteProducts<C>;

  KV_BODY auto queriesView() const { return view<C, slot::Queries, Chunk>(b); }
  KV_BODY auto queryScales() const {
    return view<C, slot::QueryScales, float>(b);
  }
  /// A row's scores are its products times this.
  KV_BODY float scoreFactor(int row) const {
    return C::Widens ? queryScales().load(row) : 1.0f;
  }
  KV_BODY void loadQueryFragment(uint32_t (&fragment)[4], int m, int d);

  /// Elements of a row that a product takes.
  static constexpr int ProductDepth = ByteProducts<C> ? 32 : 16;
  /// So many elements d of the heads, with the warp's keys of a half.
  KV_BODY void multiplyScores(int half, int d, const uint32_t (&kFragment)[4]);

  /// The warp among those that share a row tile's keys, and its row tiles of
  /// scores.
  KV_BODY int keyWarp() const {
    return C::Warps == C::KeyWarps ? warp : warp % C::KeyWarps;
  }
  KV_BODY int scoreTile(int m) const {
    if constexpr (LatentTiles<C>)
      return rowTile();
    return C::Warps == C::KeyWarps ? m : warp / C::KeyWarps * C::ScoreTiles + m;
  }
  /// The row tile whose states this warp keeps; RowTiles or more for none. Of
  /// warps that keep the same, one stores them.
  KV_BODY int stateTile() const {
    if (C::Warps == C::KeyWarps)
      return warp;
    return keyWarp() < C::ScoreTiles ? scoreTile(keyWarp()) : C::RowTiles;
  }
  KV_BODY bool storesStates() const {
    return !LatentTiles<C> || warp < C::RowTiles;
  }

  /// The leaf's key of score n, i of this thread.
  KV_BODY int keyOf(int n, int i) const {
    return n / 2 * (C::KeyWarps * 16) + keyWarp() * 16 + n % 2 * 8 +
           lane % 4 * 2 + i % 2;
  }
  /// The row of accumulators 0, 1 (side 0) or 2, 3 (side 1) of row tile m.
  KV_BODY int rowOf(int m, int side) const {
    return m * 16 + lane / 4 + side * 8;
  }

  /// Whether a row tile has such rows: most decode steps have no more than
  /// eight in all, and need half of what is done for each.
  KV_BODY bool hasRows(int side) const {
    return C::RowTiles > 1 || LatentRows<C> || side == 0 || liveRows > 8;
  }
  /// Weights of rows that are none, once a unit.
  KV_BODY void clearUpperWeights();

  /// Each row's largest score over this warp's keys. Keys that a row does not
  /// see get no score, so that even a NaN there counts for nothing.
  KV_BODY void computeMaxima(int leaf);
  /// Scales and masks scores as far as that is done before their maxima.
  KV_BODY void prepareScores(int leaf);
  /// The largest of a row's scores that lanes of this warp have.
  KV_BODY float largestScore(int m, int side);

  KV_BODY void scaleScores();

  KV_BODY void maskScores(int first);
  KV_BODY void maskPaths(int first);

  /// Scores to 16-bit weights for all warps. Who keeps a row tile's state says
  /// how the leaf folds into the group.
  KV_BODY void computeWeights(int leaf);
  /// Weights of 8 bits of a row tile's upper or lower rows.
  KV_BODY void storeWeights(int m, int side, float factor, float base);
  KV_BODY float weightOf(float score, float factor, float base) const {
    return kv::plan::powerOfTwo(
        kv::plan::fusedMultiplyAdd(score, factor, -base));
  }

  /// Tells all warps that have values of a row how it folds.
  KV_BODY void announce(int offset, int row, int side,
                        kv::plan::Weights weights) {
    if constexpr (TileRows<C>)
      rowWeights[side] = {weights.left, weights.right};
    else if (lane % 4 == 0)
      b.template shared<FloatPair>(offset, C::Rows)
          .store(row, {weights.left, weights.right});
  }
  KV_BODY FloatPair announced(int offset, int row, int side) const {
    if constexpr (TileRows<C>)
      return rowWeights[side];
    else
      return b.template shared<FloatPair>(offset, C::Rows).load(row);
  }

  /// Warp w has columns w * WarpColumns and on.
  KV_BODY void computeValues(int leaf);

  KV_BODY void valueHalf(int leaf, int half, int tile);
  KV_BODY void valueHalf(int leaf, int half, int tile)
    requires LatentRows<C>;
  KV_BODY void valueHalf(int leaf, int half, int tile)
    requires ByteProducts<C>;

  /// V of ValueSteps times sixteen keys of a half, from the k-th sixteen on,
  /// all columns of the warp.
  using ValueFragments = uint32_t[C::ValueSteps][C::ColumnTiles][2];
  using ValuePlaces = int[C::ValueLoads];
  KV_BODY void loadValues(ValueFragments &fragments, const ValuePlaces &places,
                          int tile, int leaf, int half, int k);
  /// The chunk of a tile that this lane names for column tiles n and n + 1.
  KV_BODY int valueChunk(int n) const;

  /// Of the k-th keys of the leaf that a product takes: the weights of row tile
  /// m, and their sums, where this warp keeps a state.
  KV_BODY void loadWeights(uint32_t (&fragment)[4], int m, int k);
  KV_BODY void sumWeights(int k);
  KV_BODY void sumWeights(const uint32_t (&fragment)[4]) {
    constexpr uint32_t One = OnePair<typename C::Product>;
    b.template multiplyAdd<typename C::Product>(sums, fragment, One, One);
  }

  /// The same keys.
  KV_BODY void multiplyValues(int k,
                              const uint32_t (&vFragments)[C::ColumnTiles][2]);

  //===--- Folding --------------------------------------------------------===//

  /// Row tiles that a warp has values of.
  static constexpr int ValueTiles = TileRows<C> ? 1 : C::RowTiles;
  using Accumulators = float[ValueTiles][C::ColumnTiles][4];
  /// Whether a part of the group waits in shared memory.
  static constexpr bool KeepsPart = requires { requires C::PartWaits; };
  KV_BODY int valueTile(int m) const { return TileRows<C> ? rowTile() : m; }

  /// The sums of a leaf's weights, where the tensor cores made them.
  KV_BODY void foldProductSums();

  static KV_BODY void clear(Accumulators &x);

  /// Folds the values of a leaf, or of the part of their columns that there is.
  KV_BODY void foldLeaf(int part = 0);

  /// Where a part of a group waits in shared memory between leaves: there, and
  /// back.
  KV_BODY void putPartAside();
  KV_BODY void takePartBack();

  /// Folds the group into the total; the last one leaves it in `group`. The
  /// total waits in registers where there are enough, else in memory that only
  /// this thread uses, and only where there is more than one group.
  KV_BODY void foldGroup(bool first, bool last);

  /// Pair n of a row of accumulators, of neighbouring columns, and the first of
  /// them. Transposed as pairs of bytes, 8-bit values have their even and their
  /// odd columns in two tiles.
  static KV_BODY FloatPair pairOf(const float (&x)[C::ColumnTiles][4], int n,
                                  int side) {
    if constexpr (C::Widens && !TileRows<C>)
      return {x[n / 2 * 2][side * 2 + n % 2],
              x[n / 2 * 2 + 1][side * 2 + n % 2]};
    else
      return {x[n][side * 2], x[n][side * 2 + 1]};
  }
  KV_BODY int columnOf(int n) const {
    return (LatentTiles<C> ? half * C::WarpColumns
            : TileRows<C>  ? 0
                           : warp * C::WarpColumns) +
           (C::Widens && !TileRows<C> ? n / 2 * 16 + lane % 4 * 4 + n % 2 * 2
                                      : n * 8 + lane % 4 * 2);
  }

  /// Whether a column is one of the head's.
  static KV_BODY bool exists(int column) {
    return !C::Ragged || column < C::HeadDim;
  }

  static KV_BODY int accumulator(int m, int n, int side) {
    return (m * C::ColumnTiles + n) * 2 + side;
  }
  KV_BODY FloatPair *totalPlace(int index) const {
    return reinterpret_cast<FloatPair *>(p.totals) +
           (int64_t(b.block()) * (C::TotalFloats / 2 / C::Threads) + index) *
               C::Threads +
           (KeepsUnit<C> || DraftRows<C> ? warp * WarpLanes + lane
                                         : b.thread());
  }

  KV_BODY void storeTotal(int index, FloatPair pair);
  KV_BODY FloatPair loadTotal(int index) const;
  /// Of columns tiles `from` to `to`.
  KV_BODY void keepTotal(int from, int to);

  KV_BODY void foldTotal(int from, int to);

  //===--- Results --------------------------------------------------------===//

  KV_BODY Softmax sinkOf(int row) const {
    if (!p.sinks)
      return Softmax();
    return {b.load(p.sinks + queryHeadOf(row)) * kv::plan::Log2E, 1.0f};
  }

  KV_BODY auto placesView() const {
    return view<C, slot::OutPlaces, int64_t>(b);
  }
  KV_BODY int64_t outPlace(int row) const {
    return tokenOf(row) * p.outTokenStride + queryHeadOf(row) * p.outHeadStride;
  }
  /// The same, negative for a row that is none; after storeBounds().
  KV_BODY int64_t storedPlace(int row) const {
    if constexpr (TileRows<C>)
      return row < liveRows ? outPlace(row) : -1;
    else
      return placesView().load(row);
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

  KV_BODY void finishRows();

  //===--- Units that parts share -----------------------------------------===//

  KV_BODY void storePiece(int64_t slot);

  /// A unit that several parts compute.
  struct Shared {
    const kv::plan::Tile &tile;
    kv::plan::Parts parts;
  };

  /// By one thread, for all: says that what the block stored is there. Whether
  /// it makes `expected` arrivals; then the counter is zero for the next
  /// launch.
  KV_BODY bool arrive(uint32_t *counter, uint32_t count, uint32_t expected);

  KV_BODY void arriveAndMerge(const Work &work);

  /// Those of this block, of AttentionParams::counters.
  KV_BODY uint32_t *counters() const {
    if constexpr (PartBlocks<C> == 1)
      return p.counters;
    else
      return p.counters + rowsBefore() / C::Rows * (2 * p.shape.parts);
  }

  KV_BODY int64_t partOfLeaf(const Shared &s, int32_t leaf) const {
    return kv::plan::partOf(p.shape, *p.header, s.tile, head, s.parts, leaf);
  }
  /// The slot of the piece that begins at a leaf, or -1; that of a whole group.
  KV_BODY int32_t pieceSlot(const Shared &s, int32_t leaf) const;
  KV_BODY int32_t groupSlot(const Shared &s, int32_t group) const;

  /// In shared memory: the slots of the pieces that merges read, of the leaves
  /// of the part's first and last group and of the unit's groups; where no
  /// piece begins, and behind the last, NoPiece. So many are read at a time.
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
  /// Of a piece and a row: what the fold before it and the piece are multiplied
  /// by, the piece's sum times the latter, and whether there is one.
  KV_BODY auto pieceWeights() const {
    return view<C, slot::PieceWeights, FloatQuad>(b);
  }
  KV_BODY auto pieceMaxima() const {
    return view<C, slot::PieceMaxima, float>(b);
  }

  /// By all warps but the first.
  KV_BODY void findGroups(const Shared &s, int32_t count);

  /// The weights of `count` pieces that begin at a place of pieceSlots.
  KV_BODY void weighPieces(int32_t from, int32_t count);
  /// Four columns of a row, of so many pieces.
  KV_BODY void loadPieces(FloatQuad (&quads)[PiecesTogether], int32_t from,
                          int item) const;
  /// finish(row, quad, state, values) for every four columns of the rows.
  template <class Finish>
  KV_BODY void foldPieces(int32_t from, int32_t count, Finish finish);

  /// Of this block's rows; a piece has those of the whole tile.
  KV_BODY FloatPair *pieceState(int64_t slot, int row) const {
    float *piece = p.scratch + slot * int64_t(C::SlotFloats);
    return reinterpret_cast<FloatPair *>(piece +
                                         PartBlocks<C> * C::Rows * C::HeadDim) +
           (rowsBefore() + row);
  }
  KV_BODY float *pieceValues(int64_t slot, int row) const {
    return p.scratch + slot * int64_t(C::SlotFloats) +
           (rowsBefore() + row) * C::HeadDim;
  }
  KV_BODY const FloatQuad *pieceQuad(int32_t slot, int row, int quad) const {
    return reinterpret_cast<const FloatQuad *>(pieceValues(slot, row)) + quad;
  }

  static KV_BODY void foldQuad(float (&values)[4], FloatQuad four,
                               kv::plan::Weights weights);

  /// Of a group to one piece, of the unit to its result.
  KV_BODY void mergeGroup(const Shared &s, int32_t from, int32_t count);
  KV_BODY void finishMerged(const Shared &s, int32_t from, int32_t count);

  B &b;
  const AttentionParams &p;
  int warp, lane;
  const Own own;
  bool scaleFirst;
  float toLog2;

  // The unit.
  const int32_t *tableRow;
  int32_t head, firstToken, firstRow, liveRows;
  int32_t keysFirst, keysLast; // what any row sees
  int32_t keysCount;           // and of that this work, from keysFirst on
  int32_t allSeeFrom, allSeeTo;
  int leafBegin, leafEnd;
  int64_t firstKey, firstScale; // firstAddress, firstPlace of the scales
  int32_t nextPage;
  int64_t scaleAt; // of this thread's next key, in the scales; negative: none
  int stage, lastStage; // of the next tile, and of the one before, in chunks
  int phase;            // of the stage, where a kernel copies tiles
  int scaleBuffer;      // of the leaf, there
  int half;             // the warpgroup, where it has half of the columns
  /// Of its slices in tensor memory: where the next is, and how many there
  /// were. And the phase of its next leaf.
  int slicePlace, slices, leafPhase;
  uint32_t queryFragments[C::QueriesInRegisters ? C::HeadDim / ProductDepth : 1]
                         [4];

  // The leaf, its group, the total; the states of row tile stateTile().
  float scores[C::ScoreTiles][C::KeyTiles][4];
  float sums[4];
  Softmax groupState[2], totalState[2];
  uint32_t nextScales[2][C::ScaleGroups];                // of this thread's key
  float largestScales[TileRows<C> && C::Scaled ? 2 : 1]; // of values
  float leafWeights[2]; // by which the sums of a leaf fold into the group's
  FloatPair rowWeights[TileRows<C> ? 2 : 1]; // announced last
  float values[ValueTiles][PartTiles][4];
  Accumulators group;
  float total[C::TotalInRegisters ? ValueTiles : 1][C::ColumnTiles][4];
};

} // namespace kv::cuda

#include "AttentionBytes.h"
#include "AttentionFold.h"
#include "AttentionKeys.h"
#include "AttentionMerge.h"
#include "AttentionScales.h"
#include "AttentionScores.h"
#include "AttentionUnit.h"
#include "LatentRows.h"

#endif // KV_KERNELS_CUDA_ATTENTION_COMMON_ATTENTIONBODY_H
