//===- Watchdog.h - Where a kernel waited too long --------------*- C++ -*-===//
//
// Images with a watchdog (<lib>/kv-cuda-watchdog, <lib>/kv-verify-watchdog)
// have a pointer, WatchdogSymbol, to pinned memory of the host. A wait that
// lasts too long writes there where it is, and traps: the context is lost, and
// what was written can still be read.
//
//===----------------------------------------------------------------------===//

#ifndef KV_TEST_GPU_WATCHDOG_H
#define KV_TEST_GPU_WATCHDOG_H

#include "../../runtime/cuda/Driver.h"

#include <cstdint>
#include <string>

namespace kv::cuda::test {

constexpr const char *WatchdogSymbol = "kv_watchdog";

/// The first thread that gave up wins `isSet`, and writes the others.
struct WatchdogReport {
  uint32_t isSet, block, warp, barrier, parity, leaf;
};

/// A sentence; empty: no kernel has reported.
std::string sentenceOf(const WatchdogReport &report);

class Watchdog {
public:
  explicit Watchdog(const driver::Driver &api) : api(api) {}
  /// Tells a module where to report, if it has a watchdog; gives what the
  /// driver says of it.
  int attach(driver::Module module, driver::Stream stream);
  /// What a kernel has reported.
  std::string sentence() const {
    return report ? sentenceOf(*report) : std::string();
  }

private:
  const driver::Driver &api;
  WatchdogReport *report = nullptr;
};

} // namespace kv::cuda::test

#endif // KV_TEST_GPU_WATCHDOG_H
