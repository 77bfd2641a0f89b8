//===- Sequence.h - The pages of one request --------------------*- C++ -*-===//

#ifndef KV_RUNTIME_ENGINE_SEQUENCE_H
#define KV_RUNTIME_ENGINE_SEQUENCE_H

#include "kv/Runtime/Engine/PageOps.h"

#include <cstdint>
#include <span>
#include <utility>

namespace kv {

class CacheEngineImpl;
struct SequenceState;

/// How long a request's pages should outlive it. Pages of higher priority are
/// evicted later, however recently they were used. A priority above the default
/// can end: `duration` after a page was last released with it, the page has
/// the default priority again.
struct Retention {
  static constexpr uint8_t Lowest = 0, Default = 64, Highest = 127;

  uint8_t priority = Default;
  /// Pages that hold any of the first `prefixTokens` tokens have
  /// `prefixPriority` instead.
  int64_t prefixTokens = 0;
  uint8_t prefixPriority = Default;
  /// Nanoseconds that each of the two lasts if it is above the default; 0: it
  /// never ends.
  int64_t duration = 0;
  int64_t prefixDuration = 0;
};

namespace detail {
/// The part of an engine's record of a sequence that the handle shows without a
/// call. Only the engine writes it.
struct SequenceView {
  int64_t processed; // tokens
  int32_t held;      // pages of each group, passed ones included
  int32_t committed; // pages of each group that are in the prefix index
  PageId *rows;      // page ids: one row per group, `pitch` entries apart
  int32_t pitch;
  int32_t slot;
};
} // namespace detail

/// Handle of a sequence: the pages that one request holds. An empty handle
/// holds none. Page i of a group holds the tokens [i * pageSize, (i + 1) *
/// pageSize); entries that a sliding window has passed are the null page. Only
/// the engine changes a sequence. Destroying the handle releases its pages; the
/// engine must outlive it.
class Sequence {
public:
  Sequence() = default;
  Sequence(Sequence &&other) noexcept
      : engine(std::exchange(other.engine, nullptr)),
        view(std::exchange(other.view, nullptr)) {}
  Sequence &operator=(Sequence &&other) noexcept {
    std::swap(engine, other.engine);
    std::swap(view, other.view);
    return *this;
  }
  ~Sequence() { release(); }

  /// Whether the sequence is open. The functions below need an open one.
  explicit operator bool() const { return view != nullptr; }
  /// Releases all pages, from the last to the first, and empties the handle.
  /// Does nothing to an empty handle.
  void release();

  /// Page ids of a group, reserved pages included. Valid until the next call
  /// that changes the sequence.
  std::span<const PageId> pages(int32_t group = 0) const {
    const PageId *row = view->rows;
    if (group > 0)
      row += int64_t(group) * view->pitch;
    return {row, static_cast<size_t>(view->held)};
  }
  /// Tokens whose keys and values are in the pages.
  int64_t processedTokens() const { return view->processed; }
  /// Leading pages that are in the prefix index, or were when the index was
  /// last reset.
  int32_t committedPages() const { return view->committed; }
  const Retention &retention() const;
  /// 0 to maxSequences - 1, unique among the engine's open sequences.
  int32_t slot() const { return view->slot; }

private:
  friend class CacheEngineImpl;
  friend SequenceState &stateOf(const Sequence &sequence);

  CacheEngineImpl *engine = nullptr;
  detail::SequenceView *view = nullptr;
};

} // namespace kv

#endif // KV_RUNTIME_ENGINE_SEQUENCE_H
