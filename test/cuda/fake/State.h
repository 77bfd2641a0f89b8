//===- State.h - What the fake driver knows ---------------------*- C++ -*-===//

#ifndef KV_TEST_CUDA_FAKE_STATE_H
#define KV_TEST_CUDA_FAKE_STATE_H

#include "DeviceMemory.h"
#include "FakeDriver.h"

#include <cstdio>
#include <deque>
#include <functional>
#include <map>

namespace kv::fake {

enum Status : int {
  Success = 0,
  InvalidValue = 1,
  OutOfMemory = 2,
  InvalidImage = 200,
  InvalidContext = 201,
  NoBinaryForGpu = 209,
  InvalidPtx = 218,
  NotFound = 500,
  LaunchFailed = 719,
};

struct DeviceModel {
  const char *name;
  int major, minor, multiprocessors, sharedBytes;
};

struct FakeStream {
  int device;
};

/// All of the driver. One thread at a time.
class State {
public:
  static State &get();

  /// A mistake of the caller's.
  Status problem(Status status, std::string text);
  /// A line of the file that KV_FAKE_CUDA_TRACE names.
  void trace(const std::string &line);

  /// Device work: runs when somebody waits, in the order of all queues. The
  /// first failure is what every later wait returns.
  void enqueue(std::function<Status()> operation) {
    operations.push_back(std::move(operation));
  }
  /// Runs the first `count` operations that are queued (all: -1).
  Status run(int64_t count = -1);
  void forgetFailure() { failure = Success; }
  int64_t queued() const { return int64_t(operations.size()); }
  /// How many operations have ever been queued.
  int64_t total() const { return done + queued(); }
  Status runUntil(int64_t number) {
    return number > done ? run(number - done) : failure;
  }

  DeviceMemory memory;
  std::map<const char *, size_t> pinned;
  Counters counters;
  std::vector<std::string> problems;
  int device = -1; // the current one

  /// The pinned allocation that an address is in; no bytes: none.
  DeviceMemory::Range findPinned(const void *address) const;
  bool isPinned(const void *data, size_t bytes) const;
  /// Whether the calling thread's context is that of the stream.
  Status checkStream(const char *call, void *stream);

private:
  State();
  std::deque<std::function<Status()>> operations;
  int64_t done = 0;
  Status failure = Success;
  std::FILE *traceFile = nullptr;
};

extern const DeviceModel Devices[5];

} // namespace kv::fake

#endif // KV_TEST_CUDA_FAKE_STATE_H
