//===- PoolLayout.cpp - How collections share one pool --------------------===//

#include "kv/Runtime/Manager/PoolLayout.h"

#include <algorithm>

using namespace kv;

/// The window that decides which pages a collection needs. A slot of a
/// continuous cache holds all tokens, whatever its queries see: 0.
static int64_t windowOf(const CacheGeometry &geometry) {
  return geometry.isPaged() ? geometry.window : 0;
}

PoolLayout PoolLayout::of(const MultiKVCacheParams &params) {
  PoolLayout layout;
  layout.collections.resize(params.params.size());
  layout.shards = params.tensorParallelDegree();
  std::vector<int64_t> windows;
  for (size_t i = 0; i < params.params.size(); ++i) {
    const CacheGeometry &geometry = params.params[i].geometry;
    if (geometry.isRecurrent()) {
      layout.collections[i].states =
          static_cast<int32_t>(layout.stateSlabs.size());
      layout.stateSlabs.push_back(geometry.blockBytesPerPage());
    } else if (int64_t window = windowOf(geometry);
               std::ranges::find(windows, window) == windows.end()) {
      windows.push_back(window);
    }
  }

  for (int64_t window : windows) {
    int32_t firstGroup = layout.numGroups();
    size_t firstTable = layout.tables.size();
    std::vector<bool> taken; // by slab: used by a collection of this window
    // Takes the first slab with rows of `bytes` bytes that this window does not
    // use yet, or adds one. So there are as many slabs of a row length as the
    // window that needs the most of them.
    auto takeSlab = [&](int64_t bytes) {
      taken.resize(layout.slabs.size());
      size_t slab = 0;
      while (slab < taken.size() &&
             (taken[slab] || layout.slabs[slab] != bytes))
        ++slab;
      if (slab == taken.size()) {
        layout.slabs.push_back(bytes);
        taken.push_back(false);
      }
      taken[slab] = true;
      return static_cast<int32_t>(slab);
    };
    for (size_t i = 0; i < params.params.size(); ++i) {
      const CacheGeometry &geometry = params.params[i].geometry;
      if (geometry.isRecurrent() || windowOf(geometry) != window)
        continue;
      int32_t bands = static_cast<int32_t>(geometry.bands());
      while (layout.numGroups() < firstGroup + bands)
        layout.groups.push_back({window, layout.numGroups() - firstGroup});
      Collection &added = layout.collections[i];
      added.blocks = takeSlab(geometry.blockBytesPerPage());
      if (geometry.hasScales())
        added.scales = takeSlab(geometry.scaleBytesPerPage());
      for (int32_t band = 0; band < bands; ++band)
        for (int32_t slab : {added.blocks, added.scales})
          if (slab != NoSlab) {
            Group &group = layout.groups[firstGroup + band];
            group.slabs.push_back(slab);
            group.isReplicated.push_back(
                params.params[i].replicatesKVAcrossTP());
          }
      auto table = std::find_if(
          layout.tables.begin() + firstTable, layout.tables.end(),
          [&](const Table &known) { return known.bands == bands; });
      added.table = static_cast<int32_t>(table - layout.tables.begin());
      if (table == layout.tables.end())
        layout.tables.push_back({firstGroup, bands});
    }
  }
  return layout;
}

__int128 PoolLayout::bytesPerPage() const {
  __int128 bytes = 0;
  for (int64_t row : slabs)
    bytes += row;
  return bytes;
}

__int128 PoolLayout::bytesPerState() const {
  __int128 bytes = 0;
  for (int64_t row : stateSlabs)
    bytes += row;
  return bytes;
}

bool PoolLayout::hasFullGroup() const {
  return !groups.empty() && groups[mainGroup()].window == 0;
}

bool PoolLayout::hasWindow() const {
  return !std::ranges::all_of(
      groups, [](const Group &group) { return group.window == 0; });
}

int32_t PoolLayout::mainGroup() const {
  auto full = std::ranges::find(groups, 0, &Group::window);
  return full == groups.end() ? 0 : static_cast<int32_t>(full - groups.begin());
}

int64_t PoolLayout::recordBytes() const {
  return shardBytes(true) + (shards - 1) * shardBytes(false);
}

int64_t PoolLayout::shardBytes(bool isFirst) const {
  int64_t bytes = 0;
  for (const Group &group : groups)
    for (size_t i = 0; i < group.slabs.size(); ++i)
      if (isFirst || !group.isReplicated[i])
        bytes += slabs[group.slabs[i]];
  return bytes;
}
