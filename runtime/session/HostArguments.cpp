//===- HostArguments.cpp - Arguments that lie on the host -----------------===//

#include "HostArguments.h"

#include <algorithm>
#include <cstring>

using namespace kv;

static void *elements(const KvTensorView &view) {
  return static_cast<char *>(view.data) +
         view.offset * int64_t(dtypeBytes(static_cast<DType>(view.dtype)));
}

void HostArguments::add(int slot, const KvTensorView &view, bool output) {
  size_t bytes = dtypeBytes(static_cast<DType>(view.dtype));
  for (int64_t d = 0; d < view.rank; ++d)
    bytes *= view.sizes[d];
  remove(slot);
  arguments.push_back({slot, output, view, bytes, 0});
}

void HostArguments::remove(int slot) {
  std::erase_if(arguments, [&](const One &one) { return one.slot == slot; });
}

Expected<void> HostArguments::Block::grow(const Device &where, size_t bytes) {
  if (bytes <= host.bytes())
    return {};
  size_t wanted = std::max(bytes, 2 * host.bytes());
  Expected<Memory> pinned = where.allocatePinned(wanted);
  Expected<Memory> memory = where.allocateScratch(wanted);
  if (!pinned || !memory)
    return std::unexpected(!pinned ? pinned.error() : memory.error());
  host = std::move(*pinned);
  device = std::move(*memory);
  return {};
}

/// Gives every output, or every input if `output` is false, its offset in the
/// block that is copied at once. Returns the bytes of this block.
size_t HostArguments::layOut(bool output) {
  constexpr size_t Alignment = 256;
  size_t end = 0;
  for (One &one : arguments)
    if (one.output == output) {
      one.offset = end;
      end += (one.bytes + Alignment - 1) / Alignment * Alignment;
    }
  return end;
}

Expected<void> HostArguments::upload(const Device &device,
                                     std::span<KvTensorView> args) {
  if (arguments.empty())
    return {};
  DeviceBackend &backend = **device.backend();
  size_t inputBytes = layOut(false), outputBytes = layOut(true);
  // The copy that the last call queued may still read the pinned memory.
  if (Expected<void> done = backend.wait(uploaded); !done)
    return done;
  if (Expected<void> room = inputs.grow(device, inputBytes); !room)
    return room;
  if (Expected<void> room = outputs.grow(device, outputBytes); !room)
    return room;
  for (const One &one : arguments) {
    Block &block = one.output ? outputs : inputs;
    if (!one.output && one.bytes)
      std::memcpy(block.host.as<char>() + one.offset, elements(one.view),
                  one.bytes);
    args[one.slot].data = block.device.as<char>() + one.offset;
    args[one.slot].offset = 0;
  }
  if (inputBytes) {
    backend.copyToDevice(inputs.device.data(), inputs.host.data(), inputBytes);
    uploaded = backend.mark();
  }
  return backend.status();
}

Expected<bool> HostArguments::download(const Device &device) {
  size_t bytes = layOut(true);
  if (bytes == 0)
    return false;
  DeviceBackend &backend = **device.backend();
  backend.copyToHost(outputs.host.data(), outputs.device.data(), bytes);
  if (Expected<void> done = backend.wait(backend.mark()); !done)
    return std::unexpected(done.error());
  for (const One &one : arguments)
    if (one.output && one.bytes)
      std::memcpy(elements(one.view), outputs.host.as<char>() + one.offset,
                  one.bytes);
  return true;
}
