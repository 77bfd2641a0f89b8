//===- RecordConversionTest.cpp - Between page sizes and layouts ----------===//

#include "runtime/transport/RecordConversion.h"

#include "kv/Runtime/Manager/PoolLayout.h"

#include <gtest/gtest.h>

#include <cstring>

using namespace kv;

namespace {

/// A full cache with scales and one with a window in bands, on two shards.
MultiKVCacheParams twoCaches(int64_t page, CacheLayout layout) {
  KVCacheParams full;
  full.name = "full";
  full.geometry.dtype = KV_DTYPE_I8;
  full.geometry.layers = 2;
  full.geometry.heads = 3;
  full.geometry.dim = 8;
  full.geometry.scaleGroup = 4;
  full.geometry.page = page;
  full.geometry.layout = layout;
  full.numDevices = 2;
  KVCacheParams window = full;
  window.name = "window";
  window.geometry.dtype = KV_DTYPE_BF16;
  window.geometry.layers = 5;
  window.geometry.pageLayers = 2; // three bands
  window.geometry.dim = 6;
  window.geometry.scaleGroup = 0;
  window.geometry.window = 64;
  return *MultiKVCacheParams::fromParams({full, window});
}

/// Every byte says where it belongs: shard, collection, band, blocks or scales,
/// plane, layer, token of the prefix, head, byte of the row.
std::vector<std::byte> record(const MultiKVCacheParams &params, int64_t index) {
  PoolLayout layout = PoolLayout::of(params);
  std::vector<std::byte> made;
  for (int64_t shard = 0; shard < params.tensorParallelDegree(); ++shard)
    for (int32_t group = 0; group < layout.numGroups(); ++group)
      for (size_t c = 0; c < params.params.size(); ++c) {
        const CacheGeometry &of = params.params[c].geometry;
        if (of.window != layout.groups[group].window)
          continue;
        // Blocks, then scales, as the group lists its slabs.
        for (bool isScales : {false, true}) {
          if (isScales && !of.hasScales())
            continue;
          int64_t row = isScales ? of.dim / of.scaleGroup * 4
                                 : of.dim * elementBytes(of.dtype);
          auto shape = isScales ? params.params[c].scaleShape(1)
                                : params.params[c].blockShape(1);
          std::array<int, 6> order = blockOrder(of.layout);
          shape[5] = row; // bytes
          int64_t count = shape[1] * shape[2] * shape[3] * shape[4] * shape[5];
          for (int64_t i = 0; i < count; ++i) {
            std::array<int64_t, 6> at = {};
            int64_t rest = i;
            for (size_t place = 6; place-- > 1;) {
              at[order[place]] = rest % shape[place];
              rest /= shape[place];
            }
            uint64_t value = 17;
            for (int64_t one :
                 {shard, int64_t(c), int64_t(layout.groups[group].band),
                  int64_t(isScales), at[1], at[2], index * of.page + at[3],
                  at[4], at[5]})
              value = value * 1'000'003 + static_cast<uint64_t>(one);
            made.push_back(static_cast<std::byte>(value >> 7));
          }
        }
      }
  return made;
}

TEST(RecordConversion, EveryPair) {
  using enum CacheLayout;
  for (CacheLayout before : {NHD, HND, CPU})
    for (CacheLayout after : {NHD, HND, CPU})
      for (auto [from, to] : {std::pair(16, 16), {16, 32}, {32, 16}, {12, 8}}) {
        SCOPED_TRACE(
            concat(from, " ", int(before), " to ", to, " ", int(after)));
        MultiKVCacheParams source = twoCaches(from, before);
        MultiKVCacheParams target = twoCaches(to, after);
        RecordConversion conversion(source, target);
        EXPECT_EQ(conversion.isIdentity(), from == to && before == after);
        EXPECT_EQ(conversion.sourcePage(), from);
        ASSERT_EQ(conversion.sourceBytes(), std::ssize(record(source, 0)));
        for (int64_t index : {0, 1, 3}) {
          std::vector<std::byte> want = record(target, index), sources;
          int64_t first = index * to / from;
          for (int64_t at = first; at * from < (index + 1) * to; ++at)
            for (std::byte one : record(source, at))
              sources.push_back(one);
          std::vector<std::byte> have(want.size());
          conversion.convert(have.data(), index, sources.data(), first);
          EXPECT_TRUE(have == want);
        }
      }
}

} // namespace
