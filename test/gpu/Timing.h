//===- Timing.h - Ceilings, and kernels beside them -------------*- C++ -*-===//

#ifndef KV_TEST_GPU_TIMING_H
#define KV_TEST_GPU_TIMING_H

#include "Report.h"

namespace kv::cuda::test {

/// What a device can do at most, measured: bytes and floating point operations
/// a second; 0 where it could not be measured.
struct Ceilings {
  double read = 0, copy = 0, multiply = 0;
};

/// Reading and copying 2 GiB (of small devices a quarter of the memory), and
/// bf16 matrices of 8192 by cuBLASLt, where that is.
Ceilings measureCeilings(Gpu &gpu, Report &report);

/// Attention and store + rope of usual shapes against the ceilings, and
/// against the libraries of peers (Peer.h), on random numbers. What attention
/// gives is looked at: where all values of a cache are the same, so must be the
/// results. `small`:
/// shapes that try this program out, on the fake driver.
void measureKernels(Gpu &gpu, const Ceilings &ceilings,
                    const std::vector<std::string> &peers, bool small,
                    Report &report);

} // namespace kv::cuda::test

#endif // KV_TEST_GPU_TIMING_H
