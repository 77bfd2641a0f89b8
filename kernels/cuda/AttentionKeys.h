//===- AttentionKeys.h - Keys and values to shared memory -------*- C++ -*-===//
//
// Part of AttentionBody.h: where the keys of a leaf lie, and the ring of
// asynchronous copies that brings their tiles.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_ATTENTIONKEYS_H
#define KV_KERNELS_CUDA_ATTENTIONKEYS_H

#include "AttentionBody.h"

namespace kv::cuda {

template <Block B, class C, Fault F>
KV_BODY int32_t AttentionBody<B, C, F>::lookUp(int leaf) const {
  if (leaf >= leafEnd)
    return -1;
  int32_t position = leaf * C::Leaf + b.thread();
  bool inside = position >= keysFirst && position < keysLast;
  if constexpr (F != Fault::NoTailFill)
    if (!inside)
      return -1;
  int32_t column = uint32_t(position) / uint32_t(p.cache.pageSize);
  int32_t page = b.load(tableRow + column);
  if constexpr (F != Fault::UncheckedPage)
    if (page < 0 || page >= p.cache.pages)
      return -1;
  return page;
}

template <Block B, class C, Fault F>
KV_BODY int64_t AttentionBody<B, C, F>::keyPlace(int leaf, int32_t page) const {
  if (page < 0)
    return -1;
  int32_t position = leaf * C::Leaf + b.thread();
  uint32_t slot = uint32_t(position) % uint32_t(p.cache.pageSize);
  return page * p.cache.pageStride + p.layer * p.cache.layerStride +
         slot * p.cache.tokenStride + head * p.cache.headStride;
}

template <Block B, class C, Fault F>
KV_BODY void AttentionBody<B, C, F>::firstOffsets(const Work &work) {
  leafEnd = work.leafEnd;
  leafBegin = work.leafBegin;
  KV_UNROLL
  for (int i = 0; i < 2; ++i)
    storeOffset(i, lookUp(leafBegin + i));
  nextPage = lookUp(leafBegin + 2);
}

template <Block B, class C, Fault F>
KV_BODY void AttentionBody<B, C, F>::issueTile(int t) {
  if (t < (leafEnd - leafBegin) * C::TilesPerLeaf) {
    int half = t % 2, plane = t / 2 % 2;
    auto ring = ringView();
    auto offsets = offsetsView();
    int stage = t % C::Stages * C::StageChunks;
    const auto *data = static_cast<const typename C::Cache *>(p.cache.data);
    KV_UNROLL_BY(C::Unroll)
    for (int i = 0; i < RawPerThread; ++i) {
      Place place = rawPlace(b.thread(), i);
      int64_t offset = offsets.load(
          offsetPlace(t / C::TilesPerLeaf, half * C::TileKeys + place.row));
      const auto *source = data;
      if (offset >= 0)
        source += offset + plane * p.cache.planeStride +
                  place.column * (ChunkBytes / int(sizeof(*data)));
      b.copyAsync(ring, stage + rawChunk(place), source,
                  offset >= 0 ? ChunkBytes : 0);
    }
  }
  b.commit();
}

template <Block B, class C, Fault F>
KV_BODY int AttentionBody<B, C, F>::nextTile() {
  constexpr int Pending = C::Ahead - 1 + (F == Fault::WaitOneShort);
  if constexpr (F == Fault::LoadBeforeBarrier)
    issueTile(step + C::Ahead);
  if constexpr (F != Fault::MissingWait)
    b.template wait<Pending + (F == Fault::LoadBeforeBarrier)>();
  if constexpr (C::Widens)
    widenTile();
  if constexpr (F == Fault::SkippedBarrier) {
    if (b.thread() != 37)
      b.sync();
  } else if constexpr (F != Fault::MissingStageBarrier) {
    b.sync();
  }
  if constexpr (F != Fault::LoadBeforeBarrier)
    issueTile(step + C::Ahead);
  int chunk =
      C::Widens ? step % 2 * C::TileChunks : step % C::Stages * C::StageChunks;
  ++step;
  return chunk;
}

template <Block B, class C, Fault F>
KV_BODY void AttentionBody<B, C, F>::widenTile() {
  auto ring = ringView();
  auto wide = wideView();
  int stage = step % C::Stages * C::StageChunks;
  int target = step % 2 * C::TileChunks;
  KV_UNROLL
  for (int i = 0; i < RawPerThread; ++i) {
    Place place = rawPlace(b.thread(), i);
    Chunk raw = ring.load(stage + rawChunk(place));
    KV_UNROLL
    for (int half = 0; half < 2; ++half) {
      Chunk chunk;
      widenFour(raw.words[half * 2], chunk.words[0], chunk.words[1]);
      widenFour(raw.words[half * 2 + 1], chunk.words[2], chunk.words[3]);
      wide.store(target + Swizzled<C::RowChunks>::chunk(
                              place.row, place.column * 2 + half),
                 chunk);
    }
  }
}

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTIONKEYS_H
