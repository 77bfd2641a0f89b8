//===- WarpKernel.h - Attention whose warps do the same ---------*- C++ -*-===//
//
// The kernel for decode and prefill of every chip, by mma.sync. One thread
// block works on one part of the plan. For each leaf of 128 keys:
//
//   scores      S = Q K^T, each warp 32 of the keys
//   maxima      of each row over the leaf, through shared memory
//   weights     P = 2^(S - maximum), 16 bit, through shared memory
//   values      O = P V, each warp a quarter of the columns, and P 1, the
//               row's sum, on the tensor cores as well
//   fold        of the leaf into its group
//
// A group folds into the total, or, where the unit is shared with other parts,
// goes to scratch; the last part to arrive folds what all have left there.
//
// The bits of a row depend on absolute positions only. The sums of a leaf begin
// at zero and run over all 128 keys; keys that a row does not see have weight
// zero. Leaves fold by Definition/Fold.h alone.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_ATTENTION_MMA_WARPKERNEL_H
#define KV_KERNELS_CUDA_ATTENTION_MMA_WARPKERNEL_H

#include "ByteOperands.h"
#include "LatentOperands.h"
#include "WarpWeights.h"
#include "kernels/cuda/attention/common/KeptUnit.h"
#include "kernels/cuda/attention/common/Merge.h"
#include "kernels/cuda/attention/common/Queries.h"
#include "kernels/cuda/attention/common/RowResults.h"

namespace kv::cuda {

template <Block B, class C> class WarpKernel {
  using Work = kv::plan::Work;
  using U = Unit<B, C>;
  using Operands = std::conditional_t<
      LatentRows<C>, LatentOperands<U>,
      std::conditional_t<ByteProducts<C>, ByteOperands<U>, TileOperands<U>>>;

public:
  KV_BODY WarpKernel(B &b, const AttentionParams &p)
      : u(b, p), places(u), ring(u) {}

  KV_BODY void run() {
    forEachWork<C::RowTiles == 1 && !C::Scaled, /*ByIndex=*/false>(
        u.b, u.p,
        [&](Work &work, const kv::plan::Tile &tile) { runWork(work, tile); });
  }

private:
  KV_BODY void runWork(const Work &work, const kv::plan::Tile &tile) {
    using Loader = Queries<B, C>;
    // Where registers are free meanwhile, all queries are asked for before the
    // first keys are looked up, and stored while these come.
    constexpr bool QueriesFirst = C::RowTiles == 1 && Loader::Turns <= 4;
    Loader queries(u.b, u.p);
    bool any = work.leafBegin < work.leafEnd;
    places.seeTable(u, tile);
    {
      // Not kept: the leaves need registers more.
      kv::plan::Sequence sequence = sequenceOf(u.p, tile.sequence);
      u.rows.see(work, tile, sequence);
      places.see(u, tile, sequence);
      int32_t pages[3];
      if (any)
        places.firstPages(u, work, pages);
      constexpr int Turns = QueriesFirst ? Loader::Turns : 0;
      typename Loader::Part parts[QueriesFirst ? Turns : 1];
      KV_UNROLL for (int turn = 0; turn < Turns; ++turn)
        queries.load(u.rows, parts[turn], turn);
      if (any)
        places.firstRowPlaces(u, scales, pages);
      // The places are there, and no thread reads anything of the last unit.
      u.b.sync();
      if (any)
        ring.fill(u);
      u.bounds.store(u.rows, sequence);
      WarpWeights<U>::clearUpper(u);
      u.bounds.seeAll(u.rows, sequence);
      // While the copies of keys are in flight.
      KV_UNROLL for (int turn = 0; turn < Turns; ++turn)
        queries.store(parts[turn], turn);
    }
    if constexpr (!QueriesFirst)
      queries.template copy<LatentRows<C> ? Loader::Turns : 1>(u.rows);
    u.b.sync();
    group.totalStates[0] = group.totalStates[1] = kv::plan::Softmax();
    if (any)
      runLeaves(work);
    else
      group.clear();
    if constexpr (DraftRows<C>) // not kept from before, either
      u.rows.seeAgain(work);
    kept.rarely(u, group, [&] {
      if (work.whole())
        RowResults<U>(u).finishRows(u, group);
      else
        Merge<B, C>(u.b, u.p).arriveAndMerge(u.rows, work);
    });
  }

  KV_BODY void runLeaves(const Work &work) {
    fragments.begin(u);
    int pieces = 0, groups = 0;
    // A loop of its own for the leaves of a piece: registers that change where
    // a piece ends would be moved to and fro in every leaf.
    KV_UNROLL_BY(1)
    for (int leaf = u.leafBegin; leaf < u.leafEnd;) {
      group.begin();
      int end = pieceEnd(work, leaf);
      KV_UNROLL_BY(1)
      do
        computeLeaf(leaf);
      while (++leaf < end);
      bool last = leaf == u.leafEnd;
      if constexpr (DraftRows<C>)
        u.renewThread();
      if (work.whole())
        group.fold(u, folds, groups++ == 0, last);
      else
        RowResults<U>(u).storePiece(
            u, group,
            kv::plan::slotOf(u.p.shape, u.rows.part(), work.starts, pieces++));
    }
  }

  /// A piece ends with its group, or with its leaf where the group began in
  /// another part.
  KV_BODY int pieceEnd(const Work &work, int leaf) const {
    constexpr int Group = kv::plan::LeavesPerGroup;
    bool foreign = !work.whole() && u.leafBegin % Group &&
                   leaf / Group == u.leafBegin / Group;
    return kv::plan::lesser(foreign ? leaf + 1 : (leaf / Group + 1) * Group,
                            u.leafEnd);
  }

  /// From the keys of a leaf to its values and the group they fold into.
  KV_BODY void computeLeaf(int leaf) {
    places.nextRowPlaces(u, scales, leaf);
    scores.clear();
    Operands::score(u, ring, fragments, scales, scores, leaf);
    if constexpr (C::Scaled)
      scales.store(u, leaf + 1);
    scores.prepare(u, leaf, scales);
    WarpWeights<U>::shareMaxima(u, scores);
    u.b.sync();
    WarpWeights<U>::share(u, leaf, scores, scales, group, folds);
    values.clear();
    KV_UNROLL for (int half = 0; half < 2; ++half)
      Operands::multiplyHalf(u, ring, scales, values, leaf, half,
                             ring.nextHalf(u, leaf, 1, half));
    foldSums();
    group.foldLeaf(u, folds, values.tiles);
  }

  /// The sums of a leaf's weights, with scales those that warps have shared.
  KV_BODY void foldSums() {
    KV_UNROLL for (int side = 0; side < 2; ++side)
      if (u.map.stateTile() < C::RowTiles && u.rows.hasRows(side)) {
        int row = u.map.rowOf(u.map.stateTile(), side);
        FloatPair pair =
            folds.template announced<slot::GroupWeights>(u, row, side);
        float &sum = group.states[side].sum;
        if constexpr (C::Scaled)
          sum = kv::plan::foldValue(sum, scales.sumOf(u, row),
                                    {pair.x, folds.leafWeights[side]});
        else
          sum =
              kv::plan::foldValue(sum, values.sums[side * 2], {pair.x, pair.y});
      }
  }

  U u;
  KeyPlaces<U> places;
  typename Operands::Ring ring;
  QueryFragments<U> fragments;
  WarpScales<U> scales;
  Scores<U> scores;
  WarpValues<U> values;
  Folds<U> folds;
  Group<U> group;
  [[no_unique_address]] KeptUnit<U> kept;
};

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTION_MMA_WARPKERNEL_H
