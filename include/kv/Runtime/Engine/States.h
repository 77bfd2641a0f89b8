//===- States.h - States of recurrent layers --------------------*- C++ -*-===//
//
// A recurrent layer (Mamba-2, gated delta net, a causal convolution) keeps one
// state a sequence, which each step reads and replaces. States have ids of
// their own: one id stands for the states of all recurrent layers. A state
// that lies where a page ends can be kept as a snapshot: a prefix is a hit only
// up to a snapshot, since what the state was in between is gone.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_ENGINE_STATES_H
#define KV_RUNTIME_ENGINE_STATES_H

#include <cstdint>

namespace kv {

/// 1 and up; NullState is never written and is read as zeros.
using StateId = int32_t;
inline constexpr StateId NullState = 0;

/// Where a sequence's next step finds its state and where it puts the new one.
/// Both ids are equal where no other sequence may read the old state any more.
struct StatePlaces {
  StateId read = NullState, write = NullState;

  bool operator==(const StatePlaces &) const = default;
};

/// States by use: those that sequences have, snapshots that no sequence has,
/// and the rest.
struct StateCounts {
  int32_t held = 0, cached = 0, blank = 0;

  int32_t total() const { return held + cached + blank; }
};

} // namespace kv

#endif // KV_RUNTIME_ENGINE_STATES_H
