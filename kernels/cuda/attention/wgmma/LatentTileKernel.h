//===- LatentTileKernel.h - Latent leaves by wgmma --------------*- C++ -*-===//
//
// The kernels that copy tiles of latent caches, of one block or of two of a
// cluster. LatentLeaves.h says how two warpgroups share leaves.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_ATTENTION_WGMMA_LATENTTILEKERNEL_H
#define KV_KERNELS_CUDA_ATTENTION_WGMMA_LATENTTILEKERNEL_H

#include "TileKernel.h"
#include "kernels/cuda/attention/common/LatentLeaves.h"

namespace kv::cuda {

template <class U> class LatentTileProducts {
  using B = typename U::B;
  using C = typename U::C;

public:
  KV_BODY explicit LatentTileProducts(U &) {}
  KV_BODY void queriesStored(U &) {}

  KV_BODY void multiplyQueries(U &u, Scores<U> &scores) {
    B &b = u.b;
    Descriptor queries = operandAt<C>(b, OffsetOf<C, slot::Queries>);
    Descriptor keys =
        operandAt<C>(b, OffsetOf<C, slot::Ring> + u.map.half * C::TileBytes);
    b.forget(scores.tiles[0]);
    b.fenceProducts(scores.tiles[0]);
    KV_UNROLL for (int slab = 0; slab < C::Slabs; ++slab) {
      b.awaitPhase(b.barrier(C::full(u.map.half, slab)), phase);
      b.fenceProducts();
      KV_UNROLL for (int byte = 0; byte < SlabRowBytes; byte += 32)
        b.template multiplyGroup<typename C::Product, Major::K>(
            scores.tiles[0], queries.behind(slab * C::QuerySlabBytes + byte),
            keys.behind(slab * C::SlabBytes + byte), slab + byte > 0);
    }
    b.commitProducts();
    b.template awaitProducts<0>(scores.tiles[0]);
    phase ^= 1;
  }

  KV_BODY void awaitScores(U &u) {
    u.b.syncNamed(C::ScoresBarrier + u.map.half, GroupThreads);
  }
  KV_BODY void passWeights(U &u) {
    // This warpgroup reads them itself.
    u.b.syncNamed(C::ScoresBarrier + u.map.half, GroupThreads);
    u.b.arriveNamed(C::WeightsBarrier + u.map.half, 2 * GroupThreads);
  }
  KV_BODY void awaitWeights(U &u, int stage) {
    if (u.map.half != stage)
      u.b.syncNamed(C::WeightsBarrier + stage, 2 * GroupThreads);
  }

  KV_BODY void foldSlices(U &u, Group<U> &group, const Folds<U> &folds,
                          int stage) {
    B &b = u.b;
    int begin = u.map.half * (C::ValueSlabs / C::Groups);
    Descriptor tile =
        operandAt<C>(b, OffsetOf<C, slot::Ring> + stage * C::TileBytes);
    Descriptor weights = tile.behind(C::StageWeights);
    KV_UNROLL for (int slice = 0; slice < C::Slices; ++slice) {
      int slab = begin + slice * C::SliceSlabs;
      float sliced[C::SliceTiles][4];
      b.forget(sliced);
      b.fenceProducts(sliced);
      KV_UNROLL for (int k = 0; k < C::Leaf / 16; ++k) {
        b.template multiplyGroup<typename C::Product, Major::Other>(
            sliced, weights.behind(k * 32),
            tile.behind(slab * C::SlabBytes + k * 2 * AtomBytes), k > 0);
      }
      b.commitProducts();
      b.template awaitProducts<0>(sliced);
      KV_UNROLL for (int i = 0; i < C::SliceSlabs; ++i)
        releaseSlab(u, stage, slab + i);
      if (slice == C::Slices - 1)
        releaseSlab(u, stage, C::ValueSlabs);
      KV_UNROLL for (int n = 0; n < C::SliceTiles; ++n)
        group.foldTile(folds, slice * C::SliceTiles + n, sliced[n]);
    }
  }

private:
  /// By one lane for its warp, which has read that slab of `stage`.
  KV_BODY void releaseSlab(U &u, int stage, int slab) {
    B &b = u.b;
    if constexpr (PartBlocks<C> > 1) {
      // Each block asks for half of the slabs that come there: one lane per
      // block.
      b.releaseAt(b.barrier(C::empty(stage, slab)), u.map.lane,
                  u.map.lane < PartBlocks<C>);
    } else if (u.map.lane == 0) {
      b.arriveAt(b.barrier(C::empty(stage, slab)));
    }
  }

  int phase = 0; // of this warpgroup's stage
};

template <class U>
using LatentTileLeaves = LatentLeaves<U, LatentTileProducts<U>>;

template <Block B, class C>
  requires LatentTiles<C>
struct TileParts<B, C> {
  using Roles =
      RoleTable<RoleWarps<Role::Copies, 1>, RoleWarps<Role::Cleans, 1>,
                RoleWarps<Role::Rests, 2>, RoleWarps<Role::Consumes, C::Warps>>;

  static KV_BODY void init(B &b) { initSlabs<C>(b); }
  static KV_BODY void bring(B &b, const TileParams &p) {
    if (Roles::template has<Role::Copies>(b.thread()))
      LatentTileLoader<B, C>(b, p).load();
    else if (Roles::template has<Role::Cleans>(b.thread()))
      LatentTileLoader<B, C>(b, p).clean();
  }
  static KV_BODY void consume(Consumers<B, C> &b, const TileParams &p) {
    TileConsumer<Consumers<B, C>, C, LatentTileLeaves>(b, p).run();
  }
};

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTION_WGMMA_LATENTTILEKERNEL_H
