//===- MachineSet.h - The machines that have a prefix -----------*- C++ -*-===//

#ifndef KV_RUNTIME_ROUTING_MACHINESET_H
#define KV_RUNTIME_ROUTING_MACHINESET_H

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace kv {

/// Most prefixes are on one machine, few on many: a number, a short list, or a
/// bit a machine.
class MachineSet {
public:
  static constexpr size_t MostListed = 64;

  size_t size() const { return more ? more->count : first != None; }
  bool empty() const { return size() == 0; }

  bool contains(uint32_t machine) const {
    if (!more)
      return machine == first;
    if (more->isListed())
      return std::ranges::find(more->list, machine) != more->list.end();
    return machine / 64 < more->bits.size() &&
           (more->bits[machine / 64] >> machine % 64 & 1);
  }

  /// False: it is there already.
  bool insert(uint32_t machine) {
    if (contains(machine))
      return false;
    if (!more && first == None) {
      first = machine;
      return true;
    }
    if (!more) {
      more = std::make_unique<More>();
      more->list = {first};
      more->count = 1;
    }
    if (more->isListed() && more->count == MostListed) {
      for (uint32_t one : more->list)
        more->set(one);
      more->list = {};
    }
    ++more->count;
    if (more->bits.empty())
      more->list.push_back(machine);
    else
      more->set(machine);
    return true;
  }

  /// False: it is not there.
  bool erase(uint32_t machine) {
    if (!contains(machine))
      return false;
    if (!more) {
      first = None;
      return true;
    }
    if (more->isListed())
      std::erase(more->list, machine);
    else
      more->bits[machine / 64] &= ~(uint64_t(1) << machine % 64);
    if (--more->count == 0) {
      more.reset();
      first = None;
    }
    return true;
  }

  bool isListed() const { return !more || more->isListed(); }
  /// Calls visit(machine) for each of a list.
  template <class Visit> void visit(Visit &&visit) const {
    if (!more && first != None)
      visit(first);
    else if (more)
      for (uint32_t one : more->list)
        visit(one);
  }

private:
  static constexpr uint32_t None = UINT32_MAX;
  struct More {
    std::vector<uint32_t> list;
    std::vector<uint64_t> bits; // instead, if it is not empty
    size_t count = 0;
    bool isListed() const { return bits.empty(); }
    void set(uint32_t machine) {
      if (machine / 64 >= bits.size())
        bits.resize(machine / 64 + 1);
      bits[machine / 64] |= uint64_t(1) << machine % 64;
    }
  };
  uint32_t first = None;
  std::unique_ptr<More> more;
};

} // namespace kv

#endif // KV_RUNTIME_ROUTING_MACHINESET_H
