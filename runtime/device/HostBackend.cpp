//===- HostBackend.cpp - A CPU as a device --------------------------------===//

#include "HostBackend.h"
#include "SynchronousDevice.h"

#include <cerrno>
#include <cstring>
#include <sys/mman.h>

using namespace kv;

namespace {

class HostBackend final : public SynchronousDevice {
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

  Expected<std::unique_ptr<DeviceModule>>
  load(const std::vector<KernelImage> &) override {
    return makeError(KV_STATUS_UNSUPPORTED, "a CPU has no kernels to load");
  }
  Expected<std::unique_ptr<DeviceContext>>
  createContext(const DeviceContextOptions &) override {
    return makeError(KV_STATUS_UNSUPPORTED,
                     "a CPU has the functions of ExecutionContext");
  }
};

} // namespace

DeviceBackend &kv::hostBackend() {
  static HostBackend host;
  return host;
}
