//===- Watchdog.h - A wait that ends ----------------------------*- C++ -*-===//

#ifndef KV_KERNELS_CUDA_PTX_WATCHDOG_H
#define KV_KERNELS_CUDA_PTX_WATCHDOG_H

#include "../Watchdog.h"

extern "C" __device__ kv::cuda::WatchdogReport *kv_watchdog = nullptr;

namespace kv::cuda::ptx {

/// Cycles: some seconds, and what others get to say as much.
constexpr long long WatchdogCycles = 1ll << 31, WatchdogGrace = 1ll << 24;

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

__device__ __noinline__ void giveUp(StuckWait wait, uint32_t barrier) {
  if (kv_watchdog) {
    uint32_t place = atomicAdd_system(&kv_watchdog->count, 1u);
    if (place < WatchdogReport::Most)
      kv_watchdog->waits[place] = packStuckWait(wait);
    __threadfence_system();
  }
  long long end = clock64() + WatchdogGrace;
  while (clock64() < end)
    barrierTry(barrier, wait.parity);
  __trap();
}

/// barrierWait() that gives up.
__device__ __forceinline__ void watchedWait(uint32_t barrier, StuckWait wait) {
  long long end = clock64() + WatchdogCycles;
  while (!barrierTry(barrier, wait.parity))
    if (clock64() > end)
      giveUp(wait, barrier);
}

} // namespace kv::cuda::ptx

#endif // KV_KERNELS_CUDA_PTX_WATCHDOG_H
