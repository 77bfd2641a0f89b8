//===- TensorKernel.h - A kernel with tensor memory -------------*- C++ -*-===//

#ifndef KV_KERNELS_CUDA_ATTENTION_TCGEN05_TENSORKERNEL_H
#define KV_KERNELS_CUDA_ATTENTION_TCGEN05_TENSORKERNEL_H

#include "LatentTensorIssuer.h"
#include "LatentTensorRows.h"
#include "TensorIssuer.h"
#include "TensorRows.h"

namespace kv::cuda {

/// By one thread: the barriers of a kernel for prompts.
template <class C, TensorBlock B> KV_BODY void initTensor(B &b) {
  KV_UNROLL_BY(1)
  for (int stage = 0; stage < C::Stages; ++stage) {
    b.init(b.barrier(C::full(stage)), 1);
    b.init(b.barrier(C::empty(stage)), 1);
    b.init(b.barrier(C::landed(stage)), 1);
  }
  KV_UNROLL for (int place = 0; place < C::ScorePlaces; ++place)
    b.init(b.barrier(C::scored(place)), 1);
  KV_UNROLL for (int tile = 0; tile < C::RowGroups; ++tile) {
    KV_UNROLL for (int part = 0; part < C::WeightParts; ++part)
      b.init(b.barrier(C::weighed(tile, part)), GroupThreads);
    KV_UNROLL for (int slice = 0; slice < C::Slices; ++slice) {
      b.init(b.barrier(C::multiplied(tile, slice)), 1);
      b.init(b.barrier(C::folded(tile, slice)), GroupThreads);
    }
  }
}

/// The same over a latent cache.
template <class C, TensorBlock B>
  requires TensorTiles<C>
KV_BODY void initTensor(B &b) {
  initSlabs<C>(b);
  b.init(b.barrier(C::drained()), 1);
  KV_UNROLL for (int stage = 0; stage < C::Stages; ++stage) {
    b.init(b.barrier(C::scored(stage)), 1);
    b.init(b.barrier(C::weighed(stage)), GroupThreads);
  }
  KV_UNROLL for (int i = 0; i < 2 * C::Groups; ++i)
    b.init(b.barrier(C::multiplied(i / 2, i)), 1);
  KV_UNROLL for (int place = 0; place < C::ValuePlaces; ++place)
    b.init(b.barrier(C::folded(place)), GroupThreads);
}

/// The warps that have rows write ones: the product of weights and ones is the
/// sum of the weights. Swizzled ones are ones. The fence after the first
/// queries holds for the ones as well.
template <class C, TensorBlock B> KV_BODY void storeOnes(B &b) {
  constexpr uint32_t One = OnePair<typename C::Product>;
  auto ones = view<C, slot::Ones, Chunk>(b);
  for (int i = b.thread() - GroupThreads; i < C::OnesBytes / ChunkBytes;
       i += C::Threads)
    ones.store(i, {One, One, One, One});
}

/// The parts of a kernel for prompts, and of one over a latent cache.
template <TensorBlock B, class C> struct TensorParts {
  using Loader = TileLoader<B, C>;
  using Issuer = TensorIssuer<B, C>;
  using Consumer = TensorRows<Consumers<B, C>, C>;
};
template <TensorBlock B, class C>
  requires TensorTiles<C>
struct TensorParts<B, C> {
  using Loader = LatentTileLoader<B, C>;
  using Issuer = LatentTensorIssuer<B, C>;
  using Consumer = TileConsumer<Consumers<B, C>, C, LatentTensorLeaves>;
};

/// The kernel: the first warpgroup copies and issues, the others have rows.
template <class C, TensorBlock B>
KV_BODY void runTensor(B &b, const TileParams &p) {
  using Parts = TensorParts<B, C>;
  using Roles =
      RoleTable<RoleWarps<Role::Copies, 1>, RoleWarps<Role::Cleans, 1>,
                RoleWarps<Role::Issues, 1>, RoleWarps<Role::Rests, 1>,
                RoleWarps<Role::Consumes, C::Warps>>;
  if (b.thread() == 0) {
    initTensor<C>(b);
    b.init(b.barrier(C::asked()), C::Threads);
    b.fenceInit();
  }
  if (Roles::template has<Role::Issues>(b.thread())) {
    b.allocateTensor(OffsetOf<C, slot::TensorPlace>, TensorColumns);
    b.relinquishTensor();
  } else if (!TensorTiles<C> &&
             Roles::template has<Role::Consumes>(b.thread())) {
    if constexpr (!TensorTiles<C>)
      storeOnes<C>(b);
  }
  b.sync();
  const TensorAddress memory = {
      view<C, slot::TensorPlace, uint32_t>(b).load(0)};
  if (!Roles::template has<Role::Consumes>(b.thread())) {
    b.template registersDown<C::LoaderRegisters>();
    if (Roles::template has<Role::Copies>(b.thread()))
      typename Parts::Loader(b, p).load();
    else if (Roles::template has<Role::Cleans>(b.thread()))
      typename Parts::Loader(b, p).clean();
    else if (Roles::template has<Role::Issues>(b.thread()) && b.elect())
      typename Parts::Issuer(b, p, memory).run();
  } else {
    b.template registersUp<C::ConsumerRegisters>();
    Consumers<B, C> consumers(b);
    typename Parts::Consumer(consumers, p).run();
  }
  // No warp uses tensor memory any more.
  b.sync();
  if (Roles::template has<Role::Issues>(b.thread())) {
    b.fenceAfter();
    b.freeTensor(memory, TensorColumns);
  }
}

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTION_TCGEN05_TENSORKERNEL_H
