//===- Context.cpp - What entries call on a GPU ---------------------------===//

#include "Context.h"

#include <algorithm>

using namespace kv;
using namespace kv::cuda;
using State = ExecutionContext::State;

Expected<std::unique_ptr<DeviceContext>> Context::create(Backend &backend,
                                                         bool deterministic) {
  Expected<Matmuls> products = Matmuls::create(backend, deterministic);
  if (!products)
    return std::unexpected(products.error());
  std::unique_ptr<Context> context(new Context(backend, std::move(*products)));
  int blocks = 0;
  for (const AttentionKernel &kernel : AttentionKernels)
    blocks = std::max({blocks, kernel.blocks80, kernel.blocks90});
  Expected<void *> counters = backend.allocate(
      sizeof(uint32_t) * blocks * backend.info().multiprocessors,
      /*zeroed=*/true);
  if (!counters)
    return std::unexpected(counters.error());
  context->arrivals = static_cast<uint32_t *>(*counters);
  return context;
}

Context::~Context() {
  if (arrivals)
    device.free(arrivals, 0);
}

const LoadedKernel *Context::kernel(State &state, size_t row) const {
  const LoadedKernel *kernel = module ? &module->kernel(row) : nullptr;
  if (kernel && kernel->function)
    return kernel;
  state.recordError(KV_STATUS_UNSUPPORTED,
                    concat("the artifact has no kernel ",
                           KernelLaunches[row].name, ": compile it again"));
  return nullptr;
}

void kv::cuda::launch(State &state, size_t row, int64_t blocks,
                      const void *params) {
  Context &context = Context::of(state);
  const LoadedKernel *kernel = context.kernel(state, row);
  if (!kernel)
    return;
  const KernelLaunch &how = KernelLaunches[row];
  size_t bytes = how.paramBytes;
  void *extra[] = {driver::LaunchBufferPointer, const_cast<void *>(params),
                   driver::LaunchBufferSize, &bytes, driver::LaunchEnd};
  Backend &backend = context.backend();
  if (!backend.check(
          backend.driver().launchKernel(kernel->function, unsigned(blocks), 1,
                                        1, unsigned(how.threads), 1, 1,
                                        unsigned(how.sharedBytes(kernel->sm)),
                                        backend.stream(), nullptr, extra),
          how.name))
    state.recordError(KV_STATUS_INTERNAL, backend.status().error().message);
}
