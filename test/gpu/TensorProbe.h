//===- TensorProbe.h - A product with tensor memory -------------*- C++ -*-===//
//
// kv_test_tensor_64 and kv_test_tensor_128 of Probes.h: the rows of A are those
// of the instruction, or lie in it twice.
//
//===----------------------------------------------------------------------===//

#ifndef KV_TEST_GPU_TENSORPROBE_H
#define KV_TEST_GPU_TENSORPROBE_H

#include "Probes.h"
#include "test/kernels/instructions/TensorInstructionBodies.h"

namespace kv::cuda::test {

template <int Rows, class B>
KV_BODY void tensorProbeBody(B &b, const ProbeParams &p) {
  constexpr int N = 64, SlabK = SlabRowBytes / 2;
  auto shared = b.template shared<uint32_t>(0, TensorPlaceAddress / 4);
  TensorAddress memory = beginTensor(b, N);
  auto complete = b.barrier(TensorPlaceBarrier);
  for (int from = 0, phase = 0; from < p.k; from += SlabK, phase ^= 1) {
    const int pairs = (p.k - from < SlabK ? p.k - from : SlabK) / 2;
    for (int i = b.thread(); i < (Rows + N) * pairs; i += GroupThreads) {
      int row = i / pairs, k = i % pairs * 2;
      bool isB = row >= Rows;
      int other = isB ? row - Rows : row % ProbeRows;
      const uint16_t *pair =
          (isB ? p.b : p.a) + int64_t(other) * p.k + from + k;
      shared.store(
          int(elementAddress({uint32_t(isB ? TensorPlaceB : 0), 0, AtomBytes},
                             Major::K, isB ? other : row, k)) /
              4,
          b.load(reinterpret_cast<const uint32_t *>(pair)));
    }
    b.fenceAsync();
    b.sync();
    if (b.thread() == 0) {
      b.fenceAfter();
      for (int step = 0; step < pairs / 8; ++step)
        b.multiplyTensor(
            memory,
            encodeTensor({b.sharedAddress(0), 0, AtomBytes}).behind(step * 32),
            encodeTensor({b.sharedAddress(TensorPlaceB), 0, AtomBytes})
                .behind(step * 32),
            encode(TensorProduct{TensorFormat<Bf16>, Major::K, N, Rows}),
            from + step > 0);
      b.commitTensor(complete);
    }
    b.sync();
    b.awaitPhase(complete, phase);
  }
  b.fenceAfter();
  TensorAddress own = ownLanes(b, memory);
  if constexpr (Rows == HalfRows) {
    loadColumns<N, 4>(b, own, p.out);
  } else {
    for (int from = 0; from < N; from += 32) {
      float sums[32];
      b.loadTensor(sums, own.behind(from));
      b.awaitLoads(sums);
      KV_UNROLL for (int i = 0; i < 32; ++i)
        if (b.thread() < ProbeRows)
          b.store(p.out + b.thread() * N + from + i, sums[i]);
    }
  }
  endTensor(b, memory, N);
}

} // namespace kv::cuda::test

#endif // KV_TEST_GPU_TENSORPROBE_H
