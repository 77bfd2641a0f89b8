//===- Matmul.h - Products by cuBLASLt --------------------------*- C++ -*-===//

#ifndef KV_RUNTIME_CUDA_MATMUL_H
#define KV_RUNTIME_CUDA_MATMUL_H

#include "Backend.h"

#include <map>

namespace kv::cuda {

/// The product out [m, n] = x [m, k] * transpose(weight [n, k]) on the device,
/// of each head. Strides count elements between rows, and between heads.
struct Product {
  const void *x, *weight;
  void *out;
  int64_t m, n, k;
  int64_t xStride, weightStride, outStride;
  KvDType type, outType; // of x and weight; of out
  int32_t heads = 1;
  int64_t xHeadStride = 0, weightHeadStride = 0, outHeadStride = 0;
};

/// Multiplies with cuBLASLt. The algorithm is chosen once for each shape of a
/// weight and each class of m (the powers of two), and kept as a matmul plan.
/// If `deterministic`, all m form one class and no sum is split over thread
/// blocks, so that no bit of a row depends on m. Owns its workspace on the
/// device; the backend must outlive it.
class Matmuls {
public:
  /// Errors: cuBLASLt is not there or cannot be set up; no memory.
  static Expected<Matmuls> create(Backend &backend, bool deterministic);
  Matmuls(Matmuls &&other) noexcept;
  ~Matmuls();

  /// Queues the product; its tensors must live until it has run. Errors: those
  /// of cuBLASLt, with the shapes.
  Expected<void> multiply(const Product &product);

private:
  struct Key {
    int64_t rows, n, k; // rows: the m that the algorithm is chosen for
    KvDType type, outType;
    int32_t heads;
    auto operator<=>(const Key &) const = default;
  };
  struct Plan {
    driver::Algorithm algorithm;
    driver::Layout weight, x, out;
  };

  Matmuls(Backend &backend, const driver::CublasLt &api, bool deterministic)
      : backend(backend), api(api), deterministic(deterministic) {}
  Expected<void> prepare();
  Expected<Plan *> find(const Product &product);
  driver::Result choose(const Key &key, const Product &product, Plan &plan);

  Backend &backend;
  const driver::CublasLt &api;
  bool deterministic;
  driver::Handle handle = nullptr;
  driver::Descriptor descriptor = nullptr;
  driver::Preference preference = nullptr;
  void *workspace = nullptr;
  size_t workspaceBytes = 0;
  std::map<Key, Plan> plans;
};

} // namespace kv::cuda

#endif // KV_RUNTIME_CUDA_MATMUL_H
