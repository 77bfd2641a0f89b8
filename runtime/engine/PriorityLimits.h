//===- PriorityLimits.h - Which pages' priorities end when ------*- C++ -*-===//
//
// A timing wheel: each slot is a list of the pages whose priority ends at one
// tick, linked through their records. O(1) each, without memory of its own for
// a page. What is released later ends later or stands behind in the same slot,
// so that a page's turn comes before its parent's.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_ENGINE_PRIORITYLIMITS_H
#define KV_RUNTIME_ENGINE_PRIORITYLIMITS_H

#include "PageLists.h"
#include "Worth.h"

namespace kv {

class PriorityLimits {
public:
  /// Ticks that a limit may lie ahead.
  static constexpr Tick Most = 4095;

  /// Of the pages of `records`. False: no memory.
  [[nodiscard]] bool create(const PageRecords &records) {
    this->records = &records;
    return slots.create(Most + 1);
  }

  Tick now() const { return current; }

  /// When the page's priority ends; 0: never.
  Tick until(PageId page) const {
    uint32_t slot = (*records)[page].limit;
    return slot == 0 ? 0 : current + ((slot - 1 - current) & Most);
  }

  /// Replaces its limit: 0, or at most `Most` ticks ahead.
  void set(PageId page, Tick until) {
    if ((*records)[page].limit != 0)
      unlink(page);
    if (until != 0)
      link(page, until);
  }

  /// Time goes on. Calls over(page) for each page whose limit is reached, in
  /// the order of their ends; they have none any more.
  template <class Fn> void advance(Tick to, Fn &&over) {
    Tick last = std::min(to, current + Most);
    for (Tick tick = current + 1; tick <= last; ++tick)
      clear(slots[tick & Most], over);
    current = to;
  }

  /// Calls fn(page) for each page that has a limit, which it has not any more.
  template <class Fn> void clear(Fn &&fn) {
    for (size_t at = 0; count > 0; ++at)
      clear(slots[at], fn);
  }

  size_t bytes() const { return slots.bytes(); }

  /// The first contradiction, or null. For tests.
  const char *check(int32_t pages) const;

private:
  /// Page 0 is nobody's, so 0 is none.
  struct Slot {
    PageId first, last;
  };

  template <class Fn> void clear(Slot &slot, Fn &&fn) {
    while (PageId page = slot.first) {
      unlink(page);
      fn(page);
    }
  }
  void link(PageId page, Tick until);
  void unlink(PageId page);

  const PageRecords *records = nullptr;
  FixedArray<Slot> slots; // by tick, modulo their number
  Tick current = 0;
  int32_t count = 0; // pages with a limit
};

} // namespace kv

#endif // KV_RUNTIME_ENGINE_PRIORITYLIMITS_H
