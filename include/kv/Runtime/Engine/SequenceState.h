//===- SequenceState.h - What a Sequence stands for -------------*- C++ -*-===//
//
// Private to the engine and to those who read tables from it.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_ENGINE_SEQUENCESTATE_H
#define KV_RUNTIME_ENGINE_SEQUENCESTATE_H

#include "kv/Runtime/Engine/Groups.h"
#include "kv/Runtime/Engine/PrefixIndex.h"
#include "kv/Runtime/Engine/Sequence.h"
#include "kv/Runtime/Engine/Steps.h"
#include "kv/Runtime/Engine/Worth.h"

#include <array>
#include <cstdint>

namespace kv {

struct alignas(64) SequenceState {
  // What a decode step looks at, in one cache line.
  int64_t processed;
  int32_t held;      // entries of each group's row
  int32_t committed; // of those, in the index
  Ticket stamp;      // the last step joined
  PageId *rows;      // one a group, `pitch` apart
  uint64_t serial;   // unique among all sequences ever opened
  /// Grows whenever an entry below `held` changes; the lowest of the entries
  /// that changed then is changedFrom.
  uint32_t revision;
  int32_t changedFrom;
  uint32_t epoch;
  int32_t slot;
  bool isOpen;
  /// The last page holds tokens of this sequence, and must not be written to
  /// before it is copied, or nobody else has it.
  bool borrowsTail;
  /// Has a scope, and its committed pages are all in the index.
  bool indexes;

  // What a page boundary looks at.
  NodeRef tip;    // node of the last committed page
  uint64_t *tags; // of the prompt's pages, as far as known
  int32_t knownTags;
  int32_t pitch;
  uint32_t scope;
  Retention retention;
  Worth floor; // the most of what its released pages are worth
  std::array<int32_t, CacheGroups::Most> firstHeld; // entries below are null
  int64_t loggedTokens;
};

inline std::span<const PageId> Sequence::pages(int32_t group) const {
  const PageId *row = state->rows;
  if (group > 0)
    row += int64_t(group) * state->pitch;
  return {row, static_cast<size_t>(state->held)};
}
inline int64_t Sequence::processedTokens() const { return state->processed; }
inline int32_t Sequence::committedPages() const { return state->committed; }
inline const Retention &Sequence::retention() const { return state->retention; }
inline int32_t Sequence::slot() const { return state->slot; }

} // namespace kv

#endif // KV_RUNTIME_ENGINE_SEQUENCESTATE_H
