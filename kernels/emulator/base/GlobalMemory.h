//===- GlobalMemory.h - What a kernel may touch outside ---------*- C++ -*-===//

#ifndef KV_KERNELS_EMULATOR_BASE_GLOBALMEMORY_H
#define KV_KERNELS_EMULATOR_BASE_GLOBALMEMORY_H

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
    pages.clear();
    lastPage = nullptr;
    counters.clear();
  }

  /// Who wrote a 32-bit word, and when.
  struct Writer {
    int block = -1; // none: from before the launch
    int thread;
    Moment moment;
    bool plain; // not as scratch
  };
  /// The writer of the word at `p`, which is added if there is none.
  Writer &writer(const void *p);
  /// The last writer, or null if no thread has written near `p`.
  const Writer *written(const void *p) const;
  BlockClocks &counter(const void *p) { return counters[p]; }

private:
  struct Region {
    const char *begin;
    const char *end;
    Access access;
  };
  static constexpr int PageWords = 1024;
  struct Page {
    Writer writers[PageWords];
  };
  std::vector<Region> regions;
  std::unordered_map<uintptr_t, Page> pages; // by address
  uintptr_t lastNumber = 0;
  Page *lastPage = nullptr;
  std::unordered_map<const void *, BlockClocks> counters;
};

} // namespace kv::cuda

#endif // KV_KERNELS_EMULATOR_BASE_GLOBALMEMORY_H
