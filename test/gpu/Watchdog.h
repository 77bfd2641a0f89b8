//===- Watchdog.h - Where kernels waited too long ---------------*- C++ -*-===//
//
// Images with a watchdog (<lib>/kv-cuda-watchdog, <lib>/kv-verify-watchdog)
// report to pinned memory of the host and trap. The context is lost then, and
// what was written can still be read.
//
//===----------------------------------------------------------------------===//

#ifndef KV_TEST_GPU_WATCHDOG_H
#define KV_TEST_GPU_WATCHDOG_H

#include "kernels/cuda/parameters/Watchdog.h"
#include "runtime/cuda/driver/Driver.h"

#include <string>
#include <vector>

namespace kv::cuda::test {

/// A sentence for each wait, those of one warp together.
std::vector<std::string> sentencesOf(const WatchdogReport &report);

class Watchdog {
public:
  explicit Watchdog(const driver::Driver &api) : api(api) {}
  /// Tells a module where to report, if it has a watchdog; gives what the
  /// driver says of it.
  int attach(driver::Module module, driver::Stream stream);
  /// What kernels have reported.
  std::vector<std::string> sentences() const {
    return report ? sentencesOf(*report) : std::vector<std::string>();
  }

private:
  const driver::Driver &api;
  WatchdogReport *report = nullptr; // pinned
};

} // namespace kv::cuda::test

#endif // KV_TEST_GPU_WATCHDOG_H
