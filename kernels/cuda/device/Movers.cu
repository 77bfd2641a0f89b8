#include "../CacheRowsBody.h"
#include "../ElementsBody.h"
#include "../ExpertBody.h"
#include "../GateBody.h"
#include "../GpuBlock.h"
#include "../MergeBody.h"
#include "../MergeSidesBody.h"
#include "../MoverBodies.h"
#include "../PlanBody.h"
#include "../QuantBody.h"
#include "../RopeStoreBody.h"
#include "../SampleBody.h"
#include "../StateBody.h"

using namespace kv::cuda;

/// Blocks that an SM's registers have room for: without them ptxas for sm_100a
/// takes fewer registers than a body needs, and spills.
constexpr int blocksOf(int registers) {
  return 64 * 1024 / (MoverThreads * registers);
}

#define KV_MOVER_KERNEL(name, parameters, registers, shared, body)             \
  extern "C" __global__ void __launch_bounds__(MoverThreads,                   \
                                               blocksOf(registers))            \
      kv_##name(const __grid_constant__ parameters params) {                   \
    GpuBlock block;                                                            \
    beginKernel(block);                                                        \
    body<GpuBlock>(block, params);                                             \
  }
#include "kv/ABI/DeviceKernels.def"
