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

static bool parseIndex(std::string_view text, int &index) {
  const char *end = text.data() + text.size();
  auto [stop, error] = std::from_chars(text.data(), end, index);
  return error == std::errc() && stop == end && index >= 0;
}

Expected<Device> Device::parse(std::string_view text) {
  Device device;
  if (text == "cpu")
    return device;
  if (text.starts_with("cpu:") && parseIndex(text.substr(4), device.index))
    return device;
  if (text.starts_with("virtual:")) {
    std::string_view target = text.substr(8);
    size_t colon = target.find(':');
    device.kind = Kind::Virtual;
    device.target = target.substr(0, colon);
    if (!device.target.empty() &&
        (colon == target.npos ||
         parseIndex(target.substr(colon + 1), device.index)))
      return device;
  }
  return makeError(KV_STATUS_INVALID_ARGUMENT, "device \"", text,
                   "\": expected cpu, cpu:N, virtual:TARGET or "
                   "virtual:TARGET:N");
}

std::string Device::str() const {
  if (isVirtual())
    return concat("virtual:", target, index ? concat(":", index) : "");
  return concat("cpu:", index);
}

Expected<Memory> Device::allocate(size_t bytes) const {
  constexpr size_t HugePage = size_t(2) << 20;
  Memory memory;
  if (isVirtual())
    return makeError(KV_STATUS_UNSUPPORTED, "device ", str(),
                     " has no memory: it is there to be compiled for");
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
