//===- AttentionTwinsTensor.cpp - The kernels with tensor memory ----------===//

#include "AttentionTwins.h"
#include "LaunchRoles.h"
#include "kernels/cuda/attention/tcgen05/TensorKernel.h"
#include "kernels/emulator/CpuTensorBlock.h"

#include <cstring>

using namespace kv::cuda;

template <class Config>
static void run(Machine &machine, int blocks, const TileParams &params) {
  launchRoles<Config>(machine, blocks, [&](Machine &m, int thread) {
    CpuTensorBlock b(CpuBlock(m, thread));
    if (beginKernel(b))
      runTensor<Config>(b, params);
  });
}

void kv::cuda::runTensorTwin(Machine &machine, const AttentionKernel &kernel,
                             int blocks, const void *params) {
  TileParams aligned;
  std::memcpy(static_cast<void *>(&aligned), params, sizeof(aligned));
#define KV_TENSOR_KERNEL(type, query, cache, dim, ...)                         \
  if (kernel.name == "kv_attention_tensor_" #type "_" #dim)                    \
    run<KV_TENSOR_CONFIG(query, cache, dim)>(machine, blocks, aligned);
#define KV_LATENT_TENSOR_KERNEL(type, query, cache, dim, vDim, ...)            \
  if (kernel.name == "kv_latent_tensor_" #type "_" #dim)                       \
    run<KV_LATENT_TENSOR_CONFIG(query, dim, vDim)>(machine, blocks, aligned);
#include "kv/ABI/DeviceKernels.def"
}
