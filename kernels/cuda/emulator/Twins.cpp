//===- Twins.cpp - Every kernel on a CPU, by its name ---------------------===//

#include "Twins.h"
#include "../MoverBodies.h"
#include "../PlanBody.h"
#include "AttentionTwins.h"
#include "CpuBlock.h"

using namespace kv::cuda;

static bool runMover(Machine &machine, std::string_view name, int blocks,
                     const void *params) {
#define KV_MOVER_KERNEL(mover, parameters, registers, shared, body)            \
  if (name == "kv_" #mover) {                                                  \
    machine.launch(blocks, MoverThreads, shared, [&](Machine &m, int thread) { \
      CpuBlock b(m, thread);                                                   \
      body(b, *static_cast<const parameters *>(params));                       \
    });                                                                        \
    return true;                                                               \
  }
#include "../MoverKernels.def"
  return false;
}

bool kv::cuda::runTwin(Machine &machine, std::string_view name, int blocks,
                       const void *params) {
  for (const AttentionKernel &kernel : AttentionKernels) {
    if (kernel.name != name)
      continue;
    const auto &p = *static_cast<const AttentionParams *>(params);
    if (kernel.type == "bf16")
      runAttentionTwin<Bf16, Bf16>(machine, kernel, blocks, p);
    else if (kernel.type == "f16")
      runAttentionTwin<F16, F16>(machine, kernel, blocks, p);
    else
      runAttentionTwin<Bf16, F8E4M3>(machine, kernel, blocks, p);
    return true;
  }
  return runMover(machine, name, blocks, params);
}
