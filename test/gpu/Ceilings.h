//===- Ceilings.h - What memory can do at most ------------------*- C++ -*-===//

#ifndef KV_TEST_GPU_CEILINGS_H
#define KV_TEST_GPU_CEILINGS_H

#include <cstdint>

namespace kv::cuda::test {

constexpr int CeilingThreads = 512;

/// kv_test_read: reads `chunks` times 16 bytes; kv_test_copy: and writes them.
struct CeilingParams {
  const void *from;
  void *to;
  int64_t chunks;
};

} // namespace kv::cuda::test

#endif // KV_TEST_GPU_CEILINGS_H
