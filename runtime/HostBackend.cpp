//===- HostBackend.cpp - A CPU as a device --------------------------------===//

#include "HostBackend.h"

#include <cerrno>
#include <cstring>
#include <sys/mman.h>

using namespace kv;

namespace {

class HostBackend final : public DeviceBackend {
public:
  std::string description() const override { return "the host"; }
  bool isHost() const override { return true; }
  size_t defaultArenaBytes() const override { return size_t(64) << 30; }

  Expected<void *> allocate(size_t bytes, bool) override {
    constexpr size_t HugePage = size_t(2) << 20;
    void *base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED)
      return makeError(KV_STATUS_OUT_OF_MEMORY, bytes,
                       " bytes asked for: ", std::strerror(errno));
    if (bytes >= 2 * HugePage)
      madvise(base, bytes, MADV_HUGEPAGE); // if refused, memory is only slower
    return base;
  }
  void free(void *data, size_t bytes) override { munmap(data, bytes); }
  Expected<void *> allocatePinned(size_t bytes) override {
    return allocate(bytes, true);
  }
  void freePinned(void *data, size_t bytes) override { free(data, bytes); }

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

  Expected<std::unique_ptr<DeviceModule>>
  load(const std::vector<KernelImage> &) override {
    return makeError(KV_STATUS_UNSUPPORTED, "a CPU has no kernels to load");
  }
  Expected<std::unique_ptr<DeviceContext>>
  createContext(bool, Communicator *) override {
    return makeError(KV_STATUS_UNSUPPORTED,
                     "a CPU has the functions of ExecutionContext");
  }
};

} // namespace

DeviceBackend &kv::hostBackend() {
  static HostBackend host;
  return host;
}
