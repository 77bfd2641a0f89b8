//===- Memory.h - Global memory that blocks exchange ------------*- C++ -*-===//
//
// Loads and stores of the second-level cache, which all blocks share; the
// first level of an SM may hold what another block has overwritten since.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_PTX_MEMORY_H
#define KV_KERNELS_CUDA_PTX_MEMORY_H

#include "kernels/block/Block.h"

namespace kv::cuda::ptx {

__device__ __forceinline__ float loadGlobal(const float *p) {
  float x;
  asm volatile("ld.global.cg.f32 %0, [%1];" : "=f"(x) : "l"(p) : "memory");
  return x;
}
__device__ __forceinline__ FloatPair loadGlobal(const FloatPair *p) {
  FloatPair x;
  asm volatile("ld.global.cg.v2.f32 {%0, %1}, [%2];"
               : "=f"(x.x), "=f"(x.y)
               : "l"(p)
               : "memory");
  return x;
}
__device__ __forceinline__ FloatQuad loadGlobal(const FloatQuad *p) {
  FloatQuad x;
  asm volatile("ld.global.cg.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(x.x), "=f"(x.y), "=f"(x.z), "=f"(x.w)
               : "l"(p)
               : "memory");
  return x;
}

__device__ __forceinline__ void storeGlobal(float *p, float x) {
  asm volatile("st.global.cg.f32 [%0], %1;" ::"l"(p), "f"(x) : "memory");
}
__device__ __forceinline__ void storeGlobal(FloatPair *p, FloatPair x) {
  asm volatile("st.global.cg.v2.f32 [%0], {%1, %2};" ::"l"(p), "f"(x.x),
               "f"(x.y)
               : "memory");
}

/// *p += count; the value before. Earlier accesses of this thread, or of one
/// that it met at a barrier, are visible to a thread that sees the sum in the
/// same way.
__device__ __forceinline__ uint32_t addAcquireRelease(uint32_t *p,
                                                      uint32_t count) {
  uint32_t before;
  asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], %2;"
               : "=r"(before)
               : "l"(p), "r"(count)
               : "memory");
  return before;
}

} // namespace kv::cuda::ptx

#endif // KV_KERNELS_CUDA_PTX_MEMORY_H
