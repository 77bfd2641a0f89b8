//===- TensorRows.h - Rows whose products are in tensor memory --*- C++ -*-===//
//
// A thread has a row: its scores come from tensor memory, its weights go there,
// and what it folds stays in its registers.
//
// The bits are those of the other kernels: the same sums of sixteen products in
// the same order, the same leaves, groups and folds. Sums of weights are
// products with ones there, and so they are here. Of products of 8 bits, where
// no other kernel of this chip computes the same, they are one row's whatever
// the step.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_ATTENTION_TCGEN05_TENSORROWS_H
#define KV_KERNELS_CUDA_ATTENTION_TCGEN05_TENSORROWS_H

#include "kernels/cuda/attention/wgmma/TileRows.h"
#include "kernels/cuda/parameters/AttentionTensor.h"

namespace kv::cuda {

/// The consumers' part; units that parts share are AttentionBody's.
template <TensorBlock B, class C> class TensorRows : AttentionBody<B, C> {
  using Base = AttentionBody<B, C>;
  using Softmax = kv::plan::Softmax;
  using Work = kv::plan::Work;
  using Base::b, Base::p, Base::liveRows, Base::scaleFirst, Base::toLog2;

public:
  KV_BODY TensorRows(B &b, const TileParams &p)
      : Base(b, p), scorePlace(tile()) {}

  KV_BODY void run() {
    forEachWork(b, p, [&](Work &work, const kv::plan::Tile &tile) {
      runWork(work, tile);
    });
  }

private:
  /// So many columns are loaded at once, as often for a row of scores.
  static constexpr int Piece = C::Piece, Pieces = C::ScoreColumns / Piece;

  /// This thread's of the unit's rows, and which tile that is in.
  KV_BODY int row() const { return b.thread(); }
  KV_BODY int tile() const { return b.thread() / GroupThreads; }
  /// Where this warp's lanes of tensor memory begin. Not kept: leaves need
  /// registers more.
  KV_BODY TensorAddress own() const {
    TensorAddress memory = {view<C, slot::TensorPlace, uint32_t>(b).load(0)};
    return memory.below(b.thread() % GroupThreads / WarpLanes * WarpReach);
  }

  /// The keys that a row sees and, in a tree, the path of those up to its own.
  struct Sight {
    IntPair seen;
    uint64_t path;
  };
  /// Where leaves need registers more, those of threads and, for what comes
  /// behind its leaves, the work.
  KV_BODY auto keptSights() const {
    return view<C, slot::KeptSights, Sight>(b);
  }
  KV_BODY auto keptWork() const { return view<C, slot::KeptWork, Work>(b); }
  KV_BODY Sight sight() const {
    if constexpr (C::KeepsWork)
      return keptSights().load(row());
    else
      return ownSight;
  }

  KV_BODY void runWork(Work &work, const kv::plan::Tile &rows) {
    const bool any = work.leafBegin < work.leafEnd;
    {
      kv::plan::Sequence sequence = sequenceOf(p, rows.sequence);
      this->seeRows(work, rows, sequence);
      Sight sight{{0, 0}, 0};
      if (row() < liveRows) {
        sight.seen = this->visible(sequence, row());
        if (p.ancestors)
          sight.path = this->pathOf(sequence, row(), sight.seen);
      }
      if constexpr (C::KeepsWork)
        keptSights().store(row(), sight);
      else
        ownSight = sight;
    }
    // Nobody reads anything of the last unit.
    b.sync();
    if (any) {
      this->loadQueries();
      b.arriveAt(b.barrier(C::asked()));
    }
    if constexpr (C::KeepsWork) {
      if (b.thread() == 0)
        keptWork().store(0, work);
      // That, and the scale of this row, others have stored.
      b.sync();
      if (any)
        ownFactor = this->powerFactor(row());
    }
    if (any && b.uniform(tile()) < liveTiles(liveRows)) {
      runLeaves(work);
    } else { // or nobody multiplies this tile, which has no rows
      moveScores(any ? work.leafEnd - work.leafBegin : 0);
      clear();
      total = Softmax();
    }
    if constexpr (C::KeepsWork)
      work = keptWork().load(0);
    { // Nor this, from before.
      const kv::plan::Tile again = b.load(p.tiles + late(work.tile));
      this->seeRows(work, again, sequenceOf(p, again.sequence));
    }
    if (work.whole())
      finishRow();
    else
      this->arriveAndMerge(work);
  }

  KV_BODY void runLeaves(const Work &work) {
    int leaf = work.leafBegin, pieces = 0;
    // Loops that surely run: what they define no register holds before.
    KV_UNROLL_BY(1)
    do {
      const bool first = leaf == work.leafBegin;
      const int stop = work.whole()
                           ? kv::plan::lesser(leaf / kv::plan::LeavesPerGroup *
                                                      kv::plan::LeavesPerGroup +
                                                  kv::plan::LeavesPerGroup,
                                              work.leafEnd)
                           : int32_t(kv::plan::pieceEnd(leaf, work.leafEnd));
      clear();
      KV_UNROLL_BY(1)
      do {
        b.atLeaf(leaf);
        weighLeaf(leaf);
        foldLeaf();
      } while (++leaf < stop);
      total = Softmax();
      if (work.whole())
        foldGroup(first, stop == work.leafEnd);
      else
        storePiece(kv::plan::slotOf(p.shape, b.block(), work.starts, pieces++));
    } while (leaf < work.leafEnd);
  }

  KV_BODY void clear() {
    KV_UNROLL
    for (int i = 0; i < C::HeadDim; ++i)
      group[i] = 0;
    state = Softmax();
  }

  //===--- A leaf ---------------------------------------------------------===//

  template <class Registers> KV_BODY void await(Registers &scores) {
    b.awaitLoads(scores);
  }

  /// Whether scores of this row cannot be weighed as they are.
  KV_BODY bool settles(int first) const {
    const IntPair seen = sight().seen;
    return scaleFirst ||
           (row() < liveRows &&
            (first < seen.x || first > seen.y - C::Leaf ||
             (p.ancestors && first + C::Leaf > seen.y - KV_TREE_ROWS)));
  }

  /// Scales and masks scores of this row of keys from `first` on, where they
  /// lie: seldom, so that what weighs has no branch.
  KV_BODY void settleScores(TensorAddress at, int first) {
    KV_UNROLL_BY(1)
    for (int i = 0; i < C::ScoreColumns; i += Piece) {
      float scores[Piece];
      b.loadTensor(scores, at.behind(i));
      await(scores);
      settlePiece(scores, first + i);
      KV_UNROLL
      for (int half = 0; half < Piece; half += Piece / 2) {
        uint32_t words[Piece / 2];
        KV_UNROLL
        for (int j = 0; j < Piece / 2; ++j)
          words[j] = bitsAs<uint32_t>(scores[half + j]);
        b.storeTensor(at.behind(i + half), words);
      }
    }
    b.awaitStores();
  }
  KV_BODY void settlePiece(float (&scores)[Piece], int first) const {
    const auto [seen, path] = sight();
    if (scaleFirst) {
      float before = (p.softcap > 0 ? p.scale / p.softcap : p.scale) *
                     this->scoreFactor(row());
      KV_UNROLL
      for (float &score : scores)
        score = kv::plan::multiply(score, before);
      if (p.softcap > 0)
        KV_UNROLL
      for (float &score : scores)
        score = kv::plan::multiply(hyperbolicTangent(score), p.softcap);
    }
    if (first < seen.x || first > seen.y - Piece)
      KV_UNROLL
    for (int i = 0; i < Piece; ++i)
      if (first + i < seen.x || first + i >= seen.y)
        scores[i] = kv::plan::NoScore;
    if (p.ancestors && first + Piece > seen.y - KV_TREE_ROWS)
      KV_UNROLL
    for (int i = 0; i < Piece; ++i) {
      int behind = seen.y - 1 - (first + i);
      if (uint32_t(behind) < KV_TREE_ROWS &&
          !(path >> (KV_TREE_ROWS - 1 - behind) & 1))
        scores[i] = kv::plan::NoScore;
    }
  }

  /// A row's scores times this are in units of log2.
  KV_BODY float factor() const {
    if constexpr (ByteProducts<C>)
      return ownFactor;
    else
      return toLog2;
  }
  /// This tile's next scores lie so many places further on.
  KV_BODY void moveScores(int places) {
    const int at = scorePlace + places;
    scorePhase ^= at / C::ScorePlaces & 1;
    scorePlace = at % C::ScorePlaces;
  }

  KV_BODY void weighLeaf(int leaf) {
    b.awaitPhase(b.barrier(C::scored(scorePlace)), scorePhase);
    b.fenceAfter();
    const TensorAddress scores = own().behind(scorePlace * C::ScoreColumns);
    const int first = leaf * C::Leaf;
    if (b.anyLane(settles(first)))
      settleScores(scores, first);
    // From the last piece to the first, each loaded while the one before is
    // compared: the first two stay in registers until they are weighed.
    float pieces[2][Piece], largest = kv::plan::NoScore;
    b.loadTensor(pieces[(Pieces - 1) % 2], scores.behind((Pieces - 1) * Piece));
    KV_UNROLL
    for (int i = Pieces - 1; i >= 0; --i) {
      await(pieces[i % 2]);
      if (i > 0)
        b.loadTensor(pieces[(i - 1) % 2], scores.behind((i - 1) * Piece));
      largest = largestOf(largest, pieces[i % 2]);
    }
    float maximum = largest * factor(), base = kv::plan::scoreBase(maximum);
    weights = kv::plan::foldMaximum(state.maximum, maximum);
    if constexpr (ByteProducts<C>) { // weights are so many times as large
      base -= WeightLog;
      weights.right =
          kv::plan::multiply(weights.right, 1.0f / (1 << WeightLog));
    }
    KV_UNROLL
    for (int i = 0; i < Pieces; ++i) {
      auto &piece = pieces[i % 2];
      if (i == 2) // and what is loaded behind them
        await(pieces);
      uint32_t words[Piece / C::WordWeights];
      KV_UNROLL
      for (int j = 0; j < Piece / C::WordWeights; ++j)
        words[j] = weightWord(piece + j * C::WordWeights, base);
      if (i + 2 < Pieces)
        b.loadTensor(piece, scores.behind((i + 2) * Piece));
      // Scores that lay there are no longer needed.
      b.storeTensor(scores.behind(C::weightsOf(i * Piece)), words);
      if ((i + 1) % (Pieces / C::WeightParts) == 0)
        announceWeights((i + 1) / (Pieces / C::WeightParts) - 1);
      // Else all powers come before the first part is passed on, and find no
      // registers. A compiler asks once of a number; another one divides where
      // products take most of the time and should not wait for more powers.
      divide(C::Slices > 1 && i == 1 ? p.tableColumns : int(p.layer));
    }
  }

  /// Weights of neighbouring keys.
  KV_BODY uint32_t weightWord(const float *scores, float base) {
    float w[C::WordWeights];
    KV_UNROLL
    for (int i = 0; i < C::WordWeights; i += 2) {
      FloatPair two = b.fusedMultiplyAdd({scores[i], scores[i + 1]},
                                         {factor(), factor()}, {-base, -base});
      w[i] = kv::plan::powerOfTwo(two.x);
      w[i + 1] = kv::plan::powerOfTwo(two.y);
    }
    if constexpr (ByteProducts<C>) {
      return narrowFour<typename C::Product>(w[0], w[1], w[2], w[3]);
    } else {
      return narrowPair<typename C::Product>(w[0], w[1]);
    }
  }

  /// The largest of a piece and `largest`, in short chains.
  static KV_BODY float largestOf(float largest, const float (&piece)[Piece]) {
    constexpr int Chains = 4;
    float chain[Chains] = {largest, piece[1], piece[2], piece[3]};
    chain[0] = kv::plan::larger(chain[0], piece[0]);
    KV_UNROLL
    for (int i = Chains; i < Piece; ++i)
      chain[i % Chains] = kv::plan::larger(chain[i % Chains], piece[i]);
    return kv::plan::larger(kv::plan::larger(chain[0], chain[1]),
                            kv::plan::larger(chain[2], chain[3]));
  }

  /// That a part of the weights is there.
  KV_BODY void announceWeights(int part) {
    b.awaitStores();
    b.fenceBefore();
    b.arriveAt(b.barrier(C::weighed(tile(), part)));
  }

  KV_BODY void foldLeaf() {
    KV_UNROLL
    for (int slice = 0; slice < C::Slices; ++slice)
      foldSlice(slice);
    parity ^= 1;
    moveScores(liveTiles(liveRows));
  }

  KV_BODY void foldSlice(int slice) {
    b.awaitPhase(b.barrier(C::multiplied(tile(), slice)), parity);
    b.fenceAfter();
    const TensorAddress memory = own();
    const TensorAddress values = memory.behind(C::valuesOf(tile(), slice));
    // Of more there are no registers at a time.
    constexpr int Columns = 64;
    KV_UNROLL
    for (int first = 0; first < C::SliceValues; first += Columns) {
      const bool sums = slice == 0 && first == 0;
      float sum[1], pieces[Columns / Piece][Piece];
      if (sums)
        b.loadTensor(sum,
                     memory.behind(scorePlace * C::ScoreColumns + C::Sums));
      KV_UNROLL
      for (int i = 0; i < Columns / Piece; ++i)
        b.loadTensor(pieces[i], values.behind(first + i * Piece));
      if (sums)
        b.awaitLoads(pieces, sum);
      else
        b.awaitLoads(pieces);
      if (first + Columns == C::SliceValues) {
        b.fenceBefore();
        b.arriveAt(b.barrier(C::folded(tile(), slice)));
      }
      if (sums)
        state.sum = kv::plan::foldValue(state.sum, sum[0], weights);
      foldColumns(slice * C::SliceColumns + first, pieces);
    }
  }

  /// Columns of a leaf's values into the group, from `first` on.
  template <int Count>
  KV_BODY void foldColumns(int first, const float (&pieces)[Count][Piece]) {
    KV_UNROLL
    for (int i = 0; i < Count * Piece; i += 2) {
      float *to = group + first + i;
      const float *from = pieces[i / Piece] + i % Piece;
      FloatPair two =
          b.multiply({from[0], from[1]}, {weights.right, weights.right});
      two =
          b.fusedMultiplyAdd({to[0], to[1]}, {weights.left, weights.left}, two);
      to[0] = two.x;
      to[1] = two.y;
    }
  }

  //===--- Groups and results ---------------------------------------------===//

  KV_BODY FloatPair *totalPlace(int i) const {
    return reinterpret_cast<FloatPair *>(p.totals) +
           (int64_t(b.block()) * (C::HeadDim / 2 + 1) + i) * C::Rows + row();
  }

  /// Folds the group into the total, which waits in memory that only this
  /// thread uses; the last one leaves it in `group`.
  KV_BODY void foldGroup(bool first, bool last) {
    if (!first) {
      FloatPair before = b.loadScratch(totalPlace(C::HeadDim / 2));
      total = {before.x, before.y};
    }
    kv::plan::Weights pair = kv::plan::fold(total, state);
    if (first && last)
      return;
    KV_UNROLL
    for (int i = 0; i < C::HeadDim / 2; ++i) {
      float *two = group + i * 2;
      if (!first) {
        FloatPair left = b.loadScratch(totalPlace(i));
        two[0] = kv::plan::foldValue(left.x, two[0], pair);
        two[1] = kv::plan::foldValue(left.y, two[1], pair);
      }
      if (!last)
        b.storeScratch(totalPlace(i), FloatPair{two[0], two[1]});
    }
    if (!last)
      b.storeScratch(totalPlace(C::HeadDim / 2),
                     FloatPair{total.maximum, total.sum});
  }

  KV_BODY void storePiece(int64_t slot) {
    if (row() >= liveRows)
      return;
    float *piece = p.scratch + slot * C::SlotFloats;
    auto *target = reinterpret_cast<FloatPair *>(piece + row() * C::HeadDim);
    KV_UNROLL
    for (int i = 0; i < C::HeadDim / 2; ++i)
      b.storeScratch(target + i, FloatPair{group[i * 2], group[i * 2 + 1]});
    b.storeScratch(reinterpret_cast<FloatPair *>(piece + C::Rows * C::HeadDim) +
                       row(),
                   FloatPair{state.maximum, state.sum});
  }

  KV_BODY void finishRow() {
    if (row() >= liveRows)
      return;
    kv::plan::Finish finish = kv::plan::finish(total, this->sinkOf(row()));
    this->storeLogOfSum(row(), total);
    auto *out = reinterpret_cast<Chunk *>(
        static_cast<typename C::Query *>(p.out) + this->outPlace(row()));
    KV_UNROLL
    for (int i = 0; i < C::QueryChunks; ++i) {
      Chunk chunk;
      KV_UNROLL
      for (int j = 0; j < 4; ++j)
        chunk.words[j] = narrowPair<typename C::Query>(
            kv::plan::finishValue(group[i * 8 + j * 2], finish),
            kv::plan::finishValue(group[i * 8 + j * 2 + 1], finish));
      b.store(out + i, chunk);
    }
  }

  int scorePlace, scorePhase = 0; // of this tile's next scores
  int parity = 0;                 // of this tile's next values
  float ownFactor = 0;            // of products of 8 bits
  Sight ownSight;                 // unless it is kept
  Softmax state, total;           // of the group and, at the end, of all
  kv::plan::Weights weights;      // by which the leaf folds into the group
  float group[C::HeadDim];
};

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTION_TCGEN05_TENSORROWS_H
