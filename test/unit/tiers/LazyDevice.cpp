//===- LazyDevice.cpp - Devices that do nothing before they must ----------===//
//
// What libkv_cuda.so is to the runtime: devices cuda:0, cuda:1, ... that keep
// all copies in two queues. The first one moves when somebody waits for it, the
// second one then or, by the turn of a coin, at any call. Whoever uses memory
// too early gets what was there before, and whoever gives it up too early, what
// comes later.
//
//===----------------------------------------------------------------------===//

#include "kv/Runtime/Device/DeviceBackend.h"

#include <cstdlib>
#include <cstring>
#include <deque>

using namespace kv;

namespace {

class LazyDevice final : public DeviceBackend {
public:
  std::string description() const override { return "a device with queues"; }
  bool isHost() const override { return false; }
  size_t defaultArenaBytes() const override { return 0; }

  Expected<void *> allocate(size_t bytes, bool) override {
    return std::calloc(1, bytes + 1);
  }
  void free(void *data, size_t) override {
    (void)synchronize();
    std::free(data);
  }
  Expected<void *> allocatePinned(size_t bytes) override {
    return std::calloc(1, bytes + 1);
  }
  void freePinned(void *data, size_t bytes) override { free(data, bytes); }

  void copyToDevice(void *target, const void *source, size_t bytes) override {
    add(first, {target, source, bytes});
  }
  void copyToHost(void *target, const void *source, size_t bytes) override {
    add(first, {target, source, bytes});
  }
  void copyOnDevice(void *target, const void *source, size_t bytes) override {
    add(first, {target, source, bytes});
  }
  void zero(void *target, size_t bytes) override {
    add(first, {target, nullptr, bytes});
  }
  void copyBatch(std::span<const MemoryCopy> copies) override {
    for (const MemoryCopy &copy : copies)
      add(first, {copy.target, copy.source, copy.bytes});
  }

  uint64_t mark() override { return first.end(); }
  Expected<void> wait(uint64_t mark) override {
    run(first, mark);
    return {};
  }
  Expected<void> synchronize() override {
    run(first, first.end());
    run(second, second.end());
    return {};
  }
  Expected<void> status() const override { return {}; }

  uint64_t copyAside(std::span<const MemoryCopy> copies, bool after) override {
    if (after)
      add(second, {.after = first.end()});
    for (const MemoryCopy &copy : copies)
      add(second, {copy.target, copy.source, copy.bytes});
    return second.end();
  }
  void followAside(uint64_t mark) override { add(first, {.after = mark}); }
  bool isAsideDone(uint64_t mark) override {
    maybeRunAside();
    return second.gone >= mark;
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
  struct Operation {
    void *target = nullptr;       // null: a wait for the other queue
    const void *source = nullptr; // null: zeros
    size_t bytes = 0;
    uint64_t after = 0; // of the other queue's operations
  };
  struct Queue {
    std::deque<Operation> operations;
    uint64_t gone = 0; // operations that are done
    uint64_t end() const { return gone + operations.size(); }
  };

  void add(Queue &queue, const Operation &operation) {
    maybeRunAside();
    queue.operations.push_back(operation);
  }

  void run(Queue &queue, uint64_t until) {
    while (queue.gone < until) {
      Operation next = queue.operations.front();
      if (!next.target)
        run(&queue == &first ? second : first, next.after);
      else if (next.source)
        std::memcpy(next.target, next.source, next.bytes);
      else
        std::memset(next.target, 0, next.bytes);
      queue.operations.pop_front();
      ++queue.gone;
    }
  }

  /// Runs some of what the second queue may do now, unless it is in one of its
  /// long pauses.
  void maybeRunAside() {
    coin = coin * 6364136223846793005u + 1442695040888963407u;
    if ((coin >> 32) % 256 == 0)
      pauses = !pauses;
    if (pauses)
      return;
    for (uint64_t count = (coin >> 60) % 8; count > 0; --count) {
      if (second.operations.empty())
        return;
      const Operation &next = second.operations.front();
      if (!next.target && first.gone < next.after)
        return;
      run(second, second.gone + 1);
    }
  }

  Queue first, second;
  uint64_t coin = 1;
  bool pauses = false;
};

} // namespace

extern "C" __attribute__((visibility("default"))) DeviceBackend *
kv_open_device(uint32_t, int, Error *) {
  return new LazyDevice; // lives as long as the process
}
