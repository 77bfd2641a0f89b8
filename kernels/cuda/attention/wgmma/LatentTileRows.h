//===- LatentTileRows.h - Latent leaves that two groups share ---*- C++ -*-===//
//
// Part of AttentionBody.h: the consumers of the kernels that copy tiles of
// latent caches. Leaves are taken in pairs. Each warpgroup computes the scores
// and weights of one of them; then both multiply the weights of the first and
// of the second leaf by their half of the columns, slice by slice, and fold. So
// the products of one fill the tensor cores while the other weighs or folds,
// and no more than a slice's sums are in registers beside the group's.
//
// The bits are those of the other kernels for latent caches: what a leaf gives
// depends on no other leaf, and both warpgroups fold each leaf in its order.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_ATTENTION_WGMMA_LATENTTILEROWS_H
#define KV_KERNELS_CUDA_ATTENTION_WGMMA_LATENTTILEROWS_H

#include "TileRows.h"
#include "kernels/cuda/attention/common/LatentTileLoader.h"

namespace kv::cuda {

template <Block B, class C>
KV_BODY void AttentionBody<B, C>::multiplyQueries()
  requires LatentTiles<C>
{
  Descriptor queries = operandAt(OffsetOf<C, slot::Queries>);
  Descriptor keys = operandAt(OffsetOf<C, slot::Ring> + half * C::TileBytes);
  b.forget(scores[0]);
  b.fenceProducts(scores[0]);
  KV_UNROLL
  for (int slab = 0; slab < C::Slabs; ++slab) {
    b.awaitPhase(b.barrier(C::full(half, slab)), phase);
    b.fenceProducts();
    KV_UNROLL
    for (int byte = 0; byte < SlabRowBytes; byte += 32)
      b.template multiplyGroup<typename C::Product, Major::K>(
          scores[0], queries.behind(slab * C::QuerySlabBytes + byte),
          keys.behind(slab * C::SlabBytes + byte), slab + byte > 0);
  }
  b.commitProducts();
  b.template awaitProducts<0>(scores[0]);
  phase ^= 1;
}

template <Block B, class C>
KV_BODY void AttentionBody<B, C>::shareWeights(int leaf) {
  multiplyQueries();
  KeptUnit unit = keptUnit().load(0);
  allSeeFrom = unit.allSeeFrom;
  allSeeTo = unit.allSeeTo;
  prepareScores(leaf);
  float maxima[2];
  Powers powers;
  KV_UNROLL
  for (int side = 0; side < 2; ++side) {
    powers.factor[side] = toLog2;
    maxima[side] = largestScore(0, side) * toLog2;
    powers.base[side] = kv::plan::scoreBase(maxima[side]);
  }
  Fragments weights;
  narrowWeights(powers, weights, leaf);
  // All warps have multiplied the slab that the weights come to.
  if constexpr (!TensorTiles<C>)
    b.syncNamed(C::ScoresBarrier + half, GroupThreads);
  auto states = leafStates(leaf);
  auto words = b.template shared<uint32_t>(
      OffsetOf<C, slot::Ring> + half * C::TileBytes + C::StageWeights,
      C::SlabBytes / 4);
  // Rows of both sides exchange chunks alike.
  int row = rowOf(rowTile(), 0);
  int first = C::WeightRows::chunk(row, 0) * 4 + lane % 4;
  KV_UNROLL
  for (int side = 0; side < 2; ++side) {
    if (lane % 4 == 0)
      states.store(row + side * 8, {maxima[side], sums[side * 2]});
    KV_UNROLL
    for (int n = 0; n < C::KeyTiles; ++n)
      words.store((first ^ n * 4) + side * AtomBytes / 4,
                  weights[n / 2][n % 2 * 2 + side]);
  }
  b.fenceAsync();
  if constexpr (TensorTiles<C>) {
    b.fenceBefore();
    b.arriveAt(b.barrier(C::weighed(half)));
    return;
  }
  // This warpgroup reads them itself.
  b.syncNamed(C::ScoresBarrier + half, GroupThreads);
  b.arriveNamed(C::WeightsBarrier + half, 2 * GroupThreads);
}

template <Block B, class C>
KV_BODY void AttentionBody<B, C>::foldStates(int leaf) {
  if constexpr (TensorTiles<C>)
    b.awaitPhase(b.barrier(C::weighed(stage)), leafPhase);
  else if (half != stage)
    b.syncNamed(C::WeightsBarrier + stage, 2 * GroupThreads);
  KV_UNROLL
  for (int side = 0; side < 2; ++side) {
    FloatPair state = leafStates(leaf).load(rowOf(rowTile(), side));
    Softmax &group = groupState[side];
    kv::plan::Weights weights = kv::plan::fold(group, {state.x, state.y});
    announce(OffsetOf<C, slot::GroupWeights>, 0, side, weights);
  }
}

template <Block B, class C>
KV_BODY void AttentionBody<B, C>::releaseSlab(int slab) {
  if constexpr (PartBlocks<C> > 1) {
    // Each asks for half of what comes there: a lane a block.
    b.releaseAt(b.barrier(C::empty(stage, slab)), lane, lane < PartBlocks<C>);
  } else if (lane == 0) {
    b.arriveAt(b.barrier(C::empty(stage, slab)));
  }
}

template <Block B, class C> KV_BODY void AttentionBody<B, C>::foldSlices() {
  int begin = half * (C::ValueSlabs / C::Groups);
  Descriptor tile = operandAt(OffsetOf<C, slot::Ring> + stage * C::TileBytes);
  Descriptor weights = tile.behind(C::StageWeights);
  KV_UNROLL
  for (int slice = 0; slice < C::Slices; ++slice) {
    int slab = begin + slice * C::SliceSlabs;
    float sliced[C::SliceTiles][4];
    b.forget(sliced);
    b.fenceProducts(sliced);
    KV_UNROLL
    for (int k = 0; k < C::Leaf / 16; ++k) {
      b.template multiplyGroup<typename C::Product, Major::Other>(
          sliced, weights.behind(k * 32),
          tile.behind(slab * C::SlabBytes + k * 2 * AtomBytes), k > 0);
    }
    b.commitProducts();
    b.template awaitProducts<0>(sliced);
    KV_UNROLL
    for (int i = 0; i < C::SliceSlabs; ++i)
      releaseSlab(slab + i);
    if (slice == C::Slices - 1)
      releaseSlab(C::ValueSlabs);
    KV_UNROLL
    for (int n = 0; n < C::SliceTiles; ++n)
      foldTile(slice * C::SliceTiles + n, sliced[n]);
  }
}

template <Block B, class C>
KV_BODY void AttentionBody<B, C>::computeLeaf(int leaf)
  requires LatentTiles<C>
{
  if ((leaf - leafBegin) % 2 == 0) {
    int own = leaf + (half != stage);
    if (own < leafEnd)
      shareWeights(own);
  }
  foldStates(leaf);
  foldSlices();
  stage ^= 1;
}

/// By one thread: the barriers of the ring.
template <class C, Block B> KV_BODY void initSlabs(B &b) {
  KV_UNROLL
  for (int stage = 0; stage < C::Stages; ++stage) {
    KV_UNROLL
    for (int slab = 0; slab < C::Slabs; ++slab) {
      b.init(b.barrier(C::full(stage, slab)), 1);
      b.init(b.barrier(C::empty(stage, slab)), C::readers(slab));
    }
    b.init(b.barrier(C::landed(stage)), 1);
  }
}

/// The kernel: the first warpgroup copies, the others multiply.
template <class C, Block B>
  requires LatentTiles<C>
KV_BODY void runTiles(B &b, const TileParams &p) {
  if (b.thread() == 0) {
    initSlabs<C>(b);
    b.fenceInit();
  }
  // The other block copies to here and arrives here, from its beginning to its
  // end.
  constexpr bool Pair = PartBlocks<C> > 1;
  if constexpr (Pair)
    b.syncCluster();
  else
    b.sync();
  if (b.thread() < GroupThreads) {
    b.template registersDown<C::LoaderRegisters>();
    if (b.thread() < WarpLanes)
      LatentTileLoader<B, C>(b, p).load();
    else if (b.thread() < 2 * WarpLanes)
      LatentTileLoader<B, C>(b, p).clean();
  } else {
    b.template registersUp<C::ConsumerRegisters>();
    Consumers<B, C> consumers(b);
    AttentionBody<Consumers<B, C>, C>(consumers, p).run();
  }
  if constexpr (Pair)
    b.syncCluster();
}

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTION_WGMMA_LATENTTILEROWS_H
