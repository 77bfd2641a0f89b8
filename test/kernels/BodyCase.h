//===- BodyCase.h - A case for a body that is no kernel ---------*- C++ -*-===//
//
// Other shapes than those that are built, and planted mistakes: on the
// emulator only.
//
//===----------------------------------------------------------------------===//

#ifndef KV_TEST_KERNELS_BODYCASE_H
#define KV_TEST_KERNELS_BODYCASE_H

#include "../../kernels/cuda/AttentionBody.h"
#include "../../kernels/cuda/emulator/CpuBlock.h"
#include "AttentionCase.h"
#include "EmulatorBackend.h"

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
      backend.machine.launch(this->c.parts, Config::Threads,
                             Config::SharedBytes, [&](Machine &m, int thread) {
                               CpuBlock b(m, thread);
                               AttentionBody<CpuBlock, Config, F>(b, p).run();
                             });
    });
  }
};

} // namespace kv::cuda::test

#endif // KV_TEST_KERNELS_BODYCASE_H
