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

/// The sanitizers' frames are large.
constexpr size_t StackBytes = 256 * 1024;

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

Fibers::Fibers() = default;

Fibers::~Fibers() {
  for (State &state : states) {
    if (!state.stack)
      continue;
#ifdef KV_FIBER_ASAN
    // Whoever gets these addresses next must not find our red zones.
    __asan_unpoison_memory_region(state.stack, StackBytes);
#endif
    munmap(state.stack, StackBytes);
  }
}

void Fibers::start(int count, std::function<void(int)> body) {
  function = std::move(body);
  if (states.size() < size_t(count))
    states.resize(count);
  for (int i = 0; i < count; ++i) {
    State &state = states[i];
    if (!state.stack) {
      void *memory = mmap(nullptr, StackBytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (memory == MAP_FAILED)
        std::abort();
      state.stack = static_cast<char *>(memory);
    }
#ifdef KV_FIBER_ASAN
    // An abandoned fiber leaves its frames' red zones behind.
    __asan_unpoison_memory_region(state.stack, StackBytes);
#endif
    state.finished = false;
    state.fakeStack = nullptr;
#ifdef KV_FIBER_UCONTEXT
    getcontext(&state.context);
    state.context.uc_stack.ss_sp = state.stack;
    state.context.uc_stack.ss_size = StackBytes;
    state.context.uc_link = nullptr;
    makecontext(&state.context, &Fibers::entry, 0);
#else
    // What the first switch pops: six registers and entry's address; entry
    // then finds the stack as a call would have left it.
    auto *top = reinterpret_cast<uintptr_t *>(state.stack + StackBytes) - 1;
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
#ifdef KV_FIBER_ASAN
  __sanitizer_finish_switch_fiber(nullptr, &self.schedulerStack,
                                  &self.schedulerStackSize);
#endif
  self.function(self.current);
  self.states[self.current].finished = true;
  self.switchBack(true);
  std::abort(); // a finished fiber is not resumed
}

void Fibers::resume(int fiber) {
  entering = this;
  current = fiber;
  State &to = states[fiber];
#ifdef KV_FIBER_ASAN
  __sanitizer_start_switch_fiber(&scheduler.fakeStack, to.stack, StackBytes);
#endif
#ifdef KV_FIBER_UCONTEXT
  swapcontext(&scheduler.context, &to.context);
#else
  kvSwitchStack(&scheduler.pointer, to.pointer);
#endif
#ifdef KV_FIBER_ASAN
  __sanitizer_finish_switch_fiber(scheduler.fakeStack, nullptr, nullptr);
#endif
}

void Fibers::yield() { switchBack(false); }

void Fibers::switchBack(bool last) {
  State &from = states[current];
#ifdef KV_FIBER_ASAN
  __sanitizer_start_switch_fiber(last ? nullptr : &from.fakeStack,
                                 schedulerStack, schedulerStackSize);
#endif
#ifdef KV_FIBER_UCONTEXT
  swapcontext(&from.context, &scheduler.context);
#else
  kvSwitchStack(&from.pointer, scheduler.pointer);
#endif
#ifdef KV_FIBER_ASAN
  __sanitizer_finish_switch_fiber(from.fakeStack, &schedulerStack,
                                  &schedulerStackSize);
#endif
}
