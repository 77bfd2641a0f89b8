//===- FindCublasLt.h - Where cuBLASLt and NCCL may lie ---------*- C++ -*-===//

#ifndef KV_RUNTIME_CUDA_DRIVER_FINDCUBLASLT_H
#define KV_RUNTIME_CUDA_DRIVER_FINDCUBLASLT_H

#include <string>
#include <vector>

namespace kv::cuda::driver {

/// Candidates for cuBLASLt, in this order. First its names, which the loader
/// looks for. Then files that exist: of toolkits (CUDA_HOME, CUDA_PATH,
/// /usr/local/cuda*), and of NVIDIA's wheels next to this library, in
/// VIRTUAL_ENV, and in the system's Python.
std::vector<std::string> cublasLtCandidates();
/// Candidates for NCCL, in the same order.
std::vector<std::string> ncclCandidates();

} // namespace kv::cuda::driver

#endif // KV_RUNTIME_CUDA_DRIVER_FINDCUBLASLT_H
