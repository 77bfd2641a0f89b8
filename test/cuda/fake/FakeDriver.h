//===- FakeDriver.h - CUDA without a GPU ------------------------*- C++ -*-===//
//
// libkv_fake_cuda.so exports the functions of the driver, of cuBLASLt and of
// NCCL that the runtime loads (KV_CUDA_DRIVER names it). Device memory is host
// memory that the host may not touch; what is queued on a stream runs when
// somebody waits for that stream, as late as a device may, or in runAside(), as
// early; who asks for an event instead runs one operation of the stream before
// it; a launch runs the kernel's twin, a product is a loop. Tests ask here what
// happened.
//
// Devices: 0 and 1 of compute capability 9.0 (2 SMs and 5), 2 of 8.6, 3 of
// 12.0, 4 of 7.5, 5 of 10.0; each has 1 GiB. KV_FAKE_CUDA_FIRST=n leaves out
// those before n.
//
//===----------------------------------------------------------------------===//

#ifndef KV_TEST_CUDA_FAKE_FAKEDRIVER_H
#define KV_TEST_CUDA_FAKE_FAKEDRIVER_H

#include <cstdint>
#include <string>
#include <vector>

namespace kv::fake {

struct Counters {
  int64_t allocations = 0;      // and frees, of device or pinned memory
  int64_t synchronizations = 0; // of streams and events
  int64_t launches = 0;
  int64_t earlyLaunches = 0; // of them, that may begin before earlier ones end
  int64_t clusterLaunches = 0; // of them, of clusters of several blocks
  int64_t copies = 0;          // of any kind; a batch is one
  int64_t pageableCopies = 0;
  int64_t products = 0;
  int64_t heuristics = 0;
  int64_t tensorMaps = 0; // encoded
  int64_t graphsMade = 0, graphLaunches = 0;
};

__attribute__((visibility("default"))) Counters counters();
/// What was done wrong so far, one sentence each; forgets them.
__attribute__((visibility("default"))) std::vector<std::string> takeProblems();
/// A device that has failed does nothing any more, until this.
__attribute__((visibility("default"))) void forgetFailure();
/// Device memory that nobody has freed, in bytes.
__attribute__((visibility("default"))) int64_t bytesInUse();
/// Executable graphs that nobody has destroyed.
__attribute__((visibility("default"))) int64_t graphsInUse();
/// The next captures fail when they end, as those of a driver may.
__attribute__((visibility("default"))) void refuseCaptures(bool refuse);
/// No device runs more clusters at once, as where groups of SMs are odd.
__attribute__((visibility("default"))) void limitClusters(int most);
/// Runs everything that may run on the second streams of all devices.
/// Otherwise nothing runs before somebody waits for it.
__attribute__((visibility("default"))) void runAside();
/// Operations that are queued and have not run.
__attribute__((visibility("default"))) int64_t pending();

} // namespace kv::fake

#endif // KV_TEST_CUDA_FAKE_FAKEDRIVER_H
