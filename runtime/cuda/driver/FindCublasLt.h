//===- FindCublasLt.h - Where cuBLASLt and NCCL may lie ---------*- C++ -*-===//

#ifndef KV_RUNTIME_CUDA_DRIVER_FINDCUBLASLT_H
#define KV_RUNTIME_CUDA_DRIVER_FINDCUBLASLT_H

#include <string>
#include <vector>

namespace kv::cuda::driver {

/// What to open for cuBLASLt, in this order: its names, which the loader looks
/// for; then files that are there: of toolkits (CUDA_HOME, CUDA_PATH,
/// /usr/local/cuda*), of NVIDIA's wheels beside this library and in
/// VIRTUAL_ENV, and in the system's Python.
std::vector<std::string> cublasLtCandidates();
/// The same for NCCL.
std::vector<std::string> ncclCandidates();

} // namespace kv::cuda::driver

#endif // KV_RUNTIME_CUDA_DRIVER_FINDCUBLASLT_H
