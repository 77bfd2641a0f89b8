//===- TensorKernel.h - A kernel with tensor memory -------------*- C++ -*-===//

#ifndef KV_KERNELS_CUDA_TENSORKERNEL_H
#define KV_KERNELS_CUDA_TENSORKERNEL_H

#include "TensorIssuer.h"
#include "TensorRows.h"

namespace kv::cuda {

/// The kernel: the first warpgroup copies and issues, the others have rows.
template <class C, Fault F = Fault::None, TensorBlock B>
KV_BODY void runTensor(B &b, const TileParams &p) {
  const int warp = b.thread() / WarpLanes;
  if (b.thread() == 0) {
    KV_UNROLL_BY(1)
    for (int stage = 0; stage < C::Stages; ++stage) {
      b.init(b.barrier(C::full(stage)), 1);
      b.init(b.barrier(C::empty(stage)), 1);
      b.init(b.barrier(C::landed(stage)), 1);
    }
    KV_UNROLL
    for (int tile = 0; tile < C::RowGroups; ++tile) {
      b.init(b.barrier(C::scored(tile)), 1);
      b.init(b.barrier(C::weighed(tile)), GroupThreads);
      b.init(b.barrier(C::multiplied(tile)), 1);
      b.init(b.barrier(C::folded(tile)), GroupThreads);
    }
    b.init(b.barrier(C::Asked), C::Threads);
    b.fenceInit();
  }
  if (warp == C::IssuerWarp) {
    b.allocateTensor(C::TensorPlace, TensorColumns);
    b.relinquishTensor();
  } else if (warp >= GroupWarps) {
    // However ones are swizzled, they are ones. The fence behind the first
    // queries is theirs as well.
    constexpr uint32_t One = OnePair<typename C::Product>;
    auto ones = b.template shared<Chunk>(C::Ones, C::OnesBytes / ChunkBytes);
    for (int i = b.thread() - GroupThreads; i < C::OnesBytes / ChunkBytes;
         i += C::Threads)
      ones.store(i, {One, One, One, One});
  }
  b.sync();
  const TensorAddress memory = {
      b.template shared<uint32_t>(C::TensorPlace, 1).load(0)};
  if (warp < GroupWarps) {
    b.template registersDown<C::LoaderRegisters>();
    if (warp == 0)
      TileLoader<B, C, F>(b, p).load();
    else if (warp == 1)
      TileLoader<B, C, F>(b, p).clean();
    else if (b.thread() == C::IssuerWarp * WarpLanes)
      TensorIssuer<B, C, F>(b, p, memory).run();
  } else {
    b.template registersUp<C::ConsumerRegisters>();
    Consumers<B, C> consumers(b);
    TensorRows<Consumers<B, C>, C, F>(consumers, p).run();
  }
  // Nobody uses tensor memory any more.
  b.sync();
  if (warp == C::IssuerWarp && F != Fault::NeverFreed) {
    b.fenceAfter();
    b.freeTensor(memory, TensorColumns);
  }
}

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_TENSORKERNEL_H
