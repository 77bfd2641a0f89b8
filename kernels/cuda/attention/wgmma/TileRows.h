//===- TileRows.h - A leaf whose tiles others copy --------------*- C++ -*-===//
//
// Part of AttentionBody.h: the consumers of the kernels that copy tiles. A
// warp has all keys and all columns of its sixteen rows, so that their maxima,
// weights and folds stay in its registers. While one warpgroup weighs and
// folds, the other one multiplies.
//
// The bits are those of the other kernels: the same sums of sixteen products in
// the same order, the same leaves, groups and folds.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_ATTENTION_WGMMA_TILEROWS_H
#define KV_KERNELS_CUDA_ATTENTION_WGMMA_TILEROWS_H

#include "TileWidener.h"
#include "kernels/cuda/attention/common/AttentionBody.h"
#include "kernels/cuda/attention/common/TileLoader.h"

namespace kv::cuda {

/// Warpgroups begin their products in turn, so that one has the tensor cores
/// while the other weighs: were they to begin together, both would weigh
/// together. One alone has no turns. The named barrier of a warpgroup's turn.
KV_BODY int turnOf(int group) { return 3 + group; }
template <class C, Block B> KV_BODY void awaitTurn(B &b, int warp) {
  if constexpr (C::Groups > 1)
    b.syncNamed(turnOf(warp / GroupWarps), 2 * GroupThreads);
}
template <class C, Block B> KV_BODY void passTurn(B &b, int warp) {
  if constexpr (C::Groups > 1)
    b.arriveNamed(turnOf(C::Groups == 2 ? 1 - warp / GroupWarps
                         : warp / GroupWarps == C::Groups - 1
                             ? 0
                             : warp / GroupWarps + 1),
                  2 * GroupThreads);
}

template <Block B, class C>
KV_BODY void AttentionBody<B, C>::loadQueries()
  requires TileRows<C>
{
  copyQueries();
  b.fenceAsync();
  if constexpr (TensorTiles<C>)
    b.arriveAt(b.barrier(C::asked()));
}

template <Block B, class C>
KV_BODY void AttentionBody<B, C>::awaitTile(int ahead) {
  int at = stage + ahead;
  bool wraps = at >= C::Stages;
  b.awaitPhase(b.barrier(C::full(wraps ? at - C::Stages : at)), phase ^ wraps);
}

template <Block B, class C> KV_BODY void AttentionBody<B, C>::releaseTile() {
  if (lane == 0)
    b.arriveAt(b.barrier(C::empty(stage)));
  if (++stage == C::Stages) {
    stage = 0;
    phase ^= 1;
  }
}

template <Block B, class C>
KV_BODY Descriptor AttentionBody<B, C>::operandAt(int offset) const {
  return encode({b.sharedAddress(offset), C::SlabBytes, AtomBytes});
}

template <Block B, class C>
KV_BODY Descriptor AttentionBody<B, C>::tileAt(int ahead) const {
  int at = stage + ahead;
  return operandAt(OffsetOf<C, slot::Ring> +
                   (at >= C::Stages ? at - C::Stages : at) * C::TileBytes);
}

template <Block B, class C>
KV_BODY void AttentionBody<B, C>::multiplyQueries() {
  KV_UNROLL
  for (int part = 0; part < C::Parts; ++part)
    awaitTile(part);
  int group = warp / GroupWarps;
  Descriptor queries = operandAt(OffsetOf<C, slot::Queries> +
                                 group * GroupWarps * 16 * SlabRowBytes);
  Descriptor keys[C::Parts];
  KV_UNROLL
  for (int part = 0; part < C::Parts; ++part)
    keys[part] = tileAt(part);
  awaitTurn<C>(b, warp);
  b.forget(scores[0]);
  b.fenceProducts(scores[0]);
  KV_UNROLL
  for (int d = 0; d < C::KeyDim / 16; ++d) {
    constexpr int SlabSteps = SlabRowBytes / 32;
    int within = d % SlabSteps * 32, slab = d / SlabSteps;
    b.template multiplyGroup<typename C::Product, Major::K>(
        scores[0], queries.behind(slab * C::QuerySlabBytes + within),
        keys[slab / C::TileSlabs].behind(slab % C::TileSlabs * C::SlabBytes +
                                         within),
        d > 0);
  }
  b.commitProducts();
  passTurn<C>(b, warp);
  b.template awaitProducts<0>(scores[0]);
  KV_UNROLL
  for (int part = 0; part < C::Parts; ++part)
    releaseTile();
}

template <Block B, class C>
KV_BODY void AttentionBody<B, C>::narrowWeights(const Powers &powers,
                                                Fragments &weights, int leaf) {
  // With scales, as the four warps of the other kernels add them up, which have
  // every fourth sixteen of the keys each.
  float partial[2][4] = {};
  KV_UNROLL
  for (int n = 0; n < C::KeyTiles; ++n) {
    FloatPair scales{1, 1};
    if constexpr (C::Scaled)
      scales = scalesOf(leaf, 1, n);
    KV_UNROLL
    for (int side = 0; side < 2; ++side) {
      const float *two = scores[0][n] + side * 2;
      float low = weightOf(two[0], powers.factor[side], powers.base[side]),
            high = weightOf(two[1], powers.factor[side], powers.base[side]);
      if constexpr (C::Scaled) {
        partial[side][n / 2 % 4] += low + high;
        low = kv::plan::multiply(low, scales.x);
        high = kv::plan::multiply(high, scales.y);
      }
      weights[n / 2][n % 2 * 2 + side] =
          narrowPair<typename C::Product>(low, high);
    }
  }
  KV_UNROLL
  for (int i = 0; i < 4; ++i)
    sums[i] = 0;
  if constexpr (C::Scaled) {
    KV_UNROLL
    for (int side = 0; side < 2; ++side) {
      float *four = partial[side];
      KV_UNROLL
      for (int i = 0; i < 4; ++i) {
        four[i] = kv::plan::multiply(four[i], powers.power[side].power);
        four[i] += b.shuffleXor(four[i], 1);
        four[i] += b.shuffleXor(four[i], 2);
      }
      sums[side * 2] = (four[0] + four[1]) + (four[2] + four[3]);
    }
  } else {
    KV_UNROLL
    for (int k = 0; k < C::KeyTiles / 2; ++k)
      sumWeights(weights[k]);
  }
}

template <Block B, class C>
KV_BODY void AttentionBody<B, C>::weighScores(Fragments &weights, int leaf) {
  Powers powers;
  KV_UNROLL
  for (int side = 0; side < 2; ++side) {
    float &factor = powers.factor[side], &base = powers.base[side];
    factor = powerFactor(rowOf(warp, side));
    float maximum = largestScore(0, side) * factor;
    base = kv::plan::scoreBase(maximum);
    kv::plan::Weights fold =
        kv::plan::foldMaximum(groupState[side].maximum, maximum);
    if constexpr (ByteProducts<C>) { // weights are so many times as large
      base -= WeightLog;
      fold.right = kv::plan::multiply(fold.right, 1.0f / (1 << WeightLog));
    }
    leafWeights[side] = fold.right;
    if constexpr (C::Scaled) {
      RangePower &power = powers.power[side];
      power = powerAboveScale(largestScales[side]);
      base += power.log;
      fold.right = kv::plan::multiply(fold.right, power.power);
    }
    announce(OffsetOf<C, slot::GroupWeights>, 0, side, fold);
  }
  narrowWeights(powers, weights, leaf);
}

template <Block B, class C>
KV_BODY void AttentionBody<B, C>::multiplyWeights(Fragments &weights,
                                                  int part) {
  awaitTile(0);
  Descriptor tile = tileAt(0);
  if constexpr (C::Parts == 1)
    awaitTurn<C>(b, warp);
  b.forget(values[0]);
  b.fenceProducts(weights, values[0]);
  KV_UNROLL
  for (int k = 0; k < C::Leaf / 16; ++k) {
    b.template multiplyGroup<typename C::Product, Major::Other>(
        values[0], weights[k], tile.behind(k * 2 * AtomBytes), k > 0);
  }
  b.commitProducts();
  if constexpr (C::Parts == 1)
    passTurn<C>(b, warp);
  if (part == 0)
    foldRowSums();
  b.template awaitProducts<0>(values[0]);
  releaseTile();
}

template <Block B, class C> KV_BODY void AttentionBody<B, C>::foldRowSums() {
  KV_UNROLL
  for (int side = 0; side < 2; ++side)
    groupState[side].sum =
        kv::plan::foldValue(groupState[side].sum, sums[side * 2],
                            {rowWeights[side].x, leafWeights[side]});
}

template <Block B, class C>
KV_BODY void AttentionBody<B, C>::computeLeaf(int leaf)
  requires TileRows<C>
{
  multiplyQueries();
  if constexpr (KeepsUnit<C>)
    recallLeaves();
  prepareScores(leaf);
  Fragments weights;
  weighScores(weights, leaf);
  // One lane of a warp gives tiles back, which lets scales be overwritten that
  // all have read. Of two warpgroups turns are barriers.
  if constexpr (C::Scaled && C::Groups == 1)
    b.syncNamed(turnOf(0), GroupThreads);
  KV_UNROLL
  for (int part = 0; part < C::Parts; ++part) {
    multiplyWeights(weights, part);
    if (part == C::Parts - 1)
      takePartBack();
    foldLeaf(part);
  }
  putPartAside();
  if constexpr (C::Scaled)
    scaleBuffer = C::scalesAfter(scaleBuffer);
}

template <Block B, class C>
KV_BODY bool AttentionBody<B, C>::groupHasRows() const {
  return b.uniform(warp) < GroupWarps || liveRows > GroupWarps * 16;
}

template <Block B, class C> KV_BODY void AttentionBody<B, C>::passTiles() {
  KV_UNROLL_BY(1)
  for (int leaf = leafBegin; leaf < leafEnd; ++leaf) {
    // Where a leaf's tiles are all stages, a compiler shall still find out.
    // That they are there needs no wait: at its turn the other one has read all
    // before them, so that none is given back twice in a phase.
    KV_UNROLL
    for (int tile = 0; tile < 2 * C::Parts; ++tile) {
      if (C::Parts == 1 || tile == 0) {
        awaitTurn<C>(b, warp);
        passTurn<C>(b, warp);
      }
      releaseTile();
    }
    if constexpr (C::Scaled)
      scaleBuffer = C::scalesAfter(scaleBuffer);
  }
  // Of no row, but a register that nobody writes is kept from the kernel's
  // begin.
  clear(group);
}

// One loop, unlike the other kernels': where one around it has a piece's end,
// a compiler does not find enough registers for what that needs.
template <Block B, class C>
KV_BODY void AttentionBody<B, C>::runLeaves(const Work &work)
  requires(TileRows<C> && !ByteProducts<C>)
{
  if constexpr (!LatentTiles<C> && C::Groups > 1)
    if (!groupHasRows())
      return passTiles();
  auto begin = [&] {
    clear(group);
    putPartAside();
    groupState[0] = groupState[1] = Softmax();
  };
  begin();
  int pieces = 0, groups = 0;
  for (int leaf = leafBegin; leaf < leafEnd; ++leaf) {
    b.atLeaf(leaf);
    computeLeaf(leaf);
    bool last = leaf + 1 == leafEnd;
    // As pieceEnd() has it, in as few registers.
    constexpr int Group = kv::plan::LeavesPerGroup;
    if (inLeaves(work).whole()) {
      if (!last && (leaf + 1) % Group)
        continue;
      rarely([&] { foldGroup(groups++ == 0, last); });
      if (last)
        return;
    } else {
      bool foreign = leaf / Group == leafBegin / Group && leafBegin % Group;
      if (!last && !foreign && (leaf + 1) % Group)
        continue;
      rarely([&] {
        takePartBack();
        storePiece(
            kv::plan::slotOf(p.shape, part(), inLeaves(work).starts, pieces++));
      });
    }
    begin();
  }
}

/// What the consumers' body takes for its block: they alone.
template <Block B, class C> struct Consumers : B {
  KV_BODY explicit Consumers(const B &b) : B(b) {}
  KV_BODY int thread() const { return B::thread() - GroupThreads; }
  KV_BODY void sync() { B::syncNamed(C::ConsumerBarrier, C::Threads); }
};

/// What they do, whose warpgroups multiply in turn.
template <class C, Block B> KV_BODY void consume(B &b, const TileParams &p) {
  Consumers<B, C> consumers(b);
  // The first turn is the first warpgroup's, and so is the one left over.
  int warp = consumers.thread() / WarpLanes;
  if (C::Groups == 2 ? warp >= GroupWarps : warp / GroupWarps == C::Groups - 1)
    passTurn<C>(b, warp);
  AttentionBody<Consumers<B, C>, C>(consumers, p).run();
  if (warp < GroupWarps)
    awaitTurn<C>(b, warp);
}

/// The kernel: the first warpgroup copies, the others multiply.
template <class C, Block B> KV_BODY void runTiles(B &b, const TileParams &p) {
  static_assert(FitsMultiprocessor<C>);
  if (b.thread() == 0) {
    KV_UNROLL
    for (int stage = 0; stage < C::Stages; ++stage) {
      b.init(b.barrier(C::full(stage)), C::Widens ? C::Wideners : 1);
      b.init(b.barrier(C::empty(stage)), C::Warps);
    }
    KV_UNROLL
    for (int stage = 0; stage < C::CopyStages; ++stage) {
      b.init(b.barrier(C::landed(stage)), 1);
      if constexpr (C::Widens)
        b.init(b.barrier(C::widened(stage)), C::Wideners);
    }
    b.fenceInit();
  }
  b.sync();
  if (b.thread() < GroupThreads) {
    if constexpr (C::DividesRegisters)
      b.template registersDown<C::LoaderRegisters>();
    if (b.thread() < WarpLanes)
      TileLoader<B, C>(b, p).load();
    else if constexpr (C::Widens)
      TileWidener<B, C>(b, p).widen();
    else if (b.thread() < 2 * WarpLanes)
      TileLoader<B, C>(b, p).clean();
  } else {
    if constexpr (C::DividesRegisters)
      b.template registersUp<C::ConsumerRegisters>();
    consume<C>(b, p);
  }
}

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTION_WGMMA_TILEROWS_H
