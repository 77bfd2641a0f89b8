//===- PoolLayout.h - How collections share one pool ------------*- C++ -*-===//
//
// A page id belongs to one group at a time: to the pages of one band of all
// collections that have one window. What a page of a collection holds lies in a
// slab: a dense array with a row for every page id, as many bytes each as the
// collection has a page. Collections of one group need slabs of their own;
// collections of different windows have the same slabs where their rows are
// equally long, so that a page that a window has passed serves any of them.
//
// With windows 0 and 512 and rows of equal bytes there is one slab:
//
//   page 1   group (512, band 0)   a row of the windowed collection
//   page 2   group (0, band 0)     a row of the full collection
//   page 3   group (512, band 1)   a row of the windowed collection
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_MANAGER_POOLLAYOUT_H
#define KV_RUNTIME_MANAGER_POOLLAYOUT_H

#include "kv/Runtime/Manager/KVCacheParams.h"

#include <cstdint>
#include <vector>

namespace kv {

struct PoolLayout {
  static constexpr int32_t NoSlab = -1;

  /// Pages that one sequence has a row of ids for.
  struct Group {
    int64_t window = 0; // 0: full
    int32_t band = 0;
    /// Those in which a page of this group means something.
    std::vector<int32_t> slabs = {};
  };
  /// A lookup table. A row is a segment of ids for each band, one after the
  /// other; band k's are those of group firstGroup + k.
  struct Table {
    int32_t firstGroup = 0;
    int32_t bands = 1;
  };
  /// Where a collection is, in the parameters' order.
  struct Collection {
    int32_t table = 0;
    int32_t blocks = 0; // slabs
    int32_t scales = NoSlab;
  };

  std::vector<Group> groups; // of one window, by band; in order of appearance
  std::vector<Table> tables;
  std::vector<Collection> collections;
  std::vector<int64_t> slabs; // bytes of a row of each

  /// The collections need not validate together.
  static PoolLayout of(const MultiKVCacheParams &params);

  /// Of one page id in all slabs, on one device.
  __int128 bytesPerPage() const;
  int32_t numGroups() const { return static_cast<int32_t>(groups.size()); }
  bool hasFullGroup() const;
  bool hasWindow() const;
  /// The first full group, or else the first.
  int32_t mainGroup() const;
};

} // namespace kv

#endif // KV_RUNTIME_MANAGER_POOLLAYOUT_H
