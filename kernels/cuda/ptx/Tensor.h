//===- Tensor.h - Barriers and copies of tiles ------------------*- C++ -*-===//
//
// From sm_90a on: mbarriers, tile copies by tensor maps, the fence between the
// threads' and the asynchronous accesses, named barriers and register counts.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_PTX_TENSOR_H
#define KV_KERNELS_CUDA_PTX_TENSOR_H

#include "Async.h"
#include "kernels/block/TensorMap.h"

namespace kv::cuda::ptx {

__device__ __forceinline__ void barrierInit(uint32_t barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier),
               "r"(arrivals)
               : "memory");
}

/// For other threads and for copies.
__device__ __forceinline__ void barrierInitFence() {
  asm volatile("fence.mbarrier_init.release.cluster;\n\t"
               "fence.proxy.async.shared::cta;" ::
                   : "memory");
}

__device__ __forceinline__ void barrierArrive(uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier)
               : "memory");
}

__device__ __forceinline__ void barrierExpect(uint32_t barrier, int bytes) {
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier),
      "r"(bytes)
      : "memory");
}

/// Until the phase of that parity is complete.
__device__ __forceinline__ void barrierWait(uint32_t barrier, int parity) {
  asm volatile("{\n\t.reg .pred complete;\n"
               "again:\n\t"
               "mbarrier.try_wait.parity.shared::cta.b64 complete, [%0], %1;"
               "\n\t@complete bra done;\n\tbra again;\n"
               "done:\n\t}" ::"r"(barrier),
               "r"(parity)
               : "memory");
}

__device__ __forceinline__ void copyTile(uint32_t target, const TensorMap *map,
                                         const TileAt &from, uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier"
      "::complete_tx::bytes [%0], [%1, {%3, %4, %5, %6}], [%2];" ::"r"(target),
      "l"(map), "r"(barrier), "r"(from.at[0]), "r"(from.at[1]), "r"(from.at[2]),
      "r"(from.at[3])
      : "memory");
}

__device__ __forceinline__ void asyncFence() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

__device__ __forceinline__ void namedSync(int id, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
__device__ __forceinline__ void namedArrive(int id, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

template <int Count> __device__ __forceinline__ void registersUp() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Count));
}
template <int Count> __device__ __forceinline__ void registersDown() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Count));
}

} // namespace kv::cuda::ptx

#endif // KV_KERNELS_CUDA_PTX_TENSOR_H
