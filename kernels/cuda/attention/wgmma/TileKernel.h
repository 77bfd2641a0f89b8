//===- TileKernel.h - Kernels that copy tiles -------------------*- C++ -*-===//

#ifndef KV_KERNELS_CUDA_ATTENTION_WGMMA_TILEKERNEL_H
#define KV_KERNELS_CUDA_ATTENTION_WGMMA_TILEKERNEL_H

#include "TileLeaves.h"
#include "TileWidener.h"

namespace kv::cuda {

/// The parts of a kernel: the roles of its warps, its barriers, who brings
/// tiles and who consumes them.
template <Block B, class C> struct TileParts {
  using Roles = std::conditional_t<
      C::Widens,
      RoleTable<RoleWarps<Role::Copies, 1>,
                RoleWarps<Role::Widens, C::Wideners>,
                RoleWarps<Role::Consumes, C::Warps>>,
      RoleTable<RoleWarps<Role::Copies, 1>, RoleWarps<Role::Cleans, 1>,
                RoleWarps<Role::Rests, 2>,
                RoleWarps<Role::Consumes, C::Warps>>>;
  static_assert(FitsMultiprocessor<C>);

  static KV_BODY void init(B &b) {
    KV_UNROLL for (int stage = 0; stage < C::Stages; ++stage) {
      b.init(b.barrier(C::full(stage)), C::Widens ? C::Wideners : 1);
      b.init(b.barrier(C::empty(stage)), C::Warps);
    }
    KV_UNROLL for (int stage = 0; stage < C::CopyStages; ++stage) {
      b.init(b.barrier(C::landed(stage)), 1);
      if constexpr (C::Widens)
        b.init(b.barrier(C::widened(stage)), C::Wideners);
    }
  }
  static KV_BODY void bring(B &b, const TileParams &p) {
    if (Roles::template has<Role::Copies>(b.thread()))
      TileLoader<B, C>(b, p).load();
    else if constexpr (C::Widens)
      TileWidener<B, C>(b, p).widen();
    else if (Roles::template has<Role::Cleans>(b.thread()))
      TileLoader<B, C>(b, p).clean();
  }
  static KV_BODY void consume(Consumers<B, C> &b, const TileParams &p) {
    consumeInTurn<C, TileLeaves>(b, p);
  }
};

/// The work of consumers whose warpgroups multiply in turn.
template <class C, template <class> class Leaves, Block B>
KV_BODY void consumeInTurn(B &b, const TileParams &p) {
  // The first turn is the first warpgroup's, and so is the one left over.
  int warp = b.thread() / WarpLanes;
  if (C::Groups == 2 ? warp >= GroupWarps : warp / GroupWarps == C::Groups - 1)
    passTurn<C>(b, warp);
  TileConsumer<B, C, Leaves>(b, p).run();
  if (warp < GroupWarps)
    awaitTurn<C>(b, warp);
}

/// The kernel: the first warpgroup brings tiles, the others multiply.
template <class C, Block B> KV_BODY void runTiles(B &b, const TileParams &p) {
  using Parts = TileParts<B, C>;
  if (b.thread() == 0) {
    Parts::init(b);
    b.fenceInit();
  }
  // The other block of a pair copies to here and arrives here, from its
  // beginning to its end.
  constexpr bool Pair = PartBlocks<C> > 1;
  if constexpr (Pair)
    b.syncCluster();
  else
    b.sync();
  if (!Parts::Roles::template has<Role::Consumes>(b.thread())) {
    if constexpr (C::DividesRegisters)
      b.template registersDown<C::LoaderRegisters>();
    Parts::bring(b, p);
  } else {
    if constexpr (C::DividesRegisters)
      b.template registersUp<C::ConsumerRegisters>();
    Consumers<B, C> consumers(b);
    Parts::consume(consumers, p);
  }
  if constexpr (Pair)
    b.syncCluster();
}

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTION_WGMMA_TILEKERNEL_H
