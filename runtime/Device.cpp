//===- Device.cpp - Where tensors live ------------------------------------===//

#include "kv/Runtime/Device.h"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <sys/mman.h>
#include <utility>

using namespace kv;

Memory &Memory::operator=(Memory &&other) noexcept {
  if (this != &other) {
    reset();
    base = std::exchange(other.base, nullptr);
    length = std::exchange(other.length, 0);
  }
  return *this;
}

void Memory::reset() {
  if (base)
    munmap(base, length);
  base = nullptr;
  length = 0;
}

Expected<Device> Device::parse(std::string_view text) {
  Device device;
  if (text == "cpu")
    return device;
  if (text.starts_with("cpu:")) {
    const char *end = text.data() + text.size();
    auto [stop, error] = std::from_chars(text.data() + 4, end, device.index);
    if (error == std::errc() && stop == end && device.index >= 0)
      return device;
  }
  return makeError(KV_STATUS_INVALID_ARGUMENT, "device \"", text,
                   "\": expected cpu or cpu:N");
}

std::string Device::str() const { return concat("cpu:", index); }

Expected<Memory> Device::allocate(size_t bytes) const {
  constexpr size_t HugePage = size_t(2) << 20;
  Memory memory;
  if (bytes == 0)
    return memory;
  void *base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED)
    return makeError(KV_STATUS_OUT_OF_MEMORY, "device ", str(), ": ", bytes,
                     " bytes asked for: ", std::strerror(errno));
  if (bytes >= 2 * HugePage)
    madvise(base, bytes, MADV_HUGEPAGE); // a wish; failure costs only speed
  memory.base = base;
  memory.length = bytes;
  return memory;
}
