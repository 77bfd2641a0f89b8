//===- PagePayloads.h - What callers keep with pages ------------*- C++ -*-===//

#ifndef KV_RUNTIME_MANAGER_PAGEPAYLOADS_H
#define KV_RUNTIME_MANAGER_PAGEPAYLOADS_H

#include "runtime/engine/structures/FixedArray.h"

#include "kv/Runtime/Engine/PageOps.h"

#include <cstring>
#include <span>
#include <utility>

namespace kv {

/// Payloads of one replica's pages (PagedOptions::payloadRanks), in host
/// memory. A page has a payload only while it is cached: the manager writes it
/// when the page is committed, and forgets it when the page gets new content.
class PagePayloads {
public:
  /// False: no memory.
  [[nodiscard]] bool create(int64_t numPages, int64_t bytesOfPage) {
    pageBytes = static_cast<size_t>(bytesOfPage);
    size_t count = static_cast<size_t>(numPages) + 1; // with the null page
    return known.create(count) &&
           data.create(count * pageBytes, FixedArray<std::byte>::Untouched);
  }

  /// How many of the pages have a payload, up to the first that has none.
  int64_t countRun(std::span<const uint32_t> pages) const {
    int64_t run = 0;
    while (run < std::ssize(pages) && known[pages[run]])
      ++run;
    return run;
  }
  void forget(std::span<const PageId> pages) {
    for (PageId page : pages)
      known[page] = false;
  }
  /// Copies the payload of a page that has one to `to`. A page that has none
  /// gets that of `to` instead: [bytesOfPage].
  void exchange(PageId page, std::byte *to) {
    std::byte *own = data.begin() + page * pageBytes;
    if (std::exchange(known[page], true))
      std::memcpy(to, own, pageBytes);
    else
      std::memcpy(own, to, pageBytes);
  }

  int64_t bytes() const {
    return static_cast<int64_t>(data.bytes() + known.bytes());
  }

private:
  size_t pageBytes = 0;
  FixedArray<std::byte> data;
  FixedArray<bool> known; // by page
};

} // namespace kv

#endif // KV_RUNTIME_MANAGER_PAGEPAYLOADS_H
