//===- PriorityLimits.h - Which pages' priorities end when ------*- C++ -*-===//
//
// A timing wheel: each slot is a list of the pages whose priority ends at one
// tick, linked through their records. Every operation is O(1) and a page needs
// no memory beyond its record. Of two pages with equal limits, the one released
// first is first in the slot's list, so a page's priority ends before its
// parent's.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_ENGINE_STRUCTURES_PRIORITYLIMITS_H
#define KV_RUNTIME_ENGINE_STRUCTURES_PRIORITYLIMITS_H

#include "PageLists.h"
#include "Worth.h"

namespace kv {

class PriorityLimits {
public:
  /// Most ticks between now and a limit.
  static constexpr Tick Most = 4095;

  /// For the pages of `records`, which outlives this. False: no memory.
  [[nodiscard]] bool create(const PageRecords &records) {
    this->records = &records;
    return slots.create(Most + 1);
  }

  Tick now() const { return current; }

  /// The tick at which the page's priority ends; 0: never.
  Tick until(PageId page) const {
    uint32_t slot = (*records)[page].limit;
    return slot == 0 ? 0 : current + ((slot - 1 - current) & Most);
  }

  /// Replaces the page's limit by a tick at most `Most` ahead, or 0: none.
  void set(PageId page, Tick until) {
    if ((*records)[page].limit != 0)
      unlink(page);
    if (until != 0)
      link(page, until);
  }

  /// Moves the time to the tick `to`. Removes each limit that is reached and
  /// calls over(page) for its page, in the order of the limits.
  template <class Fn> void advance(Tick to, Fn &&over) {
    Tick last = std::min(to, current + Most);
    for (Tick tick = current + 1; tick <= last; ++tick)
      clear(slots[tick & Most], over);
    current = to;
  }

  /// Removes every limit and calls fn(page) for its page.
  template <class Fn> void clear(Fn &&fn) {
    for (size_t at = 0; count > 0; ++at)
      clear(slots[at], fn);
  }

  size_t bytes() const { return slots.bytes(); }

  /// The first contradiction, or null. For tests.
  const char *check(int32_t pages) const;

private:
  /// A list of pages; 0, the null page, ends it.
  struct LimitSlot {
    PageId first, last;
  };

  template <class Fn> void clear(LimitSlot &slot, Fn &&fn) {
    while (PageId page = slot.first) {
      unlink(page);
      fn(page);
    }
  }
  void link(PageId page, Tick until);
  void unlink(PageId page);

  const PageRecords *records = nullptr;
  FixedArray<LimitSlot> slots; // by tick, modulo the count of slots
  Tick current = 0;
  int32_t count = 0; // pages with a limit
};

} // namespace kv

#endif // KV_RUNTIME_ENGINE_STRUCTURES_PRIORITYLIMITS_H
