//===- RequestTable.h - Replica and slot of each request --------*- C++ -*-===//

#ifndef KV_RUNTIME_MANAGER_REQUESTTABLE_H
#define KV_RUNTIME_MANAGER_REQUESTTABLE_H

#include "kv/Runtime/Manager/TextGenerationContext.h"

#include <vector>

namespace kv {

/// Maps request ids to a replica and a slot there. A hash table with open
/// addressing: nothing is allocated after construction.
class RequestTable {
public:
  struct RequestPlace {
    int32_t replica = -1;
    int32_t slot = -1;
  };

  /// Room for `slots` requests on each of `replicas`.
  RequestTable(int32_t replicas, int32_t slots);

  int32_t slotsPerReplica() const { return slots; }
  /// Requests on a replica.
  int32_t count(int32_t replica) const {
    return slots - static_cast<int32_t>(unused[replica].size());
  }

  /// The request's place; null if it is not in the table.
  const RequestPlace *find(RequestId id) const {
    const Entry &entry = entries[locate(id)];
    return entry.place.slot >= 0 ? &entry.place : nullptr;
  }
  /// Gives a request the slot of the replica that was freed last; a new table
  /// gives slots in ascending order. The request must not be in the table, and
  /// the replica must have an unused slot.
  RequestPlace insert(RequestId id, int32_t replica);
  /// Removes a request, which must be in the table.
  void erase(RequestId id);

  /// Calls fn(id, place) for each request, in no particular order.
  template <class Fn> void forEach(Fn &&fn) const {
    for (const Entry &entry : entries)
      if (entry.place.slot >= 0)
        fn(entry.id, entry.place);
  }

private:
  struct Entry {
    RequestId id = 0;
    RequestPlace place;
  };

  size_t home(RequestId id) const {
    return (id * 0x9E3779B97F4A7C15ull >> 32) & (entries.size() - 1);
  }
  size_t locate(RequestId id) const {
    size_t at = home(id);
    while (entries[at].place.slot >= 0 && entries[at].id != id)
      at = (at + 1) & (entries.size() - 1);
    return at;
  }

  int32_t slots;
  std::vector<Entry> entries;               // at most half full
  std::vector<std::vector<int32_t>> unused; // slots, by replica
};

} // namespace kv

#endif // KV_RUNTIME_MANAGER_REQUESTTABLE_H
