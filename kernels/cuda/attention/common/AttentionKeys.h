//===- AttentionKeys.h - Keys and values to shared memory -------*- C++ -*-===//
//
// Part of AttentionBody.h: where the keys of a leaf lie, and the ring of
// asynchronous copies that brings their tiles.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_ATTENTION_COMMON_ATTENTIONKEYS_H
#define KV_KERNELS_CUDA_ATTENTION_COMMON_ATTENTIONKEYS_H

#include "AttentionBody.h"

namespace kv::cuda {

template <Block B, class C>
KV_BODY int32_t AttentionBody<B, C>::lookUp(int leaf) const {
  uint32_t position = uint32_t(leaf) * C::Leaf + b.thread();
  if (position - uint32_t(keysFirst) >= uint32_t(keysCount) ||
      (C::Threads > C::Leaf && b.thread() >= C::Leaf))
    return -1;
  return b.load(tableRow + p.cache.pageSize.quotient(int32_t(position)));
}

template <Block B, class C>
KV_BODY int64_t AttentionBody<B, C>::keyPlace(int leaf, int32_t page) {
  bool exists = uint32_t(page) < uint32_t(p.cache.pages);
  uint32_t position = uint32_t(leaf) * C::Leaf + b.thread();
  auto slot = uint32_t(p.cache.pageSize.remainder(int32_t(position)));
  // Computed whether it exists or not: cheaper than to go round it. Unsigned,
  // since of any entry a multiple must be something.
  uint64_t elements = uint32_t(page) * uint64_t(p.cache.pageStride) +
                      slot * uint64_t(p.cache.tokenStride);
  int64_t place = (C::KeepsFirstKey ? firstKey : firstAddress()) +
                  int64_t(elements * sizeof(typename C::Cache));
  if constexpr (C::Scaled) {
    int64_t at = int64_t(uint32_t(page) * uint64_t(p.scales.pageStride) +
                         slot * uint64_t(p.scales.tokenStride)) +
                 (C::KeepsFirstKey ? firstScale : firstPlace(p.scales));
    scaleAt = exists ? at : -1;
  }
  return exists ? place : NoAddress;
}

template <Block B, class C>
KV_BODY void AttentionBody<B, C>::firstPages(const Work &work,
                                             int32_t (&pages)[3]) {
  firstKey = opaque(firstAddress());
  if constexpr (C::KeepsFirstKey)
    tableRow = opaqueGlobal(tableRow);
  if constexpr (C::Scaled)
    firstScale = opaque(firstPlace(p.scales));
  leafEnd = work.leafEnd;
  leafBegin = work.leafBegin;
  int64_t first = leafBegin * int64_t(C::Leaf);
  int64_t last =
      kv::plan::lesser<int64_t>(leafEnd * int64_t(C::Leaf), INT32_MAX);
  first = kv::plan::greater<int64_t>(first, keysFirst);
  last = kv::plan::lesser<int64_t>(last, keysLast);
  keysFirst = int32_t(first);
  keysCount = int32_t(last - first);
  KV_UNROLL
  for (int i = 0; i < 3; ++i)
    pages[i] = lookUp(leafBegin + i);
}

template <Block B, class C>
KV_BODY void AttentionBody<B, C>::firstRowPlaces(const int32_t (&pages)[3]) {
  KV_UNROLL
  for (int i = 0; i < 2; ++i) {
    storeRowPlace(leafBegin + i, pages[i]);
    if constexpr (C::Scaled)
      if (i == 0) {
        loadScales();
        storeScales(leafBegin);
      }
  }
  nextPage = pages[2];
}

template <Block B, class C>
KV_BODY void AttentionBody<B, C>::issueTile(int leaf, int tile) {
  leaf += tile / C::TilesPerLeaf;
  if (leaf < leafEnd) {
    // So many places are read before they are used: what costs is latency.
    constexpr int Most = C::RowTiles > 1 && C::HeadDim == 256 ? 4 : 8;
    constexpr int Together = C::ThreadRows < Most ? C::ThreadRows : Most;
    auto ring = ringView();
    uint32_t first =
        rowPlace(leaf, tile % (C::TilesPerLeaf / 2) * C::TileKeys) /
            C::PlacesTogether +
        own.rows;
    int64_t further = uint32_t(own.byte);
    if (tile % C::TilesPerLeaf >= C::TilesPerLeaf / 2)
      further += p.cache.planeStride * int64_t(sizeof(typename C::Cache));
    KV_UNROLL
    for (int from = 0; from < C::ThreadRows; from += Together) {
      int64_t rows[Together];
      loadRowPlaces(rows, first + from / C::PlacesTogether);
      KV_UNROLL
      for (int i = 0; i < Together; ++i)
        KV_UNROLL
      for (int j = 0; j < C::ThreadColumns; ++j) {
        int column = j * C::CopiedColumns;
        if (column + C::CopiedColumns <= C::RowChunks ||
            own.byte < (C::RowChunks - column) * ChunkBytes)
          b.copyAsync(ring,
                      lastStage +
                          C::CacheRows::moved(
                              C::CacheRows::below(own.chunk,
                                                  (from + i) * C::CopiedRows),
                              column),
                      rows[i] + further, column * ChunkBytes);
      }
    }
  }
  b.commit();
}

template <Block B, class C>
template <int Count>
KV_BODY void AttentionBody<B, C>::loadRowPlaces(int64_t (&rows)[Count],
                                                uint32_t first) const {
  constexpr int Places = C::RowPlaceBuffers * C::Leaf;
  if constexpr (Count == 1) {
    rows[0] = view<C, slot::RowPlaces, int64_t>(b).load(first);
  } else {
    auto places = view<C, slot::RowPlaces, LongPair>(b);
    KV_UNROLL
    for (int i = 0; i < Count; i += 2) {
      LongPair two = places.load(first + i / 2);
      rows[i] = two.x;
      rows[i + 1] = two.y;
    }
  }
}

template <Block B, class C>
KV_BODY int AttentionBody<B, C>::nextTile(int leaf, int tile) {
  constexpr int Pending = C::Ahead - 1;
  b.template wait<Pending>();
  b.sync();
  issueTile(leaf, tile + C::Ahead);
  nextStage();
  return lastStage;
}

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTION_COMMON_ATTENTIONKEYS_H
