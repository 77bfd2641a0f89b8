//===- LookupTable.h - Writes what changed in a table -----------*- C++ -*-===//
//
// One row a sequence of the batch, one table a group and buffer. Remembers what
// each row holds, so that a decode step writes the entries that it added and
// nothing else, however long the context.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_ENGINE_LOOKUPTABLE_H
#define KV_RUNTIME_ENGINE_LOOKUPTABLE_H

#include "FixedArray.h"
#include "SequenceState.h"

#include <algorithm>
#include <cstdint>

namespace kv {

class LookupTable {
public:
  /// A table of `rows` rows in memory that is zeroed, and written by nobody
  /// else: entry j of row i is entries[i * pitch + j]. The memory stays the
  /// caller's. False: no memory for the bookkeeping.
  [[nodiscard]] bool create(PageId *entries, int64_t rows, int64_t pitch) {
    table = entries;
    this->pitch = pitch;
    return written.create(rows);
  }

  /// Makes a row the pages of a group of `sequence`, and null pages behind
  /// them. The pitch is enough for them. Returns how many entries were written.
  int32_t update(int64_t row, const Sequence &sequence, int32_t group = 0);

private:
  struct Row {
    uint64_t serial; // whose pages it holds; 0: nobody's
    uint32_t revision;
    int32_t length;
  };

  PageId *table = nullptr;
  int64_t pitch = 0;
  FixedArray<Row> written;
};

inline int32_t LookupTable::update(int64_t row, const Sequence &sequence,
                                   int32_t group) {
  const SequenceState &state = stateOf(sequence);
  Row &has = written[row];
  int32_t from = 0;
  if (has.serial == state.serial) [[likely]] {
    if (has.revision == state.revision) {
      if (has.length == state.held) [[likely]]
        return 0;
      from = std::min(has.length, state.held);
    } else if (has.revision + 1 == state.revision) {
      from = std::min({has.length, state.held, state.changedFrom});
    }
  }
  std::span<const PageId> pages = sequence.pages(group);
  PageId *entries = table + row * pitch;
  std::copy(pages.begin() + from, pages.end(), entries + from);
  if (has.length > state.held)
    std::fill(entries + state.held, entries + has.length, NullPage);
  int32_t count = std::max(has.length, state.held) - from;
  has = {state.serial, state.revision, state.held};
  return count;
}

} // namespace kv

#endif // KV_RUNTIME_ENGINE_LOOKUPTABLE_H
