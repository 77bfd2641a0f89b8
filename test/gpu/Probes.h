//===- Probes.h - mma.sync beside what few chips have -----------*- C++ -*-===//
//
// wgmma, and tcgen05.mma with its sums in tensor memory. All add k / 16 steps
// of sixteen products to one accumulator that begins at zero. Whether they give
// the same bits decides whether decode by one and prefill by the other agree.
//
//===----------------------------------------------------------------------===//

#ifndef KV_TEST_GPU_PROBES_H
#define KV_TEST_GPU_PROBES_H

#include <cstdint>

namespace kv::cuda::test {

constexpr int ProbeThreads = 128, ProbeRows = 64;

/// out [64][n] = a [64][k] times the transpose of b [n][k], bf16 to f32, k a
/// multiple of 16. kv_test_chain: mma.sync, any n that is a multiple of 8;
/// kv_test_wgmma_8, _64, _256: a from registers, n as their name says;
/// kv_test_wgmma_shared: both from shared memory, n 64. Those of wgmma swap
/// what a descriptor calls its leading and its stride offset where `swapped` is
/// set. kv_test_chain_e4m3, kv_test_wgmma_e4m3 (a from registers, n 64): the
/// same of f8E4M3FN, of which k counts pairs, so that a step is 32 products.
/// kv_test_tensor_64, _128: tcgen05.mma of so many rows, both operands from
/// shared memory, n 64.
struct ProbeParams {
  const uint16_t *a, *b;
  float *out;
  int32_t n, k;
  int32_t swapped;
};

} // namespace kv::cuda::test

#endif // KV_TEST_GPU_PROBES_H
