//===- LatentRing.h - Latent rows to shared memory --------------*- C++ -*-===//
//
// A leaf's two tiles are K and, with the first columns, V. Both tiles stay
// until the values are computed.
//
//   next tile 0   both are there; the last leaf's second stage is filled
//   next tile 2   the weights are there
//   next tile 3   everybody has read the first tile's values: it is filled
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_ATTENTION_MMA_LATENTRING_H
#define KV_KERNELS_CUDA_ATTENTION_MMA_LATENTRING_H

#include "KeyRing.h"

namespace kv::cuda {

template <class U> class LatentRing : public StageRing<U> {
  using Base = StageRing<U>;
  using Base::chunk, Base::rows, Base::byte, Base::stage, Base::lastStage;
  using typename Base::B, typename Base::C;

public:
  KV_BODY explicit LatentRing(U &u) : Base(u) {}

  KV_BODY void fill(U &u) {
    this->fillBy([&](int i) { issueTile(u, u.leafBegin, i); });
  }

  KV_BODY int nextHalf(U &u, int leaf, int plane, int half) {
    return nextTile(u, leaf, plane * 2 + half);
  }

private:
  KV_BODY int nextTile(U &u, int leaf, int tile) {
    B &b = u.b;
    // Of the tiles that were asked for, those beyond this leaf's two.
    constexpr int Pending = C::Ahead - 2;
    if (tile == 1)
      return stage;
    if (tile == 0) {
      b.template wait<Pending>();
      b.sync();
      issueTile(u, leaf, C::Ahead);
      this->nextStage();
    } else if (tile == 2) {
      b.sync();
    } else {
      b.sync();
      issueTile(u, leaf, C::Ahead + 1);
      this->nextStage();
    }
    return lastStage;
  }

  KV_BODY void issueTile(U &u, int leaf, int tile) {
    B &b = u.b;
    leaf += tile / C::TilesPerLeaf;
    if (leaf < u.leafEnd) {
      auto ring = this->tiles(u);
      auto places = view<C, slot::RowPlaces, int64_t>(b);
      uint32_t place =
          KeyPlaces<U>::rowPlace(leaf, tile % C::TilesPerLeaf * C::TileKeys) +
          rows;
      KV_UNROLL for (int i = 0; i < C::ThreadRows; ++i) {
        int64_t row = places.load(place + i) + uint32_t(byte);
        KV_UNROLL for (int column = 0; column < C::RowChunks;
                       column += C::CopiedColumns)
          b.copyAsync(ring,
                      lastStage +
                          C::CacheRows::below(chunk, i * C::CopiedRows) +
                          column,
                      row, column * ChunkBytes);
      }
    }
    b.commit();
  }
};

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTION_MMA_LATENTRING_H
