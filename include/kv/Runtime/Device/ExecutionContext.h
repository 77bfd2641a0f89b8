//===- ExecutionContext.h - The runtime side of KvContext -------*- C++ -*-===//

#ifndef KV_RUNTIME_DEVICE_EXECUTIONCONTEXT_H
#define KV_RUNTIME_DEVICE_EXECUTIONCONTEXT_H

#include "kv/Runtime/Base/Arena.h"
#include "kv/Runtime/Base/ThreadPool.h"
#include "kv/Runtime/Device/Device.h"

#include <functional>
#include <memory>
#include <span>
#include <string_view>

namespace kv {

class Communicator;

/// The state that an entry needs to run: the KvContext that is passed to it,
/// the arena, the executor and the place for the first error. Used by one
/// thread at a time. Not movable, since generated code holds its address while
/// it runs.
class ExecutionContext {
public:
  struct Options {
    Device device = {};
    size_t arenaBytes = 0;      // 0: the device's default
    bool deterministic = false; // DeviceContextOptions
    /// The ranks that compute with this process; must outlive the context.
    /// Null: the process computes alone.
    Communicator *ranks = nullptr;
    std::function<void(std::string_view)> log = {}; // receives notes, by line
  };

  /// `executor` must outlive the context. Errors: no memory; those of
  /// Device::backend().
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

  /// Clears the error and the arena, calls the entry, and returns the error
  /// that it recorded, if any. If the arena is exhausted, the entry is left in
  /// the middle, since generated code cannot go on without the memory. On a GPU
  /// the entry only queues its work, launches of the kernels of `module`:
  /// failures after that are in the device's status(), or are a stepError().
  /// The call itself fails if an earlier one left such an error that was not
  /// asked for.
  ///
  /// `identity`, if there is any, holds all that the queued work depends on:
  /// the entry, its arguments, and what it reads of host memory. A device may
  /// then queue the work of an equal call instead of calling the entry.
  Expected<void> call(KvEntry entry, std::span<const KvTensorView> args,
                      const DeviceModule *module = nullptr,
                      std::span<const uint64_t> identity = {});

  /// On a device, after a wait for it: what kernels found wrong with the data
  /// of the calls so far, such as an id that an embedding does not have. An
  /// error is returned once.
  Expected<void> stepError();

  KvContext *abi();
  Arena &arena();
  Executor &executor();

  /// Records an error unless one is recorded already. May be called by any
  /// thread.
  void recordError(KvStatus status, std::string_view message);
  /// The recorded error, if any.
  Expected<void> result() const;
  /// Forgets the error and empties the arena.
  void reset();

  /// The function table of a CPU's contexts.
  static const KvFunctionTable &functions();

  /// Defined in runtime/device/Functions.h.
  struct State;

private:
  explicit ExecutionContext(std::unique_ptr<State> state);
  /// Calls the entry, and leaves its error in the state and the arena empty.
  void callEntry(KvEntry entry, std::span<const KvTensorView> args);
  std::unique_ptr<State> state;
};

} // namespace kv

#endif // KV_RUNTIME_DEVICE_EXECUTIONCONTEXT_H
