//===- Ceilings.h - Kernels that only measure -------------------*- C++ -*-===//

#ifndef KV_TEST_GPU_CEILINGS_H
#define KV_TEST_GPU_CEILINGS_H

#include <cstdint>

namespace kv::cuda::test {

constexpr int CeilingThreads = 512;

/// kv_test_read: reads `chunks` times 16 bytes, once; kv_test_copy: and writes
/// them; kv_test_flush: reads them so that they stay in the L2 cache.
struct CeilingParams {
  const void *from;
  void *to;
  int64_t chunks;
};

/// kv_test_clock: one thread waits for `cycles` of its SM's clock and tells how
/// many passed, and how many nanoseconds.
struct ClockParams {
  uint64_t *out; // [2]
  uint64_t cycles;
};

} // namespace kv::cuda::test

#endif // KV_TEST_GPU_CEILINGS_H
