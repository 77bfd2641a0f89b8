//===- PoolLayout.h - How collections share one pool ------------*- C++ -*-===//
//
// A group is one band of all collections that have the same window; a page id
// belongs to one group at a time. The keys and values of a collection's pages
// lie in a slab: a dense array with one row for every page id. A row has as
// many bytes as a page of the collection. Collections of one group need slabs
// of their own, since each of them stores its rows under the same page ids.
// Collections with different windows share slabs whose rows are equally long,
// so that a page that is released by one group can be used by any other.
// States of recurrent collections have ids of their own, and each such
// collection has a slab with one row for every state.
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

  /// Collections and layers that share page ids: a sequence has one row of page
  /// ids for each group.
  struct Group {
    int64_t window = 0; // in tokens; 0: all tokens are seen
    int32_t band = 0;
    /// Indices of the slabs in which pages of this group hold data.
    std::vector<int32_t> slabs = {};
    /// For each of them whether all shards hold the same bytes: a latent cache
    /// of several shards. A record has these rows once.
    std::vector<bool> isReplicated = {};
  };
  /// A lookup table. Its row of a sequence consists of segments of equal
  /// length, one for each band; segment k holds the page ids of group
  /// firstGroup + k.
  struct Table {
    int32_t firstGroup = 0;
    int32_t bands = 1;
  };
  /// The table and the slabs of one collection, as indices.
  struct Collection {
    int32_t table = 0;
    int32_t blocks = 0;      // slab of the keys and values
    int32_t scales = NoSlab; // slab of their scales
    /// Of a recurrent collection: its slab among the slabs of states; it has no
    /// others.
    int32_t states = NoSlab;
  };

  /// By window, in the order in which collections first name it, then by band.
  std::vector<Group> groups;
  std::vector<Table> tables;
  std::vector<Collection> collections; // in the parameters' order
  std::vector<int64_t> slabs;          // for each slab the bytes of a row
  std::vector<int64_t> stateSlabs;     // of slabs of states
  int64_t shards = 1;                  // devices of a replica

  /// The layout of these collections. The collections need not pass validate().
  static PoolLayout of(const MultiKVCacheParams &params);

  /// Bytes of one page id's rows in all slabs, on one device.
  __int128 bytesPerPage() const;
  /// Bytes of one state of all recurrent collections, on one device.
  __int128 bytesPerState() const;
  bool hasStates() const { return !stateSlabs.empty(); }
  /// Bytes of the rows of one page of every group: the content of a record in a
  /// tier. Rows that are replicated count once, others once for each shard.
  int64_t recordBytes() const;
  /// Bytes of a record that the first shard has, and each of the others: rows
  /// that are replicated are the first one's.
  int64_t shardBytes(bool isFirst) const;
  /// Records that hold one state of all shards; 0 without states.
  int64_t stateParts() const {
    int64_t record = recordBytes();
    return record == 0 ? 0
                       : static_cast<int64_t>(
                             (bytesPerState() * shards + record - 1) / record);
  }
  int32_t numGroups() const { return static_cast<int32_t>(groups.size()); }
  /// Whether some group has window 0, and whether some group has another one.
  bool hasFullGroup() const;
  bool hasWindow() const;
  /// Index of the first group with window 0; 0 if all groups have windows.
  int32_t mainGroup() const;
};

} // namespace kv

#endif // KV_RUNTIME_MANAGER_POOLLAYOUT_H
