//===- HostArguments.h - Arguments that lie on the host ---------*- C++ -*-===//

#ifndef KV_RUNTIME_SESSION_HOSTARGUMENTS_H
#define KV_RUNTIME_SESSION_HOSTARGUMENTS_H

#include "kv/Runtime/Device/Buffer.h"

#include <vector>

namespace kv {

/// The arguments of an invocation that lie in host memory, while the entry runs
/// on a device. All inputs are copied to the device at once by way of pinned
/// memory, and all outputs are copied back in the same way. Owns these buffers,
/// which grow with the arguments and never shrink; the arguments themselves are
/// the caller's.
class HostArguments {
public:
  /// Adds the argument with index `slot`, a dense view of host memory, or
  /// replaces it.
  void add(int slot, const KvTensorView &view, bool output);
  void remove(int slot);

  /// Queues the copy of the inputs to the device, and lets the views in `args`
  /// point to the device's buffers. Errors: those of the device; no memory.
  Expected<void> upload(const Device &device, std::span<KvTensorView> args);
  /// Copies the outputs back and waits for them. Returns whether there are any.
  /// Errors: those of the device.
  Expected<bool> download(const Device &device);

private:
  struct One {
    int slot;
    bool output;
    KvTensorView view;
    size_t bytes, offset;
  };
  /// A block of pinned memory and one of equal size on the device.
  struct Block {
    Memory host, device;
    Expected<void> grow(const Device &where, size_t bytes);
  };

  size_t layOut(bool output);

  std::vector<One> arguments;
  Block inputs, outputs;
  uint64_t uploaded = 0; // mark after the last copy of the inputs
};

} // namespace kv

#endif // KV_RUNTIME_SESSION_HOSTARGUMENTS_H
