//===- LatentLeaves.h - Latent leaves that two groups share -----*- C++ -*-===//
//
// Leaves of a latent cache are taken in pairs. Each warpgroup computes the
// scores and weights of one leaf. Then both warpgroups multiply the weights of
// both leaves by their half of the columns, slice by slice, and fold. So the
// products of one warpgroup fill the tensor cores while the other weighs or
// folds, and registers hold the sums of one slice and of the group.
//
// `Products` makes the products and passes on the weights:
//
//   multiplyQueries(u, scores)       the scores of this warpgroup's stage
//   awaitScores(u)                   all warps' are there
//   passWeights(u)                   this warpgroup's weights are there
//   awaitWeights(u, stage)           until those of a stage are
//   foldSlices(u, group, folds, stage)   folds them times this half's columns
//
// The bits are those of the other kernels for latent caches: what a leaf gives
// depends on no other leaf, and both warpgroups fold each leaf in its order.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_ATTENTION_COMMON_LATENTLEAVES_H
#define KV_KERNELS_CUDA_ATTENTION_COMMON_LATENTLEAVES_H

#include "LatentTileLoader.h"
#include "RowScales.h"
#include "RowWeights.h"
#include "TileConsumer.h"

namespace kv::cuda {

/// By one thread: the barriers of the ring.
template <class C, Block B> KV_BODY void initSlabs(B &b) {
  KV_UNROLL for (int stage = 0; stage < C::Stages; ++stage) {
    KV_UNROLL for (int slab = 0; slab < C::Slabs; ++slab) {
      b.init(b.barrier(C::full(stage, slab)), 1);
      b.init(b.barrier(C::empty(stage, slab)), C::readers(slab));
    }
    b.init(b.barrier(C::landed(stage)), 1);
  }
}

template <class U, class Products> class LatentLeaves {
  using B = typename U::B;
  using C = typename U::C;
  using Work = kv::plan::Work;

public:
  KV_BODY explicit LatentLeaves(U &u) : products(u) {}

  KV_BODY void queriesStored(U &u) { products.queriesStored(u); }
  KV_BODY void run(U &u, Group<U> &group, Folds<U> &folds,
                   const KeptUnit<U> &kept, const Work &work) {
    runGroups(*this, u, group, folds, kept, work);
  }
  KV_BODY void compute(U &u, Group<U> &group, Folds<U> &folds,
                       const KeptUnit<U> &kept, int leaf) {
    if ((leaf - u.leafBegin) % 2 == 0) {
      int own = leaf + (u.map.half != stage);
      if (own < u.leafEnd)
        shareWeights(u, kept, own);
    }
    foldStates(u, group, folds, leaf);
    products.foldSlices(u, group, folds, stage);
    stage ^= 1;
  }

private:
  /// With a leaf's weights, of each row: its largest score and the sum of its
  /// weights. The two are read until the second pair after it begins.
  static KV_BODY auto leafStates(U &u, int leaf) {
    return u.b.template shared<FloatPair>(OffsetOf<C, slot::LeafStates> +
                                              ((leaf - u.leafBegin) & 3) *
                                                  C::Rows * 8,
                                          C::Rows);
  }

  /// The weights of the leaf in this warpgroup's stage, for both.
  KV_BODY void shareWeights(U &u, const KeptUnit<U> &kept, int leaf) {
    B &b = u.b;
    products.multiplyQueries(u, scores);
    kept.recallBounds(u);
    NoScales none;
    scores.prepare(u, leaf, none);
    float maxima[2];
    RowPowers powers;
    KV_UNROLL for (int side = 0; side < 2; ++side) {
      powers.factor[side] = u.scale.toLog2;
      maxima[side] = scores.largest(u, 0, side) * u.scale.toLog2;
      powers.base[side] = kv::plan::scoreBase(maxima[side]);
    }
    WeightFragments<C> fragments;
    weights.narrow(u, leaf, scores, none, powers, fragments);
    // All warps have multiplied the slab that the weights come to.
    products.awaitScores(u);
    auto states = leafStates(u, leaf);
    auto words = b.template shared<uint32_t>(
        OffsetOf<C, slot::Ring> + u.map.half * C::TileBytes + C::StageWeights,
        C::SlabBytes / 4);
    // Rows of both sides exchange chunks alike.
    int row = u.map.rowOf(u.map.rowTile(), 0);
    int first = C::WeightRows::chunk(row, 0) * 4 + u.map.lane % 4;
    KV_UNROLL for (int side = 0; side < 2; ++side) {
      if (u.map.lane % 4 == 0)
        states.store(row + side * 8, {maxima[side], weights.sums[side * 2]});
      KV_UNROLL for (int n = 0; n < C::KeyTiles; ++n)
        words.store((first ^ n * 4) + side * AtomBytes / 4,
                    fragments[n / 2][n % 2 * 2 + side]);
    }
    b.fenceAsync();
    products.passWeights(u);
  }

  /// How the leaf in `stage` folds, whose weights are there then.
  KV_BODY void foldStates(U &u, Group<U> &group, Folds<U> &folds, int leaf) {
    products.awaitWeights(u, stage);
    KV_UNROLL for (int side = 0; side < 2; ++side) {
      FloatPair state =
          leafStates(u, leaf).load(u.map.rowOf(u.map.rowTile(), side));
      kv::plan::Weights weights =
          kv::plan::fold(group.states[side], {state.x, state.y});
      folds.template announce<slot::GroupWeights>(u, 0, side, weights);
    }
  }

  int stage = 0; // of the next leaf
  Products products;
  Scores<U> scores;
  RowWeights<U> weights;
};

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTION_COMMON_LATENTLEAVES_H
