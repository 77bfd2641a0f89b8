//===- LatentOperands.h - Latent rows as operands ---------------*- C++ -*-===//

#ifndef KV_KERNELS_CUDA_ATTENTION_MMA_LATENTOPERANDS_H
#define KV_KERNELS_CUDA_ATTENTION_MMA_LATENTOPERANDS_H

#include "LatentRing.h"
#include "TileOperands.h"

namespace kv::cuda {

/// The rows of a latent cache, which are keys and, with their first columns,
/// values.
template <class U> class LatentOperands {
  using B = typename U::B;
  using C = typename U::C;
  using Matrix = typename C::CacheRows;

public:
  using Ring = LatentRing<U>;

  static KV_BODY void score(U &u, Ring &ring, QueryFragments<U> &queries,
                            WarpScales<U> &scales, Scores<U> &scores,
                            int leaf) {
    int first = ring.nextHalf(u, leaf, 0, 0),
        second = ring.nextHalf(u, leaf, 0, 1);
    TileOperands<U>::scoreHalf(
        u, ring, queries, scales, scores, leaf, 0,
        u.map.keyWarp() < C::KeyWarps / C::TilesPerLeaf ? first : second);
  }

  /// A fragment of the values is used at once: with all of a row's there would
  /// be no registers left.
  static KV_BODY void multiplyHalf(U &u, Ring &ring, WarpScales<U> &,
                                   WarpValues<U> &values, int, int half,
                                   int tile) {
    Place vt = loadB(u.map.lane);
    int vChunk =
        tile + Matrix::chunk(vt.row, u.map.warp * (C::ValueChunks / C::Warps) +
                                         vt.column);
    KV_UNROLL for (int step = 0; step < C::TileKeys / 16; ++step) {
      int k = half * (C::TileKeys / 16) + step;
      uint32_t weights[C::RowTiles][4];
      KV_UNROLL for (int m = 0; m < C::RowTiles; ++m)
        values.loadWeights(u, weights[m], m, k);
      KV_UNROLL for (int n = 0; n < C::ColumnTiles; n += 2) {
        uint32_t v[4];
        u.b.loadMatrixTransposed(v, ring.tiles(u),
                                 Matrix::moved(vChunk, n) +
                                     step * 16 * C::RowChunks);
        KV_UNROLL for (int m = 0; m < C::RowTiles; ++m) KV_UNROLL
          for (int i = 0; i < 2; ++i)
            u.b.template multiplyAdd<typename C::Product>(
                values.tiles[m][n + i], weights[m], v[i * 2], v[i * 2 + 1]);
      }
      if constexpr (C::RowTiles == 1)
        values.sumWeights(u, weights[0]);
      values.sumWeights(u, k);
    }
  }
};

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTION_MMA_LATENTOPERANDS_H
