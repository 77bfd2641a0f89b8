#include "../ElementsBody.h"
#include "../ExpertBody.h"
#include "../GpuBlock.h"
#include "../MoverBodies.h"
#include "../PlanBody.h"
#include "../QuantBody.h"
#include "../RopeStoreBody.h"
#include "../SampleBody.h"

using namespace kv::cuda;

#define KV_MOVER_KERNEL(name, parameters, registers, shared, body)             \
  extern "C" __global__ void __launch_bounds__(MoverThreads)                   \
      kv_##name(const __grid_constant__ parameters params) {                   \
    GpuBlock block;                                                            \
    beginKernel(block);                                                        \
    body<GpuBlock>(block, params);                                             \
  }
#include "kv/ABI/DeviceKernels.def"
