//===- Ceilings.cpp - What a device can do at most ------------------------===//

#include "Ceilings.h"
#include "Timing.h"

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>

using namespace kv::cuda::test;

namespace {

/// What is used of cuBLASLt. Matrices are column-major there.
struct CublasLt {
  using Opaque = void *;
  int (*cublasLtCreate)(Opaque *);
  int (*cublasLtMatmulDescCreate)(Opaque *, int compute, int scale);
  int (*cublasLtMatmulDescSetAttribute)(Opaque, int, const void *, size_t);
  int (*cublasLtMatrixLayoutCreate)(Opaque *, int type, uint64_t rows,
                                    uint64_t columns, int64_t leading);
  int (*cublasLtMatmul)(Opaque, Opaque, const void *alpha, const void *a,
                        Opaque, const void *b, Opaque, const void *beta,
                        const void *c, Opaque, void *d, Opaque,
                        const void *algorithm, void *workspace, size_t bytes,
                        void *stream);

  bool load() {
    void *library = nullptr;
    for (const char *name :
         {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"})
      if (!library)
        library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    auto find = [&](auto &function, const char *name) {
      void *found = library ? dlsym(library, name) : nullptr;
      function = reinterpret_cast<std::decay_t<decltype(function)>>(found);
      return found != nullptr;
    };
    return find(cublasLtCreate, "cublasLtCreate") &&
           find(cublasLtMatmulDescCreate, "cublasLtMatmulDescCreate") &&
           find(cublasLtMatmulDescSetAttribute,
                "cublasLtMatmulDescSetAttribute") &&
           find(cublasLtMatrixLayoutCreate, "cublasLtMatrixLayoutCreate") &&
           find(cublasLtMatmul, "cublasLtMatmul");
  }
};

/// cudaDataType_t, cublasComputeType_t and attributes.
enum : int { TypeF32 = 0, TypeBf16 = 14, ComputeF32 = 68, AttributeTransA = 3 };

double measureMultiply(Gpu &gpu, Report &report) {
  CublasLt lt;
  if (!lt.load()) {
    report.left.push_back("the GEMM ceiling: cuBLASLt is not here");
    return 0;
  }
  constexpr int64_t N = 8192;
  constexpr size_t WorkspaceBytes = size_t(64) << 20;
  void *handle = nullptr, *multiply = nullptr, *layout = nullptr;
  int transposed = 1;
  float one = 1, zero = 0;
  if (lt.cublasLtCreate(&handle) ||
      lt.cublasLtMatmulDescCreate(&multiply, ComputeF32, TypeF32) ||
      lt.cublasLtMatmulDescSetAttribute(multiply, AttributeTransA, &transposed,
                                        sizeof(transposed)) ||
      lt.cublasLtMatrixLayoutCreate(&layout, TypeBf16, N, N, N)) {
    report.left.push_back("the GEMM ceiling: cuBLASLt refuses it");
    return 0;
  }
  void *matrices[4];
  for (void *&matrix : matrices) {
    size_t bytes = &matrix == &matrices[3] ? WorkspaceBytes : N * N * 2;
    matrix = gpu.allocate(bytes);
    gpu.fill(matrix, 0x3c, bytes);
  }
  int status = 0;
  double time =
      median(gpu.time(20,
                      [&] {
                        status |= lt.cublasLtMatmul(
                            handle, multiply, &one, matrices[0], layout,
                            matrices[1], layout, &zero, matrices[2], layout,
                            matrices[2], layout, nullptr, matrices[3],
                            WorkspaceBytes, gpu.stream());
                      })) /
      1000;
  for (void *matrix : matrices)
    gpu.free(matrix);
  if (status) {
    report.left.push_back("the GEMM ceiling: cuBLASLt fails");
    return 0;
  }
  double rate = 2.0 * N * N * N / time;
  report.rows.push_back({"GEMM ceiling bf16 8192",
                         "operations",
                         "TFLOP/s",
                         rate / 1e12,
                         "",
                         {},
                         {}});
  return rate;
}

} // namespace

Ceilings kv::cuda::test::measureCeilings(Gpu &gpu, Report &report) {
  int64_t bytes = std::min<int64_t>(int64_t(2) << 30, gpu.memoryBytes / 4);
  bytes = bytes / 16 * 16;
  void *from = gpu.allocate(bytes), *to = gpu.allocate(bytes);
  gpu.fill(from, 1, bytes);
  CeilingParams p{from, to, bytes / 16};
  Ceilings ceilings;
  int blocks = gpu.multiprocessors * 4;
  auto rate = [&](const char *kernel, double moved) {
    return moved /
           (median(gpu.time(20, [&] { gpu.launch(kernel, blocks, &p); })) /
            1000);
  };
  ceilings.read = rate("kv_test_read", bytes);
  ceilings.copy = rate("kv_test_copy", 2.0 * bytes);
  gpu.free(from);
  gpu.free(to);
  report.rows.push_back(
      {"read ceiling", "bytes", "GB/s", ceilings.read / 1e9, "", {}, {}});
  report.rows.push_back({"copy ceiling",
                         "bytes read and written",
                         "GB/s",
                         ceilings.copy / 1e9,
                         "",
                         {},
                         {}});
  ceilings.multiply = measureMultiply(gpu, report);
  return ceilings;
}
