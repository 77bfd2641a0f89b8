//===- Matmul.h - Products by cuBLASLt --------------------------*- C++ -*-===//

#ifndef KV_RUNTIME_CUDA_MATMUL_H
#define KV_RUNTIME_CUDA_MATMUL_H

#include "Backend.h"

#include <map>

namespace kv::cuda {

/// out [m, n] = x [m, k] * transpose(weight [n, k]); strides count elements.
struct Product {
  const void *x, *weight;
  void *out;
  int64_t m, n, k;
  int64_t xStride, weightStride, outStride;
  KvDType type, outType; // of x and weight; of out
};

/// Chooses an algorithm once for a weight's shape and a class of m, and then
/// multiplies with it. When deterministic, all m are one class and no sum is
/// split: a row's bits do not depend on m.
class Matmuls {
public:
  static Expected<Matmuls> create(Backend &backend, bool deterministic);
  Matmuls(Matmuls &&other) noexcept;
  ~Matmuls();

  /// Queues the product. Errors: cuBLASLt's, with the shape.
  Expected<void> multiply(const Product &product);

private:
  struct Key {
    int64_t rows, n, k; // the most rows of the class
    KvDType type, outType;
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
