//===- Backend.h - A CUDA device --------------------------------*- C++ -*-===//

#ifndef KV_RUNTIME_CUDA_BACKEND_H
#define KV_RUNTIME_CUDA_BACKEND_H

#include "Driver.h"
#include "kv/Runtime/DeviceBackend.h"

#include <array>
#include <optional>
#include <span>

namespace kv::cuda {

struct DeviceInfo {
  std::string name;
  int major = 0, minor = 0; // compute capability
  int multiprocessors = 0;
  int sharedBytes = 0; // that a block may have
  size_t memoryBytes = 0;
};

/// A device's primary context and one stream, on which everything runs.
class Backend final : public DeviceBackend {
public:
  /// With the driver that is loaded, or another. Errors: no such device, or the
  /// driver's.
  static Expected<std::unique_ptr<Backend>>
  open(int index, const driver::Driver *given = nullptr);
  ~Backend() override;

  const driver::Driver &driver() const { return api; }
  const DeviceInfo &info() const { return device; }
  driver::Stream stream() const { return queue; }

  /// Keeps the first failure: "cuLaunchKernel: invalid argument". False if this
  /// call failed.
  bool check(driver::Result result, std::string_view call);
  /// The error of a call that failed and that nothing else depends on: it does
  /// not stay.
  std::unexpected<Error> fail(driver::Result result,
                              std::string_view call) const;
  /// Makes this device the calling thread's.
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

  uint64_t mark() override;
  Expected<void> wait(uint64_t mark) override;
  Expected<void> synchronize() override;
  Expected<void> status() const override;

  Expected<std::unique_ptr<DeviceModule>>
  load(const std::vector<KernelImage> &images) override;
  Expected<std::unique_ptr<DeviceContext>>
  createContext(bool deterministic) override;

private:
  explicit Backend(const driver::Driver &api) : api(api) {}

  std::string describe(driver::Result result, std::string_view call) const;
  Expected<void> query();

  const driver::Driver &api;
  DeviceInfo device;
  int handle = 0;
  driver::Context context = nullptr;
  driver::Stream queue = nullptr;
  /// Marks in a ring: an event that is recorded again lies later in the queue.
  std::array<driver::Event, 16> events = {};
  uint64_t marks = 0;
  std::optional<Error> failure;
  // Of copyBatch; kept to be filled again.
  std::vector<driver::Pointer> targets, sources;
  std::vector<size_t> sizes;
};

inline driver::Pointer address(const void *data) {
  return reinterpret_cast<driver::Pointer>(data);
}

} // namespace kv::cuda

#endif // KV_RUNTIME_CUDA_BACKEND_H
