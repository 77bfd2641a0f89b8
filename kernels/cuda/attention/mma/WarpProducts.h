//===- WarpProducts.h - Products of warps that share keys -------*- C++ -*-===//
//
// By mma.sync: for the scores each warp has a part of a leaf's keys, for the
// values a part of the columns. How a tile's elements become operands is said
// by the kinds of tiles: TileOperands.h, ByteOperands.h, LatentOperands.h.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_ATTENTION_MMA_WARPPRODUCTS_H
#define KV_KERNELS_CUDA_ATTENTION_MMA_WARPPRODUCTS_H

#include "kernels/cuda/attention/common/Scores.h"

namespace kv::cuda {

/// Elements of a row that a product takes.
template <class C> constexpr int ProductDepth = ByteProducts<C> ? 32 : 16;

/// The queries as operands.
template <class U> class QueryFragments {
  using C = typename U::C;

public:
  /// The queries of a unit, where registers keep them.
  KV_BODY void begin(U &u) {
    if constexpr (C::QueriesInRegisters) {
      KV_UNROLL for (int d = 0; d < C::HeadDim / ProductDepth<C>; ++d)
        load(u, fragments[d], 0, d);
    }
  }

  /// Multiplies one fragment of the heads' elements, number d, with the warp's
  /// keys of a half.
  KV_BODY void multiply(U &u, Scores<U> &scores, int half, int d,
                        const uint32_t (&kFragment)[4]) {
    KV_UNROLL for (int m = 0; m < C::ScoreTiles; ++m) {
      uint32_t loaded[4];
      if constexpr (!C::QueriesInRegisters)
        load(u, loaded, u.map.scoreTile(m), d);
      const uint32_t (&qFragment)[4] =
          C::QueriesInRegisters ? fragments[d] : loaded;
      KV_UNROLL for (int n = 0; n < 2; ++n)
        u.b.template multiplyAdd<typename C::Product>(
            scores.tiles[m][half * 2 + n], qFragment, kFragment[n * 2],
            kFragment[n * 2 + 1]);
    }
  }

private:
  KV_BODY void load(U &u, uint32_t (&fragment)[4], int m, int d) {
    using Matrix = typename C::QueryRows;
    Place a = loadA(u.map.lane);
    u.b.loadMatrix(fragment, view<C, slot::Queries, Chunk>(u.b),
                   Matrix::moved(Matrix::chunk(a.row, a.column), d * 2) +
                       m * 16 * Matrix::Pitch);
  }

  uint32_t fragments[C::QueriesInRegisters ? C::HeadDim / ProductDepth<C> : 1]
                    [4];
};

/// The values of a leaf and, of the row tile whose state this warp keeps, the
/// sums of its weights.
template <class U> class WarpValues {
  using C = typename U::C;

public:
  static constexpr int ValueTiles = ThreadMap<C>::ValueTiles;

  KV_BODY void clear() {
    KV_UNROLL for (int m = 0; m < ValueTiles; ++m) KV_UNROLL
      for (int n = 0; n < C::ColumnTiles; ++n) KV_UNROLL
        for (int i = 0; i < 4; ++i)
          tiles[m][n][i] = 0;
    KV_UNROLL for (int i = 0; i < 4; ++i)
      sums[i] = 0;
  }

  /// The weights of row tile m and of the k-th keys that a product takes.
  KV_BODY void loadWeights(U &u, uint32_t (&fragment)[4], int m, int k) {
    using Matrix = Swizzled<C::LeafWords / 4>;
    Place a = loadA(u.map.lane);
    u.b.loadMatrix(fragment, view<C, slot::Weights, Chunk>(u.b),
                   Matrix::moved(Matrix::chunk(a.row, a.column), k * 2) +
                       m * 16 * (C::LeafWords / 4));
  }
  KV_BODY void sumWeights(U &u, const uint32_t (&fragment)[4]) {
    constexpr uint32_t One = OnePair<typename C::Product>;
    u.b.template multiplyAdd<typename C::Product>(sums, fragment, One, One);
  }
  KV_BODY void sumWeights(U &u, int k) {
    // Loaded again: to pick a fragment by the warp's number would take an array
    // in memory.
    if (C::RowTiles > 1 && u.map.stateTile() < C::RowTiles) {
      uint32_t pFragment[4];
      loadWeights(u, pFragment, u.map.stateTile(), k);
      sumWeights(u, pFragment);
    }
  }

  KV_BODY void multiply(U &u, int k,
                        const uint32_t (&vFragments)[C::ColumnTiles][2]) {
    KV_UNROLL for (int m = 0; m < C::RowTiles; ++m) {
      uint32_t pFragment[4];
      loadWeights(u, pFragment, m, k);
      KV_UNROLL for (int n = 0; n < C::ColumnTiles; ++n)
        u.b.template multiplyAdd<typename C::Product>(
            tiles[m][n], pFragment, vFragments[n][0], vFragments[n][1]);
      // Warps that do not need it would lose more by looking.
      if constexpr (C::RowTiles == 1 && !C::Scaled)
        sumWeights(u, pFragment);
    }
    if constexpr (!C::Scaled)
      sumWeights(u, k);
  }

  float tiles[ValueTiles][C::ColumnTiles][4];
  float sums[4];
};

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTION_MMA_WARPPRODUCTS_H
