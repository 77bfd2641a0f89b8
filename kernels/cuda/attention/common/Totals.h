//===- Totals.h - Where a unit's total waits --------------------*- C++ -*-===//

#ifndef KV_KERNELS_CUDA_ATTENTION_COMMON_TOTALS_H
#define KV_KERNELS_CUDA_ATTENTION_COMMON_TOTALS_H

#include "Unit.h"

namespace kv::cuda {

/// The total of the groups before: in registers where there are enough, else in
/// memory that only this thread uses.
template <class U> class Totals {
  using B = typename U::B;
  using C = typename U::C;
  static constexpr int ValueTiles = ThreadMap<C>::ValueTiles;

public:
  /// Of accumulators 0, 1 (side 0) or 2, 3 (side 1) of a tile.
  KV_BODY void store(U &u, int m, int n, int side, FloatPair pair) {
    if constexpr (C::TotalInRegisters) {
      registers[m][n][side * 2] = pair.x;
      registers[m][n][side * 2 + 1] = pair.y;
    } else if constexpr (C::TotalFloats == 0) {
      shared(u).store(indexOf(m, n, side) * C::Threads + u.b.thread(), pair);
    } else {
      u.b.storeScratch(placeOf(u, indexOf(m, n, side)), pair);
    }
  }
  KV_BODY FloatPair load(U &u, int m, int n, int side) const {
    if constexpr (C::TotalInRegisters)
      return {registers[m][n][side * 2], registers[m][n][side * 2 + 1]};
    else if constexpr (C::TotalFloats == 0)
      return shared(u).load(indexOf(m, n, side) * C::Threads + u.b.thread());
    else
      return u.b.loadScratch(placeOf(u, indexOf(m, n, side)));
  }

private:
  static KV_BODY auto shared(U &u) {
    return view<C, slot::Totals, FloatPair>(u.b);
  }
  static KV_BODY int indexOf(int m, int n, int side) {
    return (m * C::ColumnTiles + n) * 2 + side;
  }
  static KV_BODY FloatPair *placeOf(U &u, int index) {
    return reinterpret_cast<FloatPair *>(u.p.totals) +
           (int64_t(u.b.block()) * (C::TotalFloats / 2 / C::Threads) + index) *
               C::Threads +
           (KeepsUnit<C> || DraftRows<C> ? u.map.warp * WarpLanes + u.map.lane
                                         : u.b.thread());
  }

  float registers[C::TotalInRegisters ? ValueTiles : 1][C::ColumnTiles][4];
};

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTION_COMMON_TOTALS_H
