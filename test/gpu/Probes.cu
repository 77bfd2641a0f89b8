#include "Probes.h"
#include "kernels/cuda/ptx/Matrix.h"

using namespace kv::cuda;
using namespace kv::cuda::test;

/// Row-major rows of k elements: two neighbours of a row as a register.
static __device__ __forceinline__ uint32_t pairAt(const uint16_t *x, int row,
                                                  int column, int k) {
  return *reinterpret_cast<const uint32_t *>(x + int64_t(row) * k + column);
}

/// A warp's sixteen rows of a.
static __device__ __forceinline__ void loadRows(const ProbeParams &p, int step,
                                                uint32_t (&a)[4]) {
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    Place place = fragmentA(lane, i, 0);
    a[i] = pairAt(p.a, warp * 16 + place.row, step * 16 + place.column, p.k);
  }
}

/// Four bytes of a row are where two elements of 16 bits are.
template <class T>
static __device__ __forceinline__ void chainOf(const ProbeParams &p) {
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int n = 0; n < p.n; n += 8) {
    float c[4] = {};
    for (int step = 0; step < p.k / 16; ++step) {
      uint32_t a[4], b[2];
      loadRows(p, step, a);
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        Place place = fragmentB(lane, i, 0);
        b[i] = pairAt(p.b, n + place.column, step * 16 + place.row, p.k);
      }
      ptx::mma<T>(c, a, b[0], b[1]);
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      Place place = fragmentC(lane, i);
      p.out[(warp * 16 + place.row) * p.n + n + place.column] = c[i];
    }
  }
}

extern "C" __global__ void __launch_bounds__(ProbeThreads)
    kv_test_chain(const __grid_constant__ ProbeParams p) {
  chainOf<Bf16>(p);
}

#if __CUDA_ARCH__ >= 890
extern "C" __global__ void __launch_bounds__(ProbeThreads)
    kv_test_chain_e4m3(const __grid_constant__ ProbeParams p) {
  chainOf<F8E4M3>(p);
}
#endif

// wgmma exists for sm_90a only.
#ifdef __CUDA_ARCH_FEAT_SM90_ALL

/// Rows of sixteen elements in shared memory without a swizzle: core matrices
/// of eight rows times sixteen bytes, the two of eight rows side by side.
constexpr int CoreBytes = 128, RowsBytes = 2 * CoreBytes;

static __device__ void storeCores(unsigned char *shared, const uint16_t *x,
                                  int rows, int step, int k) {
  for (int i = threadIdx.x; i < rows * 8; i += ProbeThreads) {
    int row = i / 8, column = i % 8 * 2;
    *reinterpret_cast<uint32_t *>(
        shared + row / 8 * RowsBytes + column / 8 * CoreBytes + row % 8 * 16 +
        column % 8 * 2) = pairAt(x, row, step * 16 + column, k);
  }
}

static __device__ uint64_t describe(const void *shared, bool swapped) {
  uint64_t leading = swapped ? RowsBytes : CoreBytes;
  uint64_t stride = swapped ? CoreBytes : RowsBytes;
  return (ptx::sharedAddress(shared) >> 4 & 0x3fff) | leading >> 4 << 16 |
         stride >> 4 << 32;
}

#define R4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define R16(i) R4(i), R4(i + 4), R4(i + 8), R4(i + 12)
#define R32(i) R16(i), R16(i + 16)
#define T4 "%0, %1, %2, %3"
#define T32                                                                    \
  T4 ", %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, " \
     "%19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define T128                                                                   \
  T32 ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, "    \
      "%45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, " \
      "%59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, " \
      "%73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86, " \
      "%87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97, %98, %99, "      \
      "%100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, "     \
      "%111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, "     \
      "%122, %123, %124, %125, %126, %127"
#define WGMMA(n) "wgmma.mma_async.sync.aligned.m64n" #n "k16.f32.bf16.bf16 "

template <int N>
static __device__ __forceinline__ void
multiply(float (&d)[N / 2], const uint32_t (&a)[4], uint64_t b) {
  if constexpr (N == 8)
    asm volatile(WGMMA(8) "{" T4 "}, {%4, %5, %6, %7}, %8, 1, 1, 1, 0;"
                 : R4(0)
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
  else if constexpr (N == 64)
    asm volatile(WGMMA(64) "{" T32 "}, {%32, %33, %34, %35}, %36, 1, 1, 1, 0;"
                 : R32(0)
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
  else
    asm volatile(WGMMA(256) "{" T128
                            "}, {%128, %129, %130, %131}, %132, 1, 1, 1, 0;"
                 : R32(0), R32(32), R32(64), R32(96)
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}

static __device__ __forceinline__ void
multiplyBytes(float (&d)[32], const uint32_t (&a)[4], uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n64k32.f32.e4m3.e4m3 {" T32
               "}, {%32, %33, %34, %35}, %36, 1, 1, 1;"
               : R32(0)
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}

static __device__ __forceinline__ void multiplyShared(float (&d)[32],
                                                      uint64_t a, uint64_t b) {
  asm volatile(WGMMA(64) "{" T32 "}, %32, %33, 1, 1, 1, 0, 0;"
               : R32(0)
               : "l"(a), "l"(b));
}

template <int N, bool Shared, bool Bytes = false>
static __device__ __forceinline__ void chain(const ProbeParams &p) {
  __shared__ __align__(128) unsigned char left[ProbeRows / 8 * RowsBytes];
  __shared__ __align__(128) unsigned char right[N / 8 * RowsBytes];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  float d[N / 2] = {};
  for (int step = 0; step < p.k / 16; ++step) {
    __syncthreads();
    if (Shared)
      storeCores(left, p.a, ProbeRows, step, p.k);
    storeCores(right, p.b, N, step, p.k);
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    uint32_t a[4];
    loadRows(p, step, a);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    uint64_t b = describe(right, p.swapped);
    if constexpr (Shared)
      multiplyShared(d, describe(left, p.swapped), b);
    else if constexpr (Bytes)
      multiplyBytes(d, a, b);
    else
      multiply<N>(d, a, b);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  }
#pragma unroll
  for (int i = 0; i < N / 2; ++i) {
    Place place = fragmentC(lane, i % 4);
    p.out[(warp * 16 + place.row) * p.n + i / 4 * 8 + place.column] = d[i];
  }
}

#define KV_WGMMA_KERNEL(name, ...)                                             \
  extern "C" __global__ void __launch_bounds__(ProbeThreads)                   \
      kv_test_wgmma_##name(const __grid_constant__ ProbeParams p) {            \
    chain<__VA_ARGS__>(p);                                                     \
  }
KV_WGMMA_KERNEL(8, 8, false)
KV_WGMMA_KERNEL(64, 64, false)
KV_WGMMA_KERNEL(256, 256, false)
KV_WGMMA_KERNEL(shared, 64, true)
KV_WGMMA_KERNEL(e4m3, 64, false, true)
#endif
