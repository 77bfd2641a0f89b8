//===- States.cpp - States of the engine's sequences ----------------------===//
//
// A step never writes a state that somebody else may read: where the old one is
// a snapshot or a fork's, the new one goes to a spare, which the reservation
// has taken. So a snapshot costs no copy, and a hit is a table entry.
//
//===----------------------------------------------------------------------===//

#include "CacheEngineImpl.h"

#include <algorithm>

using namespace kv;

StatePlaces CacheEngineImpl::places(const SequenceState &state) const {
  const SequenceStates &own = statesOf(state);
  bool inPlace = own.current != NullState && !states.isShared(own.current);
  return {own.current, inPlace ? own.current : own.spare};
}

int64_t CacheEngineImpl::nextSnapshot(const Sequence &sequence) const {
  const SequenceState &state = stateOf(sequence);
  if (!options.recurrent)
    return INT64_MAX;
  const SequenceStates &own = statesOf(state);
  int64_t next = INT64_MAX;
  for (int64_t wanted : {own.junction, own.promptEnd})
    if (wanted > state.processed)
      next = std::min(next, wanted);
  return next;
}

/// Where the prompt's prefix parts from what others have computed, and where
/// its last full page ends that a later prompt can take over.
void CacheEngineImpl::chooseSnapshots(SequenceState &state,
                                      const Prompt &prompt, int32_t found) {
  if (!canCommit(state))
    return;
  SequenceStates &own = statesOf(state);
  own.junction = int64_t(found) * options.pageSize;
  own.promptEnd = (prompt.length() - 1) / options.pageSize * options.pageSize;
}

void CacheEngineImpl::keepState(Sequence &sequence, int64_t tokens,
                                bool isJunction) {
  if (!options.recurrent)
    return;
  SequenceStates &own = statesOf(stateOf(sequence));
  int64_t &place = isJunction ? own.junction : own.loaded;
  place = isJunction ? std::max(place, tokens) : tokens;
  if (options.log)
    options.log->command({.kind = Command::KeepState,
                          .sequence = sequence.slot(),
                          .a = tokens,
                          .b = isJunction});
}

CacheEngineImpl::Snapshot CacheEngineImpl::snapshotAt(const Sequence &sequence,
                                                      int32_t pages) const {
  const SequenceState &state = stateOf(sequence);
  if (!options.recurrent || !canCommit(state) || pages < 1 ||
      pages > state.committed)
    return {};
  NodeRef node = tipAt(state, pages);
  if (!nodes.isLive(node))
    return {};
  StateId id = states.at(node.id);
  if (id == NullState)
    return {};
  const SequenceStates &own = statesOf(state);
  int64_t at = int64_t(pages) * options.pageSize;
  return {id, at == own.junction || at == own.promptEnd,
          states.isSuperseded(id), nodes.tokens(node.id)};
}

/// The snapshot at the end of a hit becomes the sequence's state.
void CacheEngineImpl::takeState(SequenceState &state, StateId snapshot) {
  SequenceStates &own = statesOf(state);
  states.hold(snapshot);
  states.use(snapshot, state.serial);
  if (own.current != NullState)
    states.release(own.current);
  own.current = own.latest = snapshot;
}

/// Every sequence holds two states at most, and there are as many.
void CacheEngineImpl::reserveState(SequenceState &state) {
  if (places(state).write == NullState)
    statesOf(state).spare = takeState();
}

StateId CacheEngineImpl::takeState() {
  if (uint32_t victim = states.victim(); victim != StatePool::NoNode) {
    states.countEviction();
    forgetSnapshot(victim);
  }
  return states.take();
}

void CacheEngineImpl::forgetSnapshot(uint32_t node) {
  states.forget(node);
  if (options.events) {
    int32_t id = static_cast<int32_t>(node);
    options.events->removed({&id, 1}, stateGroup());
  }
}

/// The state is now that of `state.processed` tokens.
void CacheEngineImpl::advanceState(SequenceState &state, const Prompt &prompt) {
  SequenceStates &own = statesOf(state);
  StateId written = own.written ? own.written : places(state).write;
  own.written = NullState;
  if (written != own.current) {
    if (own.current != NullState)
      states.release(own.current);
    own.current = written;
    own.spare = NullState;
  }
  int64_t at = state.processed;
  if (at != int64_t(state.committed) * options.pageSize || at == 0 ||
      !canCommit(state) || !nodes.isLive(state.tip))
    return;
  // Of generated tokens every full page is a place, as each step comes by. One
  // in the middle of a prompt is where the caller happened to cut it.
  bool isJunction = at == own.junction;
  if (!isJunction && at != own.promptEnd && at != own.loaded &&
      prompt.length() > at + 1)
    return;
  StateId there = states.at(state.tip.id);
  if (there == NullState) {
    there = own.current;
    states.keep(there, state.tip.id, isJunction ? 0 : state.serial);
    if (options.events)
      announce(state.tip.id, stateGroup());
  } else {
    // Another sequence has computed the same: its snapshot serves both.
    states.hold(there);
    states.use(there, state.serial);
    states.release(own.current);
    own.current = there;
  }
  if (isJunction)
    return;
  if (own.latest != NullState && own.latest != there)
    states.supersede(own.latest, state.serial);
  own.latest = there;
}

void CacheEngineImpl::releaseStates(SequenceState &state) {
  SequenceStates &own = statesOf(state);
  for (StateId id : {own.spare, own.current})
    if (id != NullState)
      states.release(id);
  own = {};
}

Expected<void> CacheEngineImpl::canKeepState(const SequenceState &state,
                                             int64_t tokens) const {
  if (!options.recurrent || tokens == 0)
    return {};
  if (tokens != state.processed)
    return makeError(KV_STATUS_OUT_OF_RANGE, "cache engine: ", tokens,
                     " tokens are to be kept, with recurrent layers allowed: "
                     "0 or ",
                     state.processed, ", of which there is a state");
  if (statesOf(state).written != NullState)
    return makeError(KV_STATUS_OUT_OF_RANGE,
                     "cache engine: a step that changes the state has not been "
                     "committed");
  return {};
}

/// The fork has the same state; the sequence that writes first writes to a
/// spare.
void CacheEngineImpl::forkState(SequenceState &source, SequenceState &fork) {
  if (!options.recurrent || fork.processed == 0)
    return;
  SequenceStates &from = statesOf(source);
  states.hold(from.current);
  statesOf(fork).current = from.current;
  if (from.spare == NullState) // its next step may be reserved already
    from.spare = takeState();
}
