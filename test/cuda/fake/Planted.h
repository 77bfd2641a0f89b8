//===- Planted.h - Faults that somebody asked for ---------------*- C++ -*-===//
//
// KV_FAKE_CUDA_FAULT=KIND:KERNEL,... makes kernels misbehave, so that a test of
// tests sees whether they notice:
//
//   crash   the process dies when the kernel runs
//   hang    the kernel never ends, and says so on stderr; of an image with a
//           watchdog it traps, and leaves a report
//   error   the launch fails, and with it everything after
//   wrong   the kernel's results have other bits
//   page    attention reads one page of the first sequence twice, and the next
//           page not at all
//   nowait  the kernel waits for none before it, where it may begin early
//
// One process has it; KV_FAKE_CUDA_FAULT_ONCE=FILE: the first one only, which
// makes the file.
//
//===----------------------------------------------------------------------===//

#ifndef KV_TEST_CUDA_FAKE_PLANTED_H
#define KV_TEST_CUDA_FAKE_PLANTED_H

#include "DeviceMemory.h"
#include "kernels/cuda/parameters/Watchdog.h"
#include "kernels/emulator/Machine.h"

#include <string>
#include <string_view>
#include <vector>

namespace kv::fake {

/// One launch, with the fault that is planted in its kernel, if any.
class Planted {
public:
  explicit Planted(std::string_view kernel);
  /// Where the kernel is to hang: does not return unless its image has a
  /// variable for a watchdog, which then has a report. False for all others.
  bool hangs(kv::cuda::WatchdogReport **watchdog) const;
  /// Before the kernel runs; gives the arguments to run it with.
  const void *before(kv::cuda::Machine &machine,
                     const std::vector<char> &params);
  /// Behind it.
  void after();
  bool fails() const { return kind == "error"; }
  bool ignoresWaits() const { return kind == "nowait"; }

private:
  struct Copy {
    DeviceMemory::Range range;
    std::vector<char> bytes;
  };
  std::string kind; // empty: no fault
  std::vector<Copy> copies;
  std::vector<char> changed; // arguments
  std::vector<int32_t> table;
};

} // namespace kv::fake

#endif // KV_TEST_CUDA_FAKE_PLANTED_H
