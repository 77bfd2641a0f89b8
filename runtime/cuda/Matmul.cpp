//===- Matmul.cpp - Products by cuBLASLt ----------------------------------===//
//
// cuBLASLt's matrices are column-major, ours row-major. Read as column-major,
// out is transpose(out) [n, m], weight is transpose(weight) [k, n] and x is
// transpose(x) [k, m]. So cuBLASLt computes transpose(out) = weight *
// transpose(x), with its first operand transposed once more.
//
//===----------------------------------------------------------------------===//

#include "Matmul.h"

#include <algorithm>
#include <bit>
#include <utility>

using namespace kv;
using namespace kv::cuda;
using driver::Result;

/// The number of rows for which the one algorithm of deterministic products is
/// chosen.
static constexpr int64_t DeterministicRows = 64;

static int cudaType(KvDType type) {
  return type == KV_DTYPE_BF16  ? driver::TypeBf16
         : type == KV_DTYPE_F16 ? driver::TypeF16
                                : driver::TypeF32;
}

Expected<Matmuls> Matmuls::create(Backend &backend, bool deterministic) {
  Expected<const driver::CublasLt *> api = driver::loadCublasLt();
  if (!api)
    return std::unexpected(api.error());
  Matmuls matmuls(backend, **api, deterministic);
  if (Expected<void> prepared = matmuls.prepare(); !prepared)
    return std::unexpected(prepared.error());
  return matmuls;
}

Expected<void> Matmuls::prepare() {
  workspaceBytes = std::min(size_t(32) << 20, backend.info().memoryBytes / 64);
  Expected<void *> memory = backend.allocate(workspaceBytes, /*zeroed=*/false);
  if (!memory)
    return std::unexpected(memory.error());
  workspace = *memory;
  Result r = api.create(&handle);
  r = r ? r
        : api.descriptorCreate(&descriptor, driver::ComputeF32,
                               driver::TypeF32);
  int32_t transposed = driver::Transposed;
  r = r ? r
        : api.descriptorSet(descriptor, driver::DescriptorTransA, &transposed,
                            sizeof transposed);
  r = r ? r : api.preferenceCreate(&preference);
  r = r ? r
        : api.preferenceSet(preference, driver::PreferenceWorkspace,
                            &workspaceBytes, sizeof workspaceBytes);
  // Rows are only known to begin at multiples of 16 bytes.
  uint32_t alignment = 16, reductions = 0;
  for (int matrix = 0; matrix < 4; ++matrix)
    r = r ? r
          : api.preferenceSet(preference, driver::PreferenceAlignmentA + matrix,
                              &alignment, sizeof alignment);
  if (deterministic)
    r = r ? r
          : api.preferenceSet(preference, driver::PreferenceReductions,
                              &reductions, sizeof reductions);
  if (r)
    return makeError(KV_STATUS_INTERNAL, "cuBLASLt cannot be set up: status ",
                     r);
  return {};
}

Matmuls::Matmuls(Matmuls &&other) noexcept
    : backend(other.backend), api(other.api),
      deterministic(other.deterministic),
      handle(std::exchange(other.handle, nullptr)),
      descriptor(std::exchange(other.descriptor, nullptr)),
      preference(std::exchange(other.preference, nullptr)),
      workspace(std::exchange(other.workspace, nullptr)),
      workspaceBytes(other.workspaceBytes), plans(std::move(other.plans)) {
  other.plans.clear();
}

Matmuls::~Matmuls() {
  if (workspace)
    backend.free(workspace, workspaceBytes);
  for (auto &[key, plan] : plans)
    for (driver::Layout layout : {plan.weight, plan.x, plan.out})
      api.layoutDestroy(layout);
  if (preference)
    api.preferenceDestroy(preference);
  if (descriptor)
    api.descriptorDestroy(descriptor);
  if (handle)
    api.destroy(handle);
}

Result Matmuls::choose(const Key &key, const Product &product, Plan &plan) {
  int type = cudaType(key.type);
  Result r =
      api.layoutCreate(&plan.weight, type, key.k, key.n, product.weightStride);
  r = r ? r : api.layoutCreate(&plan.x, type, key.k, key.rows, product.xStride);
  r = r ? r
        : api.layoutCreate(&plan.out, cudaType(key.outType), key.n, key.rows,
                           product.outStride);
  if (key.heads > 1)
    for (auto [layout, stride] :
         {std::pair(plan.weight, product.weightHeadStride),
          std::pair(plan.x, product.xHeadStride),
          std::pair(plan.out, product.outHeadStride)}) {
      r = r ? r
            : api.layoutSet(layout, driver::LayoutBatch, &key.heads,
                            sizeof key.heads);
      r = r ? r
            : api.layoutSet(layout, driver::LayoutBatchStride, &stride,
                            sizeof stride);
    }
  driver::Heuristic best = {};
  int count = 0;
  r = r ? r
        : api.getHeuristic(handle, descriptor, plan.weight, plan.x, plan.out,
                           plan.out, preference, 1, &best, &count);
  constexpr Result NotSupported = 15;
  if (r == 0 && (count == 0 || best.state != 0))
    r = NotSupported;
  plan.algorithm = best.algorithm;
  return r;
}

Expected<Matmuls::Plan *> Matmuls::find(const Product &product) {
  // The algorithm of a class is chosen for its largest number of rows, since
  // the workspace that an algorithm needs may grow with the rows.
  int64_t rows = int64_t(std::bit_ceil(uint64_t(product.m)));
  Key key{deterministic ? DeterministicRows : rows,
          product.n,
          product.k,
          product.type,
          product.outType,
          product.heads};
  auto [it, added] = plans.try_emplace(key);
  if (added)
    if (Result r = choose(key, product, it->second)) {
      Plan failed = it->second;
      plans.erase(it);
      for (driver::Layout layout : {failed.weight, failed.x, failed.out})
        if (layout)
          api.layoutDestroy(layout);
      return makeError(KV_STATUS_UNSUPPORTED,
                       "cuBLASLt has no algorithm: ", "status ", r);
    }
  return &it->second;
}

Expected<void> Matmuls::multiply(const Product &product) {
  auto failed = [&](const std::string &why) {
    return makeError(KV_STATUS_INTERNAL, "matmul of [", product.m, ", ",
                     product.k, "] with [", product.n, ", ", product.k,
                     "]: ", why);
  };
  Expected<Plan *> found = find(product);
  if (!found)
    return failed(found.error().message);
  Plan &plan = **found;
  uint64_t columns = uint64_t(product.m);
  Result r = 0;
  auto set = [&](driver::Layout layout, int attribute, const auto &value) {
    r = r ? r : api.layoutSet(layout, attribute, &value, sizeof value);
  };
  set(plan.weight, driver::LayoutLeading, product.weightStride);
  set(plan.x, driver::LayoutColumns, columns);
  set(plan.x, driver::LayoutLeading, product.xStride);
  set(plan.out, driver::LayoutColumns, columns);
  set(plan.out, driver::LayoutLeading, product.outStride);
  if (product.heads > 1) {
    set(plan.weight, driver::LayoutBatchStride, product.weightHeadStride);
    set(plan.x, driver::LayoutBatchStride, product.xHeadStride);
    set(plan.out, driver::LayoutBatchStride, product.outHeadStride);
  }
  float one = 1, zero = 0;
  r = r ? r
        : api.matmul(handle, descriptor, &one, product.weight, plan.weight,
                     product.x, plan.x, &zero, product.out, plan.out,
                     product.out, plan.out, &plan.algorithm, workspace,
                     workspaceBytes, backend.stream());
  if (r)
    return failed(concat("cuBLASLt's status is ", r));
  return {};
}
