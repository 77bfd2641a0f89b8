//===- BodyCase.h - A case for a body that is no kernel ---------*- C++ -*-===//
//
// Other shapes than those that are built: on the emulator only.
//
//===----------------------------------------------------------------------===//

#ifndef KV_TEST_KERNELS_ATTENTION_BODYCASE_H
#define KV_TEST_KERNELS_ATTENTION_BODYCASE_H

#include "AttentionCase.h"
#include "kernels/cuda/attention/mma/WarpKernel.h"
#include "kernels/cuda/twins/LaunchRoles.h"
#include "kernels/emulator/CpuBlock.h"
#include "test/kernels/emulator/EmulatorBackend.h"

namespace kv::cuda::test {

template <class Config>
class BodyFixture
    : public AttentionFixture<typename Config::Query, typename Config::Cache> {
public:
  using Base = AttentionFixture<typename Config::Query, typename Config::Cache>;
  explicit BodyFixture(const AttentionCase &c) : Base(kernelOf<Config>(), c) {}

  Results run() {
    EmulatorBackend backend(this->c.machine);
    return this->runBy(backend, [&](const AttentionParams &p) {
      launchWarps<Config>(backend.machine, this->c.parts,
                          [&](Machine &m, int thread) {
                            CpuBlock b(m, thread);
                            WarpKernel<CpuBlock, Config>(b, p).run();
                          });
    });
  }
};

} // namespace kv::cuda::test

#endif // KV_TEST_KERNELS_ATTENTION_BODYCASE_H
