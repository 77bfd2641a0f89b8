//===- PageLists.h - Unrolled lists of pages --------------------*- C++ -*-===//
//
// Every page that nobody holds is in exactly one list: blank, cached at some
// priority, or deferred. A chunk of a list is one cache line with up to 13
// page ids, so that the next victims are known, and can be read together, long
// before their turn. All operations are O(1); a removal from the middle moves
// at most ten ids.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_ENGINE_PAGELISTS_H
#define KV_RUNTIME_ENGINE_PAGELISTS_H

#include "FixedArray.h"
#include "Prefetch.h"
#include "Steps.h"

#include "kv/Runtime/Engine/PageOps.h"

#include <bit>
#include <cstdint>

namespace kv {

/// All that is looked at when a page changes hands. Pages come in random order,
/// so a second array would be a second cache miss.
struct alignas(32) PageRecord {
  int32_t holds;         // references
  uint32_t node;         // content: the node that names what the page holds
  Ticket stamp;          // the last step that may still touch it
  uint32_t position;     // not held: chunk * 16 + slot of its list.
                         // Held: the queued operation that writes it, plus one.
  PageId earlier, later; // its neighbours in PriorityLimits
  uint8_t priority;      // most of those who released it or a descendant
  uint8_t state;         // PagePool::State
  uint16_t limit;        // its slot of PriorityLimits, plus one; 0: no limit
};
static_assert(sizeof(PageRecord) == 32, "half a cache line");

/// The records of pages 0 .. n, each followed by memory of somebody else's who
/// looks at it at the same time.
class PageRecords {
public:
  /// `beside` bytes behind each record. False: no memory.
  [[nodiscard]] bool create(int32_t pages, size_t beside = 0) {
    size_t bytes = sizeof(PageRecord) + beside;
    stride = (bytes + alignof(PageRecord) - 1) / alignof(PageRecord) *
             alignof(PageRecord);
    return storage.create((size_t(pages) + 1) * stride);
  }

  PageRecord &operator[](PageId page) const {
    return reinterpret_cast<PageRecord &>(storage[size_t(page) * stride]);
  }
  /// What is behind page 0; that of page i is i * pitch() bytes further on.
  std::byte *beside() const { return storage.begin() + sizeof(PageRecord); }
  size_t pitch() const { return stride; }
  size_t bytes() const { return storage.bytes(); }

private:
  FixedArray<std::byte> storage;
  size_t stride = sizeof(PageRecord);
};

class PageLists {
public:
  using List = uint32_t;
  static constexpr int32_t PerChunk = 13;

  /// Lists [0, lists) of the pages of `records`. False: no memory.
  [[nodiscard]] bool create(const PageRecords &records, int32_t pages,
                            int32_t lists);

  bool empty(List list) const { return chunks[list].next == list; }
  /// Of a list that is not empty.
  PageId front(List list) const {
    const Chunk &chunk = chunks[chunks[list].next];
    return chunk.ids[std::countr_zero(uint32_t(chunk.occupied))];
  }
  PageId back(List list) const {
    const Chunk &chunk = chunks[chunks[list].previous];
    return chunk.ids[chunk.end - 1];
  }

  void pushBack(List list, PageId page) {
    uint32_t at = chunks[list].previous;
    if (at == list || chunks[at].end == PerChunk) [[unlikely]]
      at = roomBehind(list);
    Chunk &chunk = chunks[at];
    uint32_t slot = chunk.end++;
    chunk.ids[slot] = page;
    chunk.occupied |= 1u << slot;
    ++chunk.count;
    (*records)[page].position = at << 4 | slot;
  }

  /// pushBack() of each.
  void pushBack(List list, const PageId *pages, int32_t count);

  /// Removes up to `count` from the front, and returns how many. Their records
  /// are not looked at.
  int32_t takeFront(List list, PageId *to, int32_t count);

  /// From whatever list it is in.
  void remove(PageId page) {
    uint32_t position = (*records)[page].position;
    Chunk &chunk = chunks[position >> 4];
    assert(chunk.ids[position & 15] == page && "not in a list");
    uint32_t occupied = chunk.occupied & ~(1u << (position & 15));
    chunk.occupied = static_cast<uint16_t>(occupied);
    chunk.end = static_cast<uint8_t>(std::bit_width(occupied));
    // Neighbours with at most MergeAt ids together become one chunk. Looking
    // at every other count bounds the chunks all the same.
    if (--chunk.count == 0)
      unlink(position >> 4);
    else if (chunk.count < MergeAt && chunk.count % 2 == 1)
      merge(position >> 4);
  }

  /// Puts all of `from` behind all of `to`.
  void append(List to, List from);

  /// Calls `visit(page)` from front to back until it returns false. Nothing may
  /// be removed meanwhile.
  template <class Visit> void visit(List list, Visit &&visit) const {
    for (uint32_t at = chunks[list].next; at != list; at = chunks[at].next)
      for (uint32_t left = chunks[at].occupied; left; left &= left - 1)
        if (!visit(chunks[at].ids[std::countr_zero(left)]))
          return;
  }

  void prefetchChunk(const PageRecord &record) const {
    prefetch(&chunks[record.position >> 4]);
  }

  size_t bytes() const { return chunks.bytes(); }

  /// The first contradiction, or null. For tests.
  const char *check(List list) const;

private:
  struct alignas(64) Chunk {
    PageId ids[PerChunk];
    uint32_t next, previous; // chunks; a list's own is its sentinel
    uint16_t occupied;       // bit s: ids[s] is in the list
    uint8_t end;             // slots from here on are free
    uint8_t count;           // of occupied slots: cheaper than counting bits
  };
  static_assert(sizeof(Chunk) == 64, "one cache line");
  static constexpr int32_t MergeAt = 10;
  static constexpr uint32_t NoChunk = UINT32_MAX;

  uint32_t roomBehind(List list);
  void unlink(uint32_t chunk);
  void merge(uint32_t chunk);
  /// Moves what is in `from` behind what is in `to`, which has room.
  void move(uint32_t to, uint32_t from);
  void compact(uint32_t chunk);

  const PageRecords *records = nullptr;
  FixedArray<Chunk> chunks;
  uint32_t unused = NoChunk; // chunks linked by `next`
  uint32_t numMade = 0;      // chunks that were ever used
  uint32_t numLists = 0;
};

} // namespace kv

#endif // KV_RUNTIME_ENGINE_PAGELISTS_H
