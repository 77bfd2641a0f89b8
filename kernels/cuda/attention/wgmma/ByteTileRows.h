//===- ByteTileRows.h - A leaf whose products are bytes' --------*- C++ -*-===//
//
// Part of AttentionBody.h: the consumers of the kernels for products of 8 bits.
// What TileRows.h says of warps and their rows holds here; rounded weights are
// summed by the product with the values.
//
// A turn is the products of a leaf's values, passed on with the last of them.
// Meanwhile the two other warpgroups multiply queries by keys and make weights.
// Weights of a leaf's last keys are polynomials, which lose a NaN: a row's
// maximum keeps it, and so every other weight of the leaf is one.
// There are few registers: what only some leaves need waits in shared memory.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_ATTENTION_WGMMA_BYTETILEROWS_H
#define KV_KERNELS_CUDA_ATTENTION_WGMMA_BYTETILEROWS_H

#include "ByteTileLoader.h"
#include "PolynomialPower.h"
#include "TileRows.h"

namespace kv::cuda {

template <Block B, class C>
KV_BODY bool AttentionBody<B, C>::multiplies() const {
  int group = b.uniform(warp) / GroupWarps;
  return group == 0 || liveRows > group * (GroupWarps * 16);
}

template <Block B, class C> KV_BODY void AttentionBody<B, C>::beginScores() {
  awaitTile(0);
  int group = warp / GroupWarps;
  Descriptor queries = operandAt(OffsetOf<C, slot::Queries> +
                                 group * GroupWarps * 16 * SlabRowBytes);
  Descriptor keys = tileAt(0);
  b.forget(scores[0]);
  b.fenceProducts(scores[0]);
  KV_UNROLL
  for (int d = 0; d < C::HeadDim; d += 32)
    b.template multiplyGroup<typename C::Product, Major::K>(
        scores[0], queries.behind(d), keys.behind(d), d > 0);
  b.commitProducts();
}

template <Block B, class C> KV_BODY void AttentionBody<B, C>::awaitScores() {
  b.template awaitProducts<0>(scores[0]);
  releaseTile();
}

template <Block B, class C>
KV_BODY void AttentionBody<B, C>::narrowWeights(const Powers &powers,
                                                Fragments &weights, int)
  requires ByteTiles<C>
{
  // Four neighbours of a fragment are what a thread has of two column tiles.
  KV_UNROLL
  for (int n = 0; n < C::KeyTiles; n += 2)
    KV_UNROLL
  for (int side = 0; side < 2; ++side) {
    const float factor = powers.factor[side], base = powers.base[side];
    const PolynomialPower power(factor, base);
    float four[4];
    KV_UNROLL
    for (int i = 0; i < 4; ++i) {
      float score = scores[0][n + i / 2][side * 2 + i % 2];
      four[i] = n < C::ExponentialTiles ? weightOf(score, factor, base)
                                        : power(score);
    }
    weights[n / 4][n / 2 % 2 * 2 + side] =
        narrowFour<typename C::Product>(four[0], four[1], four[2], four[3]);
  }
}

template <Block B, class C>
template <int Tiles>
KV_BODY void AttentionBody<B, C>::multiplyPart(float (&part)[Tiles][4],
                                               const Fragments &weights,
                                               Descriptor tile) {
  KV_UNROLL
  for (int k = 0; k < C::Leaf / 32; ++k)
    b.template multiplyGroup<typename C::Product, Major::K>(
        part, weights[k], tile.behind(k * 32), k > 0);
  b.commitProducts();
}

template <Block B, class C>
template <int Tiles>
KV_BODY void AttentionBody<B, C>::foldPart(int part,
                                           const float (&tiles)[Tiles][4]) {
  KV_UNROLL
  for (int n = 0; n < C::PartTiles; ++n)
    foldTile(part * C::PartTiles + n, tiles[n]);
}

template <Block B, class C>
KV_BODY void AttentionBody<B, C>::foldLastPart(const LastPart &part) {
  // All eight columns of sums are the same.
  KV_UNROLL
  for (int side = 0; side < 2; ++side)
    sums[side * 2] = part[C::PartTiles][side * 2];
  foldRowSums();
  foldPart(C::Parts - 1, part);
}

template <Block B, class C>
KV_BODY void AttentionBody<B, C>::computeLeaf(int leaf)
  requires ByteTiles<C>
{
  beginScores();
  recallLeaves();
  awaitScores();
  prepareScores(leaf);
  Fragments weights;
  weighScores(weights, leaf);
  awaitTile(0);
  Descriptor tile = tileAt(0);
  awaitTurn<C>(b, warp);
  auto multiply = [&](auto &part, Descriptor tile) {
    b.forget(part);
    b.fenceProducts(weights, part);
    multiplyPart(part, weights, tile);
  };
  auto finish = [&](auto &part) {
    b.template awaitProducts<0>(part);
    releaseTile();
  };
  LastPart last;
  multiply(last, tile.behind(C::PartTiles * (C::Parts - 1) * AtomBytes));
  if constexpr (C::Parts == 1) {
    passTurn<C>(b, warp);
    finish(last);
    foldLastPart(last);
  } else {
    b.template awaitProducts<0>(last);
    foldLastPart(last);
    float first[C::PartTiles][4];
    multiply(first, tile);
    passTurn<C>(b, warp);
    finish(first);
    foldPart(0, first);
  }
}

template <Block B, class C> KV_BODY void AttentionBody<B, C>::passLeaf() {
  // Else it could release a tile twice in one phase.
  awaitTurn<C>(b, warp);
  passTurn<C>(b, warp);
  releaseTile();
  releaseTile();
}

/// How many pieces there are before that of a leaf, of a work that begins at
/// `begin`: kv::plan::pieceCount() in 32 bits.
KV_BODY int pieceOf(int begin, int leaf) {
  constexpr int Group = kv::plan::LeavesPerGroup;
  int groups = leaf / Group - begin / Group, within = begin % Group;
  return groups + (within == 0   ? 0
                   : groups == 0 ? leaf - begin
                                 : Group - 1 - within);
}

// Of the work, its unit and its pieces, nothing is kept in registers.
template <Block B, class C>
KV_BODY void AttentionBody<B, C>::runLeaves(const Work &work)
  requires ByteTiles<C>
{
  auto begin = [&] {
    clear(group);
    groupState[0] = groupState[1] = Softmax();
  };
  if (!multiplies()) {
    KV_UNROLL_BY(1)
    for (int leaf = leafBegin; leaf < leafEnd; ++leaf)
      passLeaf();
    // Of no row, but a register that nobody writes is kept from the kernel's
    // begin.
    return clear(group);
  }
  begin();
  for (int leaf = leafBegin;; ++leaf) {
    b.atLeaf(leaf);
    computeLeaf(leaf);
    // As pieceEnd() has it.
    constexpr int Group = kv::plan::LeavesPerGroup;
    const Work now = inLeaves(work);
    bool last = leaf + 1 == now.leafEnd,
         inFirst = leaf / Group == now.leafBegin / Group;
    bool foreign = !now.whole() && inFirst && now.leafBegin % Group;
    if (!last && !foreign && (leaf + 1) % Group)
      continue;
    rarely([&] {
      const Work now = inLeaves(work);
      if (now.whole())
        foldGroup(inFirst, last);
      else
        storePiece(kv::plan::slotOf(p.shape, part(), now.starts,
                                    pieceOf(now.leafBegin, leaf)));
    });
    if (last)
      return;
    begin();
  }
}

/// The kernel: the first warpgroup copies and transposes, the others multiply.
template <class C, Block B>
  requires ByteTiles<C>
KV_BODY void runTiles(B &b, const TileParams &p) {
  static_assert(FitsMultiprocessor<C>);
  if (b.thread() == 0) {
    KV_UNROLL
    for (int stage = 0; stage < C::Stages; ++stage) {
      b.init(b.barrier(C::full(stage)), stage % 2 ? C::Transposers : 1);
      b.init(b.barrier(C::empty(stage)), C::Warps);
    }
    KV_UNROLL
    for (int copy = 0; copy < C::CopyStages; ++copy) {
      b.init(b.barrier(C::landed(copy)), 1);
      b.init(b.barrier(C::transposed(copy)), C::Transposers);
    }
    b.fenceInit();
  }
  b.sync();
  if (b.thread() < GroupThreads) {
    b.template registersDown<C::LoaderRegisters>();
    if (b.thread() < WarpLanes)
      ByteTileLoader<B, C>(b, p).load();
    else
      ByteTransposer<B, C>(b, p).transpose();
  } else {
    b.template registersUp<C::ConsumerRegisters>();
    consume<C>(b, p);
  }
}

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTION_WGMMA_BYTETILEROWS_H
