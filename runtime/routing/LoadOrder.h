//===- LoadOrder.h - Machines by what they have to do -----------*- C++ -*-===//

#ifndef KV_RUNTIME_ROUTING_LOADORDER_H
#define KV_RUNTIME_ROUTING_LOADORDER_H

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace kv {

/// Machines from the least to the most loaded, where loads of nearly the same
/// size count as equal: in lists, a list for an eighth of a power of two. Every
/// operation but the walk is O(1).
class LoadOrder {
public:
  explicit LoadOrder(uint32_t machines)
      : loads(machines), links(machines), heads(NumLists, None) {
    // The first one is the least.
    for (uint32_t machine = machines; machine-- > 0;)
      insert(machine);
  }

  int64_t load(uint32_t machine) const { return loads[machine]; }
  void add(uint32_t machine, int64_t more) {
    bool isIn = links[machine].isIn;
    if (isIn)
      erase(machine);
    loads[machine] = std::max<int64_t>(loads[machine] + more, 0);
    if (isIn)
      insert(machine);
  }
  void setUsable(uint32_t machine, bool isUsable) {
    if (links[machine].isIn && !isUsable)
      erase(machine);
    else if (!links[machine].isIn && isUsable)
      insert(machine);
  }
  bool isUsable(uint32_t machine) const { return links[machine].isIn; }

  /// Calls visit(machine), least loaded first, until it returns false.
  template <class Visit> void walk(Visit &&visit) const {
    for (uint32_t word = 0; word < NumLists / 64; ++word)
      for (uint64_t left = used[word]; left; left &= left - 1)
        for (uint32_t at = heads[word * 64 + std::countr_zero(left)];
             at != None; at = links[at].next)
          if (!visit(at))
            return;
  }

private:
  static constexpr uint32_t None = UINT32_MAX, NumLists = 512;
  struct Link {
    uint32_t next = None, before = None;
    bool isIn = false;
  };

  static uint32_t listOf(int64_t load) {
    uint64_t value = static_cast<uint64_t>(load);
    if (value < 16)
      return static_cast<uint32_t>(value);
    uint32_t shift = static_cast<uint32_t>(std::bit_width(value)) - 4;
    return (shift + 1) * 8 + static_cast<uint32_t>(value >> shift & 7);
  }
  void insert(uint32_t machine) {
    uint32_t list = listOf(loads[machine]);
    links[machine] = {heads[list], None, true};
    if (heads[list] != None)
      links[heads[list]].before = machine;
    heads[list] = machine;
    used[list / 64] |= uint64_t(1) << list % 64;
  }
  void erase(uint32_t machine) {
    Link &link = links[machine];
    uint32_t list = listOf(loads[machine]);
    (link.before == None ? heads[list] : links[link.before].next) = link.next;
    if (link.next != None)
      links[link.next].before = link.before;
    if (heads[list] == None)
      used[list / 64] &= ~(uint64_t(1) << list % 64);
    link = {};
  }

  std::vector<int64_t> loads;
  std::vector<Link> links;
  std::vector<uint32_t> heads;
  uint64_t used[NumLists / 64] = {}; // lists with machines
};

} // namespace kv

#endif // KV_RUNTIME_ROUTING_LOADORDER_H
