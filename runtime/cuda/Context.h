//===- Context.h - What entries call on a GPU -------------------*- C++ -*-===//

#ifndef KV_RUNTIME_CUDA_CONTEXT_H
#define KV_RUNTIME_CUDA_CONTEXT_H

#include "../Functions.h"
#include "Matmul.h"
#include "Module.h"

namespace kv::cuda {

/// The functions of one ExecutionContext. All that its calls need beside the
/// arena is allocated when it is made.
class Context final : public DeviceContext {
public:
  static Expected<std::unique_ptr<DeviceContext>> create(Backend &backend,
                                                         bool deterministic);
  ~Context() override;

  const KvFunctionTable &functions() const override;
  void *stream() const override { return device.stream(); }
  void use(const DeviceModule *used) override {
    device.enter();
    module = static_cast<const Module *>(used);
  }

  Backend &backend() { return device; }
  Matmuls &matmuls() { return products; }
  Expected<void> takeStepError() override;
  /// Where kernels raise errors (kernels/cuda/StepErrors.h): pinned memory,
  /// which a GPU writes to by the host's address.
  uint64_t *stepErrors() const { return errors; }
  /// Zero between launches, one for each block of any attention kernel.
  uint32_t *counters() const { return arrivals; }
  /// Of a row of KernelLaunches. Null, and an error in `state`, if the artifact
  /// has no such kernel.
  const LoadedKernel *kernel(ExecutionContext::State &state, size_t row) const;

  static Context &of(ExecutionContext::State &state) {
    return static_cast<Context &>(*state.device);
  }

private:
  Context(Backend &backend, Matmuls products)
      : device(backend), products(std::move(products)) {}

  Backend &device;
  Matmuls products;
  const Module *module = nullptr;
  uint32_t *arrivals = nullptr;
  uint64_t *errors = nullptr;
};

/// The row of KernelLaunches of a kernel that is there.
consteval size_t kernelRow(std::string_view name) {
  return findKernel(name) - KernelLaunches.data();
}

/// Queues a kernel. An error goes to `state`.
void launch(ExecutionContext::State &state, size_t row, int64_t blocks,
            const void *params);

} // namespace kv::cuda

#endif // KV_RUNTIME_CUDA_CONTEXT_H
