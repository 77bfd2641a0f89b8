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
  CaptureUnsupported = 900,
  NotFound = 500,
  NotReady = 600,
  LaunchFailed = 719,
};

struct DeviceModel {
  const char *name;
  int major, minor, multiprocessors, sharedBytes;
  int threads, allSharedBytes; // of an SM
};

/// What a device does. Work that is NotReady is tried again.
struct Work {
  std::function<Status()> run;
  /// Of a launch that may begin early: what it does before it waits for the
  /// kernel before it.
  std::function<void()> early = nullptr;
  /// Whether the next launch may begin with it.
  bool letsLaterBegin = false;
};

struct FakeStream {
  /// Work, or a wait for another stream.
  struct Operation {
    Work work;
    FakeStream *other = nullptr; // until `after` of its operations are done
    int64_t after = 0;
  };
  int device;
  bool isAside; // the second of a backend, which makes two
  std::deque<Operation> operations = {};
  int64_t done = 0;
  /// Where operations go instead, while the stream is captured.
  std::vector<Work> *captured = nullptr;
  /// How many operations have ever been queued.
  int64_t total() const { return done + int64_t(operations.size()); }
};

/// All of the driver. One thread at a time.
class State {
public:
  static State &get();

  /// A mistake of the caller's.
  Status problem(Status status, std::string text);
  /// A line of the file that KV_FAKE_CUDA_TRACE names.
  void trace(const std::string &line);

  /// Device work: runs when somebody waits for it, and not before, or in
  /// runAside(). The first failure is what every later wait returns.
  void enqueue(void *stream, std::function<Status()> run) {
    enqueue(stream, Work{std::move(run)});
  }
  void enqueue(void *stream, Work work) {
    auto &to = *static_cast<FakeStream *>(stream);
    if (to.captured)
      to.captured->push_back(std::move(work));
    else
      to.operations.push_back({std::move(work)});
  }
  /// A mistake, where a stream is captured: a call that a graph cannot hold.
  Status checkNoCapture(const char *call);
  /// Runs what is queued on all streams.
  Status run();
  /// Runs the stream until `number` of its operations are done, and of other
  /// streams what it waits for.
  Status runUntil(FakeStream &stream, int64_t number);
  /// Runs one operation of the stream, unless it waits for somebody.
  Status runOne(FakeStream &stream);
  /// Runs all that can run on the second streams: as early as a device may.
  void runAside();
  void forgetFailure() { failure = Success; }
  int64_t queued() const;

  DeviceMemory memory;
  std::map<const char *, size_t> pinned;
  Counters counters;
  std::vector<std::string> problems;
  std::vector<FakeStream *> streams;
  int device = -1; // the current one

  /// The pinned allocation that an address is in; no bytes: none.
  DeviceMemory::Range findPinned(const void *address) const;
  bool isPinned(const void *data, size_t bytes) const;
  /// Whether the calling thread's context is that of the stream.
  Status checkStream(const char *call, void *stream);

private:
  State();
  void advance(FakeStream &stream, int64_t number);
  void advanceOne(FakeStream &stream);
  Status failure = Success;
  std::FILE *traceFile = nullptr;
};

extern const DeviceModel Devices[6];

} // namespace kv::fake

#endif // KV_TEST_CUDA_FAKE_STATE_H
