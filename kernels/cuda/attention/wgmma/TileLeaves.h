//===- TileLeaves.h - A leaf of tiles of 16 bits ----------------*- C++ -*-===//
//
// A warp has all keys and all columns of its sixteen rows, so that their
// maxima, weights and folds stay in its registers. While one warpgroup weighs
// and folds, the other one multiplies.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_ATTENTION_WGMMA_TILELEAVES_H
#define KV_KERNELS_CUDA_ATTENTION_WGMMA_TILELEAVES_H

#include "TileRing.h"
#include "TileWeights.h"
#include "kernels/cuda/attention/common/TileConsumer.h"

namespace kv::cuda {

template <class U> class TileLeaves {
  using B = typename U::B;
  using C = typename U::C;
  using Work = kv::plan::Work;

public:
  KV_BODY explicit TileLeaves(U &) {}
  KV_BODY void queriesStored(U &) {}

  KV_BODY void run(U &u, Group<U> &group, Folds<U> &folds,
                   const KeptUnit<U> &kept, const Work &work) {
    if constexpr (C::Groups > 1)
      if (!groupHasRows(u)) {
        passTiles(u);
        // The results have no rows, but a register that is never written would
        // be kept from the kernel's begin.
        return group.clear();
      }
    runGroups(*this, u, group, folds, kept, work);
  }

  KV_BODY void compute(U &u, Group<U> &group, Folds<U> &folds,
                       const KeptUnit<U> &kept, int leaf) {
    multiplyQueries(u);
    if constexpr (KeepsUnit<C>)
      kept.recallLeaves(u);
    scores.prepare(u, leaf, scales);
    WeightFragments<C> fragments;
    weights.weigh(u, leaf, scores, scales, group, folds, fragments);
    // One lane of a warp gives tiles back, which lets scales be overwritten
    // that all have read. Of two warpgroups turns are barriers.
    if constexpr (C::Scaled && C::Groups == 1)
      u.b.syncNamed(turnOf(0), GroupThreads);
    KV_UNROLL for (int part = 0; part < C::Parts; ++part) {
      multiplyWeights(u, group, folds, fragments, part);
      if (part == C::Parts - 1)
        group.takePartBack(u);
      group.foldLeaf(u, folds, values, part);
    }
    group.putPartAside(u);
    if constexpr (C::Scaled)
      scales.next();
  }

private:
  /// Whether any row of the unit is this warpgroup's. The second one has none
  /// of a few drafts, nor of the end of many a prompt.
  static KV_BODY bool groupHasRows(U &u) {
    return u.b.uniform(u.map.warp) < GroupWarps ||
           u.rows.liveRows > GroupWarps * 16;
  }
  /// The leaves of a warpgroup without rows: it takes its turns and gives the
  /// tiles back, so that the other one has the tensor cores and the loaders
  /// need not know.
  KV_BODY void passTiles(U &u) {
    KV_UNROLL_BY(1)
    for (int leaf = u.leafBegin; leaf < u.leafEnd; ++leaf) {
      // Where a leaf's tiles are all stages, a compiler shall still find out.
      // That they are there needs no wait: at its turn the other one has read
      // all before them, so that none is given back twice in a phase.
      KV_UNROLL for (int tile = 0; tile < 2 * C::Parts; ++tile) {
        if (C::Parts == 1 || tile == 0) {
          awaitTurn<C>(u.b, u.map.warp);
          passTurn<C>(u.b, u.map.warp);
        }
        ring.releaseTile(u);
      }
      if constexpr (C::Scaled)
        scales.next();
    }
  }

  /// Multiplies the queries by the leaf's keys: the scores.
  KV_BODY void multiplyQueries(U &u) {
    B &b = u.b;
    KV_UNROLL for (int part = 0; part < C::Parts; ++part)
      ring.awaitTile(u, part);
    Descriptor queries = queriesOf<C>(b, u.map.warp / GroupWarps);
    Descriptor keys[C::Parts];
    KV_UNROLL for (int part = 0; part < C::Parts; ++part)
      keys[part] = ring.tileAt(u, part);
    awaitTurn<C>(b, u.map.warp);
    b.forget(scores.tiles[0]);
    b.fenceProducts(scores.tiles[0]);
    KV_UNROLL for (int d = 0; d < C::KeyDim / 16; ++d) {
      constexpr int SlabSteps = SlabRowBytes / 32;
      int within = d % SlabSteps * 32, slab = d / SlabSteps;
      b.template multiplyGroup<typename C::Product, Major::K>(
          scores.tiles[0], queries.behind(slab * C::QuerySlabBytes + within),
          keys[slab / C::TileSlabs].behind(slab % C::TileSlabs * C::SlabBytes +
                                           within),
          d > 0);
    }
    b.commitProducts();
    passTurn<C>(b, u.map.warp);
    b.template awaitProducts<0>(scores.tiles[0]);
    KV_UNROLL for (int part = 0; part < C::Parts; ++part)
      ring.releaseTile(u);
  }

  /// Multiplies the weights by the next tile, part of the values.
  KV_BODY void multiplyWeights(U &u, Group<U> &group, Folds<U> &folds,
                               WeightFragments<C> &fragments, int part) {
    B &b = u.b;
    ring.awaitTile(u, 0);
    Descriptor tile = ring.tileAt(u, 0);
    if constexpr (C::Parts == 1)
      awaitTurn<C>(b, u.map.warp);
    b.forget(values[0]);
    b.fenceProducts(fragments, values[0]);
    KV_UNROLL for (int k = 0; k < C::Leaf / 16; ++k) {
      b.template multiplyGroup<typename C::Product, Major::Other>(
          values[0], fragments[k], tile.behind(k * 2 * AtomBytes), k > 0);
    }
    b.commitProducts();
    if constexpr (C::Parts == 1)
      passTurn<C>(b, u.map.warp);
    if (part == 0)
      weights.foldSums(u, group, folds);
    b.template awaitProducts<0>(values[0]);
    ring.releaseTile(u);
  }

  TileRing<U> ring;
  TileScales<U> scales;
  Scores<U> scores;
  TileWeights<U> weights;
  float values[1][Group<U>::PartTiles][4];
};

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTION_WGMMA_TILELEAVES_H
