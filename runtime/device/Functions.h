//===- Functions.h - Functions of the table ---------------------*- C++ -*-===//

#ifndef KV_RUNTIME_DEVICE_FUNCTIONS_H
#define KV_RUNTIME_DEVICE_FUNCTIONS_H

#include "kv/Runtime/Device/Communicator.h"
#include "kv/Runtime/Device/Device.h"
#include "kv/Runtime/Device/ExecutionContext.h"

#include <atomic>
#include <csetjmp>

/// The runtime's state of one ExecutionContext; `context.runtime` points to it.
struct kv::ExecutionContext::State {
  static constexpr size_t MessageBytes = 1024;

  KvContext context;
  Executor *executor;
  /// The device, if it has a queue; null on a CPU.
  DeviceBackend *backend = nullptr;
  std::unique_ptr<DeviceContext> device;
  Memory arenaMemory;
  Arena arena;
  std::atomic<bool> recording = false;
  size_t messageLength = 0;
  char message[MessageBytes];
  /// The ranks that compute with this process; null if it computes alone.
  Communicator *ranks = nullptr;
  std::vector<std::byte> gathered; // scratch of `gather`
  /// Where the running entry is left after an error that generated code cannot
  /// continue from; null if no entry is running.
  jmp_buf *exit = nullptr;

  static State &of(KvContext *context) {
    return *static_cast<State *>(context->runtime);
  }

  /// Keeps the first error of an execution; may be called by several threads.
  void recordError(KvStatus status, std::string_view text);
  bool failed() const {
    return std::atomic_ref(const_cast<int32_t &>(context.status))
               .load(std::memory_order_acquire) != KV_STATUS_OK;
  }
};

namespace kv {

/// Records that a function of Symbols.def was called in a context in which it
/// does not run.
void recordMisplaced(KvContext *context, std::string_view function,
                     std::string_view runsOn, std::string_view calledOn);

} // namespace kv

/// The function that a table of functions holds for a row of Symbols.def that
/// does not run in its contexts: it records an error and returns zero.
#define KV_MISPLACED(Name, Result, RunsOn, CalledOn)                           \
  [](KvContext * context, auto...)->KV_C_##Result {                            \
    using Returned = KV_C_##Result;                                            \
    kv::recordMisplaced(context, #Name, RunsOn, CalledOn);                     \
    return Returned();                                                         \
  }

#endif // KV_RUNTIME_DEVICE_FUNCTIONS_H
