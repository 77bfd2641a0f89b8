//===- Context.h - What entries call on a GPU -------------------*- C++ -*-===//

#ifndef KV_RUNTIME_CUDA_CONTEXT_H
#define KV_RUNTIME_CUDA_CONTEXT_H

#include "Matmul.h"
#include "Module.h"
#include "Ranks.h"
#include "StepGraphs.h"
#include "runtime/device/Functions.h"

namespace kv::cuda {

/// The part of an ExecutionContext that belongs to a GPU: the functions that
/// entries call, and their memory outside of the arena, which create()
/// allocates. The backend must outlive the context.
class Context final : public DeviceContext {
public:
  /// Errors: no memory; cuBLASLt is not there or cannot be set up; those of
  /// Ranks.
  static Expected<std::unique_ptr<DeviceContext>>
  create(Backend &backend, const DeviceContextOptions &options);
  ~Context() override;

  const KvFunctionTable &functions() const override;
  void *stream() const override { return device.stream(); }
  void use(const DeviceModule *used) override {
    device.enter();
    module = static_cast<const Module *>(used);
  }

  Backend &backend() { return device; }
  Matmuls &matmuls() { return products; }
  /// Null where this process computes alone.
  Ranks *ranks() { return group.get(); }
  bool start(std::span<const uint64_t> call) override;
  bool finish(bool sound) override { return graphs.finish(sound); }
  Expected<void> takeStepError() override;
  /// The word in which kernels report step errors
  /// (kernels/cuda/parameters/StepErrors.h). The word lies in pinned memory,
  /// which a GPU can write to by the host's address.
  uint64_t *stepErrors() const { return errors; }
  /// Counters on the device, one for each thread block that it can run at once.
  /// Zero between launches.
  uint32_t *counters() const { return arrivals; }
  /// A 1 on the device: the scale of what has none, for kernels that take
  /// scales.
  const float *one() const { return unit; }
  /// The kernel of a row of KernelLaunches. Null, with an error in `state`, if
  /// the artifact does not contain this kernel.
  const LoadedKernel *kernel(ExecutionContext::State &state, size_t row) const;
  /// The kernel of a row, or null, without an error.
  const LoadedKernel *findKernel(size_t row) const {
    return module && module->kernel(row).function ? &module->kernel(row)
                                                  : nullptr;
  }

  /// The context of an execution on a GPU.
  static Context &of(ExecutionContext::State &state) {
    return static_cast<Context &>(*state.device);
  }

private:
  Context(Backend &backend, Matmuls products,
          std::function<void(std::string_view)> log)
      : device(backend), products(std::move(products)),
        graphs(backend, std::move(log)) {}

  Backend &device;
  Matmuls products;
  std::unique_ptr<Ranks> group;
  StepGraphs graphs;
  const Module *module = nullptr;
  std::vector<uint64_t> identity; // of a call, with its module
  uint32_t *arrivals = nullptr;
  float *unit = nullptr; // after the arrivals
  uint64_t *errors = nullptr;
};

/// The row of KernelLaunches with this name, which must exist.
consteval size_t kernelRow(std::string_view name) {
  return findKernel(name) - KernelLaunches.data();
}

/// Queues the kernel of a row of KernelLaunches with `blocks` thread blocks.
/// Its parameters are copied from `params` before the call returns. Errors are
/// recorded in `state`. Where the chip's blocks form clusters, each of them is
/// `cluster` blocks instead.
void launch(ExecutionContext::State &state, size_t row, int64_t blocks,
            const void *params, int cluster = 1);

} // namespace kv::cuda

#endif // KV_RUNTIME_CUDA_CONTEXT_H
