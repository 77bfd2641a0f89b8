//===- GlobalMemory.h - What a kernel may touch outside ---------*- C++ -*-===//

#ifndef KV_KERNELS_CUDA_EMULATOR_GLOBALMEMORY_H
#define KV_KERNELS_CUDA_EMULATOR_GLOBALMEMORY_H

#include "Clocks.h"

#include <string>
#include <unordered_map>

namespace kv::cuda {

enum class Access { Read, Write };

/// The allocations that a launch was given, and who wrote what of the scratch
/// that blocks exchange.
class GlobalMemory {
public:
  /// Kernels may touch [data, data + bytes) only, of all regions named.
  void allow(const void *data, size_t bytes, Access access);
  bool allowed(const void *p, size_t bytes, Access access) const;

  /// Forgets the last launch's stores: a launch is ordered after them.
  void beginLaunch() {
    writers.clear();
    counters.clear();
  }
  void scratchWritten(const void *p, int block, int thread, uint32_t clock) {
    writers[p] = {block, thread, clock};
  }
  /// Whether what lies at p was published to this thread; else by whom it
  /// was written.
  bool scratchKnown(const void *p, int block, const ThreadClock &clock,
                    std::string &writer) const;
  BlockClocks &counter(const void *p) { return counters[p]; }

private:
  struct Region {
    const char *begin;
    const char *end;
    Access access;
  };
  struct Writer {
    int block;
    int thread;
    uint32_t clock;
  };
  std::vector<Region> regions;
  std::unordered_map<const void *, Writer> writers;
  std::unordered_map<const void *, BlockClocks> counters;
};

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_EMULATOR_GLOBALMEMORY_H
