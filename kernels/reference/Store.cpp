//===- Store.cpp - Writing a step's rows into the cache -------------------===//

#include "Elements.h"
#include "PagedCache.h"
#include "Scales.h"
#include "kv/Kernels/Reference.h"

#include <vector>

using namespace kv::reference;

int64_t kv::reference::storeItems(const StoreArguments &args) {
  return args.k->sizes[0];
}

namespace {

/// Writes rows of f32 numbers into one layer.
class RowWriter {
public:
  explicit RowWriter(const StoreArguments &args)
      : blocks(*args.blocks), cache(blocks, args.layer),
        scales(args.scales, blocks, args.layer), values(blocks.sizes[5]) {}

  const LayerBlocks &layer() const { return cache; }

  void write(int64_t plane, int64_t page, int64_t slot, int64_t head,
             const KvTensorView &rows, int64_t token) {
    widenRow(rows, token, head);
    withCacheFormat(blocks.dtype, [&](auto format) {
      using Format = decltype(format);
      auto *target = static_cast<typename Format::Storage *>(blocks.data) +
                     cache.row(plane, page, slot, head);
      if constexpr (requires { Format::Max; })
        if (scales) {
          writeScaled<Format>(target, scales.row(plane, page, slot, head));
          return;
        }
      for (size_t d = 0; d < values.size(); ++d)
        target[d] = Format::narrow(values[d]);
    });
  }

private:
  void widenRow(const KvTensorView &rows, int64_t token, int64_t head) {
    withFormat(rows.dtype, [&](auto format) {
      using Format = decltype(format);
      const auto *source = origin<const typename Format::Storage>(rows) +
                           token * rows.strides[0] + head * rows.strides[1];
      for (size_t d = 0; d < values.size(); ++d)
        values[d] = Format::widen(source[d]);
    });
  }

  template <class Format>
  void writeScaled(typename Format::Storage *target, int64_t scaleRow) const {
    int64_t size = scales.groupSize();
    int64_t groups = static_cast<int64_t>(values.size()) / size;
    for (int64_t g = 0; g < groups; ++g) {
      const float *group = values.data() + g * size;
      float scale =
          scales.store(scaleRow, g, largestMagnitude(group, size), Format::Max);
      for (int64_t i = 0; i < size; ++i)
        target[g * size + i] =
            Format::narrow(scale == 0 ? 0.0f : group[i] / scale);
    }
  }

  const KvTensorView &blocks;
  LayerBlocks cache;
  LayerScales scales;
  std::vector<float> values; // of one row
};

} // namespace

void kv::reference::store(const StoreArguments &args, int64_t lo, int64_t hi) {
  RowWriter writer(args);
  const KvTensorView &offsets = *args.rowOffsets;
  int64_t pageSize = writer.layer().pageSize();
  int64_t sequence = lo < hi ? sequenceOf(offsets, lo) : 0;
  for (int64_t token = lo; token < hi; ++token) {
    while (loadIndex(offsets, sequence + 1) <= token)
      ++sequence;
    int64_t position = int64_t(loadIndex(*args.cacheLengths, sequence)) +
                       token - loadIndex(offsets, sequence);
    int64_t page = pageOf(*args.lookupTable, sequence, position, pageSize);
    if (page == 0 && args.lookupTable->rank == 2)
      continue; // the null page
    int64_t slot = position % pageSize;
    for (int64_t head = 0; head < writer.layer().heads(); ++head) {
      writer.write(0, page, slot, head, *args.k, token);
      if (args.v)
        writer.write(1, page, slot, head, *args.v, token);
    }
  }
}
