//===- LatentTileLoader.h - The warps that bring latent tiles ---*- C++ -*-===//
//
// One warp copies, one box per lane. A slab is copied as soon as the one before
// it in the ring has been read. Another warp makes rows of values zero that no
// query sees. Each of a pair of blocks asks for half of every slab, for both
// blocks, once both have read the old slab in its place.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_ATTENTION_COMMON_LATENTTILELOADER_H
#define KV_KERNELS_CUDA_ATTENTION_COMMON_LATENTTILELOADER_H

#include "TileLoader.h"
#include "kernels/cuda/parameters/LatentTiles.h"

namespace kv::cuda {

template <Block B, class C> class LatentTileLoader : TileLoader<B, C> {
  using Base = TileLoader<B, C>;
  using Base::b, Base::p, Base::lane, Base::first, Base::last, Base::stage,
      Base::phase, Base::landings;
  using Work = kv::plan::Work;

public:
  using Base::Base;

  /// By one warp: all tiles of this block's part.
  KV_BODY void load() {
    if (this->hasNoBox(this->ownBoxes()))
      return;
    forEachWork</*AtOnce=*/false, /*ByIndex=*/true, PartBlocks<C>>(
        b, p, [&](const Work &work, const kv::plan::Tile &tile) {
          this->seeKeys(work, tile);
          int32_t page = this->lookUp(work.leafBegin, work);
          for (int leaf = work.leafBegin; leaf < work.leafEnd; ++leaf) {
            b.atLeaf(leaf);
            int32_t next = this->lookUp(leaf + 1, work);
            copyTile(leaf, page);
            page = next;
          }
        });
  }

  /// By one warp: the tiles that have such rows.
  KV_BODY void clean() {
    forEachWork</*AtOnce=*/false, /*ByIndex=*/true, PartBlocks<C>>(
        b, p, [&](const Work &work, const kv::plan::Tile &tile) {
          this->seeKeys(work, tile);
          for (int leaf = work.leafBegin; leaf < work.leafEnd; ++leaf) {
            b.atLeaf(leaf);
            if (this->isSeenInPart(leaf)) {
              this->cleanRows(leaf, C::ValueSlabs);
              if (lane < C::Slabs)
                b.arriveAt(b.barrier(C::full(stage, lane)));
            }
            this->template nextStage<C::Stages>();
          }
        });
  }

private:
  KV_BODY void copyTile(int leaf, int32_t page) {
    bool unclean = this->isSeenInPart(leaf);
    // A latent cache has one head.
    int box = this->ownBox() << p.boxShift;
    int token = p.cache.pageSize.remainder(int32_t(leaf * C::Leaf + box));
    KV_UNROLL_BY(1)
    for (int slab = 0; slab < C::Slabs; ++slab) {
      b.awaitPhase(b.barrier(C::empty(stage, slab)), phase ^ 1);
      auto bar = b.barrier(unclean ? C::landed(stage) : C::full(stage, slab));
      if (lane == 0 && (!unclean || slab == 0))
        b.expectBytes(bar, unclean ? C::TileBytes : C::SlabBytes);
      copyBox(OffsetOf<C, slot::Ring> + stage * C::TileBytes +
                  slab * C::SlabBytes + box * SlabRowBytes,
              TileAt{{slab * 64, p.headsFirst ? 0 : token,
                      p.headsFirst ? token : 0, page}},
              bar);
    }
    this->template nextStage<C::Stages>();
  }

  /// To all blocks of the part, each of which expects the bytes of all boxes.
  template <class Barrier>
  KV_BODY void copyBox(int offset, const TileAt &at, Barrier bar) {
    if constexpr (PartBlocks<C> == 1) {
      b.copyTile(p.maps[0], offset, at, bar);
    } else {
      constexpr uint32_t All = (1u << PartBlocks<C>)-1;
      b.copyTileTo(All, p.maps[0], offset, at, bar);
    }
  }
};

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTION_COMMON_LATENTTILELOADER_H
