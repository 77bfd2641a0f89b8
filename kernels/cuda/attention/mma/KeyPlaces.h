//===- KeyPlaces.h - Where the keys of a leaf lie ---------------*- C++ -*-===//

#ifndef KV_KERNELS_CUDA_ATTENTION_MMA_KEYPLACES_H
#define KV_KERNELS_CUDA_ATTENTION_MMA_KEYPLACES_H

#include "kernels/cuda/attention/common/Unit.h"

namespace kv::cuda {

/// Looks up the pages of keys, a key per thread, and shares the addresses of
/// their rows. A page is asked for three leaves before it is needed.
template <class U> class KeyPlaces {
  using B = typename U::B;
  using C = typename U::C;

public:
  KV_BODY explicit KeyPlaces(U &u)
      : place(opaque(int(rowPlace(0, u.b.thread())))) {}

  /// The keys that any row of the tile sees.
  KV_BODY void see(U &u, const kv::plan::Tile &tile,
                   const kv::plan::Sequence &sequence) {
    kv::plan::Keys keys = kv::plan::tileKeys<HasChunks<C>>(
        u.p.shape, sequence, u.rows.firstRow - u.rows.rowsBefore());
    keysFirst = int32_t(keys.first);
    keysLast = int32_t(kv::plan::lesser<int64_t>(keys.last, INT32_MAX));
  }
  KV_BODY void seeTable(U &u, const kv::plan::Tile &tile) {
    tableRow = u.p.table + tile.sequence * u.p.tablePitch;
  }

  /// Asks for the pages of the first leaves of a work.
  KV_BODY void firstPages(U &u, const kv::plan::Work &work,
                          int32_t (&pages)[3]) {
    firstKey = opaque(firstAddress(u));
    if constexpr (C::KeepsFirstKey)
      tableRow = opaqueGlobal(tableRow);
    if constexpr (C::Scaled)
      firstScale = opaque(firstPlace(u, u.p.scales));
    u.leafEnd = work.leafEnd;
    u.leafBegin = work.leafBegin;
    int64_t first = u.leafBegin * int64_t(C::Leaf);
    int64_t last =
        kv::plan::lesser<int64_t>(u.leafEnd * int64_t(C::Leaf), INT32_MAX);
    first = kv::plan::greater<int64_t>(first, keysFirst);
    last = kv::plan::lesser<int64_t>(last, keysLast);
    keysFirst = int32_t(first);
    keysCount = int32_t(last - first);
    KV_UNROLL for (int i = 0; i < 3; ++i)
      pages[i] = lookUp(u, u.leafBegin + i);
  }
  template <class Scales>
  KV_BODY void firstRowPlaces(U &u, Scales &scales, const int32_t (&pages)[3]) {
    KV_UNROLL for (int i = 0; i < 2; ++i) {
      storeRowPlace(u, u.leafBegin + i, pages[i]);
      if constexpr (C::Scaled)
        if (i == 0) {
          scales.load(u, scaleAt);
          scales.store(u, u.leafBegin);
        }
    }
    nextPage = pages[2];
  }
  /// Shares the places of the leaf after the next, and looks the one after
  /// that up: its page is known long before it is needed.
  template <class Scales>
  KV_BODY void nextRowPlaces(U &u, Scales &scales, int leaf) {
    if constexpr (C::Scaled)
      scales.load(u, scaleAt);
    storeRowPlace(u, leaf + 2, nextPage);
    nextPage = lookUp(u, leaf + 3);
  }

  /// The rows of a half that a thread copies lie side by side.
  static KV_BODY uint32_t rowPlace(uint32_t leaf, uint32_t key) {
    uint32_t row = key % C::TileKeys;
    return leaf % C::RowPlaceBuffers * C::Leaf + key - row +
           row % C::CopiedRows * C::ThreadRows + row / C::CopiedRows;
  }

private:
  /// The table's entry for this thread's key of a leaf; -1 if there is nothing
  /// that may be read. The entry is used for the next leaf, so that no thread
  /// waits for the load.
  KV_BODY int32_t lookUp(U &u, int leaf) const {
    B &b = u.b;
    uint32_t position = uint32_t(leaf) * C::Leaf + b.thread();
    if (position - uint32_t(keysFirst) >= uint32_t(keysCount) ||
        (C::Threads > C::Leaf && b.thread() >= C::Leaf))
      return -1;
    return b.load(tableRow + u.p.cache.pageSize.quotient(int32_t(position)));
  }

  /// The address of this thread's key of a leaf: K's row; or NoAddress. The
  /// place of its scales goes to scaleAt.
  KV_BODY int64_t keyPlace(U &u, int leaf, int32_t page) {
    const AttentionParams &p = u.p;
    bool exists = uint32_t(page) < uint32_t(p.cache.pages);
    uint32_t position = uint32_t(leaf) * C::Leaf + u.b.thread();
    auto slot = uint32_t(p.cache.pageSize.remainder(int32_t(position)));
    // Computed whether it exists or not: cheaper than to go round it. Unsigned,
    // since of any entry a multiple must be something.
    uint64_t elements = uint32_t(page) * uint64_t(p.cache.pageStride) +
                        slot * uint64_t(p.cache.tokenStride);
    auto place =
        int64_t(uint64_t(C::KeepsFirstKey ? firstKey : firstAddress(u)) +
                elements * sizeof(typename C::Cache));
    if constexpr (C::Scaled) {
      auto at = int64_t(
          uint32_t(page) * uint64_t(p.scales.pageStride) +
          slot * uint64_t(p.scales.tokenStride) +
          uint64_t(C::KeepsFirstKey ? firstScale : firstPlace(u, p.scales)));
      scaleAt = exists ? at : -1;
    }
    return exists ? place : NoAddress;
  }
  KV_BODY void storeRowPlace(U &u, int leaf, int32_t page) {
    if (C::Threads > C::Leaf && u.b.thread() >= C::Leaf)
      return;
    view<C, slot::RowPlaces, int64_t>(u.b).store(rowPlace(leaf, 0) + place,
                                                 keyPlace(u, leaf, page));
  }

  /// Of this layer and head: the first key's place on page 0, in elements.
  template <class View>
  static KV_BODY int64_t firstPlace(U &u, const View &view) {
    return int64_t(uint64_t(u.p.layer) * uint64_t(view.layerStride) +
                   uint64_t(u.rows.head) * uint64_t(view.headStride));
  }
  static KV_BODY int64_t firstAddress(U &u) {
    return addressOf(u.p.cache.data) +
           firstPlace(u, u.p.cache) * int64_t(sizeof(typename C::Cache));
  }

  const int place; // of this thread's key among those of a leaf
  const int32_t *tableRow;
  int32_t keysFirst, keysLast;  // what any row sees
  int32_t keysCount;            // and of that this work, from keysFirst on
  int64_t firstKey, firstScale; // firstAddress, firstPlace of the scales
  int32_t nextPage;
  int64_t scaleAt; // of this thread's next key, in the scales; negative: none
};

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTION_MMA_KEYPLACES_H
