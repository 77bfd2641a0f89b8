//===- RecordConversion.cpp - Between page sizes and layouts --------------===//

#include "RecordConversion.h"

#include "kv/Runtime/Manager/PoolLayout.h"

#include <algorithm>
#include <cstring>

using namespace kv;

/// Bytes between planes, layers, tokens and heads of a page, whose rows have
/// `rowBytes`.
static std::array<int64_t, 4> stepsOf(const CacheGeometry &of,
                                      int64_t rowBytes) {
  // Logical dimensions: page, plane, layer, token, head, element.
  std::array<int64_t, 6> sizes = {1,       of.planes(), of.layersPerPage(),
                                  of.page, of.heads,    1};
  std::array<int64_t, 6> steps = {};
  std::array<int, 6> order = blockOrder(of.layout);
  int64_t step = rowBytes;
  for (size_t at = order.size(); at-- > 0;) {
    steps[order[at]] = step;
    step *= sizes[order[at]];
  }
  return {steps[1], steps[2], steps[3], steps[4]};
}

RecordConversion::RecordConversion(const MultiKVCacheParams &from,
                                   const MultiKVCacheParams &to)
    : pageFrom(from.pageSize()), pageTo(to.pageSize()) {
  PoolLayout source = PoolLayout::of(from), target = PoolLayout::of(to);
  int64_t shards = from.tensorParallelDegree();
  bytesFrom = source.recordBytes();
  same = pageFrom == pageTo;
  for (size_t i = 0; i < from.params.size(); ++i)
    same &= from.params[i].geometry.layout == to.params[i].geometry.layout;
  // Sizes of pages and layouts do not decide which collections share groups
  // and slabs, so both records have the same parts in the same order.
  size_t atFrom = 0, atTo = 0;
  for (int64_t shard = 0; shard < shards; ++shard)
    for (int32_t group = 0; group < source.numGroups(); ++group)
      for (size_t row = 0; row < source.groups[group].slabs.size(); ++row) {
        if (shard > 0 && source.groups[group].isReplicated[row])
          continue; // the first shard's
        int32_t slab = source.groups[group].slabs[row];
        for (size_t i = 0; i < from.params.size(); ++i) {
          const PoolLayout::Collection &of = source.collections[i];
          if (of.states != PoolLayout::NoSlab)
            continue;
          const PoolLayout::Table &table = source.tables[of.table];
          bool isScales = of.scales == slab;
          if (group < table.firstGroup ||
              group >= table.firstGroup + table.bands ||
              (of.blocks != slab && !isScales))
            continue;
          const CacheGeometry &one = from.params[i].geometry;
          int64_t rowBytes =
              isScales ? one.dim / one.scaleGroup * elementBytes(one.scaleDType)
                       : one.dim * elementBytes(one.dtype);
          parts.push_back({atFrom, atTo, rowBytes, one.planes(),
                           one.layersPerPage(), one.heads,
                           stepsOf(one, rowBytes),
                           stepsOf(to.params[i].geometry, rowBytes)});
        }
        atFrom += static_cast<size_t>(source.slabs[slab]);
        atTo += static_cast<size_t>(target.slabs[slab]);
      }
}

void RecordConversion::copy(std::byte *target, int64_t index,
                            const std::byte *sources, int64_t first) const {
  std::memcpy(target, sources + (index - first) * bytesFrom,
              static_cast<size_t>(bytesFrom));
}

void RecordConversion::convert(std::byte *target, int64_t index,
                               const std::byte *sources, int64_t first) const {
  int64_t begin = index * pageTo, end = begin + pageTo;
  for (const Part &part : parts) {
    auto [planeFrom, layerFrom, tokenFrom, headFrom] = part.stepsFrom;
    auto [planeTo, layerTo, tokenTo, headTo] = part.stepsTo;
    // Where the tokens of a head lie side by side, a run of them is one copy.
    bool runs = tokenFrom == part.rowBytes && tokenTo == part.rowBytes;
    for (int64_t token = begin; token < end;) {
      int64_t page = token / pageFrom;
      int64_t count = std::min(end, (page + 1) * pageFrom) - token;
      const std::byte *from = sources + (page - first) * bytesFrom + part.from +
                              token % pageFrom * tokenFrom;
      std::byte *to = target + part.to + (token - begin) * tokenTo;
      for (int64_t plane = 0; plane < part.planes; ++plane)
        for (int64_t layer = 0; layer < part.layers; ++layer)
          for (int64_t head = 0; head < part.heads; ++head) {
            const std::byte *row =
                from + plane * planeFrom + layer * layerFrom + head * headFrom;
            std::byte *out =
                to + plane * planeTo + layer * layerTo + head * headTo;
            if (runs)
              std::memcpy(out, row, static_cast<size_t>(count * part.rowBytes));
            else
              for (int64_t i = 0; i < count; ++i)
                std::memcpy(out + i * tokenTo, row + i * tokenFrom,
                            static_cast<size_t>(part.rowBytes));
          }
      token += count;
    }
  }
}
