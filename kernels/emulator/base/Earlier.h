//===- Earlier.h - A kernel before those that it waits for ------*- C++ -*-===//
//
// A GPU may begin a kernel while the one before it on the stream still runs. On
// the emulator that is two runs: one before the earlier kernel, as early as it
// can be, in which every thread ends where it waits; and the run itself. A
// kernel that does not wait has done all its work in the first.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_EMULATOR_BASE_EARLIER_H
#define KV_KERNELS_EMULATOR_BASE_EARLIER_H

#include <utility>

namespace kv::cuda {

/// While one lives, kernels on this thread of the host run before earlier ones.
class EarlyRun {
public:
  /// `ignoresWaits`: a mistake for tests, a kernel whose wait is missing.
  explicit EarlyRun(bool ignoresWaits = false)
      : ignoresWaits(ignoresWaits), outer(std::exchange(current, this)) {}
  ~EarlyRun() { current = outer; }
  EarlyRun(const EarlyRun &) = delete;
  EarlyRun &operator=(const EarlyRun &) = delete;

  /// Whether any thread has come to a wait.
  bool hasWaited() const { return waited; }

  /// At a wait: whether the thread goes on.
  static bool passWait() {
    if (!current || current->ignoresWaits)
      return true;
    current->waited = true;
    return false;
  }

private:
  static inline thread_local EarlyRun *current = nullptr;
  bool ignoresWaits, waited = false;
  EarlyRun *outer;
};

} // namespace kv::cuda

#endif // KV_KERNELS_EMULATOR_BASE_EARLIER_H
