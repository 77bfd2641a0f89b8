//===- LeaseTable.h - Who may read which slots, until when ------*- C++ -*-===//

#ifndef KV_RUNTIME_TRANSPORT_LEASETABLE_H
#define KV_RUNTIME_TRANSPORT_LEASETABLE_H

#include "kv/Runtime/Tiers/PageConnector.h"

#include <map>
#include <vector>

namespace kv {

/// Slots that stay as they are until their lease is returned or ends. A lease
/// is known by its generation, a number that no other lease ever has. A peer
/// that names a lease that is over gets an error.
class LeaseTable {
public:
  using Clock = std::chrono::steady_clock;
  using Slots = std::vector<PageConnector::Slot>;
  struct Ended {
    bool inTime = false; // the slots have been as they were until now
    Slots slots;         // to give back
  };

  uint64_t grant(Slots slots, Clock::time_point until) {
    count += slots.size();
    open.emplace(++last, Lease{std::move(slots), until});
    return last;
  }
  /// The holder has read everything. Nothing is given back twice.
  Ended take(uint64_t generation, Clock::time_point now) {
    auto at = open.find(generation);
    if (at == open.end())
      return {};
    Ended ended = {now < at->second.until && !at->second.revoked,
                   std::move(at->second.slots)};
    count -= ended.slots.size();
    open.erase(at);
    return ended;
  }
  /// The slots of one lease that has ended by now; none: no lease has.
  Slots expire(Clock::time_point now) {
    for (const auto &[generation, lease] : open)
      if (lease.until <= now)
        return take(generation, now).slots;
    return {};
  }
  /// Takes the slots of all leases, which cannot be returned any more.
  Slots clear() {
    Slots slots;
    while (!open.empty()) {
      Ended ended = take(open.begin()->first, {});
      slots.insert(slots.end(), ended.slots.begin(), ended.slots.end());
    }
    return slots;
  }
  /// Ends all leases: their records are of weights that have changed.
  void revoke() {
    for (auto &[generation, lease] : open)
      lease.revoked = true;
  }

  /// When the next lease ends.
  Clock::time_point next() const {
    Clock::time_point first = Clock::time_point::max();
    for (const auto &[generation, lease] : open)
      first = std::min(first, lease.until);
    return first;
  }
  size_t size() const { return open.size(); }
  size_t numSlots() const { return count; }

private:
  struct Lease {
    Slots slots;
    Clock::time_point until;
    bool revoked = false;
  };
  std::map<uint64_t, Lease> open;
  uint64_t last = 0;
  size_t count = 0;
};

} // namespace kv

#endif // KV_RUNTIME_TRANSPORT_LEASETABLE_H
