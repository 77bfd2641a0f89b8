//===- LazyDevice.cpp - Devices that do nothing before they must ----------===//
//
// What libkv_cuda.so is to the runtime: devices cuda:0, cuda:1, ... that keep
// all copies in a queue until somebody waits for them. Whoever uses memory too
// early gets what was there before.
//
//===----------------------------------------------------------------------===//

#include "kv/Runtime/DeviceBackend.h"

#include <cstdlib>
#include <cstring>
#include <vector>

using namespace kv;

namespace {

class LazyDevice final : public DeviceBackend {
public:
  std::string description() const override { return "a device with a queue"; }
  bool isHost() const override { return false; }
  size_t defaultArenaBytes() const override { return 0; }

  Expected<void *> allocate(size_t bytes, bool) override {
    return std::calloc(1, bytes + 1);
  }
  void free(void *data, size_t) override {
    run(queue.size());
    std::free(data);
  }
  Expected<void *> allocatePinned(size_t bytes) override {
    return std::calloc(1, bytes + 1);
  }
  void freePinned(void *data, size_t bytes) override { free(data, bytes); }

  void copyToDevice(void *target, const void *source, size_t bytes) override {
    queue.push_back({target, source, bytes});
  }
  void copyToHost(void *target, const void *source, size_t bytes) override {
    queue.push_back({target, source, bytes});
  }
  void copyOnDevice(void *target, const void *source, size_t bytes) override {
    queue.push_back({target, source, bytes});
  }
  void zero(void *target, size_t bytes) override {
    queue.push_back({target, nullptr, bytes});
  }
  void copyBatch(std::span<const MemoryCopy> copies) override {
    for (const MemoryCopy &copy : copies)
      queue.push_back({copy.target, copy.source, copy.bytes});
  }

  uint64_t mark() override { return gone + queue.size(); }
  Expected<void> wait(uint64_t mark) override {
    if (mark > gone)
      run(mark - gone);
    return {};
  }
  Expected<void> synchronize() override {
    run(queue.size());
    return {};
  }
  Expected<void> status() const override { return {}; }

  Expected<std::unique_ptr<DeviceModule>>
  load(const std::vector<KernelImage> &) override {
    return makeError(KV_STATUS_UNSUPPORTED, "this device runs nothing");
  }
  Expected<std::unique_ptr<DeviceContext>> createContext(bool) override {
    return makeError(KV_STATUS_UNSUPPORTED, "this device runs nothing");
  }

private:
  struct Copy {
    void *target;
    const void *source; // null: zeros
    size_t bytes;
  };

  void run(size_t count) {
    for (size_t i = 0; i < count; ++i)
      if (queue[i].source)
        std::memcpy(queue[i].target, queue[i].source, queue[i].bytes);
      else
        std::memset(queue[i].target, 0, queue[i].bytes);
    queue.erase(queue.begin(), queue.begin() + static_cast<ptrdiff_t>(count));
    gone += count;
  }

  std::vector<Copy> queue;
  uint64_t gone = 0; // copies that are done
};

} // namespace

extern "C" __attribute__((visibility("default"))) DeviceBackend *
kv_open_device(uint32_t, int, Error *) {
  return new LazyDevice; // lives as long as the process
}
