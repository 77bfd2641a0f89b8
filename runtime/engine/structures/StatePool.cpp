//===- StatePool.cpp - Which states there are, and whose they are ---------===//

#include "StatePool.h"

using namespace kv;

bool StatePool::create(int32_t numStates, size_t numNodes) {
  if (!records.create(size_t(numStates) + 2) || !byNode.create(numNodes))
    return false;
  for (StateId end : {NullState, superseded()})
    records[end] = {0, NoNode, end, end, false, 0};
  for (StateId id = numStates; id > 0; --id)
    pushBlank(id);
  return true;
}

void StatePool::pushBlank(StateId id) {
  records[id] = {0, NoNode, NullState, blank, false, 0};
  blank = id;
  ++numBlank;
}

void StatePool::link(StateId id) {
  StateId end = records[id].isSuperseded ? superseded() : NullState;
  StateId last = records[end].before;
  records[id].before = last;
  records[id].next = end;
  records[last].next = id;
  records[end].before = id;
  ++numCached;
}

void StatePool::unlink(StateId id) {
  records[records[id].before].next = records[id].next;
  records[records[id].next].before = records[id].before;
  --numCached;
}

uint32_t StatePool::victim() const {
  if (blank != NullState)
    return NoNode;
  StateId victim = records[superseded()].next;
  if (victim == superseded())
    victim = records[NullState].next;
  assert(victim != NullState && "a sequence holds two states at most");
  return records[victim].node;
}

StateId StatePool::take() {
  StateId id = blank;
  blank = records[id].next;
  --numBlank;
  records[id].holds = 1;
  return id;
}

void StatePool::hold(StateId id) {
  if (records[id].holds++ == 0)
    unlink(id);
}

void StatePool::release(StateId id) {
  if (--records[id].holds > 0)
    return;
  if (records[id].node == NoNode)
    pushBlank(id);
  else
    link(id);
}

void StatePool::keep(StateId id, uint32_t node, uint64_t owner) {
  assert(records[id].holds > 0 && byNode[node] == NullState);
  records[id].node = node;
  records[id].owner = owner;
  records[id].isSuperseded = false;
  byNode[node] = id;
}

void StatePool::supersede(StateId id, uint64_t owner) {
  Record &record = records[id];
  if (record.node == NoNode || record.owner != owner)
    return;
  if (record.holds == 0)
    unlink(id);
  record.isSuperseded = true;
  if (record.holds == 0)
    link(id);
}

void StatePool::use(StateId id, uint64_t sequence) {
  Record &record = records[id];
  assert(record.holds > 0 && "used while it is in a list");
  if (record.isSuperseded)
    record.owner = 0;
  else if (record.owner != 0)
    record.owner = sequence;
  record.isSuperseded = false;
}

void StatePool::forget(uint32_t node) {
  StateId id = at(node);
  if (id == NullState)
    return;
  byNode[node] = NullState;
  records[id].node = NoNode;
  records[id].owner = 0;
  if (records[id].holds > 0)
    return;
  unlink(id);
  pushBlank(id);
}

void StatePool::forgetAll() {
  for (StateId id = 1; id <= numTotal(); ++id)
    if (records[id].node != NoNode)
      forget(records[id].node);
}

const char *StatePool::check(std::span<const int32_t> holds) const {
  int32_t cached = 0, blanks = 0, named = 0;
  for (StateId id = 1; id <= numTotal(); ++id) {
    const Record &record = records[id];
    if (record.holds != holds[id])
      return "a state has other holds than the sequences' together";
    if (record.node != NoNode && byNode[record.node] != id)
      return "a snapshot's node has another state";
    named += record.node != NoNode;
    cached += record.holds == 0 && record.node != NoNode;
    blanks += record.holds == 0 && record.node == NoNode;
  }
  for (size_t node = 0; node < byNode.size(); ++node)
    named -= byNode[node] != NullState;
  if (named != 0)
    return "a node has a state that is not its snapshot";
  if (cached != numCached || blanks != numBlank)
    return "states are miscounted";
  for (StateId end : {NullState, superseded()})
    for (StateId id = records[end].next; id != end; id = records[id].next)
      if (--cached < 0 || records[id].holds != 0 ||
          records[id].isSuperseded != (end != NullState))
        return "a list of snapshots is not sound";
  return cached == 0 ? nullptr : "a snapshot is in no list";
}
