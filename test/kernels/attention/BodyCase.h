//===- BodyCase.h - A case for a body that is no kernel ---------*- C++ -*-===//
//
// Other shapes than those that are built, and planted mistakes: on the
// emulator only.
//
//===----------------------------------------------------------------------===//

#ifndef KV_TEST_KERNELS_ATTENTION_BODYCASE_H
#define KV_TEST_KERNELS_ATTENTION_BODYCASE_H

#include "AttentionCase.h"
#include "kernels/cuda/attention/common/AttentionBody.h"
#include "kernels/cuda/attention/common/MergeBody.h"
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

  template <Fault F = Fault::None> Results run() {
    EmulatorBackend backend(this->c.machine);
    return this->runBy(backend, [&](const AttentionParams &p) {
      launchWarps<Config>(backend.machine, this->c.parts,
                          [&](Machine &m, int thread) {
                            CpuBlock b(m, thread);
                            AttentionBody<CpuBlock, Config, F>(b, p).run();
                          });
    });
  }

  /// The body as it is, then the merge with a mistake.
  template <Fault F = Fault::None> Results runApart() {
    EmulatorBackend backend(this->c.machine);
    return this->runBy(backend, [&](AttentionParams p) {
      p.mergesApart = 1;
      launchWarps<Config>(backend.machine, this->c.parts,
                          [&](Machine &m, int thread) {
                            CpuBlock b(m, thread);
                            AttentionBody<CpuBlock, Config>(b, p).run();
                          });
      MergeParams merge = this->mergeOf(p);
      backend.machine.launch(3, MoverThreads, MergeSharedBytes,
                             [&](Machine &m, int thread) {
                               CpuBlock b(m, thread);
                               mergeBody<CpuBlock, F>(b, merge);
                             });
    });
  }
};

} // namespace kv::cuda::test

#endif // KV_TEST_KERNELS_ATTENTION_BODYCASE_H
