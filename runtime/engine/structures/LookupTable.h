//===- LookupTable.h - Writes what changed in a table -----------*- C++ -*-===//
//
// The table through which kernels find pages: one row of page ids for each
// sequence of a batch, one table for each layer group. Remembers what each row
// holds, so that a decode step writes the entries that are new and no others,
// however long the context is.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_ENGINE_STRUCTURES_LOOKUPTABLE_H
#define KV_RUNTIME_ENGINE_STRUCTURES_LOOKUPTABLE_H

#include "FixedArray.h"
#include "SequenceState.h"

#include <algorithm>
#include <cstdint>

namespace kv {

class LookupTable {
public:
  /// Uses `entries`, which the caller owns, has zeroed, and does not write
  /// afterwards: entry j of row i is entries[i * pitch + j]. False: no memory
  /// for the bookkeeping.
  [[nodiscard]] bool create(PageId *entries, int64_t rows, int64_t pitch) {
    table = entries;
    this->pitch = pitch;
    return written.create(rows);
  }

  /// Writes the page ids of a group of `sequence` to a row, and null pages over
  /// the old entries after them. The ids must fit into the pitch. Returns how
  /// many entries were written.
  int32_t update(int64_t row, const Sequence &sequence, int32_t group = 0);

private:
  struct Row {
    uint64_t serial;   // of the sequence whose pages it holds; 0: none
    uint32_t revision; // of that sequence when the row was written
    int32_t length;    // entries that hold its pages
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

#endif // KV_RUNTIME_ENGINE_STRUCTURES_LOOKUPTABLE_H
