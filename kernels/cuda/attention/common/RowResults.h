//===- RowResults.h - What a group leaves at its end -------------*- C++
//-*-===//

#ifndef KV_KERNELS_CUDA_ATTENTION_COMMON_ROWRESULTS_H
#define KV_KERNELS_CUDA_ATTENTION_COMMON_ROWRESULTS_H

#include "Group.h"
#include "Output.h"
#include "Pieces.h"

namespace kv::cuda {

/// Stores the rows of accumulators: finished, or as a piece of a unit that
/// parts share.
template <class U> class RowResults {
  using B = typename U::B;
  using C = typename U::C;

public:
  KV_BODY explicit RowResults(U &u) : pieces(u.p), out(u.b, u.p) {}

  KV_BODY void finishRows(U &u, Group<U> &group) {
    auto finishes = view<C, slot::Finishes, FloatPair>(u.b);
    // The rows' paths lay there. No barrier has followed the last leaf's where
    // a part waits or where no warpgroups take turns.
    constexpr bool Races = Group<U>::KeepsPart || (TileRows<C> && DraftRows<C>);
    if (Races && u.p.ancestors)
      u.b.sync();
    KV_UNROLL for (int side = 0; side < 2; ++side) {
      int row = u.map.rowOf(u.map.stateTile(), side);
      if (u.map.stateTile() < C::RowTiles && row < u.rows.liveRows) {
        kv::plan::Finish finish =
            kv::plan::finish(group.totalStates[side], out.sinkOf(u.rows, row));
        if (u.map.lane % 4 == 0 && u.map.storesStates()) {
          finishes.store(row, {finish.weight, finish.inverse});
          out.storeLogOfSum(u.rows, row, group.totalStates[side]);
        }
      }
    }
    u.b.sync();
    const int first = u.map.columnOf(0);
    KV_UNROLL for (int m = 0; m < Group<U>::ValueTiles; ++m) KV_UNROLL
      for (int side = 0; side < 2; ++side) {
        int row = u.map.rowOf(u.map.valueTile(m), side);
        int64_t place = storedPlace(u, row);
        if (place < 0)
          continue;
        FloatPair pair = finishes.load(row);
        kv::plan::Finish finish{pair.x, pair.y};
        KV_UNROLL for (int n = 0; n < C::ColumnTiles; ++n) {
          FloatPair two = u.map.pairOf(group.values[m], n, side);
          if (exists(u.map.columnOf(n)))
            out.storeOut(place + first, u.map.columnOf(n) - first,
                         finishValue(two.x, finish),
                         finishValue(two.y, finish));
        }
      }
  }

  KV_BODY void storePiece(U &u, const Group<U> &group, int64_t slot) {
    const int first = u.map.columnOf(0);
    KV_UNROLL for (int m = 0; m < Group<U>::ValueTiles; ++m) KV_UNROLL
      for (int side = 0; side < 2; ++side) {
        int row = u.map.rowOf(u.map.valueTile(m), side);
        if (row >= u.rows.liveRows)
          continue;
        float *target = pieces.values(u.rows, slot, row) + first;
        KV_UNROLL for (int n = 0; n < C::ColumnTiles; ++n) {
          if (!exists(u.map.columnOf(n)))
            continue;
          auto *place = reinterpret_cast<FloatPair *>(
              target + (u.map.columnOf(n) - first));
          u.b.storeScratch(place, u.map.pairOf(group.values[m], n, side));
        }
        if (u.map.valueTile(m) == u.map.stateTile() && u.map.lane % 4 == 0 &&
            u.map.storesStates())
          u.b.storeScratch(
              pieces.state(u.rows, slot, row),
              FloatPair{group.states[side].maximum, group.states[side].sum});
      }
  }

private:
  /// Whether a column is one of the head's.
  static KV_BODY bool exists(int column) {
    return !C::Ragged || column < C::HeadDim;
  }
  /// Where a row's result goes; negative for a row that is none.
  static KV_BODY int64_t storedPlace(U &u, int row) {
    if constexpr (BytesOf<C, slot::OutPlaces> > 0)
      return view<C, slot::OutPlaces, int64_t>(u.b).load(row);
    else
      return row < u.rows.liveRows ? u.rows.outPlace(row) : -1;
  }

  const Pieces<B, C> pieces;
  const Output<B, C> out;
};

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTION_COMMON_ROWRESULTS_H
