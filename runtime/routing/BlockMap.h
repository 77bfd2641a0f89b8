//===- BlockMap.h - Prefixes and the machines that have them ----*- C++ -*-===//

#ifndef KV_RUNTIME_ROUTING_BLOCKMAP_H
#define KV_RUNTIME_ROUTING_BLOCKMAP_H

#include "MachineSet.h"

namespace kv {

/// By hash, which is one of SHA-256 and needs no other. Open addressing, at
/// most seven of eight places used; what is erased leaves no mark.
class BlockMap {
public:
  BlockMap() : places(64) {}

  int64_t size() const { return static_cast<int64_t>(used); }

  const MachineSet *find(uint64_t block) const {
    for (size_t at = home(block);; at = next(at)) {
      if (places[at].machines.empty())
        return nullptr;
      if (places[at].block == block)
        return &places[at].machines;
    }
  }
  /// False: it is there already.
  bool insert(uint64_t block, uint32_t machine) {
    size_t at = home(block);
    while (!places[at].machines.empty() && places[at].block != block)
      at = next(at);
    if (!places[at].machines.empty())
      return places[at].machines.insert(machine);
    if ((used + 1) * 8 > places.size() * 7) {
      grow();
      return insert(block, machine);
    }
    ++used;
    places[at].block = block;
    return places[at].machines.insert(machine);
  }
  /// False: it is not there.
  bool erase(uint64_t block, uint32_t machine) {
    size_t at = home(block);
    while (!places[at].machines.empty() && places[at].block != block)
      at = next(at);
    if (!places[at].machines.erase(machine))
      return false;
    if (places[at].machines.empty())
      close(at);
    return true;
  }
  /// Takes the machine out of all sets.
  void erase(uint32_t machine) {
    std::vector<uint64_t> blocks;
    for (const BlockPlace &place : places)
      if (place.machines.contains(machine))
        blocks.push_back(place.block);
    for (uint64_t block : blocks)
      (void)erase(block, machine);
  }

private:
  struct BlockPlace {
    uint64_t block = 0;
    MachineSet machines; // empty: the place is free
  };

  size_t home(uint64_t block) const { return block & (places.size() - 1); }
  size_t next(size_t at) const { return (at + 1) & (places.size() - 1); }
  /// Moves the entries after a place that has become free, so that all are
  /// found.
  void close(size_t at) {
    --used;
    for (size_t from = next(at); !places[from].machines.empty();
         from = next(from)) {
      size_t wanted = home(places[from].block);
      // Whether `wanted` is not in (at, from], around the end.
      bool mayMove = at <= from ? wanted <= at || wanted > from
                                : wanted <= at && wanted > from;
      if (!mayMove)
        continue;
      places[at] = std::move(places[from]);
      places[from] = {};
      at = from;
    }
  }
  void grow() {
    std::vector<BlockPlace> old(places.size() * 2);
    old.swap(places);
    for (BlockPlace &place : old) {
      if (place.machines.empty())
        continue;
      size_t at = home(place.block);
      while (!places[at].machines.empty())
        at = next(at);
      places[at] = std::move(place);
    }
  }

  std::vector<BlockPlace> places; // a power of two
  size_t used = 0;
};

} // namespace kv

#endif // KV_RUNTIME_ROUTING_BLOCKMAP_H
