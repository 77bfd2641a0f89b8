//===- Context.cpp - What entries call on a GPU ---------------------------===//

#include "Context.h"

#include "kernels/cuda/parameters/StepErrors.h"

#include <algorithm>
#include <atomic>

using namespace kv;
using namespace kv::cuda;
using State = ExecutionContext::State;

Expected<std::unique_ptr<DeviceContext>>
Context::create(Backend &backend, const DeviceContextOptions &options) {
  Expected<Matmuls> products = Matmuls::create(backend, options.deterministic);
  if (!products)
    return std::unexpected(products.error());
  std::unique_ptr<Context> context(
      new Context(backend, std::move(*products), options.log));
  // Two a part: of a unit's groups, and of a group's parts.
  size_t count =
      size_t(2) * backend.info().blocks * backend.info().multiprocessors;
  Expected<void *> counters =
      backend.allocate(sizeof(uint32_t) * count + sizeof(float),
                       /*zeroed=*/true);
  if (!counters)
    return std::unexpected(counters.error());
  context->arrivals = static_cast<uint32_t *>(*counters);
  context->unit = reinterpret_cast<float *>(context->arrivals + count);
  Expected<void *> errors =
      backend.allocatePinned(sizeof(uint64_t) + sizeof(float));
  if (!errors)
    return std::unexpected(errors.error());
  context->errors = static_cast<uint64_t *>(*errors);
  auto *one = new (context->errors + 1) float(1);
  backend.copyToDevice(context->unit, one, sizeof(float));
  if (options.ranks) {
    Expected<std::unique_ptr<Ranks>> group =
        Ranks::create(backend, *options.ranks);
    if (!group)
      return std::unexpected(group.error());
    context->group = std::move(*group);
  }
  return context;
}

Context::~Context() {
  if (arrivals)
    device.free(arrivals, 0);
  if (errors)
    device.freePinned(errors, 0);
}

bool Context::start(std::span<const uint64_t> call) {
  identity.assign(call.begin(), call.end());
  if (!call.empty())
    identity.push_back(module ? module->serial : 0);
  return graphs.start(identity);
}

Expected<void> Context::takeStepError() {
  std::atomic_ref<uint64_t> word(*errors); // kernels write to it
  StepError error = unpackStepError(word.load(std::memory_order_acquire));
  if (error.kind == StepErrorKind::None)
    return {};
  word.store(0, std::memory_order_release);
  switch (error.kind) {
  case StepErrorKind::RowOffset:
    return makeError(KV_STATUS_OUT_OF_RANGE, "row_offsets: entry ", error.row,
                     " is ", error.value,
                     ": they must begin at 0, not fall, and end at the number "
                     "of the step's rows");
  case StepErrorKind::EmbeddingId:
    return makeError(KV_STATUS_OUT_OF_RANGE, "embedding: row ", error.row,
                     " has the id ", error.value,
                     ", which is outside the table");
  default:
    return makeError(KV_STATUS_OUT_OF_RANGE,
                     "kv.rope: a position is outside freqs: row ", error.row,
                     " has the position ", error.value);
  }
}

const LoadedKernel *Context::kernel(State &state, size_t row) const {
  if (const LoadedKernel *kernel = findKernel(row))
    return kernel;
  state.recordError(KV_STATUS_UNSUPPORTED,
                    concat("the artifact has no kernel ",
                           KernelLaunches[row].name, ": compile it again"));
  return nullptr;
}

/// Code that waits itself for the kernels before it (hasClusters) may begin
/// while those still run.
static driver::Result queue(const Backend &backend, const LoadedKernel &kernel,
                            int blocks, int threads, int sharedBytes,
                            void **arguments, int cluster) {
  const driver::Driver &api = backend.driver();
  if (!kernel.waits() || !api.launchKernelEx)
    return api.launchKernel(kernel.function, blocks, 1, 1, threads, 1, 1,
                            sharedBytes, backend.stream(), arguments, nullptr);
  return driver::launchEarly(api, kernel.function, blocks, cluster, threads,
                             sharedBytes, backend.stream(), arguments);
}

void kv::cuda::launch(State &state, size_t row, int64_t blocks,
                      const void *params, int cluster) {
  Context &context = Context::of(state);
  const LoadedKernel *kernel = context.kernel(state, row);
  if (!kernel)
    return;
  const KernelLaunch &how = KernelLaunches[row];
  // The driver places each argument where the image wants it, which for a
  // TileParams on 9.0 is not the beginning of the parameter space.
  void *arguments[] = {const_cast<void *>(params)};
  Backend &backend = context.backend();
  if (!backend.check(queue(backend, *kernel, int(blocks), how.threads,
                           how.sharedBytes(kernel->sm), arguments, cluster),
                     how.name))
    state.recordError(KV_STATUS_INTERNAL, backend.status().error().message);
}
