//===- EmulatorBackend.cpp - Kernels on a CPU -----------------------------===//

#include "EmulatorBackend.h"
#include "../../kernels/cuda/emulator/CpuBlock.h"
#include "../../kernels/cuda/emulator/Twins.h"
#include "InstructionBodies.h"

using namespace kv::cuda;
using namespace kv::cuda::test;

void EmulatorBackend::launch(std::string_view name, int blocks,
                             const void *params) {
#define KV_INSTRUCTION_KERNEL(kernel, ...)                                     \
  if (name == "kv_test_" #kernel)                                              \
    return machine.launch(                                                     \
        blocks, InstructionThreads, InstructionSharedBytes,                    \
        [&](Machine &m, int thread) {                                          \
          CpuBlock b(m, thread);                                               \
          __VA_ARGS__(b, *static_cast<const InstructionParams *>(params));     \
        });
#include "InstructionKernels.def"
  if (!runTwin(machine, name, blocks, params))
    machine.report("there is no kernel " + std::string(name));
}

bool kv::cuda::test::canRun(std::string_view) { return true; }

std::unique_ptr<Backend>
kv::cuda::test::makeBackend(const MachineOptions &options) {
  return std::make_unique<EmulatorBackend>(options);
}
