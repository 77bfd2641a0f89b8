//===- LatentRows.h - Latent rows through the ring --------------*- C++ -*-===//
//
// Part of AttentionBody.h, for a latent cache: a leaf's two tiles are K and,
// with the first columns, V. They stay until the values are computed.
//
//   next tile 0   both are there; the last leaf's second stage is filled
//   next tile 2   the weights are there
//   next tile 3   everybody has read the first tile's values: it is filled
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_ATTENTION_COMMON_LATENTROWS_H
#define KV_KERNELS_CUDA_ATTENTION_COMMON_LATENTROWS_H

#include "AttentionBody.h"

namespace kv::cuda {

template <Block B, class C>
KV_BODY void AttentionBody<B, C>::issueTile(int leaf, int tile)
  requires LatentRows<C>
{
  leaf += tile / C::TilesPerLeaf;
  if (leaf < leafEnd) {
    auto ring = ringView();
    auto places = view<C, slot::RowPlaces, int64_t>(b);
    uint32_t place =
        rowPlace(leaf, tile % C::TilesPerLeaf * C::TileKeys) + own.rows;
    KV_UNROLL
    for (int i = 0; i < C::ThreadRows; ++i) {
      int64_t row = places.load(place + i) + uint32_t(own.byte);
      KV_UNROLL
      for (int column = 0; column < C::RowChunks; column += C::CopiedColumns)
        b.copyAsync(ring,
                    lastStage +
                        C::CacheRows::below(own.chunk, i * C::CopiedRows) +
                        column,
                    row, column * ChunkBytes);
    }
  }
  b.commit();
}

template <Block B, class C>
KV_BODY int AttentionBody<B, C>::nextTile(int leaf, int tile)
  requires LatentRows<C>
{
  // Of the tiles that were asked for, those beyond this leaf's two.
  constexpr int Pending = C::Ahead - 2;
  if (tile == 1)
    return stage;
  if (tile == 0) {
    b.template wait<Pending>();
    b.sync();
    issueTile(leaf, C::Ahead);
    nextStage();
  } else if (tile == 2) {
    b.sync();
  } else {
    b.sync();
    issueTile(leaf, C::Ahead + 1);
    nextStage();
  }
  return lastStage;
}

template <Block B, class C>
KV_BODY void AttentionBody<B, C>::computeScores(int leaf)
  requires LatentRows<C>
{
  clearScores();
  int first = nextTile(leaf, 0), second = nextTile(leaf, 1);
  scoreHalf(leaf, 0,
            keyWarp() < C::KeyWarps / C::TilesPerLeaf ? first : second);
}

/// A fragment of the values is used at once: with all of a row's there would be
/// no registers left.
template <Block B, class C>
KV_BODY void AttentionBody<B, C>::valueHalf(int leaf, int half, int tile)
  requires LatentRows<C>
{
  using Matrix = typename C::CacheRows;
  Place vt = loadB(lane);
  int vChunk = tile + Matrix::chunk(vt.row, warp * (C::ValueChunks / C::Warps) +
                                                vt.column);
  KV_UNROLL
  for (int step = 0; step < C::TileKeys / 16; ++step) {
    int k = half * (C::TileKeys / 16) + step;
    uint32_t weights[C::RowTiles][4];
    KV_UNROLL
    for (int m = 0; m < C::RowTiles; ++m)
      loadWeights(weights[m], m, k);
    KV_UNROLL
    for (int n = 0; n < C::ColumnTiles; n += 2) {
      uint32_t v[4];
      b.loadMatrixTransposed(
          v, ringView(), Matrix::moved(vChunk, n) + step * 16 * C::RowChunks);
      KV_UNROLL
      for (int m = 0; m < C::RowTiles; ++m)
        KV_UNROLL
      for (int i = 0; i < 2; ++i)
        b.template multiplyAdd<typename C::Product>(
            values[m][n + i], weights[m], v[i * 2], v[i * 2 + 1]);
    }
    if constexpr (C::RowTiles == 1)
      sumWeights(weights[0]);
    sumWeights(k);
  }
}

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTION_COMMON_LATENTROWS_H
