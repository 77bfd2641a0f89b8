//===- EmulatorBackend.cpp - Kernels on a CPU -----------------------------===//

#include "EmulatorBackend.h"
#include "kernels/cuda/twins/Twins.h"
#include "test/kernels/instructions/InstructionTwins.h"

using namespace kv::cuda;
using namespace kv::cuda::test;

void EmulatorBackend::launch(std::string_view name, int blocks,
                             const void *params, int cluster) {
  if (!runInstruction(machine, name, blocks, params) &&
      !runTwin(machine, name, blocks * cluster, params, cluster))
    machine.report("there is no kernel " + std::string(name));
}

bool kv::cuda::test::canRun(std::string_view) { return true; }

std::unique_ptr<Backend>
kv::cuda::test::makeBackend(const MachineOptions &options) {
  return std::make_unique<EmulatorBackend>(options);
}
