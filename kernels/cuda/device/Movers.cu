#include "kernels/cuda/attention/common/MergeBody.h"
#include "kernels/cuda/movers/CacheRowsBody.h"
#include "kernels/cuda/movers/ElementsBody.h"
#include "kernels/cuda/movers/MergeSidesBody.h"
#include "kernels/cuda/movers/MoverBodies.h"
#include "kernels/cuda/movers/PlanBody.h"
#include "kernels/cuda/movers/RopeStoreBody.h"
#include "kernels/cuda/movers/SampleBody.h"
#include "kernels/cuda/movers/StateBody.h"
#include "kernels/cuda/products/ExpertBody.h"
#include "kernels/cuda/products/GateBody.h"
#include "kernels/cuda/products/QuantBody.h"
#include "kernels/cuda/ptx/GpuBlock.h"

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
