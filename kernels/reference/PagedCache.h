//===- PagedCache.h - Addresses in views and in the cache -------*- C++ -*-===//

#ifndef KV_KERNELS_REFERENCE_PAGEDCACHE_H
#define KV_KERNELS_REFERENCE_PAGEDCACHE_H

#include "kv/ABI/TensorView.h"

#include <algorithm>
#include <cstdint>

namespace kv::reference {

template <class T> T *origin(const KvTensorView &view) {
  return static_cast<T *>(view.data) + view.offset;
}

inline int32_t loadIndex(const KvTensorView &view, int64_t i) {
  return origin<const int32_t>(view)[i * view.strides[0]];
}

inline int32_t loadIndex(const KvTensorView &view, int64_t i, int64_t j) {
  return origin<const int32_t>(view)[i * view.strides[0] + j * view.strides[1]];
}

/// One layer of the cache, addressed by (plane, page id, slot, head).
/// The planes are 0 for K and 1 for V; a cache with one plane has V in K.
struct LayerBlocks {
  const KvTensorView &view;
  int64_t base;

  LayerBlocks(const KvTensorView &blocks, int64_t layer)
      : view(blocks), base(blocks.offset + layer * blocks.strides[2]) {}

  int64_t pages() const { return view.sizes[0]; }
  int64_t planes() const { return view.sizes[1]; }
  int64_t pageSize() const { return view.sizes[3]; }
  int64_t heads() const { return view.sizes[4]; }
  int64_t dim() const { return view.sizes[5]; }

  /// Element index of a row of `dim` elements.
  int64_t row(int64_t plane, int64_t page, int64_t slot, int64_t head) const {
    return base + page * view.strides[0] + plane * view.strides[1] +
           slot * view.strides[3] + head * view.strides[4];
  }
};

/// The page (or the slot of a continuous cache, whose table has one dimension)
/// that holds a position.
inline int64_t pageOf(const KvTensorView &table, int64_t sequence,
                      int64_t position, int64_t pageSize) {
  return table.rank == 1 ? loadIndex(table, sequence)
                         : loadIndex(table, sequence, position / pageSize);
}

/// The sequence that owns a token. rowOffsets is non-decreasing, so empty
/// sequences are skipped.
inline int64_t sequenceOf(const KvTensorView &rowOffsets, int64_t token) {
  int64_t lo = 0, hi = rowOffsets.sizes[0] - 1;
  while (hi - lo > 1) {
    int64_t mid = lo + (hi - lo) / 2;
    (loadIndex(rowOffsets, mid) <= token ? lo : hi) = mid;
  }
  return lo;
}

} // namespace kv::reference

#endif // KV_KERNELS_REFERENCE_PAGEDCACHE_H
