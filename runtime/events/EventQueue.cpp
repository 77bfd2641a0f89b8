//===- EventQueue.cpp - From the engine's thread to another one -----------===//

#include "EventQueue.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>

using namespace kv;

// Records have an even number of words, so that what is left at the ring's end
// always holds the two words of a Skip.
static constexpr size_t even(size_t words) { return (words + 1) & ~size_t(1); }

EventQueue::EventQueue(size_t bytes, int32_t pageSize, bool tellsTiers)
    : pageSize(pageSize), tellsTiers(tellsTiers) {
  size_t page = HeaderWords + 1 + size_t(pageSize);
  capacity = std::bit_ceil(std::max(bytes / 4, 8 * page));
  ring = std::make_unique_for_overwrite<uint32_t[]>(capacity);
}

EventQueue::~EventQueue() {
  drain([](const EventRecord &) {}); // frees what an All holds
}

//===----------------------------------------------------------------------===//
// The writer
//===----------------------------------------------------------------------===//

void EventQueue::stored(const StoredPages &pages) {
  // Records larger than an eighth of the ring are split.
  size_t most = std::max<size_t>(capacity / 8 / (pageSize + 1), 1);
  if (pages.nodes.size() <= most) [[likely]]
    return write(EventRecord::Stored, pages);
  for (size_t at = 0; at < pages.nodes.size(); at += most) {
    size_t count = std::min(most, pages.nodes.size() - at);
    StoredPages part = pages;
    part.nodes = pages.nodes.subspan(at, count);
    part.tokens = pages.tokens.subspan(at * pageSize, count * pageSize);
    if (at > 0) {
      part.parent = pages.nodes[at - 1];
      part.scope = {};
    }
    write(EventRecord::Stored, part);
  }
}

void EventQueue::restored(int32_t node, uint32_t groups) {
  write(EventRecord::Restored, {.nodes = {&node, 1}, .groups = groups});
}

void EventQueue::removed(std::span<const int32_t> nodes, uint32_t groups) {
  write(EventRecord::Removed, {.nodes = nodes, .groups = groups});
}

void EventQueue::cleared() { write(EventRecord::Cleared, {}); }

void EventQueue::beginAll() { all = std::make_unique<Records>(); }

void EventQueue::endAll() {
  lossy = false; // The ring is empty.
  uint32_t *record = reserve(HeaderWords);
  assert(record && "an empty ring has room");
  giveAll(record);
}

void EventQueue::giveAll(uint32_t *record) {
  record[0] = EventRecord::All;
  record[1] = HeaderWords;
  Records *given = all.release();
  int64_t gap = numGaps.load(std::memory_order_relaxed);
  static_assert(sizeof(given) + sizeof(gap) == 4 * (HeaderWords - 2));
  std::memcpy(record + 2, &given, sizeof(given));
  std::memcpy(record + 4, &gap, sizeof(gap));
  publish(HeaderWords);
}

CacheEventSink::TierInterest EventQueue::tierInterest() const {
  if (!tellsTiers)
    return TierInterest::None;
  // While records are dropped, there is no sense in telling all.
  bool isTold = lossy || tiersTold == numGaps.load(std::memory_order_relaxed);
  return isTold ? TierInterest::Changes : TierInterest::All;
}

void EventQueue::tiersChanged(std::span<const TierChange> changes, bool isAll) {
  if (lossy || (isAll && !reserve(HeaderWords)))
    return drop(changes.size());
  if (isAll) {
    // In memory of its own: there may be more than the ring holds.
    all = std::make_unique<Records>();
    write(EventRecord::TiersCleared, {});
  }
  std::vector<uint64_t> &hashes = run;
  size_t most = std::max<size_t>(capacity / 64, 1); // an eighth of the ring's
  for (size_t at = 0; at < changes.size();) {
    hashes.clear();
    Tier tier = changes[at].tier;
    bool isStored = changes[at].isStored;
    for (; at < changes.size() && hashes.size() < most &&
           changes[at].tier == tier && changes[at].isStored == isStored;
         ++at)
      hashes.push_back(changes[at].block);
    write(EventRecord::Tiers, {.groups = EventRecord::groupsOf(tier, isStored),
                               .images = std::as_bytes(std::span(hashes))});
  }
  if (!isAll)
    return;
  giveAll(reserve(HeaderWords));
  tiersTold = numGaps.load(std::memory_order_relaxed);
}

inline size_t EventQueue::wordsOf(const StoredPages &pages) {
  return even(HeaderWords + pages.nodes.size() + pages.tokens.size() +
              (pages.scope.size() + 3) / 4 + (pages.images.size() + 3) / 4);
}

inline void EventQueue::encode(uint32_t *to, size_t words,
                               EventRecord::Kind kind,
                               const StoredPages &pages) {
  to[0] = kind | pages.groups << 16;
  to[1] = static_cast<uint32_t>(words);
  to[2] = static_cast<uint32_t>(pages.nodes.size());
  to[3] = static_cast<uint32_t>(pages.parent);
  to[4] = static_cast<uint32_t>(pages.scope.size());
  to[5] = static_cast<uint32_t>(pages.images.size());
  to += HeaderWords;
  to = std::copy_n(pages.nodes.data(), pages.nodes.size(), to);
  to = std::copy_n(pages.tokens.data(), pages.tokens.size(), to);
  if (!pages.scope.empty())
    std::memcpy(to, pages.scope.data(), pages.scope.size());
  to += (pages.scope.size() + 3) / 4;
  if (!pages.images.empty())
    std::memcpy(to, pages.images.data(), pages.images.size());
}

void EventQueue::write(EventRecord::Kind kind, const StoredPages &pages) {
  size_t words = wordsOf(pages);
  if (all) [[unlikely]] {
    all->resize(all->size() + words);
    return encode(all->data() + all->size() - words, words, kind, pages);
  }
  if (lossy) [[unlikely]]
    return drop(pages.nodes.size());
  uint32_t *to = reserve(words);
  if (!to) [[unlikely]]
    return drop(pages.nodes.size());
  encode(to, words, kind, pages);
  publish(words);
}

/// The place of a record of `words` words; null if there is no room.
inline uint32_t *EventQueue::reserve(size_t words) {
  uint64_t at = head.load(std::memory_order_relaxed);
  size_t offset = at & (capacity - 1), left = capacity - offset;
  size_t skipped = left < words ? left : 0;
  if (at + skipped + words - knownTail > capacity) [[unlikely]] {
    knownTail = tail.load(std::memory_order_acquire);
    if (at + skipped + words - knownTail > capacity)
      return nullptr;
  }
  if (skipped > 0) [[unlikely]] {
    ring[offset] = EventRecord::Skip;
    ring[offset + 1] = static_cast<uint32_t>(skipped);
    publish(skipped);
    offset = 0;
  }
  return &ring[offset];
}

inline void EventQueue::publish(size_t words) {
  head.store(head.load(std::memory_order_relaxed) + words,
             std::memory_order_release);
}

void EventQueue::drop(size_t blocks) {
  numDropped.fetch_add(static_cast<int64_t>(blocks), std::memory_order_relaxed);
  if (lossy)
    return;
  lossy = true;
  numGaps.fetch_add(1, std::memory_order_release);
}

//===----------------------------------------------------------------------===//
// The reader
//===----------------------------------------------------------------------===//

const uint32_t *EventQueue::front() const {
  return &ring[tail.load(std::memory_order_relaxed) & (capacity - 1)];
}

void EventQueue::pop(const uint32_t *record) {
  tail.store(tail.load(std::memory_order_relaxed) + record[1],
             std::memory_order_release);
}

EventRecord EventQueue::decode(const uint32_t *record) const {
  EventRecord result = {.kind = EventRecord::Kind(record[0] % Kinds)};
  const uint32_t *at = record + HeaderWords;
  size_t count = record[2], scope = record[4], images = record[5];
  result.pages.groups = record[0] / Kinds;
  result.pages.parent = static_cast<int32_t>(record[3]);
  result.pages.nodes = {reinterpret_cast<const int32_t *>(at), count};
  at += count;
  size_t tokens = result.kind == EventRecord::Stored ? count * pageSize : 0;
  result.pages.tokens = {reinterpret_cast<const int32_t *>(at), tokens};
  at += tokens;
  result.pages.scope = {reinterpret_cast<const std::byte *>(at), scope};
  at += (scope + 3) / 4;
  result.pages.images = {reinterpret_cast<const std::byte *>(at), images};
  return result;
}

std::pair<std::unique_ptr<EventQueue::Records>, int64_t>
EventQueue::takeAll(const uint32_t *record) {
  Records *given;
  int64_t gap;
  std::memcpy(&given, record + 2, sizeof(given));
  std::memcpy(&gap, record + 4, sizeof(gap));
  return {std::unique_ptr<Records>(given), gap};
}
