//===- Fiber.cpp - Many stacks in one thread ------------------------------===//

#include "Fiber.h"

#include <cstdint>
#include <cstdlib>
#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__)
#define KV_FIBER_ASAN
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KV_FIBER_ASAN
#endif
#endif
#ifdef KV_FIBER_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

using namespace kv::cuda;

namespace {

#ifdef KV_FIBER_ASAN
constexpr size_t StackBytes = 256 * 1024; // its frames are large
#else
constexpr size_t StackBytes = 64 * 1024;
#endif

/// A cache keeps addresses that differ by a large power of two in the same few
/// lines: stacks begin at other distances.
constexpr size_t StackDistance = StackBytes + 17 * 64;

/// Stacks that no fiber has, cut from huge pages: a launch costs no system call
/// for them, a switch no look-up of an address.
struct StackPool {
  static constexpr size_t SlabBytes = 2 * 1024 * 1024;
  std::vector<void *> slabs;
  std::vector<char *> idle;

  ~StackPool() {
    for (void *slab : slabs)
      std::free(slab);
  }
  char *take() {
    if (idle.empty()) {
      void *slab = std::aligned_alloc(SlabBytes, SlabBytes);
      if (!slab)
        std::abort();
      madvise(slab, SlabBytes, MADV_HUGEPAGE);
      slabs.push_back(slab);
      for (size_t at = 0; at + StackBytes <= SlabBytes; at += StackDistance)
        idle.push_back(static_cast<char *>(slab) + at);
    }
    char *stack = idle.back();
    idle.pop_back();
    return stack;
  }
  void giveBack(char *stack) {
#ifdef KV_FIBER_ASAN
    // The next owner of these addresses must not find our red zones.
    __asan_unpoison_memory_region(stack, StackBytes);
#endif
    idle.push_back(stack);
  }
};
thread_local StackPool stacks;

/// The set whose fiber is being entered for the first time.
thread_local Fibers *entering = nullptr;

} // namespace

#ifndef KV_FIBER_UCONTEXT
extern "C" void kvSwitchStack(void **from, void *to);
asm(R"(
        .text
        .globl kvSwitchStack
        .hidden kvSwitchStack
        .type kvSwitchStack, @function
kvSwitchStack:
        pushq %rbp
        pushq %rbx
        pushq %r12
        pushq %r13
        pushq %r14
        pushq %r15
        movq %rsp, (%rdi)
        movq %rsi, %rsp
        popq %r15
        popq %r14
        popq %r13
        popq %r12
        popq %rbx
        popq %rbp
        ret
        .size kvSwitchStack, .-kvSwitchStack
)");
#endif

Fibers::Fibers() : states(1) {}

Fibers::~Fibers() {
  for (size_t i = 1; i < states.size(); ++i)
    stacks.giveBack(states[i].stack);
}

void Fibers::start(int count, std::function<int(int)> body) {
  function = std::move(body);
  if (states.size() < size_t(count) + 1)
    states.resize(count + 1);
  for (int i = 0; i < count; ++i) {
    State &state = at(i);
    if (!state.stack)
      state.stack = stacks.take();
#ifdef KV_FIBER_ASAN
    // An abandoned fiber leaves its frames' red zones behind.
    __asan_unpoison_memory_region(state.stack, StackBytes);
#endif
    state.stackSize = StackBytes;
    state.finished = false;
    state.fakeStack = nullptr;
#ifdef KV_FIBER_UCONTEXT
    getcontext(&state.context);
    state.context.uc_stack.ss_sp = state.stack;
    state.context.uc_stack.ss_size = state.stackSize;
    state.context.uc_link = nullptr;
    makecontext(&state.context, &Fibers::entry, 0);
#else
    // The first switch pops six registers and entry's address. Then entry finds
    // the stack as a call would have left it.
    auto *top =
        reinterpret_cast<uintptr_t *>(state.stack + state.stackSize) - 1;
    *top = 0;
    *--top = reinterpret_cast<uintptr_t>(&Fibers::entry);
    for (int r = 0; r < 6; ++r)
      *--top = 0;
    state.pointer = top;
#endif
  }
}

void Fibers::entry() {
  Fibers &self = *entering;
  self.arrive();
  int next = self.function(self.current);
  self.at(self.current).finished = true;
  self.leave(next, true);
  std::abort(); // a finished fiber is not resumed
}

void Fibers::switchTo(int fiber) {
  if (fiber == current)
    return;
  if (current == Outside)
    entering = this;
  leave(fiber, false);
  arrive();
}

void Fibers::leave(int fiber, [[maybe_unused]] bool last) {
  State &from = at(current), &to = at(fiber);
  before = current;
  current = fiber;
#ifdef KV_FIBER_ASAN
  __sanitizer_start_switch_fiber(last ? nullptr : &from.fakeStack, to.stack,
                                 to.stackSize);
#endif
#ifdef KV_FIBER_UCONTEXT
  swapcontext(&from.context, &to.context);
#else
  kvSwitchStack(&from.pointer, to.pointer);
#endif
}

/// The work on the other side of leave().
void Fibers::arrive() {
#ifdef KV_FIBER_ASAN
  const void *stack;
  size_t size;
  __sanitizer_finish_switch_fiber(at(current).fakeStack, &stack, &size);
  if (before == Outside) {
    at(Outside).stack = static_cast<char *>(const_cast<void *>(stack));
    at(Outside).stackSize = size;
  }
#endif
}
