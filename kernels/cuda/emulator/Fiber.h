//===- Fiber.h - Many stacks in one thread ----------------------*- C++ -*-===//
//
// A switch saves the callee-saved registers and exchanges stack pointers: a
// few nanoseconds, where swapcontext makes two system calls. Other machines
// than x86-64 use swapcontext (KV_FIBER_UCONTEXT).
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_EMULATOR_FIBER_H
#define KV_KERNELS_CUDA_EMULATOR_FIBER_H

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#if !defined(__x86_64__) && !defined(KV_FIBER_UCONTEXT)
#define KV_FIBER_UCONTEXT
#endif
#ifdef KV_FIBER_UCONTEXT
#include <ucontext.h>
#endif

namespace kv::cuda {

/// A set of fibers that run one function, each with its number. Fibers run
/// only inside resume() and come back by yield() or at their end.
class Fibers {
public:
  Fibers();
  ~Fibers();
  Fibers(const Fibers &) = delete;
  Fibers &operator=(const Fibers &) = delete;

  /// Prepares `count` fibers; those of an earlier start are forgotten where
  /// they stand, so a body holds nothing that needs a destructor.
  void start(int count, std::function<void(int)> body);
  void resume(int fiber);
  void yield(); // from inside a fiber
  bool finished(int fiber) const { return states[fiber].finished; }

private:
  struct State {
#ifdef KV_FIBER_UCONTEXT
    ucontext_t context;
#else
    void *pointer = nullptr;
#endif
    char *stack = nullptr;
    void *fakeStack = nullptr; // of the address sanitizer
    bool finished = false;
  };

  static void entry();
  void switchBack(bool last);

  std::vector<State> states;
  std::function<void(int)> function;
  State scheduler;
  const void *schedulerStack = nullptr;
  size_t schedulerStackSize = 0;
  int current = -1;
};

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_EMULATOR_FIBER_H
