//===- ByteTileKernel.h - Kernels whose products are bytes' -----*- C++ -*-===//
//
// The consumers of the kernels for products of 8 bits. Warps and their rows are
// those of TileLeaves.h; rounded weights are summed by the product with the
// values.
//
// A turn is the products of a leaf's values, passed on with the last of them.
// Meanwhile the two other warpgroups multiply queries by keys and make weights.
// There are few registers: what only some leaves need waits in shared memory.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_ATTENTION_WGMMA_BYTETILEKERNEL_H
#define KV_KERNELS_CUDA_ATTENTION_WGMMA_BYTETILEKERNEL_H

#include "ByteTileLoader.h"
#include "TileKernel.h"

namespace kv::cuda {

/// How many pieces there are before that of a leaf, of a work that begins at
/// `begin`: kv::plan::pieceCount() in 32 bits.
KV_BODY int pieceOf(int begin, int leaf) {
  constexpr int Group = kv::plan::LeavesPerGroup;
  int groups = leaf / Group - begin / Group, within = begin % Group;
  return groups + (within == 0   ? 0
                   : groups == 0 ? leaf - begin
                                 : Group - 1 - within);
}

template <class U> class ByteTileLeaves {
  using B = typename U::B;
  using C = typename U::C;
  using Work = kv::plan::Work;

public:
  KV_BODY explicit ByteTileLeaves(U &) {}
  KV_BODY void queriesStored(U &) {}

  // Of the work, its unit and its pieces, nothing is kept in registers.
  KV_BODY void run(U &u, Group<U> &group, Folds<U> &folds,
                   const KeptUnit<U> &kept, const Work &work) {
    if (!multiplies(u)) {
      KV_UNROLL_BY(1)
      for (int leaf = u.leafBegin; leaf < u.leafEnd; ++leaf)
        passLeaf(u);
      // The results have no rows, but a register that is never written would be
      // kept from the kernel's begin.
      return group.clear();
    }
    group.begin();
    for (int leaf = u.leafBegin;; ++leaf) {
      u.b.atLeaf(leaf);
      compute(u, group, folds, kept, leaf);
      // As WarpKernel::pieceEnd() has it.
      constexpr int Group = kv::plan::LeavesPerGroup;
      const Work now = kept.inLeaves(u, work);
      bool last = leaf + 1 == now.leafEnd,
           inFirst = leaf / Group == now.leafBegin / Group;
      bool foreign = !now.whole() && inFirst && now.leafBegin % Group;
      if (!last && !foreign && (leaf + 1) % Group)
        continue;
      kept.rarely(u, group, [&] {
        const Work now = kept.inLeaves(u, work);
        if (now.whole())
          group.fold(u, folds, inFirst, last);
        else
          RowResults<U>(u).storePiece(
              u, group,
              kv::plan::slotOf(u.p.shape, u.rows.part(), now.starts,
                               pieceOf(now.leafBegin, leaf)));
      });
      if (last)
        return;
      group.begin();
    }
  }

private:
  /// Of a leaf's values, whose last part has the sums of weights as well.
  using LastPart = float[C::PartTiles + 1][4];

  KV_BODY void compute(U &u, Group<U> &group, Folds<U> &folds,
                       const KeptUnit<U> &kept, int leaf) {
    B &b = u.b;
    beginScores(u);
    kept.recallLeaves(u);
    awaitScores(u);
    NoScales none;
    scores.prepare(u, leaf, none);
    WeightFragments<C> fragments;
    weights.weigh(u, leaf, scores, none, group, folds, fragments);
    ring.awaitTile(u, 0);
    Descriptor tile = ring.tileAt(u, 0);
    awaitTurn<C>(b, u.map.warp);
    auto multiply = [&](auto &part, Descriptor tile) {
      b.forget(part);
      b.fenceProducts(fragments, part);
      multiplyPart(u, part, fragments, tile);
    };
    auto finish = [&](auto &part) {
      b.template awaitProducts<0>(part);
      ring.releaseTile(u);
    };
    LastPart last;
    multiply(last, tile.behind(C::PartTiles * (C::Parts - 1) * AtomBytes));
    if constexpr (C::Parts == 1) {
      passTurn<C>(b, u.map.warp);
      finish(last);
      foldLastPart(u, group, folds, last);
    } else {
      b.template awaitProducts<0>(last);
      foldLastPart(u, group, folds, last);
      float first[C::PartTiles][4];
      multiply(first, tile);
      passTurn<C>(b, u.map.warp);
      finish(first);
      foldPart(group, folds, 0, first);
    }
  }

  /// Whether this warpgroup has rows: a decode step has few, and a unit's last
  /// tile as well.
  static KV_BODY bool multiplies(U &u) {
    int group = u.b.uniform(u.map.warp) / GroupWarps;
    return group == 0 || u.rows.liveRows > group * (GroupWarps * 16);
  }
  /// A warpgroup without rows takes part in the ring and the turns. If it did
  /// not, it could release a tile twice in one phase.
  KV_BODY void passLeaf(U &u) {
    awaitTurn<C>(u.b, u.map.warp);
    passTurn<C>(u.b, u.map.warp);
    ring.releaseTile(u);
    ring.releaseTile(u);
  }

  /// Begins to multiply the queries by the next tile.
  KV_BODY void beginScores(U &u) {
    B &b = u.b;
    ring.awaitTile(u, 0);
    Descriptor queries = queriesOf<C>(b, u.map.warp / GroupWarps);
    Descriptor keys = ring.tileAt(u, 0);
    b.forget(scores.tiles[0]);
    b.fenceProducts(scores.tiles[0]);
    KV_UNROLL for (int d = 0; d < C::HeadDim; d += 32)
      b.template multiplyGroup<typename C::Product, Major::K>(
          scores.tiles[0], queries.behind(d), keys.behind(d), d > 0);
    b.commitProducts();
  }
  KV_BODY void awaitScores(U &u) {
    u.b.template awaitProducts<0>(scores.tiles[0]);
    ring.releaseTile(u);
  }

  template <int Tiles>
  static KV_BODY void multiplyPart(U &u, float (&part)[Tiles][4],
                                   const WeightFragments<C> &fragments,
                                   Descriptor tile) {
    KV_UNROLL for (int k = 0; k < C::Leaf / 32; ++k)
      u.b.template multiplyGroup<typename C::Product, Major::K>(
          part, fragments[k], tile.behind(k * 32), k > 0);
    u.b.commitProducts();
  }
  template <int Tiles>
  static KV_BODY void foldPart(Group<U> &group, const Folds<U> &folds, int part,
                               const float (&tiles)[Tiles][4]) {
    KV_UNROLL for (int n = 0; n < C::PartTiles; ++n)
      group.foldTile(folds, part * C::PartTiles + n, tiles[n]);
  }
  KV_BODY void foldLastPart(U &u, Group<U> &group, const Folds<U> &folds,
                            const LastPart &part) {
    // All eight columns of sums are the same.
    weights.foldSums(group, folds, part[C::PartTiles]);
    foldPart(group, folds, C::Parts - 1, part);
  }

  TileRing<U> ring;
  Scores<U> scores;
  TileWeights<U> weights;
};

/// The parts of the kernel: the first warpgroup copies and transposes.
template <Block B, class C>
  requires ByteTiles<C>
struct TileParts<B, C> {
  using Roles = RoleTable<RoleWarps<Role::Copies, 1>,
                          RoleWarps<Role::Transposes, C::Transposers>,
                          RoleWarps<Role::Consumes, C::Warps>>;
  static_assert(FitsMultiprocessor<C>);

  static KV_BODY void init(B &b) {
    KV_UNROLL for (int stage = 0; stage < C::Stages; ++stage) {
      b.init(b.barrier(C::full(stage)), stage % 2 ? C::Transposers : 1);
      b.init(b.barrier(C::empty(stage)), C::Warps);
    }
    KV_UNROLL for (int copy = 0; copy < C::CopyStages; ++copy) {
      b.init(b.barrier(C::landed(copy)), 1);
      b.init(b.barrier(C::transposed(copy)), C::Transposers);
    }
  }
  static KV_BODY void bring(B &b, const TileParams &p) {
    if (Roles::template has<Role::Copies>(b.thread()))
      ByteTileLoader<B, C>(b, p).load();
    else
      ByteTransposer<B, C>(b, p).transpose();
  }
  static KV_BODY void consume(Consumers<B, C> &b, const TileParams &p) {
    consumeInTurn<C, ByteTileLeaves>(b, p);
  }
};

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTION_WGMMA_BYTETILEKERNEL_H
