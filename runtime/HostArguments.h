//===- HostArguments.h - Arguments that lie on the host ---------*- C++ -*-===//

#ifndef KV_RUNTIME_HOSTARGUMENTS_H
#define KV_RUNTIME_HOSTARGUMENTS_H

#include "kv/Runtime/Buffer.h"

#include <vector>

namespace kv {

/// An invocation's arguments that its caller has on the host, and their copies
/// on the device: inputs go there with one copy from pinned memory, outputs
/// come back with another. Memory grows with the arguments and stays.
class HostArguments {
public:
  /// A dense view; replaces what the slot had.
  void add(int slot, const KvTensorView &view, bool output);
  void remove(int slot);

  /// Queues the copy of the inputs, and makes the arguments' views those on
  /// the device.
  Expected<void> upload(const Device &device, std::span<KvTensorView> args);
  /// Waits for the outputs, if there are any; returns whether it did.
  Expected<bool> download(const Device &device);

private:
  struct One {
    int slot;
    bool output;
    KvTensorView view;
    size_t bytes, offset;
  };
  /// Pinned memory and its twin on the device.
  struct Block {
    Memory host, device;
    Expected<void> grow(const Device &where, size_t bytes);
  };

  size_t layOut(bool output);

  std::vector<One> arguments;
  Block inputs, outputs;
  uint64_t uploaded = 0; // a mark
};

} // namespace kv

#endif // KV_RUNTIME_HOSTARGUMENTS_H
