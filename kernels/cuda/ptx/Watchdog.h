//===- Watchdog.h - A wait that ends ----------------------------*- C++ -*-===//

#ifndef KV_KERNELS_CUDA_PTX_WATCHDOG_H
#define KV_KERNELS_CUDA_PTX_WATCHDOG_H

#include "kernels/cuda/parameters/Watchdog.h"

extern "C" __device__ kv::cuda::WatchdogReport *kv_watchdog = nullptr;

namespace kv::cuda::ptx {

/// Cycles: about a second, and what others get to say as much. Of 32 bits, for
/// kernels of roles have no register to spare.
constexpr uint32_t WatchdogCycles = 1u << 31, WatchdogGrace = 1u << 24;

/// Whether the phase of that parity is complete; waits a while for it.
__device__ __forceinline__ bool barrierTry(uint32_t barrier, int parity) {
  uint32_t complete;
  asm volatile("{\n\t.reg .pred p;\n\t"
               "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\t"
               "selp.u32 %0, 1, 0, p;\n\t}"
               : "=r"(complete)
               : "r"(barrier), "r"(parity)
               : "memory");
  return complete;
}

/// Inlined, because a call would have to keep accumulators of products in
/// flight.
__device__ __forceinline__ void giveUp(StuckWait wait) {
  if (kv_watchdog) {
    uint32_t place = atomicAdd_system(&kv_watchdog->count, 1u);
    if (place < WatchdogReport::Most)
      kv_watchdog->waits[place] = packStuckWait(wait);
    __threadfence_system();
  }
  uint32_t begin = clock();
  while (uint32_t(clock()) - begin < WatchdogGrace)
    ;
  __trap();
}

/// barrierWait() that gives up.
__device__ __forceinline__ void watchedWait(uint32_t barrier, StuckWait wait) {
  uint32_t begin = clock();
  while (!barrierTry(barrier, wait.parity))
    if (uint32_t(clock()) - begin > WatchdogCycles)
      giveUp(wait);
}

} // namespace kv::cuda::ptx

#endif // KV_KERNELS_CUDA_PTX_WATCHDOG_H
