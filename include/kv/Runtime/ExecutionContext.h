//===- ExecutionContext.h - The runtime side of KvContext -------*- C++ -*-===//

#ifndef KV_RUNTIME_EXECUTIONCONTEXT_H
#define KV_RUNTIME_EXECUTIONCONTEXT_H

#include "kv/Runtime/Arena.h"
#include "kv/Runtime/Device.h"
#include "kv/Runtime/ThreadPool.h"

#include <memory>
#include <span>

namespace kv {

/// What an entry runs in: the KvContext that it gets, the arena, the executor
/// and the error slot. One thread at a time. Not movable: generated code holds
/// its address while it runs.
class ExecutionContext {
public:
  struct Options {
    Device device = {};
    size_t arenaBytes = 0;      // 0: the device's default
    bool deterministic = false; // DeviceBackend::createContext
  };

  /// `executor` must outlive the context. Errors: no memory; a device that is
  /// not there.
  static Expected<std::unique_ptr<ExecutionContext>>
  create(Executor &executor, const Options &options);
  /// On a CPU.
  static Expected<std::unique_ptr<ExecutionContext>>
  create(Executor &executor, size_t arenaBytes = 0) {
    return create(executor, {.arenaBytes = arenaBytes});
  }
  ~ExecutionContext();
  ExecutionContext(const ExecutionContext &) = delete;
  ExecutionContext &operator=(const ExecutionContext &) = delete;

  /// Clears the error slot and the arena, calls the entry, and turns its
  /// status into a value. When the arena is exhausted the entry is left in
  /// the middle: generated code could not go on without the memory.
  /// On a device the entry's work is queued when this returns, calling the
  /// kernels of `module`; what then fails is the device's status(), or a
  /// stepError(). The call itself fails if an earlier one left such an error
  /// that nobody has asked for.
  Expected<void> call(KvEntry entry, std::span<const KvTensorView> args,
                      const DeviceModule *module = nullptr);

  /// On a device, after a wait for it: what kernels found wrong with the data
  /// of the calls so far, such as an id that an embedding does not have. An
  /// error is returned once.
  Expected<void> stepError();

  KvContext *abi();
  Arena &arena();
  Executor &executor();

  /// Records an error unless one is recorded already. Any thread.
  void recordError(KvStatus status, std::string_view message);
  /// The recorded error, if any.
  Expected<void> result() const;
  /// Forgets the error and empties the arena.
  void reset();

  /// The function table of a CPU's contexts.
  static const KvFunctionTable &functions();

  /// The runtime's own.
  struct State;

private:
  explicit ExecutionContext(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

} // namespace kv

#endif // KV_RUNTIME_EXECUTIONCONTEXT_H
