//===- Unit.h - The works of a block ----------------------------*- C++ -*-===//

#ifndef KV_KERNELS_CUDA_UNIT_H
#define KV_KERNELS_CUDA_UNIT_H

#include "Attention.h"
#include "Body.h"
#include "Faults.h"

namespace kv::cuda {

/// Calls f(work, tile) for each stretch of this block's part. A function may
/// read its work anew and leave that there.
template <Block B, class Function>
KV_BODY void forEachWork(B &b, const AttentionParams &p, Function f) {
  kv::plan::Cut at = b.load(p.cuts + b.block());
  while (true) {
    // All at once: each load waits for the second-level cache. Not kept: the
    // leaves need registers more.
    kv::plan::Cut end = b.load(p.cuts + b.block() + 1);
    int32_t tiles = b.load(&p.header->tiles);
    kv::plan::Work work;
    kv::plan::Tile tile;
    if (!kv::plan::workAt(tiles, p.tiles, at, end, work, tile))
      return;
    f(work, tile);
    at = kv::plan::cutAfter(p.shape, work);
  }
}

/// A sequence of the batch. Lengths are believed as far as a row of the table
/// goes.
template <Fault F>
KV_BODY kv::plan::Sequence sequenceOf(const AttentionParams &p, int32_t index) {
  kv::plan::Batch batch = p.batch;
  batch.capacity = F == Fault::UncheckedTable
                       ? INT64_MAX
                       : int64_t(p.tableColumns) * p.cache.pageSize;
  return kv::plan::sequenceAt(batch, index);
}

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_UNIT_H
