//===- TensorRows.h - Rows whose products are in tensor memory --*- C++ -*-===//
//
// A thread has a row: its scores come from tensor memory, its weights go there,
// and what it folds stays in its registers.
//
// The bits are those of the other kernels: the same sums of sixteen products in
// the same order, the same leaves, groups and folds. Sums of weights are
// products with ones there, and so they are here.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_TENSORROWS_H
#define KV_KERNELS_CUDA_TENSORROWS_H

#include "AttentionTensor.h"
#include "TileRows.h"

namespace kv::cuda {

/// The consumers' part; units that parts share are AttentionBody's.
template <TensorBlock B, class C, Fault F>
class TensorRows : AttentionBody<B, C, F> {
  using Base = AttentionBody<B, C, F>;
  using Softmax = kv::plan::Softmax;
  using Work = kv::plan::Work;
  using Base::b, Base::p, Base::liveRows, Base::scaleFirst, Base::toLog2;

public:
  KV_BODY TensorRows(B &b, const TileParams &p)
      : Base(b, p), scorePlace(b.thread() / GroupThreads) {}

  KV_BODY void run() {
    forEachWork(b, p, [&](const Work &work, const kv::plan::Tile &tile) {
      runWork(work, tile);
    });
  }

private:
  /// So many columns are loaded at once.
  static constexpr int Piece = 32;

  /// This thread's of the unit's rows, and which tile that is in.
  KV_BODY int row() const { return b.thread(); }
  KV_BODY int tile() const { return b.thread() / GroupThreads; }
  /// Where this warp's lanes of tensor memory begin. Not kept: leaves need
  /// registers more.
  KV_BODY TensorAddress own() const {
    TensorAddress memory = {
        b.template shared<uint32_t>(C::TensorPlace, 1).load(0)};
    return memory.below(b.thread() % GroupThreads / WarpLanes * WarpReach);
  }

  KV_BODY void runWork(const Work &work, const kv::plan::Tile &rows) {
    bool any = work.leafBegin < work.leafEnd;
    {
      kv::plan::Sequence sequence = sequenceOf<F>(p, rows.sequence);
      this->seeRows(work, rows, sequence);
      seen = row() < liveRows ? this->visible(sequence, row()) : IntPair{0, 0};
      if (p.ancestors && row() < liveRows)
        path = this->pathOf(sequence, row(), seen);
    }
    // Nobody reads anything of the last unit.
    if constexpr (F != Fault::MissingUnitBarrier)
      b.sync();
    if (any) {
      this->loadQueries();
      b.arriveAt(b.barrier(C::Asked));
      runLeaves(work);
    } else {
      clear();
      total = Softmax();
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

  /// The columns behind an address.
  KV_BODY void load(float (&piece)[Piece], TensorAddress at) {
    b.loadTensor(piece, at);
    if constexpr (F != Fault::EarlyScores)
      b.awaitLoads(piece);
  }

  /// Scores of this row, scaled and masked, of keys from `first` on.
  KV_BODY void loadScores(float (&scores)[Piece], TensorAddress at, int first) {
    load(scores, at);
    if (scaleFirst) {
      float before = p.softcap > 0 ? p.scale / p.softcap : p.scale;
      KV_UNROLL
      for (float &score : scores)
        score = kv::plan::multiply(score, before);
      if (p.softcap > 0)
        KV_UNROLL
      for (float &score : scores)
        score = kv::plan::multiply(hyperbolicTangent(score), p.softcap);
    }
    if (F != Fault::ForgottenMask && (first < seen.x || first > seen.y - Piece))
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

  KV_BODY void weighLeaf(int leaf) {
    b.awaitPhase(b.barrier(C::scored(tile())), parity);
    if constexpr (F != Fault::MissingScoresFence)
      b.fenceAfter();
    const TensorAddress scores = own().behind(scorePlace * C::ScoreColumns);
    const int first = leaf * C::Leaf;
    float piece[Piece], largest = kv::plan::NoScore;
    KV_UNROLL_BY(1)
    for (int i = 0; i < C::ScoreColumns; i += Piece) {
      loadScores(piece, scores.behind(i), first + i);
      KV_UNROLL
      for (float score : piece)
        largest = kv::plan::larger(largest, score);
    }
    float maximum = largest * toLog2, base = kv::plan::scoreBase(maximum);
    weights = kv::plan::foldMaximum(state.maximum, maximum);
    KV_UNROLL_BY(1)
    for (int i = 0; i < C::ScoreColumns; i += Piece) {
      loadScores(piece, scores.behind(i), first + i);
      uint32_t pairs[Piece / 2];
      KV_UNROLL
      for (int j = 0; j < Piece / 2; ++j)
        pairs[j] = narrowPair<typename C::Product>(
            this->weightOf(piece[j * 2], toLog2, base),
            this->weightOf(piece[j * 2 + 1], toLog2, base));
      // Scores that lay there are no longer needed.
      b.storeTensor(scores.behind(i / 2), pairs);
    }
    if constexpr (F != Fault::MissingStoreWait)
      b.awaitStores();
    if constexpr (F != Fault::MissingWeightsFence)
      b.fenceBefore();
    b.arriveAt(b.barrier(C::weighed(tile())));
  }

  KV_BODY void foldLeaf() {
    if constexpr (F != Fault::MissingValuesWait)
      b.awaitPhase(b.barrier(C::multiplied(tile())), parity);
    b.fenceAfter();
    const TensorAddress memory = own();
    float sum[1];
    b.loadTensor(sum, memory.behind(scorePlace * C::ScoreColumns + C::Sums));
    b.awaitLoads(sum);
    state.sum = kv::plan::foldValue(state.sum, sum[0], weights);
    KV_UNROLL
    for (int i = 0; i < C::HeadDim; i += Piece) {
      float piece[Piece];
      load(piece, memory.behind(C::Values + i));
      KV_UNROLL
      for (int j = 0; j < Piece; ++j)
        group[i + j] = kv::plan::foldValue(group[i + j], piece[j], weights);
    }
    b.fenceBefore();
    b.arriveAt(b.barrier(C::folded(tile())));
    // This tile's next scores lie two places further on.
    parity ^= 1;
    constexpr int Places = F == Fault::ScoresTooEarly ? 2 : C::ScorePlaces;
    scorePlace = (scorePlace + C::RowGroups) % Places;
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

  int scorePlace, parity = 0;
  IntPair seen;              // the keys that this row sees
  uint64_t path = 0;         // of those up to its own, in a tree
  Softmax state, total;      // of the group and, at the end, of all
  kv::plan::Weights weights; // by which the leaf folds into the group
  float group[C::HeadDim];
};

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_TENSORROWS_H
