//===- Works.h - The works of a block ---------------------------*- C++ -*-===//

#ifndef KV_KERNELS_CUDA_ATTENTION_COMMON_WORKS_H
#define KV_KERNELS_CUDA_ATTENTION_COMMON_WORKS_H

#include "kernels/block/Body.h"
#include "kernels/cuda/parameters/Attention.h"

namespace kv::cuda {

/// Calls f(work, tile) for each stretch of this block's part, which is shared
/// by `Blocks` neighbouring blocks. AtOnce: short steps wait for nothing twice,
/// where there are registers for it. A function may read its work anew and
/// advance it there. ByIndex: where the part ends is looked up by its number,
/// which needs one register less in kernels with roles and one more in others
/// (both kinds are at their limit).
template <bool AtOnce = false, bool ByIndex = false, int Blocks = 1, Block B,
          class Function>
KV_BODY void forEachWork(B &b, const AttentionParams &p, Function f) {
  kv::plan::Cut at = b.load(p.cuts + b.block() / Blocks);
  while (true) {
    // All at once: each load waits for the second-level cache. Not kept: the
    // leaves need registers more.
    kv::plan::Cut end = b.load(ByIndex ? p.cuts + (b.block() / Blocks + 1)
                                       : p.cuts + b.block() / Blocks + 1);
    int32_t tiles = b.load(&p.header->tiles);
    // Never so, but a compiler cannot put off the loads that it asks of.
    bool never = (at.head & at.leaf & end.tile & end.head & end.leaf) < 0;
    if ((at.tile >= tiles) | (AtOnce & never))
      return;
    kv::plan::Tile tile = b.load(p.tiles + at.tile);
    kv::plan::Work work;
    bool isLast = !kv::plan::workAt(tile, at, end, work);
    if (isLast | (AtOnce & ((tile.sequence & tile.row) < 0)))
      return;
    f(work, tile);
    at = kv::plan::cutAfter(p.shape, work);
  }
}

/// Whether a mask may be of chunks: no attention with products of 8 bits has
/// such a one, and some of their warps no registers for the division.
template <class C> constexpr bool HasChunks = !ByteProducts<C>;

/// A sequence of the batch. Lengths are believed as far as a row of the table
/// goes.
KV_BODY kv::plan::Sequence sequenceOf(const AttentionParams &p, int32_t index) {
  kv::plan::Batch batch = p.batch;
  batch.capacity = int64_t(p.tableColumns) * p.cache.pageSize;
  return kv::plan::sequenceAt(batch, index);
}

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTION_COMMON_WORKS_H
