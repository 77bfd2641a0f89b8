//===- KernelRun.h - One launch of a kernel ---------------------*- C++ -*-===//

#ifndef KV_TEST_KERNELS_KERNELRUN_H
#define KV_TEST_KERNELS_KERNELRUN_H

#include "Backend.h"

#include <functional>
#include <gtest/gtest.h>

namespace kv::cuda::test {

/// Gives vectors to a backend, launches on them and takes results back. What
/// the backend reports is a failure of the test.
class KernelRun {
public:
  explicit KernelRun(
      const MachineOptions &options = {.schedule = Schedule::Random})
      : backend(makeBackend(options)) {}

  template <class T> T *in(const std::vector<T> &data) {
    return static_cast<T *>(
        backend->give(data.data(), data.size() * sizeof(T), Access::Read));
  }
  /// `data` must live until the last launch.
  template <class T> T *out(std::vector<T> &data) {
    size_t bytes = data.size() * sizeof(T);
    void *given = backend->give(data.data(), bytes, Access::Write);
    results.push_back([this, &data, given, bytes] {
      backend->take(data.data(), given, bytes);
    });
    return static_cast<T *>(given);
  }

  /// A tensor in memory that was given.
  TensorMap encode(const TensorDescription &tensor) {
    return backend->encode(tensor);
  }

  template <class Params>
  void operator()(const char *name, int blocks, const Params &params,
                  int cluster = 1) {
    backend->launch(name, blocks, &params, cluster);
    for (auto &take : results)
      take();
    for (const std::string &report : backend->reports())
      ADD_FAILURE() << name << ": " << report;
  }

private:
  std::unique_ptr<Backend> backend;
  std::vector<std::function<void()>> results;
};

} // namespace kv::cuda::test

#endif // KV_TEST_KERNELS_KERNELRUN_H
