//===- SynchronousDevice.h - A device whose memory the host sees -*- C++
//-*-===//

#ifndef KV_RUNTIME_DEVICE_SYNCHRONOUSDEVICE_H
#define KV_RUNTIME_DEVICE_SYNCHRONOUSDEVICE_H

#include "kv/Runtime/Device/DeviceBackend.h"

#include <cstring>

namespace kv {

/// Copies are made at once, so nothing is ever waited for.
class SynchronousDevice : public DeviceBackend {
public:
  void copyToDevice(void *target, const void *source, size_t bytes) override {
    std::memcpy(target, source, bytes);
  }
  void copyToHost(void *target, const void *source, size_t bytes) override {
    std::memcpy(target, source, bytes);
  }
  void copyOnDevice(void *target, const void *source, size_t bytes) override {
    std::memcpy(target, source, bytes);
  }
  void zero(void *target, size_t bytes) override {
    std::memset(target, 0, bytes);
  }
  void copyBatch(std::span<const MemoryCopy> copies) override {
    for (const MemoryCopy &copy : copies)
      std::memcpy(copy.target, copy.source, copy.bytes);
  }

  uint64_t copyAside(std::span<const MemoryCopy> copies, bool) override {
    copyBatch(copies);
    return 0;
  }
  void followAside(uint64_t) override {}
  bool isAsideDone(uint64_t) override { return true; }

  uint64_t mark() override { return 0; }
  Expected<void> wait(uint64_t) override { return {}; }
  Expected<void> synchronize() override { return {}; }
  Expected<void> status() const override { return {}; }
};

} // namespace kv

#endif // KV_RUNTIME_DEVICE_SYNCHRONOUSDEVICE_H
