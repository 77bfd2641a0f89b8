//===- ThreadMaps.h - Which thread has which elements -----------*- C++ -*-===//
//
// A product's accumulators are tiles of sixteen rows and eight columns. A map
// says which row, key and column an accumulator of this thread is.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_ATTENTION_COMMON_THREADMAPS_H
#define KV_KERNELS_CUDA_ATTENTION_COMMON_THREADMAPS_H

#include "kernels/block/Body.h"
#include "kernels/cuda/parameters/LatentTiles.h"

namespace kv::cuda {

/// b.thread(); where leaves leave few registers, what is made of it is computed
/// where that is used.
template <class C, Block B> KV_BODY int threadNow(B &b) {
  return KeepsUnit<C> || DraftRows<C> ? late(b.thread()) : b.thread();
}

/// The warps of a block share the keys of a row tile's scores, and the columns
/// of all rows' values.
template <class C> class WarpMap {
public:
  static constexpr int ValueTiles = C::RowTiles; // row tiles of values

  template <Block B> KV_BODY explicit WarpMap(B &b) { renew(b.thread()); }
  KV_BODY void renew(int thread) {
    warp = thread / WarpLanes;
    lane = thread % WarpLanes;
  }

  /// The warp among those that share a row tile's keys.
  KV_BODY int keyWarp() const {
    return C::Warps == C::KeyWarps ? warp : warp % C::KeyWarps;
  }
  /// The row tiles of scores m and of values m.
  KV_BODY int scoreTile(int m) const {
    return C::Warps == C::KeyWarps ? m : warp / C::KeyWarps * C::ScoreTiles + m;
  }
  KV_BODY int valueTile(int m) const { return m; }
  /// The row tile whose states this warp keeps; RowTiles or more for none. Of
  /// warps that keep the same, one stores them.
  KV_BODY int stateTile() const {
    if (C::Warps == C::KeyWarps)
      return warp;
    return keyWarp() < C::ScoreTiles ? scoreTile(keyWarp()) : C::RowTiles;
  }
  KV_BODY bool storesStates() const { return true; }

  /// The row of accumulators 0, 1 (side 0) or 2, 3 (side 1) of row tile m.
  KV_BODY int rowOf(int m, int side) const {
    return m * 16 + lane / 4 + side * 8;
  }
  /// The leaf's key of score n, i of this thread.
  KV_BODY int keyOf(int n, int i) const {
    return n / 2 * (C::KeyWarps * 16) + keyWarp() * 16 + n % 2 * 8 +
           lane % 4 * 2 + i % 2;
  }
  /// The first column of pair n of a row of values. Transposed as pairs of
  /// bytes, 8-bit values have their even and their odd columns in two tiles.
  KV_BODY int columnOf(int n) const {
    return warp * C::WarpColumns + (C::Widens
                                        ? n / 2 * 16 + lane % 4 * 4 + n % 2 * 2
                                        : n * 8 + lane % 4 * 2);
  }
  static KV_BODY FloatPair pairOf(const float (&x)[C::ColumnTiles][4], int n,
                                  int side) {
    if constexpr (C::Widens)
      return {x[n / 2 * 2][side * 2 + n % 2],
              x[n / 2 * 2 + 1][side * 2 + n % 2]};
    else
      return {x[n][side * 2], x[n][side * 2 + 1]};
  }

  int warp, lane;
};

/// A warp has all keys of its sixteen rows, and all columns; or of the rows
/// that two warpgroups share, each half of the columns.
template <class C> class TileMap {
  static constexpr bool Halves = LatentTiles<C>;

public:
  static constexpr int ValueTiles = 1;

  template <Block B> KV_BODY explicit TileMap(B &b) {
    renew(b.thread());
    if constexpr (Halves)
      half = b.uniform(warp / GroupWarps);
  }
  KV_BODY void renew(int thread) {
    warp = thread / WarpLanes;
    lane = thread % WarpLanes;
  }

  KV_BODY int rowTile() const {
    return Halves ? warp & (C::RowTiles - 1) : warp;
  }
  KV_BODY int scoreTile(int) const { return rowTile(); }
  KV_BODY int valueTile(int) const { return rowTile(); }
  KV_BODY int stateTile() const { return rowTile(); }
  KV_BODY bool storesStates() const { return !Halves || warp < C::RowTiles; }
  KV_BODY int rowOf(int m, int side) const {
    return m * 16 + lane / 4 + side * 8;
  }
  KV_BODY int keyOf(int n, int i) const { return n * 8 + lane % 4 * 2 + i % 2; }
  KV_BODY int columnOf(int n) const {
    return (Halves ? half * C::WarpColumns : 0) + n * 8 + lane % 4 * 2;
  }
  static KV_BODY FloatPair pairOf(const float (&x)[C::ColumnTiles][4], int n,
                                  int side) {
    return {x[n][side * 2], x[n][side * 2 + 1]};
  }

  int warp, lane;
  int half; // the warpgroup, where it has half of the columns
};

template <class C>
using ThreadMap = std::conditional_t<TileRows<C>, TileMap<C>, WarpMap<C>>;

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTION_COMMON_THREADMAPS_H
