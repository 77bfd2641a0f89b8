//===- TensorGroup.h - A row's group and total ------------------*- C++ -*-===//

#ifndef KV_KERNELS_CUDA_ATTENTION_TCGEN05_TENSORGROUP_H
#define KV_KERNELS_CUDA_ATTENTION_TCGEN05_TENSORGROUP_H

#include "TensorScores.h"
#include "kernels/cuda/attention/common/Output.h"
#include "kernels/cuda/attention/common/Pieces.h"

namespace kv::cuda {

/// The values of a group, into which a row's leaves fold, and its states.
template <class U> class TensorGroup {
  using B = typename U::B;
  using C = typename U::C;
  using Softmax = kv::plan::Softmax;

public:
  KV_BODY void clear() {
    KV_UNROLL for (int i = 0; i < C::HeadDim; ++i)
      group[i] = 0;
    state = Softmax();
  }

  KV_BODY void foldLeaf(U &u, TensorScores<U> &scores) {
    KV_UNROLL for (int slice = 0; slice < C::Slices; ++slice)
      foldSlice(u, scores, slice);
    parity ^= 1;
    scores.move(liveTiles(u.rows.liveRows));
  }

  /// Folds the group into the total, which waits in memory that only this
  /// thread uses; the last one leaves it in `group`.
  KV_BODY void fold(U &u, bool first, bool last) {
    if (!first) {
      FloatPair before = u.b.loadScratch(totalPlace(u, C::HeadDim / 2));
      total = {before.x, before.y};
    }
    kv::plan::Weights pair = kv::plan::fold(total, state);
    if (first && last)
      return;
    KV_UNROLL for (int i = 0; i < C::HeadDim / 2; ++i) {
      float *two = group + i * 2;
      if (!first) {
        FloatPair left = u.b.loadScratch(totalPlace(u, i));
        two[0] = kv::plan::foldValue(left.x, two[0], pair);
        two[1] = kv::plan::foldValue(left.y, two[1], pair);
      }
      if (!last)
        u.b.storeScratch(totalPlace(u, i), FloatPair{two[0], two[1]});
    }
    if (!last)
      u.b.storeScratch(totalPlace(u, C::HeadDim / 2),
                       FloatPair{total.maximum, total.sum});
  }

  KV_BODY void storePiece(U &u, int64_t slot) {
    if (u.row() >= u.rows.liveRows)
      return;
    const Pieces<B, C> pieces(u.p);
    auto *target =
        reinterpret_cast<FloatPair *>(pieces.values(u.rows, slot, u.row()));
    KV_UNROLL for (int i = 0; i < C::HeadDim / 2; ++i)
      u.b.storeScratch(target + i, FloatPair{group[i * 2], group[i * 2 + 1]});
    u.b.storeScratch(pieces.state(u.rows, slot, u.row()),
                     FloatPair{state.maximum, state.sum});
  }

  KV_BODY void finishRow(U &u) {
    if (u.row() >= u.rows.liveRows)
      return;
    const Output<B, C> output(u.b, u.p);
    kv::plan::Finish finish =
        kv::plan::finish(total, output.sinkOf(u.rows, u.row()));
    output.storeLogOfSum(u.rows, u.row(), total);
    auto *out = reinterpret_cast<Chunk *>(
        static_cast<typename C::Query *>(u.p.out) + u.rows.outPlace(u.row()));
    KV_UNROLL for (int i = 0; i < C::QueryChunks; ++i) {
      Chunk chunk;
      KV_UNROLL for (int j = 0; j < 4; ++j)
        chunk.words[j] = narrowPair<typename C::Query>(
            kv::plan::finishValue(group[i * 8 + j * 2], finish),
            kv::plan::finishValue(group[i * 8 + j * 2 + 1], finish));
      u.b.store(out + i, chunk);
    }
  }

  Softmax state, total;      // of the group and, at the end, of all
  kv::plan::Weights weights; // by which the leaf folds into the group

private:
  KV_BODY void foldSlice(U &u, TensorScores<U> &scores, int slice) {
    B &b = u.b;
    b.awaitPhase(b.barrier(C::multiplied(u.tile(), slice)), parity);
    b.fenceAfter();
    const TensorAddress values =
        u.ownTensor().behind(C::valuesOf(u.tile(), slice));
    // Of more there are no registers at a time.
    constexpr int Columns = 64, Piece = C::Piece;
    KV_UNROLL for (int first = 0; first < C::SliceValues; first += Columns) {
      const bool sums = slice == 0 && first == 0;
      float sum[1], pieces[Columns / Piece][Piece];
      if (sums)
        b.loadTensor(sum, scores.at(u).behind(C::Sums));
      KV_UNROLL for (int i = 0; i < Columns / Piece; ++i)
        b.loadTensor(pieces[i], values.behind(first + i * Piece));
      if (sums)
        b.awaitLoads(pieces, sum);
      else
        b.awaitLoads(pieces);
      if (first + Columns == C::SliceValues) {
        b.fenceBefore();
        b.arriveAt(b.barrier(C::folded(u.tile(), slice)));
      }
      if (sums)
        state.sum = kv::plan::foldValue(state.sum, sum[0], weights);
      foldColumns(u, slice * C::SliceColumns + first, pieces);
    }
  }

  /// Columns of a leaf's values into the group, from `first` on.
  template <int Count>
  KV_BODY void foldColumns(U &u, int first,
                           const float (&pieces)[Count][C::Piece]) {
    KV_UNROLL for (int i = 0; i < Count * C::Piece; i += 2) {
      float *to = group + first + i;
      const float *from = pieces[i / C::Piece] + i % C::Piece;
      FloatPair two =
          u.b.multiply({from[0], from[1]}, {weights.right, weights.right});
      two = u.b.fusedMultiplyAdd({to[0], to[1]}, {weights.left, weights.left},
                                 two);
      to[0] = two.x;
      to[1] = two.y;
    }
  }

  static KV_BODY FloatPair *totalPlace(U &u, int i) {
    return reinterpret_cast<FloatPair *>(u.p.totals) +
           (int64_t(u.b.block()) * (C::HeadDim / 2 + 1) + i) * C::Rows +
           u.row();
  }

  int parity = 0; // of this tile's next values
  float group[C::HeadDim];
};

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTION_TCGEN05_TENSORGROUP_H
