//===- TensorFaultRun.h - Faults in kernels with tensor memory --*- C++ -*-===//

#ifndef KV_TEST_KERNELS_FAULTS_TENSORFAULTRUN_H
#define KV_TEST_KERNELS_FAULTS_TENSORFAULTRUN_H

#include "TileFaultRun.h"
#include "kernels/cuda/attention/tcgen05/TensorKernel.h"
#include "kernels/emulator/CpuTensorBlock.h"

namespace kv::cuda::test {

/// Units of two tiles of rows and of one, tails, and more leaves than scores
/// have places and the ring tiles.
inline AttentionCase tensorCase() {
  AttentionCase c;
  c.sequences = {{600, 70}, {130, 3}};
  c.heads = 1;
  c.parts = 1;
  return c;
}

/// runTileBody() of the kernel of `Config` with the fault.
template <class Config, Fault F, class Fixture>
Results runTensorBody(Fixture &fixture) {
  return runTileBody<Config>(
      fixture, [](Machine &m, int thread, const TileParams &tiles) {
        CpuTensorBlock b(CpuBlock(m, thread));
        runTensor<Config, F>(b, tiles);
      });
}

/// The kernel of `Config` with the fault is found bad under every schedule.
template <class Config, Fault F, class Fixture>
void expectTensorFault(const AttentionCase &c, const char *text) {
  expectSeenBySchedules<Fixture>(kernelOf<Config>(), c, text,
                                 runTensorBody<Config, F, Fixture>);
}

} // namespace kv::cuda::test

#endif // KV_TEST_KERNELS_FAULTS_TENSORFAULTRUN_H
