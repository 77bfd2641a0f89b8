//===- Store.cpp - Writing a step's rows into the cache -------------------===//

#include "Elements.h"
#include "PagedCache.h"
#include "kv/Kernels/Reference.h"

using namespace kv::reference;

int64_t kv::reference::storeItems(const StoreArguments &args) {
  return args.k->sizes[0];
}

/// Converts the row of `token` and `head` into the cache at element `row`.
static void storeRow(const KvTensorView &blocks, int64_t row,
                     const KvTensorView &values, int64_t token, int64_t head) {
  withFormat(values.dtype, [&](auto from) {
    using From = decltype(from);
    const auto *source = origin<const typename From::Storage>(values) +
                         token * values.strides[0] + head * values.strides[1];
    withFormat(blocks.dtype, [&](auto to) {
      using To = decltype(to);
      auto *target = static_cast<typename To::Storage *>(blocks.data) + row;
      for (int64_t d = 0, dim = blocks.sizes[5]; d < dim; ++d)
        target[d] = To::narrow(From::widen(source[d]));
    });
  });
}

void kv::reference::store(const StoreArguments &args, int64_t lo, int64_t hi) {
  LayerBlocks cache(*args.blocks, args.layer);
  const KvTensorView &offsets = *args.rowOffsets;
  int64_t sequence = lo < hi ? sequenceOf(offsets, lo) : 0;
  for (int64_t token = lo; token < hi; ++token) {
    while (loadIndex(offsets, sequence + 1) <= token)
      ++sequence;
    int64_t position = int64_t(loadIndex(*args.cacheLengths, sequence)) +
                       token - loadIndex(offsets, sequence);
    int64_t page =
        loadIndex(*args.lookupTable, sequence, position / cache.pageSize());
    if (page == 0)
      continue;
    int64_t slot = position % cache.pageSize();
    for (int64_t head = 0; head < cache.heads(); ++head) {
      storeRow(*args.blocks, cache.row(0, page, slot, head), *args.k, token,
               head);
      if (args.v)
        storeRow(*args.blocks, cache.row(1, page, slot, head), *args.v, token,
                 head);
    }
  }
}
