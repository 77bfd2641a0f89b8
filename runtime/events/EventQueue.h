//===- EventQueue.h - From the engine's thread to another one ---*- C++ -*-===//
//
// A bounded ring of records with one writer, the engine's thread, and one
// reader. The writer waits for nothing. A record that finds no room is dropped,
// and from then on all are, since nothing can be told to a reader that does not
// know the pages before: once the reader has read what is there, the engine
// tells of its whole index (CacheEventSink::wantsAll), in memory of its own.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_EVENTS_EVENTQUEUE_H
#define KV_RUNTIME_EVENTS_EVENTQUEUE_H

#include "kv/Runtime/Engine/CacheEvents.h"

#include <atomic>
#include <memory>
#include <utility>
#include <vector>

namespace kv {

/// A record as its reader gets it; spans are valid during the call.
struct EventRecord {
  enum Kind : uint32_t {
    Skip, // to the ring's begin; never given to a reader
    Stored,
    Restored, // one node
    Removed,
    Cleared,
    Tiers,        // hashes of blocks, as `images`; `groups` says of what
    TiersCleared, // nothing that was told of tiers is there any more
    Lost, // what was told so far is not true any more; the whole index follows,
          // maybe later
    All   // holds the address of its records; never given to a reader
  };
  Kind kind = Skip;
  StoredPages pages = {}; // Removed, Restored: nodes and groups

  /// The word of a Tiers record that stands in the place of groups.
  static uint32_t groupsOf(Tier tier, bool isStored) {
    return static_cast<uint32_t>(tier) << 1 | isStored;
  }
  Tier tier() const { return static_cast<Tier>(pages.groups >> 1); }
  bool isStored() const { return pages.groups & 1; }
};

class EventQueue final : public CacheEventSink {
public:
  /// `bytes` of a ring, rounded up to a power of two in which at least eight
  /// pages of `pageSize` tokens fit.
  EventQueue(size_t bytes, int32_t pageSize, bool tellsTiers = false);
  ~EventQueue() override;
  EventQueue(const EventQueue &) = delete;
  EventQueue &operator=(const EventQueue &) = delete;

  // The writer.
  void stored(const StoredPages &pages) override;
  void restored(int32_t node, uint32_t groups) override;
  void removed(std::span<const int32_t> nodes, uint32_t groups) override;
  void cleared() override;
  bool wantsAll() const override {
    return lossy && tail.load(std::memory_order_acquire) ==
                        head.load(std::memory_order_relaxed);
  }
  void beginAll() override;
  void endAll() override;
  TierInterest tierInterest() const override;
  void tiersChanged(std::span<const TierChange> changes, bool all) override;

  // The reader.
  /// Gives visit(const EventRecord &) the records that are there now.
  template <class Visit> void drain(Visit &&visit) {
    // A record written before a gap is visible if the gap is.
    int64_t gaps = this->gaps();
    uint64_t end = head.load(std::memory_order_acquire);
    while (tail.load(std::memory_order_relaxed) != end) {
      const uint32_t *record = front();
      if (record[0] % Kinds == EventRecord::All)
        visitAll(record, visit);
      else if (record[0] % Kinds != EventRecord::Skip)
        visit(decode(record));
      pop(record);
    }
    tell(gaps, visit);
  }
  /// Times that records began to be dropped.
  int64_t gaps() const { return numGaps.load(std::memory_order_acquire); }
  /// Blocks that were dropped.
  int64_t dropped() const { return numDropped.load(std::memory_order_relaxed); }

private:
  /// A record's first word is its kind and, in the upper half, its groups.
  static constexpr uint32_t Kinds = 1 << 16;
  static constexpr size_t HeaderWords = 6;
  using Records = std::vector<uint32_t>;

  void write(EventRecord::Kind kind, const StoredPages &pages);
  /// Gives the reader `all`; there must be room for the record.
  void giveAll(uint32_t *record);
  uint32_t *reserve(size_t words);
  void publish(size_t words);
  void drop(size_t blocks);
  static size_t wordsOf(const StoredPages &pages);
  static void encode(uint32_t *to, size_t words, EventRecord::Kind kind,
                     const StoredPages &pages);

  const uint32_t *front() const;
  void pop(const uint32_t *record);
  EventRecord decode(const uint32_t *record) const;
  /// The records in an All, and the gap that it follows.
  static std::pair<std::unique_ptr<Records>, int64_t>
  takeAll(const uint32_t *record);
  template <class Visit> void visitAll(const uint32_t *record, Visit &&visit) {
    auto [all, gap] = takeAll(record);
    tell(gap, visit);
    for (size_t at = 0; at < all->size(); at += (*all)[at + 1])
      visit(decode(all->data() + at));
  }

  /// Tells the reader of `gaps` gaps, unless it knows of them: drain() may meet
  /// an All before it has seen its gap.
  template <class Visit> void tell(int64_t gaps, Visit &&visit) {
    if (gaps <= gapsTold)
      return;
    gapsTold = gaps;
    visit({.kind = EventRecord::Lost});
  }

  std::unique_ptr<uint32_t[]> ring;
  size_t capacity; // words, a power of two
  size_t pageSize;
  const bool tellsTiers;

  // The writer's.
  alignas(64) std::atomic<uint64_t> head = 0; // words written so far
  uint64_t knownTail = 0;
  bool lossy = false;
  std::unique_ptr<Records> all; // between beginAll() and endAll()
  std::vector<uint64_t> run;    // scratch of tiersChanged()
  int64_t tiersTold = -1;       // gaps when all of the tiers was told
  std::atomic<int64_t> numDropped = 0, numGaps = 0;

  // The reader's.
  alignas(64) std::atomic<uint64_t> tail = 0; // words read so far
  int64_t gapsTold = 0;
};

} // namespace kv

#endif // KV_RUNTIME_EVENTS_EVENTQUEUE_H
