//===- Device.cpp - Where tensors live ------------------------------------===//

#include "kv/Runtime/Device/Device.h"
#include "HostBackend.h"
#include "LoadBackend.h"

#include <charconv>
#include <utility>

using namespace kv;

Memory &Memory::operator=(Memory &&other) noexcept {
  if (this != &other) {
    reset();
    base = std::exchange(other.base, nullptr);
    length = std::exchange(other.length, 0);
    pinned = other.pinned;
    backend = other.backend;
  }
  return *this;
}

void Memory::reset() {
  if (base)
    pinned ? backend->freePinned(base, length) : backend->free(base, length);
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
  for (auto [name, kind] :
       {std::pair("cpu", Kind::CPU), std::pair("cuda", Kind::CUDA)}) {
    size_t length = std::string_view(name).size();
    device.kind = kind;
    if (text == name ||
        (text.starts_with(name) && text.substr(length).starts_with(':') &&
         parseIndex(text.substr(length + 1), device.index)))
      return device;
  }
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
                   "\": expected cpu, cpu:N, cuda, cuda:N, virtual:TARGET or "
                   "virtual:TARGET:N");
}

std::string Device::str() const {
  if (isVirtual())
    return concat("virtual:", target, index ? concat(":", index) : "");
  return concat(kind == Kind::CPU ? "cpu:" : "cuda:", index);
}

Expected<DeviceBackend *> Device::backend() const {
  switch (kind) {
  case Kind::CPU:
    return &hostBackend();
  case Kind::CUDA:
    return loadCudaBackend(index);
  case Kind::Virtual:
    break;
  }
  return makeError(KV_STATUS_UNSUPPORTED, "device ", str(),
                   " has no memory: it is there to be compiled for");
}

Expected<Memory> Device::make(size_t bytes, MemoryKind kind) const {
  Expected<DeviceBackend *> device = backend();
  if (!device)
    return std::unexpected(device.error());
  Memory memory;
  if (bytes == 0)
    return memory;
  memory.backend = *device;
  memory.pinned = kind == MemoryKind::Pinned;
  Expected<void *> base =
      memory.pinned
          ? memory.backend->allocatePinned(bytes)
          : memory.backend->allocate(bytes, kind == MemoryKind::Zeroed);
  if (!base)
    return makeError(base.error().code, "device ", str(), ": ",
                     base.error().message);
  memory.base = *base;
  memory.length = bytes;
  return memory;
}

Expected<Memory> Device::allocate(size_t bytes) const {
  return make(bytes, MemoryKind::Zeroed);
}

Expected<Memory> Device::allocateScratch(size_t bytes) const {
  return make(bytes, MemoryKind::Scratch);
}

Expected<Memory> Device::allocatePinned(size_t bytes) const {
  return make(bytes, MemoryKind::Pinned);
}
