#include "Ceilings.h"
#include "Noise.h"

using namespace kv::cuda;
using namespace kv::cuda::test;

/// Four loads under way in each thread.
template <class Load, class Function>
__device__ __forceinline__ void forEachFour(const CeilingParams &p, Load load,
                                            Function f) {
  const auto *from = static_cast<const int4 *>(p.from);
  int64_t step = int64_t(gridDim.x) * CeilingThreads;
  int64_t i = int64_t(blockIdx.x) * CeilingThreads + threadIdx.x;
  for (; i + 3 * step < p.chunks; i += 4 * step) {
    int4 x[4];
#pragma unroll
    for (int j = 0; j < 4; ++j)
      x[j] = load(from + i + j * step);
#pragma unroll
    for (int j = 0; j < 4; ++j)
      f(i + j * step, x[j]);
  }
  for (; i < p.chunks; i += step)
    f(i, load(from + i));
}

template <class Load>
__device__ __forceinline__ void readAll(const CeilingParams &p, Load load) {
  int sum = 0;
  forEachFour(p, load, [&](int64_t, int4 x) { sum ^= x.x ^ x.y ^ x.z ^ x.w; });
  // Never true; the compiler cannot know.
  if (sum == 0x5a17c0de && p.chunks < 0)
    *static_cast<int *>(p.to) = sum;
}

extern "C" __global__ void __launch_bounds__(CeilingThreads)
    kv_test_read(const __grid_constant__ CeilingParams p) {
  readAll(p, [](const int4 *x) { return __ldcs(x); });
}

/// Streaming loads would leave first what others want to be rid of.
extern "C" __global__ void __launch_bounds__(CeilingThreads)
    kv_test_flush(const __grid_constant__ CeilingParams p) {
  readAll(p, [](const int4 *x) { return __ldcg(x); });
}

extern "C" __global__ void __launch_bounds__(CeilingThreads)
    kv_test_copy(const __grid_constant__ CeilingParams p) {
  forEachFour(
      p, [](const int4 *x) { return __ldcs(x); },
      [&](int64_t i, int4 x) { static_cast<int4 *>(p.to)[i] = x; });
}

extern "C" __global__ void __launch_bounds__(CeilingThreads)
    kv_test_noise(const __grid_constant__ NoiseParams p) {
  withElement(p.type, [&]<class T>(T) {
    for (int64_t i = int64_t(blockIdx.x) * CeilingThreads + threadIdx.x;
         i < p.count; i += int64_t(gridDim.x) * CeilingThreads)
      static_cast<T *>(p.out)[i] = narrow<T>(noiseAt(p, i));
  });
}

extern "C" __global__ void __launch_bounds__(32)
    kv_test_clock(const __grid_constant__ ClockParams p) {
  if (threadIdx.x)
    return;
  uint64_t from, to;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(from)::"memory");
  uint64_t begin = clock64(), now;
  do
    now = clock64();
  while (now - begin < p.cycles);
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(to)::"memory");
  p.out[0] = now - begin;
  p.out[1] = to - from;
}
