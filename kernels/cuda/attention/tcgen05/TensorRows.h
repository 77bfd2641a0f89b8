//===- TensorRows.h - Rows whose products are in tensor memory --*- C++ -*-===//
//
// A thread has a row: its scores come from tensor memory, its weights go there,
// and what it folds stays in its registers.
//
// The bits are those of the other kernels: the same sums of sixteen products in
// the same order, the same leaves, groups and folds. Sums of weights are
// products with ones there, and so they are here. Of products of 8 bits, where
// no other kernel of this chip computes the same, they are one row's whatever
// the step.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_ATTENTION_TCGEN05_TENSORROWS_H
#define KV_KERNELS_CUDA_ATTENTION_TCGEN05_TENSORROWS_H

#include "TensorGroup.h"
#include "kernels/cuda/attention/common/Merge.h"
#include "kernels/cuda/attention/common/Queries.h"

namespace kv::cuda {

/// The consumers' part.
template <TensorBlock B, class C> class TensorRows {
  using U = TensorUnit<B, C>;
  using Work = kv::plan::Work;

public:
  KV_BODY TensorRows(B &b, const TileParams &p) : u(b, p), scores(u) {}

  KV_BODY void run() {
    forEachWork(u.b, u.p, [&](Work &work, const kv::plan::Tile &tile) {
      runWork(work, tile);
    });
  }

private:
  /// The work, kept in shared memory until the leaves are done, which need its
  /// registers.
  KV_BODY auto keptWork() const { return view<C, slot::KeptWork, Work>(u.b); }

  KV_BODY void runWork(Work &work, const kv::plan::Tile &tile) {
    const bool any = work.leafBegin < work.leafEnd;
    {
      kv::plan::Sequence sequence = sequenceOf(u.p, tile.sequence);
      u.rows.see(work, tile, sequence);
      u.see(sequence);
    }
    // No thread reads anything of the last unit.
    u.b.sync();
    if (any) {
      using Loader = Queries<B, C>;
      Loader(u.b, u.p).template copy<kv::plan::lesser(Loader::Turns, 4)>(
          u.rows);
      u.b.fenceAsync();
      u.b.arriveAt(u.b.barrier(C::asked()));
    }
    if constexpr (C::KeepsWork) {
      if (u.b.thread() == 0)
        keptWork().store(0, work);
      // Other threads have stored the work and the scale of this row.
      u.b.sync();
      if (any)
        u.ownFactor = u.scale.powerFactor(u.row());
    }
    if (any && u.b.uniform(u.tile()) < liveTiles(u.rows.liveRows)) {
      runLeaves(work);
    } else { // or no warp multiplies this tile, which has no rows
      scores.move(any ? work.leafEnd - work.leafBegin : 0);
      group.clear();
      group.total = kv::plan::Softmax();
    }
    if constexpr (C::KeepsWork)
      work = keptWork().load(0);
    u.rows.seeAgain(work);
    if (work.whole())
      group.finishRow(u);
    else
      Merge<B, C>(u.b, u.p).arriveAndMerge(u.rows, work);
  }

  KV_BODY void runLeaves(const Work &work) {
    int leaf = work.leafBegin, pieces = 0;
    // Loops that surely run: what they define no register holds before.
    KV_UNROLL_BY(1)
    do {
      const bool first = leaf == work.leafBegin;
      const int stop = work.whole()
                           ? kv::plan::lesser(leaf / kv::plan::LeavesPerGroup *
                                                      kv::plan::LeavesPerGroup +
                                                  kv::plan::LeavesPerGroup,
                                              work.leafEnd)
                           : int32_t(kv::plan::pieceEnd(leaf, work.leafEnd));
      group.clear();
      KV_UNROLL_BY(1)
      do {
        u.b.atLeaf(leaf);
        group.weights = scores.weigh(u, leaf, group.state.maximum);
        group.foldLeaf(u, scores);
      } while (++leaf < stop);
      group.total = kv::plan::Softmax();
      if (work.whole())
        group.fold(u, first, stop == work.leafEnd);
      else
        group.storePiece(
            u, kv::plan::slotOf(u.p.shape, u.b.block(), work.starts, pieces++));
    } while (leaf < work.leafEnd);
  }

  U u;
  TensorScores<U> scores;
  TensorGroup<U> group;
};

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTION_TCGEN05_TENSORROWS_H
