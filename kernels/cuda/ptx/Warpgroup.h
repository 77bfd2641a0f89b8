//===- Warpgroup.h - Matrix instructions of a warpgroup ---------*- C++ -*-===//
//
// wgmma of sm_90a: 64 rows by 64 or 128 columns, sixteen elements of 16 bits or
// 32 of 8 summed over, accumulated in f32. A kernel of an earlier chip may name
// them, not run them.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_PTX_WARPGROUP_H
#define KV_KERNELS_CUDA_PTX_WARPGROUP_H

#include "kernels/block/Numbers.h"
#include "kernels/block/Tiles.h"

namespace kv::cuda::ptx {

/// A compiler neither keeps a copy of these registers over this place nor
/// computes them after it.
__device__ __forceinline__ void pin(float &x) {
  asm volatile("" : "+f"(x)::"memory");
}
__device__ __forceinline__ void pin(uint32_t &x) {
  asm volatile("" : "+r"(x)::"memory");
}
template <class T, int N> __device__ __forceinline__ void pin(T (&x)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i)
    pin(x[i]);
}

/// These registers are not read any more before they are written.
template <int Tiles>
__device__ __forceinline__ void forget(float (&acc)[Tiles][4]) {
#pragma unroll
  for (int n = 0; n < Tiles; ++n)
#pragma unroll
    for (int i = 0; i < 4; ++i)
      asm volatile("" : "=f"(acc[n][i]));
}

__device__ __forceinline__ void productsFence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void productsCommit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int Pending> __device__ __forceinline__ void productsWait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
}

// The registers of N / 8 column tiles as operands.
#define KV_TILE(n)                                                             \
  "+f"(acc[n][0]), "+f"(acc[n][1]), "+f"(acc[n][2]), "+f"(acc[n][3])
#define KV_TILES_64                                                            \
  KV_TILE(0), KV_TILE(1), KV_TILE(2), KV_TILE(3), KV_TILE(4), KV_TILE(5),      \
      KV_TILE(6), KV_TILE(7)
#define KV_TILES_128                                                           \
  KV_TILES_64, KV_TILE(8), KV_TILE(9), KV_TILE(10), KV_TILE(11), KV_TILE(12),  \
      KV_TILE(13), KV_TILE(14), KV_TILE(15)
#define KV_TILES_72 KV_TILES_64, KV_TILE(8)
#define KV_TILES_136 KV_TILES_128, KV_TILE(16)
#define KV_REGISTERS_64                                                        \
  "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "    \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, "     \
  "%30, %31}, "
#define KV_REGISTERS_128                                                       \
  "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "    \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, "     \
  "%30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, "     \
  "%44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, "     \
  "%58, %59, %60, %61, %62, %63}, "

#define KV_REGISTERS_72                                                        \
  "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "    \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, "     \
  "%30, %31, %32, %33, %34, %35}, "
#define KV_REGISTERS_136                                                       \
  "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "    \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, "     \
  "%30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, "     \
  "%44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, "     \
  "%58, %59, %60, %61, %62, %63, %64, %65, %66, %67}, "

// One instruction of N columns of `type`: A in shared memory, its operands
// numbered from %a, or in registers. `accumulates`: else from zero.
#define KV_PRODUCT(N, type, a, b, p, t)                                        \
  if constexpr (Tiles * 8 == N && std::is_same_v<T, type##Element>)            \
    asm volatile("{\n\t.reg .pred adds;\n\tsetp.ne.b32 adds, %" #p ", 0;\n\t"  \
                 "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." #type       \
                 "." #type " " KV_REGISTERS_##N                                \
                 "%" #a ", %" #b ", adds, 1, 1, 0, %" #t ";\n\t}"              \
                 : KV_TILES_##N                                                \
                 : "l"(a_.bits), "l"(b_.bits), "r"(int(accumulates)),          \
                   "n"(int(MajorB == Major::Other)));
#define KV_PRODUCT_OF_REGISTERS(N, type, a0, a1, a2, a3, b, p, t)              \
  if constexpr (Tiles * 8 == N && std::is_same_v<T, type##Element>)            \
    asm volatile(                                                              \
        "{\n\t.reg .pred adds;\n\tsetp.ne.b32 adds, %" #p ", 0;\n\t"           \
        "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." #type "." #type      \
        " " KV_REGISTERS_##N "{%" #a0 ", %" #a1 ", %" #a2 ", %" #a3 "}, %" #b  \
                             ", adds, 1, 1, %" #t ";\n\t}"                     \
        : KV_TILES_##N                                                         \
        : "r"(a_[0]), "r"(a_[1]), "r"(a_[2]), "r"(a_[3]), "l"(b_.bits),        \
          "r"(int(accumulates)), "n"(int(MajorB == Major::Other)));

// A product of e4m3, of which 32 are summed over, with both operands along K.
#define KV_BYTE_PRODUCT(N, a, b, p)                                            \
  if constexpr (Tiles * 8 == N && std::is_same_v<T, F8E4M3>)                   \
    asm volatile("{\n\t.reg .pred adds;\n\tsetp.ne.b32 adds, %" #p ", 0;\n\t"  \
                 "wgmma.mma_async.sync.aligned.m64n" #N                        \
                 "k32.f32.e4m3.e4m3 " KV_REGISTERS_##N "%" #a ", %" #b         \
                                                       ", adds, 1, 1;\n\t}"    \
                 : KV_TILES_##N                                                \
                 : "l"(a_.bits), "l"(b_.bits), "r"(int(accumulates)));
#define KV_BYTE_PRODUCT_OF_REGISTERS(N, a0, a1, a2, a3, b, p)                  \
  if constexpr (Tiles * 8 == N && std::is_same_v<T, F8E4M3>)                   \
    asm volatile("{\n\t.reg .pred adds;\n\tsetp.ne.b32 adds, %" #p ", 0;\n\t"  \
                 "wgmma.mma_async.sync.aligned.m64n" #N                        \
                 "k32.f32.e4m3.e4m3 " KV_REGISTERS_##N                         \
                 "{%" #a0 ", %" #a1 ", %" #a2 ", %" #a3 "}, %" #b              \
                 ", adds, 1, 1;\n\t}"                                          \
                 : KV_TILES_##N                                                \
                 : "r"(a_[0]), "r"(a_[1]), "r"(a_[2]), "r"(a_[3]),             \
                   "l"(b_.bits), "r"(int(accumulates)));

using bf16Element = Bf16;
using f16Element = F16;

template <class T, Major MajorB, int Tiles>
__device__ __forceinline__ void wgmma(float (&acc)[Tiles][4], Descriptor a_,
                                      Descriptor b_, bool accumulates) {
  static_assert(Tiles == 8 || Tiles == 16);
  KV_BYTE_PRODUCT(64, 32, 33, 34)
  KV_BYTE_PRODUCT(128, 64, 65, 66)
  KV_PRODUCT(64, bf16, 32, 33, 34, 35)
  KV_PRODUCT(64, f16, 32, 33, 34, 35)
  KV_PRODUCT(128, bf16, 64, 65, 66, 67)
  KV_PRODUCT(128, f16, 64, 65, 66, 67)
}

template <class T, Major MajorB, int Tiles>
__device__ __forceinline__ void wgmma(float (&acc)[Tiles][4],
                                      const uint32_t (&a_)[4], Descriptor b_,
                                      bool accumulates) {
  constexpr bool Bytes = std::is_same_v<T, F8E4M3>;
  static_assert(Tiles == 8 || Tiles == 16 ||
                (Bytes && (Tiles == 9 || Tiles == 17)));
  KV_BYTE_PRODUCT_OF_REGISTERS(64, 32, 33, 34, 35, 36, 37)
  KV_BYTE_PRODUCT_OF_REGISTERS(72, 36, 37, 38, 39, 40, 41)
  KV_BYTE_PRODUCT_OF_REGISTERS(128, 64, 65, 66, 67, 68, 69)
  KV_BYTE_PRODUCT_OF_REGISTERS(136, 68, 69, 70, 71, 72, 73)
  KV_PRODUCT_OF_REGISTERS(64, bf16, 32, 33, 34, 35, 36, 37, 38)
  KV_PRODUCT_OF_REGISTERS(64, f16, 32, 33, 34, 35, 36, 37, 38)
  KV_PRODUCT_OF_REGISTERS(128, bf16, 64, 65, 66, 67, 68, 69, 70)
  KV_PRODUCT_OF_REGISTERS(128, f16, 64, 65, 66, 67, 68, 69, 70)
}

#undef KV_TILE
#undef KV_TILES_64
#undef KV_TILES_128
#undef KV_TILES_72
#undef KV_TILES_136
#undef KV_REGISTERS_64
#undef KV_REGISTERS_128
#undef KV_REGISTERS_72
#undef KV_REGISTERS_136
#undef KV_PRODUCT
#undef KV_PRODUCT_OF_REGISTERS
#undef KV_BYTE_PRODUCT
#undef KV_BYTE_PRODUCT_OF_REGISTERS

} // namespace kv::cuda::ptx

#endif // KV_KERNELS_CUDA_PTX_WARPGROUP_H
