//===- StatePool.h - Which states there are, and whose they are -*- C++ -*-===//
//
// Snapshots belong to nodes of the prefix index and go with them. Of those that
// no sequence has, superseded ones are evicted first, then the least recently
// used. A snapshot is superseded when the only sequence that has ever used it
// has a later one: a conversation that goes on needs its last state alone, and
// one state is as large as hundreds of pages. A snapshot that two sequences
// have used is where prompts part, and stays.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_ENGINE_STRUCTURES_STATEPOOL_H
#define KV_RUNTIME_ENGINE_STRUCTURES_STATEPOOL_H

#include "FixedArray.h"

#include "kv/Runtime/Engine/States.h"

#include <span>

namespace kv {

class StatePool {
public:
  static constexpr uint32_t NoNode = UINT32_MAX;

  /// May be called once; without it there are no states. Nodes have ids below
  /// `numNodes`. False: no memory.
  [[nodiscard]] bool create(int32_t numStates, size_t numNodes);

  int32_t numTotal() const {
    return records.size() ? static_cast<int32_t>(records.size()) - 2 : 0;
  }
  StateCounts counts() const {
    return {numTotal() - numCached - numBlank, numCached, numBlank};
  }
  int64_t numEvicted() const { return evictions; }
  size_t bytes() const { return records.bytes() + byNode.bytes(); }

  /// The snapshot of a node; NullState if it has none.
  StateId at(uint32_t node) const {
    return byNode.size() ? byNode[node] : NullState;
  }
  /// Whether another sequence has the state or may find it: it must not be
  /// written.
  bool isShared(StateId id) const {
    return records[id].holds > 1 || records[id].node != NoNode;
  }

  /// The node whose snapshot is the first to be evicted, if no state is blank;
  /// NoNode: one is.
  uint32_t victim() const;
  void countEviction() { ++evictions; }
  /// A blank state, held once. There must be one: callers forget() the victim,
  /// and have as many states as sequences can hold.
  StateId take();
  void hold(StateId id);
  void release(StateId id);

  bool isSuperseded(StateId id) const { return records[id].isSuperseded; }

  /// Makes a held state the snapshot of a node that has none. `owner` is the
  /// serial of the only sequence that has used it, or 0: it is where prompts
  /// part.
  void keep(StateId id, uint32_t node, uint64_t owner);
  /// The sequence `owner` has a later snapshot than this one.
  void supersede(StateId id, uint64_t owner);
  /// A sequence uses a snapshot. The sequence becomes the owner of a snapshot
  /// that another sequence has left as its last: then a conversation goes on.
  void use(StateId id, uint64_t sequence);
  /// The node is gone, or all nodes are: so are their snapshots.
  void forget(uint32_t node);
  void forgetAll();

  /// The first contradiction, or null; `holds` are those of all sequences.
  const char *check(std::span<const int32_t> holds) const;

private:
  struct Record {
    int32_t holds;
    uint32_t node;
    StateId before, next; // in a list of snapshots, or of blank states
    bool isSuperseded;
    uint64_t owner; // serial of a sequence, or 0
  };

  /// The records that stand for the ends of the lists.
  StateId superseded() const { return numTotal() + 1; }
  void link(StateId id);
  void unlink(StateId id);
  void pushBlank(StateId id);

  /// The first record is the null state's and the end of the list of the least
  /// recently used, the last one that of superseded snapshots.
  FixedArray<Record> records;
  FixedArray<StateId> byNode;
  StateId blank = NullState; // the first one
  int32_t numBlank = 0, numCached = 0;
  int64_t evictions = 0;
};

} // namespace kv

#endif // KV_RUNTIME_ENGINE_STRUCTURES_STATEPOOL_H
