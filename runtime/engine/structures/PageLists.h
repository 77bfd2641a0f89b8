//===- PageLists.h - Unrolled lists of pages --------------------*- C++ -*-===//
//
// Every page that no sequence holds is in exactly one list: that of blank
// pages, of cached pages of one priority, or of pages deferred to one step. A
// list consists of chunks of one cache line with up to 13 page ids each, so the
// records of the next victims can be prefetched together. All operations are
// O(1); a removal from the middle moves at most ten ids.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_ENGINE_STRUCTURES_PAGELISTS_H
#define KV_RUNTIME_ENGINE_STRUCTURES_PAGELISTS_H

#include "FixedArray.h"
#include "Prefetch.h"
#include "Steps.h"

#include "kv/Runtime/Engine/PageOps.h"

#include <bit>
#include <cstdint>

namespace kv {

/// All that is read when a page changes hands. Pages are visited in random
/// order, so a second array would mean a second cache miss.
struct alignas(32) PageRecord {
  int32_t holds;     // sequences that hold it
  uint32_t node;     // its content: the id of its node in the prefix index
  Ticket stamp;      // the last step that may still touch it
  uint32_t position; // Not held: chunk * 16 + slot in its list. Held: the
                     // index of the queued operation that writes it, plus 1.
  PageId earlier, later; // its neighbours in a list of PriorityLimits
  uint8_t priority;      // the highest with which it was released
  uint8_t state;         // PagePool::State
  uint16_t limit;        // its slot of PriorityLimits, plus 1; 0: no limit
};
static_assert(sizeof(PageRecord) == 32, "half a cache line");

/// The records of pages 0 to n. Each is followed by memory for another owner
/// (nodes of the prefix index) that is read at the same time.
class PageRecords {
public:
  /// Records of the pages 0 to `pages`, with `beside` bytes after each. False:
  /// no memory.
  [[nodiscard]] bool create(int32_t pages, size_t beside = 0) {
    size_t bytes = sizeof(PageRecord) + beside;
    stride = (bytes + alignof(PageRecord) - 1) / alignof(PageRecord) *
             alignof(PageRecord);
    return storage.create((size_t(pages) + 1) * stride);
  }

  PageRecord &operator[](PageId page) const {
    return reinterpret_cast<PageRecord &>(storage[size_t(page) * stride]);
  }
  /// The memory after the record of page 0; that of page i is i * pitch() bytes
  /// further on.
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

  /// Makes `lists` empty lists for `pages` pages. `records` outlives them.
  /// False: no memory.
  [[nodiscard]] bool create(const PageRecords &records, int32_t pages,
                            int32_t lists);

  bool empty(List list) const { return chunks[list].next == list; }
  /// The first page of a list that is not empty.
  PageId front(List list) const {
    const Chunk &chunk = chunks[chunks[list].next];
    return chunk.ids[std::countr_zero(uint32_t(chunk.occupied))];
  }
  /// The last page of a list that is not empty.
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

  /// Moves up to `count` pages from the front to `to` and returns how many.
  /// Their records are not read.
  int32_t takeFront(List list, PageId *to, int32_t count);

  /// Removes a page from the list that it is in.
  void remove(PageId page) {
    uint32_t position = (*records)[page].position;
    Chunk &chunk = chunks[position >> 4];
    assert(chunk.ids[position & 15] == page && "not in a list");
    uint32_t occupied = chunk.occupied & ~(1u << (position & 15));
    chunk.occupied = static_cast<uint16_t>(occupied);
    chunk.end = static_cast<uint8_t>(std::bit_width(occupied));
    // Neighbours with at most MergeAt ids together become one chunk. A check
    // at every other count is enough to bound the number of chunks.
    if (--chunk.count == 0)
      unlink(position >> 4);
    else if (chunk.count < MergeAt && chunk.count % 2 == 1)
      merge(position >> 4);
  }

  /// Moves all pages of `from` to the end of `to`.
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
    uint32_t next, previous; // chunks of the list; chunk `list` is its sentinel
    uint16_t occupied;       // bit s: ids[s] is in the list
    uint8_t end;             // slots [end, PerChunk) are free
    uint8_t count;           // bits in `occupied`
  };
  static_assert(sizeof(Chunk) == 64, "one cache line");
  static constexpr int32_t MergeAt = 10;
  static constexpr uint32_t NoChunk = UINT32_MAX;

  /// A chunk at the end of the list that has room for a page.
  uint32_t roomBehind(List list);
  void unlink(uint32_t chunk);
  /// Joins a chunk with a neighbour if both together have few ids.
  void merge(uint32_t chunk);
  /// Appends the pages of `from` to `to`, which has room.
  void move(uint32_t to, uint32_t from);
  /// Moves the ids of a chunk to its first slots.
  void compact(uint32_t chunk);

  const PageRecords *records = nullptr;
  FixedArray<Chunk> chunks;
  uint32_t unused = NoChunk; // first of the unused chunks, linked by `next`
  uint32_t numMade = 0;      // chunks that were ever used
  uint32_t numLists = 0;
};

} // namespace kv

#endif // KV_RUNTIME_ENGINE_STRUCTURES_PAGELISTS_H
