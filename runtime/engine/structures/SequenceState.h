//===- SequenceState.h - What a Sequence stands for -------------*- C++ -*-===//
//
// Private to the engine and to LookupTable.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_ENGINE_STRUCTURES_SEQUENCESTATE_H
#define KV_RUNTIME_ENGINE_STRUCTURES_SEQUENCESTATE_H

#include "PrefixIndex.h"
#include "Steps.h"
#include "Worth.h"

#include "kv/Runtime/Engine/Groups.h"
#include "kv/Runtime/Engine/Sequence.h"
#include "kv/Runtime/Engine/States.h"

#include <array>
#include <cstdint>

namespace kv {

struct alignas(64) SequenceState : detail::SequenceView {
  // With the view, what a decode step reads: one cache line.
  Ticket stamp;    // the last step joined
  uint64_t serial; // unique among all sequences ever opened
  /// Grows whenever an entry below `held` changes; `changedFrom` is the lowest
  /// entry that the last change wrote.
  uint32_t revision;
  int32_t changedFrom;
  uint32_t epoch;
  bool isOpen;
  /// The last page holds tokens of this sequence but is shared: before the
  /// sequence writes to it, it is copied, unless no other sequence has it any
  /// more.
  bool borrowsTail;
  /// Has a scope, and its committed pages are all in the index.
  bool indexes;

  // The members that a page boundary reads.
  NodeRef tip;    // node of the last committed page
  uint64_t *tags; // of the prompt's pages, the first `knownTags` of them
  /// Options::keepReplaced: rows like those of the view, of the pages that the
  /// sequence holds besides them; null without the option.
  PageId *replaced;
  int32_t knownTags;
  uint32_t scope;
  Retention retention;
  Worth floor; // the highest worth of any page that it has released
  std::array<int32_t, CacheGroups::Most> firstHeld; // entries below are null
  int64_t loggedTokens;                             // of the prompt
};

/// The states of a sequence, where the engine has recurrent layers. Apart from
/// SequenceState, of which decode steps read one cache line.
struct SequenceStates {
  StateId current = NullState; // of the processed tokens
  StateId spare = NullState;   // for the next step, unless it writes in place
  StateId written = NullState; // by a step that it has joined
  StateId latest = NullState;  // snapshot that it has made or used
  /// Tokens after which the state is kept; 0: none.
  int64_t junction = 0, promptEnd = 0, loaded = 0;
};

/// The record of an open handle.
inline SequenceState &stateOf(const Sequence &sequence) {
  return static_cast<SequenceState &>(*sequence.view);
}

} // namespace kv

#endif // KV_RUNTIME_ENGINE_STRUCTURES_SEQUENCESTATE_H
