//===- Twins.cpp - Every kernel on a CPU, by its name ---------------------===//

#include "Twins.h"
#include "AttentionTwins.h"
#include "kernels/cuda/attention/common/MergeBody.h"
#include "kernels/cuda/movers/CacheRowsBody.h"
#include "kernels/cuda/movers/ElementsBody.h"
#include "kernels/cuda/movers/MergeSidesBody.h"
#include "kernels/cuda/movers/PlanBody.h"
#include "kernels/cuda/movers/RopeStoreBody.h"
#include "kernels/cuda/movers/SampleBody.h"
#include "kernels/cuda/movers/StateBody.h"
#include "kernels/cuda/products/ExpertBody.h"
#include "kernels/cuda/products/GateBody.h"
#include "kernels/cuda/products/QuantBody.h"
#include "kernels/emulator/CpuBlock.h"

using namespace kv::cuda;

static bool runMover(Machine &machine, std::string_view name, int blocks,
                     const void *params, int cluster) {
#define KV_MOVER_KERNEL(mover, parameters, registers, shared, body)            \
  if (name == "kv_" #mover) {                                                  \
    machine.launch(                                                            \
        {blocks, MoverThreads, shared, cluster > 1 ? registers : 0, cluster},  \
        [&](Machine &m, int thread) {                                          \
          CpuBlock b(m, thread);                                               \
          if (beginKernel(b))                                                  \
            body(b, *static_cast<const parameters *>(params));                 \
        });                                                                    \
    return true;                                                               \
  }
#include "kv/ABI/DeviceKernels.def"
  return false;
}

bool kv::cuda::runTwin(Machine &machine, std::string_view name, int blocks,
                       const void *params, int cluster) {
  for (const AttentionKernel &kernel : AttentionKernels) {
    if (kernel.name != name)
      continue;
    const auto &p = *static_cast<const AttentionParams *>(params);
#define KV_ATTENTION_KERNEL(kind, type, query, cache, scales, dim, ...)        \
  if (name == "kv_attention_" #kind "_" #type "_" #dim)                        \
    runAttentionTwin<ElementOf<KV_DTYPE_##query>, ElementOf<KV_DTYPE_##cache>, \
                     Scales::scales>(machine, kernel, blocks, p);
#define KV_LATENT_KERNEL(kind, type, query, cache, dim, ...)                   \
  if (name == "kv_latent_" #kind "_" #type "_" #dim)                           \
    runAttentionTwin<ElementOf<KV_DTYPE_##query>, ElementOf<KV_DTYPE_##cache>, \
                     Scales::None>(machine, kernel, blocks, p);
#include "kv/ABI/DeviceKernels.def"
    return true;
  }
  for (const AttentionKernel &kernel : TileKernels)
    if (kernel.name == name) {
      if (cluster != kernel.partBlocks)
        machine.report(std::string(name) + " is launched in clusters of " +
                       std::to_string(cluster) +
                       " blocks, needed: " + std::to_string(kernel.partBlocks));
      runTileTwin(machine, kernel, blocks, params);
      runByteTileTwin(machine, kernel, blocks, params);
      runTensorTwin(machine, kernel, blocks, params);
      runDraftTwin(machine, kernel, blocks, params);
      runByteTwin(machine, kernel, blocks, params);
      return true;
    }
  return runMover(machine, name, blocks, params, cluster);
}
