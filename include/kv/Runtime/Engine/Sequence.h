//===- Sequence.h - The pages of one request --------------------*- C++ -*-===//

#ifndef KV_RUNTIME_ENGINE_SEQUENCE_H
#define KV_RUNTIME_ENGINE_SEQUENCE_H

#include "kv/Runtime/Engine/PageOps.h"

#include <cstdint>
#include <span>
#include <utility>

namespace kv {

class CacheEngine;
struct SequenceState;

/// How long a request's pages should outlive it. Higher priorities are evicted
/// later, whatever the recency. One above the default may end: so many
/// nanoseconds after a page's last release with a priority above the default,
/// it has the default again.
struct Retention {
  static constexpr uint8_t Lowest = 0, Default = 64, Highest = 127;

  uint8_t priority = Default;
  /// Pages that hold any of the first so many tokens have this one instead.
  int64_t prefixTokens = 0;
  uint8_t prefixPriority = Default;
  /// How long each of the two lasts if it is above the default; 0: for good.
  int64_t duration = 0;
  int64_t prefixDuration = 0;
};

/// A handle of what one request holds; an empty one holds nothing. Page i of a
/// group holds the tokens [i * pageSize, (i + 1) * pageSize); entries that a
/// sliding window has passed are the null page. Only a CacheEngine changes it.
/// Its end gives everything back, so that there is one way to release. The
/// engine must outlive it.
class Sequence {
public:
  Sequence() = default;
  Sequence(Sequence &&other) noexcept
      : engine(std::exchange(other.engine, nullptr)),
        state(std::exchange(other.state, nullptr)) {}
  Sequence &operator=(Sequence &&other) noexcept {
    std::swap(engine, other.engine);
    std::swap(state, other.state);
    return *this;
  }
  ~Sequence() { release(); }

  /// Whether it is open.
  explicit operator bool() const { return state != nullptr; }
  /// Gives every page back, the last first, and leaves the handle empty.
  void release();

  /// The pages of a group, those that are only reserved included. Valid until
  /// the next call that changes the sequence.
  std::span<const PageId> pages(int32_t group = 0) const;
  /// Tokens whose keys and values stand in the pages.
  int64_t processedTokens() const;
  /// Pages from the first that are in the prefix index, or were when the index
  /// was last reset.
  int32_t committedPages() const;
  const Retention &retention() const;
  /// Small number, unique among the engine's open sequences.
  int32_t slot() const;

private:
  friend class CacheEngine;
  friend class LookupTable;

  CacheEngine *engine = nullptr;
  SequenceState *state = nullptr;
};

} // namespace kv

#endif // KV_RUNTIME_ENGINE_SEQUENCE_H
