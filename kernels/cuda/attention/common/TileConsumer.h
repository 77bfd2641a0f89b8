//===- TileConsumer.h - Rows whose tiles others copy ------------*- C++ -*-===//
//
// The consumers of a kernel whose warps have roles. `Leaves` says how a leaf is
// computed, and so by which instructions products are made:
//
//   queriesStored(u)                    the queries of leaves are in shared
//                                       memory
//   run(u, group, folds, kept, work)    all leaves of a work
//   compute(u, group, folds, kept, leaf)    one, for runGroups()
//
// The bits are those of the other kernels: the same sums of sixteen products in
// the same order, the same leaves, groups and folds.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_ATTENTION_COMMON_TILECONSUMER_H
#define KV_KERNELS_CUDA_ATTENTION_COMMON_TILECONSUMER_H

#include "KeptUnit.h"
#include "Merge.h"
#include "Queries.h"
#include "Roles.h"
#include "RowResults.h"

namespace kv::cuda {

/// The leaves of a work, group by group. One loop, unlike the other kernels':
/// where one around it has a piece's end, a compiler does not find enough
/// registers for what that needs.
template <class U, class Leaves>
KV_BODY void runGroups(Leaves &leaves, U &u, Group<U> &group, Folds<U> &folds,
                       const KeptUnit<U> &kept, const kv::plan::Work &work) {
  auto begin = [&] {
    group.begin();
    group.putPartAside(u);
  };
  begin();
  int pieces = 0, groups = 0;
  for (int leaf = u.leafBegin; leaf < u.leafEnd; ++leaf) {
    u.b.atLeaf(leaf);
    leaves.compute(u, group, folds, kept, leaf);
    bool last = leaf + 1 == u.leafEnd;
    // As WarpKernel::pieceEnd() has it, in as few registers.
    constexpr int Group = kv::plan::LeavesPerGroup;
    if (kept.inLeaves(u, work).whole()) {
      if (!last && (leaf + 1) % Group)
        continue;
      kept.rarely(u, group, [&] { group.fold(u, folds, groups++ == 0, last); });
      if (last)
        return;
    } else {
      bool foreign = leaf / Group == u.leafBegin / Group && u.leafBegin % Group;
      if (!last && !foreign && (leaf + 1) % Group)
        continue;
      kept.rarely(u, group, [&] {
        group.takePartBack(u);
        RowResults<U>(u).storePiece(
            u, group,
            kv::plan::slotOf(u.p.shape, u.rows.part(),
                             kept.inLeaves(u, work).starts, pieces++));
      });
    }
    begin();
  }
}

template <Block B, class C, template <class> class LeavesT> class TileConsumer {
  using Work = kv::plan::Work;
  using U = Unit<B, C>;

public:
  KV_BODY TileConsumer(B &b, const TileParams &p) : u(b, p), leaves(u) {}

  KV_BODY void run() {
    forEachWork</*AtOnce=*/false, /*ByIndex=*/true, PartBlocks<C>>(
        u.b, u.p,
        [&](Work &work, const kv::plan::Tile &tile) { runWork(work, tile); });
  }

private:
  KV_BODY void runWork(Work &work, const kv::plan::Tile &tile) {
    bool any = work.leafBegin < work.leafEnd;
    {
      // Not kept: the leaves need registers more.
      kv::plan::Sequence sequence = sequenceOf(u.p, tile.sequence);
      u.rows.see(work, tile, sequence);
      if (any) {
        u.leafBegin = u.b.uniform(work.leafBegin);
        u.leafEnd = u.b.uniform(work.leafEnd);
      }
      // No thread reads anything of the last unit.
      u.b.sync();
      u.bounds.store(u.rows, sequence);
      u.bounds.seeAll(u.rows, sequence);
      if constexpr (KeepsUnit<C>)
        kept.keep(u, work);
    }
    using Loader = Queries<B, C>;
    Loader(u.b, u.p).template copy<kv::plan::lesser(Loader::Turns, 4)>(u.rows);
    u.b.fenceAsync();
    if (any)
      leaves.queriesStored(u);
    u.b.sync();
    group.totalStates[0] = group.totalStates[1] = kv::plan::Softmax();
    if constexpr (KeepsUnit<C>)
      kept.keepTotal(u, group);
    if (any)
      leaves.run(u, group, folds, kept, work);
    else
      group.clear();
    if constexpr (KeepsUnit<C>)
      work = kept.work(u);
    else
      u.rows.seeAgain(work);
    kept.rarely(u, group, [&] {
      if (work.whole())
        RowResults<U>(u).finishRows(u, group);
      else
        Merge<B, C>(u.b, u.p).arriveAndMerge(u.rows, work);
    });
    if constexpr (KeepsUnit<C>)
      work = kept.work(u);
  }

  U u;
  LeavesT<U> leaves;
  Folds<U> folds;
  Group<U> group;
  [[no_unique_address]] KeptUnit<U> kept;
};

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTION_COMMON_TILECONSUMER_H
