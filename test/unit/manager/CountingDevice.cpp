//===- CountingDevice.cpp - Devices that count their memory ---------------===//

#include "CountingDevice.h"

#include "runtime/device/SynchronousDevice.h"

#include <cstdlib>
#include <cstring>

using namespace kv;

static test::CountedBytes counted;

test::CountedBytes test::countedBytes() { return counted; }

namespace {

class CountingDevice final : public SynchronousDevice {
public:
  std::string description() const override { return "a device that counts"; }
  bool isHost() const override { return false; }
  size_t defaultArenaBytes() const override { return 0; }

  Expected<void *> allocate(size_t bytes, bool zeroed) override {
    return take(bytes, zeroed ? 0 : 0xAB, counted.device);
  }
  void free(void *data, size_t bytes) override {
    std::free(data);
    counted.device -= static_cast<int64_t>(bytes);
  }
  Expected<void *> allocatePinned(size_t bytes) override {
    return take(bytes, 0, counted.pinned);
  }
  void freePinned(void *data, size_t bytes) override {
    std::free(data);
    counted.pinned -= static_cast<int64_t>(bytes);
  }

  Expected<std::unique_ptr<DeviceModule>>
  load(const std::vector<KernelImage> &) override {
    return makeError(KV_STATUS_UNSUPPORTED, "this device runs nothing");
  }
  Expected<std::unique_ptr<DeviceContext>>
  createContext(const DeviceContextOptions &) override {
    return makeError(KV_STATUS_UNSUPPORTED, "this device runs nothing");
  }

private:
  static Expected<void *> take(size_t bytes, int fill, int64_t &count) {
    void *data = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (!data)
      return makeError(KV_STATUS_OUT_OF_MEMORY, bytes, " bytes asked for");
    std::memset(data, fill, bytes);
    count += static_cast<int64_t>(bytes);
    return data;
  }
};

} // namespace

extern "C" __attribute__((visibility("default"))) DeviceBackend *
kv_open_device(uint32_t, int, Error *) {
  return new CountingDevice; // lives as long as the process
}
