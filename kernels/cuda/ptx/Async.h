//===- Async.h - Copies that run next to threads ----------------*- C++ -*-===//

#ifndef KV_KERNELS_CUDA_PTX_ASYNC_H
#define KV_KERNELS_CUDA_PTX_ASYNC_H

#include "kernels/block/Layout.h"

namespace kv::cuda::ptx {

__device__ __forceinline__ uint32_t sharedAddress(const void *p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

/// Copies 16 bytes, `further` bytes after the address, to shared memory, past
/// the first-level cache. If the address is negative, zeros are written and
/// nothing is read; the test takes one instruction.
__device__ __forceinline__ void cpAsync(void *target, int64_t address,
                                        int further) {
  asm volatile("{\n\t.reg .pred ignored;\n\t.reg .b32 low, high;\n\t"
               "mov.b64 {low, high}, %1;\n\tsetp.lt.s32 ignored, high, 0;\n\t"
               "cp.async.cg.shared.global [%0], [%2], 16, ignored;\n\t}" ::"r"(
                   sharedAddress(target)),
               "l"(address), "l"(address + further)
               : "memory");
}

__device__ __forceinline__ void cpAsyncCommit() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

/// Waits until at most `Pending` of this thread's groups are in flight.
template <int Pending> __device__ __forceinline__ void cpAsyncWait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory");
}

} // namespace kv::cuda::ptx

#endif // KV_KERNELS_CUDA_PTX_ASYNC_H
