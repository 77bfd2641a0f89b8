#include "TensorProbe.h"
#include "kernels/cuda/ptx/GpuTensorBlock.h"

using namespace kv::cuda;
using namespace kv::cuda::test;

#define KV_TENSOR_PROBE(rows)                                                  \
  extern "C" __global__ void __launch_bounds__(ProbeThreads)                   \
      kv_test_tensor_##rows(const __grid_constant__ ProbeParams p) {           \
    GpuTensorBlock block;                                                      \
    tensorProbeBody<rows>(block, p);                                           \
  }
KV_TENSOR_PROBE(64)
KV_TENSOR_PROBE(128)
