//===- MachineBackend.h - Memory of kernels on a CPU ------------*- C++ -*-===//

#ifndef KV_TEST_KERNELS_EMULATOR_MACHINEBACKEND_H
#define KV_TEST_KERNELS_EMULATOR_MACHINEBACKEND_H

#include "test/kernels/Backend.h"

namespace kv::cuda::test {

/// Gives the memory itself, and says that it may be touched.
class MachineBackend : public Backend {
public:
  explicit MachineBackend(const MachineOptions &options) : machine(options) {}

  void *give(const void *data, size_t bytes, Access access) override {
    machine.global().allow(data, bytes, access);
    return const_cast<void *>(data);
  }
  void *givePool(const void *data, size_t bytes, size_t, size_t) override {
    return give(data, bytes, Access::Read);
  }
  TensorMap encode(const TensorDescription &tensor) override {
    return describedMap(tensor);
  }
  void take(void *data, const void *given, size_t bytes) override {
    if (data != given)
      machine.report("memory is taken to where it was not given from");
  }
  std::vector<std::string> reports() override { return machine.reports(); }

  Machine machine;
};

} // namespace kv::cuda::test

#endif // KV_TEST_KERNELS_EMULATOR_MACHINEBACKEND_H
