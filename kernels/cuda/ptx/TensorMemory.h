//===- TensorMemory.h - Instructions of tensor memory -----------*- C++ -*-===//
//
// tcgen05 of sm_100a, of one thread block. A kernel of another chip may name
// them, not run them.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_PTX_TENSORMEMORY_H
#define KV_KERNELS_CUDA_PTX_TENSORMEMORY_H

#include "Warpgroup.h"
#include "kernels/block/TensorLayout.h"

namespace kv::cuda::ptx {

/// Whether this lane of a whole warp is the one that is chosen.
__device__ __forceinline__ bool elect() {
  uint32_t chosen;
  asm volatile("{\n\t.reg .pred chosen;\n\telect.sync _|chosen, 0xffffffff;\n\t"
               "selp.u32 %0, 1, 0, chosen;\n\t}"
               : "=r"(chosen));
  return chosen != 0;
}

/// To `place` in shared memory comes the address.
__device__ __forceinline__ void tensorAllocate(uint32_t place, int columns) {
  asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 "
               "[%0], %1;" ::"r"(place),
               "r"(columns)
               : "memory");
}
__device__ __forceinline__ void tensorRelinquish() {
  asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");
}
__device__ __forceinline__ void tensorFree(TensorAddress address, int columns) {
  asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(
                   address.bits),
               "r"(columns)
               : "memory");
}

#define KV_TENSOR_PRODUCT(kind, a_, constraint)                                \
  asm volatile("{\n\t.reg .pred adds;\n\tsetp.ne.b32 adds, %4, 0;\n\t"         \
               "tcgen05.mma.cta_group::1.kind::" kind " [%0], " a_             \
               ", %2, %3, adds;\n\t}" ::"r"(d.bits),                           \
               constraint(a.bits), "l"(b.bits), "r"(instruction.bits),         \
               "r"(int(accumulates))                                           \
               : "memory");

template <TensorKind Kind>
__device__ __forceinline__ void
tensorMultiply(TensorAddress d, TensorDescriptor a, TensorDescriptor b,
               TensorInstruction instruction, bool accumulates) {
  if constexpr (Kind == TensorKind::F16)
    KV_TENSOR_PRODUCT("f16", "%1", "l")
  else
    KV_TENSOR_PRODUCT("f8f6f4", "%1", "l")
}
template <TensorKind Kind>
__device__ __forceinline__ void
tensorMultiply(TensorAddress d, TensorAddress a, TensorDescriptor b,
               TensorInstruction instruction, bool accumulates) {
  if constexpr (Kind == TensorKind::F16)
    KV_TENSOR_PRODUCT("f16", "[%1]", "r")
  else
    KV_TENSOR_PRODUCT("f8f6f4", "[%1]", "r")
}
#undef KV_TENSOR_PRODUCT

__device__ __forceinline__ void tensorCommit(uint32_t barrier) {
  asm volatile(
      "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 "
      "[%0];" ::"r"(barrier)
      : "memory");
}

__device__ __forceinline__ void tensorAwaitLoads() {
  asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void tensorAwaitStores() {
  asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void tensorFenceBefore() {
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
}
__device__ __forceinline__ void tensorFenceAfter() {
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
}

/// Loads a warp's 32 lanes of one, sixteen or 32 columns; a thread gets a word
/// of each. One overload loads sixteen lanes of 64 columns, as fragments of
/// eight column tiles.
__device__ __forceinline__ void tensorLoad(float (&r)[1], TensorAddress at) {
  asm volatile("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%0}, [%1];"
               : "=f"(r[0])
               : "r"(at.bits)
               : "memory");
}

#define KV_WORDS_4(c, r, i) c(r[i]), c(r[i + 1]), c(r[i + 2]), c(r[i + 3])
#define KV_WORDS_16(c, r, i)                                                   \
  KV_WORDS_4(c, r, i), KV_WORDS_4(c, r, i + 4), KV_WORDS_4(c, r, i + 8),       \
      KV_WORDS_4(c, r, i + 12)
#define KV_NAMES_16                                                            \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15"

__device__ __forceinline__ void tensorLoad(float (&r)[32], TensorAddress at) {
  asm volatile("tcgen05.ld.sync.aligned.32x32b.x32.b32 {" KV_NAMES_16
               ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, "
               "%28, %29, %30, %31}, [%32];"
               : KV_WORDS_16("=f", r, 0), KV_WORDS_16("=f", r, 16)
               : "r"(at.bits)
               : "memory");
}
__device__ __forceinline__ void tensorLoad(float (&r)[8][4], TensorAddress at) {
  asm volatile("tcgen05.ld.sync.aligned.16x256b.x8.b32 {" KV_NAMES_16
               ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, "
               "%28, %29, %30, %31}, [%32];"
               : KV_WORDS_4("=f", r[0], 0), KV_WORDS_4("=f", r[1], 0),
                 KV_WORDS_4("=f", r[2], 0), KV_WORDS_4("=f", r[3], 0),
                 KV_WORDS_4("=f", r[4], 0), KV_WORDS_4("=f", r[5], 0),
                 KV_WORDS_4("=f", r[6], 0), KV_WORDS_4("=f", r[7], 0)
               : "r"(at.bits)
               : "memory");
}
__device__ __forceinline__ void tensorStore(TensorAddress at,
                                            const uint32_t (&r)[8]) {
  asm volatile("tcgen05.st.sync.aligned.32x32b.x8.b32 [%8], {%0, %1, %2, %3, "
               "%4, %5, %6, %7};" ::KV_WORDS_4("r", r, 0),
               KV_WORDS_4("r", r, 4), "r"(at.bits)
               : "memory");
}
__device__ __forceinline__ void tensorStore(TensorAddress at,
                                            const uint32_t (&r)[16]) {
  asm volatile("tcgen05.st.sync.aligned.32x32b.x16.b32 [%16], {" KV_NAMES_16
               "};" ::KV_WORDS_16("r", r, 0),
               "r"(at.bits)
               : "memory");
}

/// Each of two numbers as by one instruction of one, which rounds the same.
__device__ __forceinline__ FloatPair multiplyTwo(FloatPair x, FloatPair y) {
  FloatPair r;
  asm("{\n\t.reg .b64 x, y, r;\n\tmov.b64 x, {%2, %3};\n\t"
      "mov.b64 y, {%4, %5};\n\tmul.rn.f32x2 r, x, y;\n\t"
      "mov.b64 {%0, %1}, r;\n\t}"
      : "=f"(r.x), "=f"(r.y)
      : "f"(x.x), "f"(x.y), "f"(y.x), "f"(y.y));
  return r;
}
__device__ __forceinline__ FloatPair fusedMultiplyAddTwo(FloatPair x,
                                                         FloatPair y,
                                                         FloatPair z) {
  FloatPair r;
  asm("{\n\t.reg .b64 x, y, z, r;\n\tmov.b64 x, {%2, %3};\n\t"
      "mov.b64 y, {%4, %5};\n\tmov.b64 z, {%6, %7};\n\t"
      "fma.rn.f32x2 r, x, y, z;\n\tmov.b64 {%0, %1}, r;\n\t}"
      : "=f"(r.x), "=f"(r.y)
      : "f"(x.x), "f"(x.y), "f"(y.x), "f"(y.y), "f"(z.x), "f"(z.y));
  return r;
}

#undef KV_WORDS_4
#undef KV_WORDS_16
#undef KV_NAMES_16

} // namespace kv::cuda::ptx

#endif // KV_KERNELS_CUDA_PTX_TENSORMEMORY_H
