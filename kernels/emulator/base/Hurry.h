//===- Hurry.h - Asynchronous work that ends early --------------*- C++ -*-===//
//
// A machine completes tile copies and commits as late as it can, when no thread
// can run. A GPU may complete them at any time, also before a thread comes to
// wait for them, and twice before a late thread does.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_EMULATOR_BASE_HURRY_H
#define KV_KERNELS_EMULATOR_BASE_HURRY_H

#include <cstdint>
#include <utility>

namespace kv::cuda {

/// While one lives, machines on this thread of the host complete work that is
/// in flight at one in `steps` steps of their threads.
class Hurry {
public:
  explicit Hurry(uint32_t steps)
      : steps(steps), outer(std::exchange(current, this)) {}
  ~Hurry() { current = outer; }
  Hurry(const Hurry &) = delete;
  Hurry &operator=(const Hurry &) = delete;

  /// At a step: completes what `land` chooses, if it is time to. A machine that
  /// does not hurry draws no random number.
  template <class Random, class Land>
  static void pass(Random &random, Land land) {
    if (!current || random() % current->steps != 0)
      return;
    landing = true;
    land();
    landing = false;
  }
  /// Whether what happens now is no thread's doing.
  static bool isLanding() { return landing; }

private:
  static inline thread_local Hurry *current = nullptr;
  static inline thread_local bool landing = false;
  uint32_t steps;
  Hurry *outer;
};

} // namespace kv::cuda

#endif // KV_KERNELS_EMULATOR_BASE_HURRY_H
