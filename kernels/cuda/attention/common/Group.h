//===- Group.h - A group of leaves, and the total ---------------*- C++ -*-===//

#ifndef KV_KERNELS_CUDA_ATTENTION_COMMON_GROUP_H
#define KV_KERNELS_CUDA_ATTENTION_COMMON_GROUP_H

#include "Folds.h"
#include "Totals.h"

namespace kv::cuda {

/// The values of a group, into which leaves fold, and the states of its rows;
/// how it folds into the unit's total.
template <class U> class Group {
  using B = typename U::B;
  using C = typename U::C;
  using Softmax = kv::plan::Softmax;

public:
  static constexpr int ValueTiles = ThreadMap<C>::ValueTiles;
  /// Column tiles of a leaf's values that are there at a time.
  static constexpr int PartTiles = [] {
    if constexpr (requires { C::PartTiles; })
      return C::PartTiles;
    else
      return C::ColumnTiles;
  }();
  /// Whether a part of the group waits in shared memory between leaves.
  static constexpr bool KeepsPart = requires { requires C::PartWaits; };

  KV_BODY void clear() {
    KV_UNROLL for (int m = 0; m < ValueTiles; ++m) KV_UNROLL
      for (int n = 0; n < C::ColumnTiles; ++n) KV_UNROLL
        for (int i = 0; i < 4; ++i)
          values[m][n][i] = 0;
  }
  KV_BODY void begin() {
    clear();
    states[0] = states[1] = Softmax();
  }

  /// Folds the values of a leaf, or of the part of their columns that there is.
  KV_BODY void foldLeaf(U &u, Folds<U> &folds,
                        const float (&leaf)[ValueTiles][PartTiles][4],
                        int part = 0) {
    KV_UNROLL for (int m = 0; m < ValueTiles; ++m) KV_UNROLL
      for (int side = 0; side < 2; ++side) {
        if (!u.rows.hasRows(side))
          continue;
        int row = u.map.rowOf(u.map.valueTile(m), side);
        FloatPair pair =
            folds.template announced<slot::GroupWeights>(u, row, side);
        KV_UNROLL for (int n = 0; n < PartTiles; ++n) KV_UNROLL
          for (int i = side * 2; i < side * 2 + 2; ++i) {
            float &x = values[m][part * PartTiles + n][i];
            x = kv::plan::foldValue(x, leaf[m][n][i], {pair.x, pair.y});
          }
      }
  }
  /// A column tile, with what the leaf has of it.
  KV_BODY void foldTile(const OwnFolds<U> &folds, int n,
                        const float (&tile)[4]) {
    KV_UNROLL for (int i = 0; i < 4; ++i) {
      float &sum = values[0][n][i];
      FloatPair pair = folds.rowWeights[i / 2];
      sum = kv::plan::foldValue(sum, tile[i], {pair.x, pair.y});
    }
  }

  /// The part that waits: to shared memory, and back.
  KV_BODY void putPartAside(U &u) {
    if constexpr (KeepsPart) {
      auto part = view<C, slot::WaitingPart, FloatQuad>(u.b);
      KV_UNROLL for (int n = 0; n < PartTiles; ++n) {
        const float *x = values[0][C::ColumnTiles - PartTiles + n];
        part.store(n * C::Threads + u.b.thread(), {x[0], x[1], x[2], x[3]});
      }
    }
  }
  KV_BODY void takePartBack(U &u) {
    if constexpr (KeepsPart) {
      auto part = view<C, slot::WaitingPart, FloatQuad>(u.b);
      KV_UNROLL for (int n = 0; n < PartTiles; ++n) {
        FloatQuad quad = part.load(n * C::Threads + u.b.thread());
        float *x = values[0][C::ColumnTiles - PartTiles + n];
        x[0] = quad.x;
        x[1] = quad.y;
        x[2] = quad.z;
        x[3] = quad.w;
      }
    }
  }

  /// Folds the group into the total; the last one leaves it in `values`. A
  /// total waits only where there is more than one group.
  KV_BODY void fold(U &u, Folds<U> &folds, bool first, bool last) {
    KV_UNROLL for (int side = 0; side < 2; ++side)
      if (u.map.stateTile() < C::RowTiles) {
        kv::plan::Weights weights =
            kv::plan::fold(totalStates[side], states[side]);
        if (!first)
          folds.template announce<slot::TotalWeights>(
              u, u.map.rowOf(u.map.stateTile(), side), side, weights);
      }
    if (first) {
      takePartBack(u);
      if (!last)
        keepTotal(u, 0, C::ColumnTiles);
      return;
    }
    if constexpr (!TileRows<C>)
      u.b.sync();
    // A part that waits is taken back when the others need no more registers.
    constexpr int Early = C::ColumnTiles - (KeepsPart ? PartTiles : 0);
    foldTotal(u, folds, 0, Early);
    if (!LatentTiles<C> && !last)
      keepTotal(u, 0, Early);
    if constexpr (KeepsPart) {
      takePartBack(u);
      foldTotal(u, folds, Early, C::ColumnTiles);
      if (!last)
        keepTotal(u, Early, C::ColumnTiles);
    }
  }

  Softmax states[2], totalStates[2]; // of row tile stateTile()
  float values[ValueTiles][C::ColumnTiles][4];

private:
  /// Column tiles `from` to `to`.
  KV_BODY void keepTotal(U &u, int from, int to) {
    KV_UNROLL for (int m = 0; m < ValueTiles; ++m) KV_UNROLL
      for (int n = from; n < to; ++n) KV_UNROLL
        for (int side = 0; side < 2; ++side) {
          float *pair = values[m][n] + side * 2;
          total.store(u, m, n, side, {pair[0], pair[1]});
        }
  }

  KV_BODY void foldTotal(U &u, Folds<U> &folds, int from, int to) {
    KV_UNROLL for (int m = 0; m < ValueTiles; ++m) KV_UNROLL
      for (int side = 0; side < 2; ++side) {
        int row = u.map.rowOf(u.map.valueTile(m), side);
        FloatPair pair =
            folds.template announced<slot::TotalWeights>(u, row, side);
        KV_UNROLL for (int n = from; n < to; ++n) {
          // A compiler would load all values before it folds any, and has no
          // registers for that. So the folded values are stored, and a barrier
          // keeps later loads after the stores.
          if constexpr (LatentTiles<C>)
            if (n % 16 == 0 && n + side > 0)
              u.b.syncNamed(C::ScoresBarrier + u.map.half, GroupThreads);
          FloatPair left = total.load(u, m, n, side);
          float *right = values[m][n] + side * 2;
          right[0] = kv::plan::foldValue(left.x, right[0], {pair.x, pair.y});
          right[1] = kv::plan::foldValue(left.y, right[1], {pair.x, pair.y});
          if constexpr (LatentTiles<C>)
            total.store(u, m, n, side, {right[0], right[1]});
        }
      }
  }

  Totals<U> total;
};

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTION_COMMON_GROUP_H
