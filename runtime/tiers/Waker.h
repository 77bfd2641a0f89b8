//===- Waker.h - Waits for any of several stores ----------------*- C++ -*-===//

#ifndef KV_RUNTIME_TIERS_WAKER_H
#define KV_RUNTIME_TIERS_WAKER_H

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace kv {

/// Threads of several stores say that something is over; one thread waits for
/// the first of them.
class Waker {
public:
  void signal() {
    {
      std::lock_guard lock(mutex);
      ++count;
    }
    changed.notify_all();
  }
  /// How often it has been signalled.
  uint64_t signals() const {
    std::lock_guard lock(mutex);
    return count;
  }
  /// Waits for a signal after the first `seen`. False: there was none in time.
  bool wait(uint64_t seen, std::chrono::nanoseconds most) {
    // Far from the end of the clock.
    most = std::min(most, std::chrono::nanoseconds::max() / 2);
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, most, [&] { return count != seen; });
  }

private:
  mutable std::mutex mutex;
  std::condition_variable changed;
  uint64_t count = 0;
};

} // namespace kv

#endif // KV_RUNTIME_TIERS_WAKER_H
