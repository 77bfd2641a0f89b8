//===- Launch.h - Kernels that begin before others end ----------*- C++ -*-===//

#ifndef KV_KERNELS_CUDA_PTX_LAUNCH_H
#define KV_KERNELS_CUDA_PTX_LAUNCH_H

namespace kv::cuda::ptx {

/// Until all that kernels before this one on the stream have written is
/// visible. Chips before 9.0 begin no kernel so early.
__device__ __forceinline__ void waitForEarlier() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// Once all blocks have said so, the next kernel's may take what room is left.
__device__ __forceinline__ void letLaterBegin() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

} // namespace kv::cuda::ptx

#endif // KV_KERNELS_CUDA_PTX_LAUNCH_H
