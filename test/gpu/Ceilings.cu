#include "test/gpu/Ceilings.h"

using namespace kv::cuda::test;

/// Four loads under way in each thread.
template <class Function>
__device__ __forceinline__ void forEachFour(const CeilingParams &p,
                                            Function f) {
  const auto *from = static_cast<const int4 *>(p.from);
  int64_t step = int64_t(gridDim.x) * CeilingThreads;
  int64_t i = int64_t(blockIdx.x) * CeilingThreads + threadIdx.x;
  for (; i + 3 * step < p.chunks; i += 4 * step) {
    int4 x[4];
#pragma unroll
    for (int j = 0; j < 4; ++j)
      x[j] = __ldcs(from + i + j * step);
#pragma unroll
    for (int j = 0; j < 4; ++j)
      f(i + j * step, x[j]);
  }
  for (; i < p.chunks; i += step)
    f(i, __ldcs(from + i));
}

extern "C" __global__ void __launch_bounds__(CeilingThreads)
    kv_test_read(const __grid_constant__ CeilingParams p) {
  int sum = 0;
  forEachFour(p, [&](int64_t, int4 x) { sum ^= x.x ^ x.y ^ x.z ^ x.w; });
  // Never true; the compiler cannot know.
  if (sum == 0x5a17c0de && p.chunks < 0)
    *static_cast<int *>(p.to) = sum;
}

extern "C" __global__ void __launch_bounds__(CeilingThreads)
    kv_test_copy(const __grid_constant__ CeilingParams p) {
  forEachFour(p, [&](int64_t i, int4 x) { static_cast<int4 *>(p.to)[i] = x; });
}
