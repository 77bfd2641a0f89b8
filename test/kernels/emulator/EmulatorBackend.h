//===- EmulatorBackend.h - Kernels on a CPU ---------------------*- C++ -*-===//

#ifndef KV_TEST_KERNELS_EMULATOR_EMULATORBACKEND_H
#define KV_TEST_KERNELS_EMULATOR_EMULATORBACKEND_H

#include "MachineBackend.h"

namespace kv::cuda::test {

class EmulatorBackend final : public MachineBackend {
public:
  explicit EmulatorBackend(const MachineOptions &options = {})
      : MachineBackend(options) {}

  void launch(std::string_view name, int blocks, const void *params,
              int cluster = 1) override;
};

} // namespace kv::cuda::test

#endif // KV_TEST_KERNELS_EMULATOR_EMULATORBACKEND_H
