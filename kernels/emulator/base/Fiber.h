//===- Fiber.h - Many stacks in one thread ----------------------*- C++ -*-===//
//
// A switch saves the callee-saved registers and exchanges stack pointers: a
// few nanoseconds, where swapcontext makes two system calls. Other machines
// than x86-64 use swapcontext (KV_FIBER_UCONTEXT).
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_EMULATOR_BASE_FIBER_H
#define KV_KERNELS_EMULATOR_BASE_FIBER_H

#include <cstddef>
#include <functional>
#include <vector>

#if !defined(__x86_64__) && !defined(KV_FIBER_UCONTEXT)
#define KV_FIBER_UCONTEXT
#endif
#ifdef KV_FIBER_UCONTEXT
#include <ucontext.h>
#endif

namespace kv::cuda {

/// A set of fibers that run one function, each with its number. Who goes on is
/// said by who stops: nothing runs in between.
class Fibers {
public:
  /// Who is no fiber: the caller of start().
  static constexpr int Outside = -1;

  Fibers();
  ~Fibers();
  Fibers(const Fibers &) = delete;
  Fibers &operator=(const Fibers &) = delete;

  /// Prepares `count` fibers; those of an earlier start are forgotten where
  /// they stand, so a body holds nothing that needs a destructor. At its end
  /// the body returns who goes on.
  void start(int count, std::function<int(int)> body);
  /// Lets a fiber, or the outside, go on; returns when somebody comes back.
  void switchTo(int fiber);
  /// Says that a fiber will soon go on: what it needs first comes from memory
  /// while another one runs.
  void prefetch(int fiber) const {
#ifndef KV_FIBER_UCONTEXT
    for (int line = 0; line < 6; ++line)
      __builtin_prefetch(static_cast<char *>(at(fiber).pointer) + line * 64);
#endif
  }
  /// Who goes on now.
  int running() const { return current; }
  bool finished(int fiber) const { return at(fiber).finished; }

private:
  struct State {
#ifdef KV_FIBER_UCONTEXT
    ucontext_t context;
#else
    void *pointer = nullptr;
#endif
    char *stack = nullptr;
    size_t stackSize = 0;
    void *fakeStack = nullptr; // of the address sanitizer
    bool finished = false;
  };

  static void entry();
  void leave(int to, bool last);
  void arrive();
  State &at(int fiber) { return states[fiber + 1]; }
  const State &at(int fiber) const { return states[fiber + 1]; }

  std::vector<State> states; // the outside's, then the fibers'
  std::function<int(int)> function;
  int current = Outside, before = Outside;
};

} // namespace kv::cuda

#endif // KV_KERNELS_EMULATOR_BASE_FIBER_H
