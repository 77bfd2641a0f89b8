//===- Backend.h - A CUDA device --------------------------------*- C++ -*-===//

#ifndef KV_RUNTIME_CUDA_BACKEND_H
#define KV_RUNTIME_CUDA_BACKEND_H

#include "kv/Runtime/Device/DeviceBackend.h"
#include "runtime/cuda/driver/Driver.h"

#include <array>
#include <chrono>
#include <functional>
#include <optional>
#include <span>

namespace kv::cuda {

/// Properties of a GPU, as the driver reports them.
struct DeviceInfo {
  std::string name;
  int major = 0, minor = 0; // compute capability
  int multiprocessors = 0;
  int sharedBytes = 0; // most shared memory of a thread block
  int blocks = 0;      // most thread blocks of an SM
  size_t memoryBytes = 0;
};

/// A GPU: its primary CUDA context, and one stream on which all work is queued.
/// DeviceBackend.h describes the overridden functions.
class Backend final : public DeviceBackend {
public:
  /// Opens GPU number `index` with the driver `given`, which must outlive the
  /// backend, or, if it is null, with the one that loadDriver() loads. Errors:
  /// there is no such GPU; those of the driver.
  static Expected<std::unique_ptr<Backend>>
  open(int index, const driver::Driver *given = nullptr);
  ~Backend() override;

  const driver::Driver &driver() const { return api; }
  const DeviceInfo &info() const { return device; }
  driver::Stream stream() const { return queue.stream; }

  /// Takes the result of a call of the driver. Returns whether the call
  /// succeeded. The first failure of all calls stays, as "cuLaunchKernel:
  /// invalid argument", and is what status() returns.
  bool check(driver::Result result, std::string_view call);
  /// Forgets what check() has kept: for work that was captured and never
  /// executed, while nothing had failed before.
  void forgetFailure() { failure.reset(); }
  /// The error of a call that failed, without keeping it as check() does: for
  /// calls on which nothing else depends.
  std::unexpected<Error> fail(driver::Result result,
                              std::string_view call) const;
  /// Makes this device's context the current one of the calling thread.
  void enter();

  std::string description() const override;
  bool isHost() const override { return false; }
  size_t defaultArenaBytes() const override;

  Expected<void *> allocate(size_t bytes, bool zeroed) override;
  void free(void *data, size_t bytes) override;
  Expected<void *> allocatePinned(size_t bytes) override;
  void freePinned(void *data, size_t bytes) override;

  void copyToDevice(void *target, const void *source, size_t bytes) override;
  void copyToHost(void *target, const void *source, size_t bytes) override;
  void copyOnDevice(void *target, const void *source, size_t bytes) override;
  void zero(void *target, size_t bytes) override;
  void copyBatch(std::span<const MemoryCopy> copies) override;
  uint64_t copyAside(std::span<const MemoryCopy> copies, bool after) override;
  void followAside(uint64_t mark) override;
  bool isAsideDone(uint64_t mark) override;

  uint64_t mark() override;
  Expected<void> wait(uint64_t mark) override;
  Expected<void> synchronize() override;
  Expected<void> status() const override;

  Expected<std::unique_ptr<DeviceModule>>
  load(const std::vector<KernelImage> &images) override;
  Expected<std::unique_ptr<DeviceContext>>
  createContext(const DeviceContextOptions &options) override;

  /// A wait for the queue asks `mayWait` now and then, with the time that it
  /// has waited. An error ends the wait, and stays as check()'s do. Null: waits
  /// have no end.
  using MayWait =
      std::function<Expected<void>(std::chrono::steady_clock::duration)>;
  void limitWaits(MayWait given) { mayWait = std::move(given); }

private:
  explicit Backend(const driver::Driver &api) : api(api) {}

  std::string describe(driver::Result result, std::string_view call) const;
  Expected<void> query();

  const driver::Driver &api;
  DeviceInfo device;
  int handle = 0; // the driver's handle of the device
  driver::Context context = nullptr;
  /// Where a queue was at some moments. The events of marks are a ring: one
  /// that is recorded again lies later in the queue, so waiting for it includes
  /// all older marks.
  struct Queue {
    driver::Stream stream = nullptr;
    std::array<driver::Event, 16> events = {};
    uint64_t marks = 0; // given so far
    uint64_t done = 0;  // a mark that somebody has found over
    driver::Event &event(uint64_t mark) { return events[mark % events.size()]; }
  };
  Expected<void> open(Queue &made);
  void close(Queue &made);
  uint64_t mark(Queue &on);
  void copyBatch(std::span<const MemoryCopy> copies, driver::Stream stream);

  Queue queue, aside;
  void waitFor(driver::Event event);

  std::optional<Error> failure; // the first one
  MayWait mayWait;
  // Arguments of copyBatch(), kept so that their memory is used again.
  std::vector<driver::Pointer> targets, sources;
  std::vector<size_t> sizes;
};

/// The address as the driver's type.
inline driver::Pointer address(const void *data) {
  return reinterpret_cast<driver::Pointer>(data);
}

} // namespace kv::cuda

#endif // KV_RUNTIME_CUDA_BACKEND_H
