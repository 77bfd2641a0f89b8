//===- Recency.h - Which record is given up next ----------------*- C++ -*-===//
//
// Slots in the order in which they are given up: by priority, then least
// recently used first. A raised priority can end; the slot has the default one
// then. As in the engine (Eviction.h, PriorityLimits.h), but in plain lists:
// records are touched a thousand times less often than pages.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_TIERS_RECENCY_H
#define KV_RUNTIME_TIERS_RECENCY_H

#include "kv/Runtime/Engine/Sequence.h"

#include <cstdint>
#include <set>
#include <vector>

namespace kv {

class Recency {
public:
  /// An order of the slots 0 to count - 1, none of which is in it yet. Uses are
  /// numbered from `start` on.
  explicit Recency(int32_t count, uint64_t start = 0)
      : links(count), clock(start) {}

  /// Adds a slot as the most recent of its priority. `until`: when the priority
  /// ends, on the clock of victim(); 0: never.
  void insert(int32_t slot, uint8_t priority, int64_t until) {
    Link &link = links[slot];
    link.priority = priority;
    link.until = priority > Retention::Default ? until : 0;
    link.order = ++clock;
    order.insert({priority, link.order, slot});
    if (link.until)
      limits.insert({link.until, slot});
  }
  void remove(int32_t slot) {
    Link &link = links[slot];
    order.erase({link.priority, link.order, slot});
    if (link.until)
      limits.erase({link.until, slot});
    link = {};
  }
  /// The slot is the most recent one, at the higher of its priority and this
  /// one.
  void touch(int32_t slot, uint8_t priority, int64_t until) {
    Link was = links[slot];
    remove(slot);
    if (was.priority > priority) {
      priority = was.priority;
      until = was.until;
    } else if (was.priority == priority && (was.until == 0 || until == 0)) {
      until = 0;
    } else if (was.priority == priority) {
      until = std::max(until, was.until);
    }
    insert(slot, priority, until);
  }

  uint8_t priority(int32_t slot) const { return links[slot].priority; }
  int64_t until(int32_t slot) const { return links[slot].until; }
  /// Grows with every use.
  uint64_t use(int32_t slot) const { return links[slot].order; }

  /// The first slot that `may` accepts, or -1; it stays in the order.
  template <class May> int32_t victim(int64_t now, May &&may) {
    while (!limits.empty() && limits.begin()->until <= now) {
      int32_t slot = limits.begin()->slot;
      remove(slot);
      insert(slot, Retention::Default, 0);
    }
    for (const RecentEntry &entry : order)
      if (may(entry.slot))
        return entry.slot;
    return -1;
  }

private:
  struct Link {
    uint64_t order = 0;
    int64_t until = 0;
    uint8_t priority = 0;
  };
  struct RecentEntry {
    uint8_t priority;
    uint64_t order;
    int32_t slot;
    auto operator<=>(const RecentEntry &) const = default;
  };
  struct Limit {
    int64_t until;
    int32_t slot;
    auto operator<=>(const Limit &) const = default;
  };

  std::vector<Link> links;
  std::set<RecentEntry> order;
  std::set<Limit> limits;
  uint64_t clock;
};

} // namespace kv

#endif // KV_RUNTIME_TIERS_RECENCY_H
