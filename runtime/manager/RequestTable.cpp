//===- RequestTable.cpp - Where each tracked request lives ----------------===//

#include "kv/Runtime/Manager/RequestTable.h"

#include <bit>
#include <numeric>

using namespace kv;

RequestTable::RequestTable(int32_t replicas, int32_t slots)
    : slots(slots),
      entries(std::bit_ceil(2 * static_cast<size_t>(replicas) * slots)),
      unused(replicas, std::vector<int32_t>(slots)) {
  for (std::vector<int32_t> &list : unused)
    std::iota(list.rbegin(), list.rend(), 0);
}

RequestTable::RequestPlace RequestTable::insert(RequestId id, int32_t replica) {
  Entry &entry = entries[locate(id)];
  entry = {id, {replica, unused[replica].back()}};
  unused[replica].pop_back();
  return entry.place;
}

void RequestTable::erase(RequestId id) {
  size_t mask = entries.size() - 1;
  size_t hole = locate(id);
  RequestPlace place = entries[hole].place;
  // Closes the hole: a later entry is moved into it if a search for this entry
  // would stop at the hole.
  for (size_t at = (hole + 1) & mask; entries[at].place.slot >= 0;
       at = (at + 1) & mask) {
    size_t distance = (at - home(entries[at].id)) & mask;
    if (distance >= ((at - hole) & mask)) {
      entries[hole] = entries[at];
      hole = at;
    }
  }
  entries[hole] = {};
  unused[place.replica].push_back(place.slot);
}
