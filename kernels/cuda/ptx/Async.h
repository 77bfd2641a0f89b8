//===- Async.h - Copies that run beside the threads -------------*- C++ -*-===//

#ifndef KV_KERNELS_CUDA_PTX_ASYNC_H
#define KV_KERNELS_CUDA_PTX_ASYNC_H

#include "Layout.h"

namespace kv::cuda::ptx {

__device__ __forceinline__ uint32_t sharedAddress(const void *p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

/// 16 bytes to shared memory, past the first-level cache; those from `bytes`
/// on are zeros and are not read.
__device__ __forceinline__ void cpAsync(void *target, const void *source,
                                        uint32_t bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(
                   sharedAddress(target)),
               "l"(source), "r"(bytes)
               : "memory");
}

__device__ __forceinline__ void cpAsyncCommit() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

/// Until at most `Pending` of this thread's groups are under way.
template <int Pending> __device__ __forceinline__ void cpAsyncWait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory");
}

} // namespace kv::cuda::ptx

#endif // KV_KERNELS_CUDA_PTX_ASYNC_H
