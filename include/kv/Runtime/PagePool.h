//===- PagePool.h - Which pages are held, cached or blank -------*- C++ -*-===//
//
// Bookkeeping of one device's pages; the memory itself is elsewhere. Two facts
// are kept apart: *held* (how many references) and *content* (which node of the
// prefix index names what the page holds, if any). A page is
//
//   held    with or without content: in use, never evicted;
//   cached  not held, with content: on the eviction list;
//   blank   not held, without content: on the free stack.
//
// Blank and cached pages are both free. Single writer, no lock; nothing is
// allocated after construction; every operation is O(1).
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_PAGEPOOL_H
#define KV_RUNTIME_PAGEPOOL_H

#include <cstdint>
#include <vector>

namespace kv {

/// Index of a page in the blocks buffer, as lookup tables store it.
using PageId = int32_t;

/// Never handed out, always zero: what unused table entries point to.
inline constexpr PageId NullPage = 0;

class PagePool {
public:
  /// The content of a page that no node names.
  static constexpr uint32_t NoContent = UINT32_MAX;

  /// `count` usable pages, with the ids 1 .. count, all blank.
  explicit PagePool(int32_t count);

  int32_t numTotal() const { return total; }
  /// Pages that nobody holds: blank ones and cached ones.
  int32_t numFree() const { return numBlank() + cached; }
  int32_t numBlank() const { return static_cast<int32_t>(blank.size()); }
  int32_t numCached() const { return cached; }
  int32_t numUsed() const { return total - numFree(); }

  int32_t holds(PageId page) const { return records[page].holds; }
  uint32_t content(PageId page) const { return records[page].content; }

  /// Takes a blank page, lowest id first on a new pool, and holds it once.
  /// NullPage if there is none: the caller then empties a victim().
  PageId takeBlank();

  /// The cached page that was released longest ago; NullPage if none.
  PageId victim() const { return records[NullPage].next; }
  /// The cached page that is evicted after `page`; NullPage at the end.
  PageId nextVictim(PageId page) const { return records[page].next; }

  /// Adds a reference. A cached page leaves the eviction list.
  void hold(PageId page);

  /// Drops a reference. The last one makes the page blank, or, when it has
  /// content, the most recent of the cached. Sequences release from tail to
  /// head, so that a leaf is evicted before its parent. Returns whether this
  /// was the last reference.
  bool release(PageId page);

  /// Gives a held page its content.
  void setContent(PageId page, uint32_t content);

  /// Forgets a page's content. A cached page becomes blank.
  void clearContent(PageId page);

private:
  struct Record {
    int32_t holds = 0;
    uint32_t content = NoContent;
    PageId previous = NullPage; // on the eviction list
    PageId next = NullPage;
  };

  void unlink(PageId page);

  /// The record of the null page is the eviction list's sentinel.
  std::vector<Record> records;
  std::vector<PageId> blank;
  int32_t total;
  int32_t cached = 0;
};

} // namespace kv

#endif // KV_RUNTIME_PAGEPOOL_H
