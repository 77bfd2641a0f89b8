//===- TileWidener.h - Tiles of 8-bit elements to 16 bits -------*- C++ -*-===//
//
// Three warps take slabs of 8-bit elements as boxes bring them, and make the
// tiles of f16 that wgmma reads. Keys lie in the order in which queries are
// stored (Queries.h, storeScaled). Values that no query sees are zeros.
// Elements of groups are multiplied by the group's share. Scales of rows come
// with a leaf's first tile.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_ATTENTION_WGMMA_TILEWIDENER_H
#define KV_KERNELS_CUDA_ATTENTION_WGMMA_TILEWIDENER_H

#include "kernels/cuda/attention/common/RowScales.h"
#include "kernels/cuda/attention/common/TileLoader.h"

namespace kv::cuda {

template <Block B, class C> class TileWidener : TileBringer<B, C> {
  using Base = TileBringer<B, C>;
  using Base::b, Base::p, Base::lane, Base::first, Base::last, Base::stage,
      Base::phase, Base::seeKeys, Base::isSeenInPart;
  using typename Base::Work;

public:
  KV_BODY TileWidener(B &b, const TileParams &p)
      : Base(b, p), thread(b.thread() - WarpLanes) {}

  /// By C::Wideners warps: all tiles of this block's part.
  KV_BODY void widen() {
    forEachWork</*AtOnce=*/false, /*ByIndex=*/true>(
        b, p, [&](const Work &work, const kv::plan::Tile &tile) {
          seeKeys(work, tile);
          for (int leaf = work.leafBegin; leaf < work.leafEnd; ++leaf) {
            b.atLeaf(leaf);
            awaitStage();
            if constexpr (C::Scaled)
              bringScales(leaf, work.head);
            KV_UNROLL_BY(1)
            for (int part = 0; part < C::Parts; ++part)
              widenTile<0>(leaf, part);
            KV_UNROLL_BY(1)
            for (int part = 0; part < C::Parts; ++part)
              widenTile<1>(leaf, part);
          }
        });
  }

private:
  /// Until everybody has read what the next tile overwrites.
  KV_BODY void awaitStage() {
    b.awaitPhase(b.barrier(C::empty(stage)), phase ^ 1);
  }

  template <int Plane> KV_BODY void widenTile(int leaf, int part) {
    if (Plane || part)
      awaitStage();
    KV_UNROLL_BY(1)
    for (int slab = 0; slab < C::TileSlabs; ++slab) {
      auto released = b.barrier(C::widened(copy));
      b.awaitPhase(b.barrier(C::landed(copy)), copyPhase);
      widenSlab<Plane>(leaf, part * C::TileSlabs + slab,
                       OffsetOf<C, slot::Ring> + stage * C::TileBytes +
                           slab * C::SlabBytes);
      b.fenceAsync();
      b.syncWarp();
      if (lane == 0)
        b.arriveAt(released);
      if (++copy == C::CopyStages) {
        copy = 0;
        copyPhase ^= 1;
      }
    }
    if (lane == 0)
      b.arriveAt(b.barrier(C::full(stage)));
    this->template nextStage<C::Stages>();
  }

  /// Sixteen elements of a row at a time: four lanes have a row of the slab, so
  /// that eight neighbours read and write different banks. A thread's rows are
  /// whole atoms apart, and so lie at constant distances.
  template <int Plane> KV_BODY void widenSlab(int leaf, int slab, int target) {
    constexpr int RowItems = C::SlabColumns / 16, RowChunks = 2 * RowItems;
    constexpr int KeysApart = C::WidenThreads / RowItems;
    static_assert(KeysApart % AtomRows == 0);
    constexpr int Rounds = (C::Leaf + KeysApart - 1) / KeysApart;
    // Chunks are read in groups of this size before the first is written.
    constexpr int Together = C::Scaled ? 1 : 2;
    auto from = b.template shared<Chunk>(CopiesBegin<C> + copy * C::CopyBytes,
                                         C::CopyBytes / ChunkBytes);
    auto to = b.template shared<Chunk>(target, C::SlabBytes / ChunkBytes);
    const int own = late(thread); // what is made of it is kept for a slab only
    int key = own / RowItems, column = own % RowItems;
    bool clears = Plane && isSeenInPart(leaf);
    int unseen = first - leaf * C::Leaf, seenTo = last - leaf * C::Leaf;
    int place[2];
    KV_UNROLL for (int half = 0; half < 2; ++half)
      place[half] =
          opaque(int(swizzled(uint32_t(key * RowChunks + column * 2 + half) *
                              ChunkBytes)) /
                 ChunkBytes);
    int shareAt = 0; // those of the key's group
    if constexpr (C::Shares)
      shareAt = opaque(
          sharePlace(Plane, (slab * RowItems + column) >> p.scales.groupShift) +
          key);
    KV_UNROLL for (int round = 0; round < Rounds; round += Together) {
      auto exists = [&](int i) {
        int apart = (round + i) * KeysApart;
        return apart + KeysApart <= C::Leaf || key + apart < C::Leaf;
      };
      Chunk bytes[Together];
      KV_UNROLL for (int i = 0; i < Together; ++i)
        if (exists(i))
          bytes[i] = from.load(own + (round + i) * C::WidenThreads);
      KV_UNROLL for (int i = 0; i < Together; ++i) {
        int apart = (round + i) * KeysApart;
        if (!exists(i))
          continue;
        if (clears && (key < unseen - apart || key >= seenTo - apart))
          bytes[i] = Chunk{};
        uint32_t share = 0;
        if constexpr (C::Shares)
          share = shares().load(shareAt + apart);
        Chunk out[2];
        widenChunk<Plane>(bytes[i], share, out);
        KV_UNROLL for (int half = 0; half < 2; ++half)
          to.store(place[half] + apart * RowChunks, out[half]);
      }
    }
  }

  /// Sixteen elements, times a share where there are some.
  template <int Plane>
  static KV_BODY void widenChunk(const Chunk &bytes, uint32_t share,
                                 Chunk (&out)[2]) {
    KV_UNROLL for (int i = 0; i < 4; ++i) {
      uint32_t low, high;
      widenFour<typename C::Cache>(bytes.words[i], low, high);
      if constexpr (C::Shares) {
        low = multiplyPair(low, share);
        high = multiplyPair(high, share);
      }
      if (Plane) {
        out[i / 2].words[i % 2 * 2] = low;
        out[i / 2].words[i % 2 * 2 + 1] = high;
      } else {
        out[0].words[i] = low;
        out[1].words[i] = high;
      }
    }
  }

  //===--- Scales ---------------------------------------------------------===//

  KV_BODY auto shares() const {
    return view<C, slot::ScaleShares, uint32_t>(b);
  }
  static KV_BODY int sharePlace(int plane, int group) {
    return (plane * C::ScaleGroups + group) * C::Leaf;
  }

  /// Where the scales of a key begin. Negative: no query sees the key, and its
  /// scales are zeros.
  KV_BODY int64_t scalesOf(int leaf, int head, int key) const {
    int32_t position = int32_t(uint32_t(leaf) * C::Leaf + key);
    int32_t page = -1;
    if (position >= first && position < last)
      page = this->pageOf(position, page);
    if (page < 0)
      return -1;
    return page * p.scales.pageStride + p.layer * p.scales.layerStride +
           p.cache.pageSize.remainder(position) * p.scales.tokenStride +
           head * p.scales.headStride;
  }

  /// The scales of a leaf, for all warps, go to a buffer that no warp reads any
  /// more. Not read ahead: there is time, and there are no registers.
  KV_BODY void bringScales(int leaf, int head) {
    auto rows = view<C, slot::RowScales, float>(b);
    int buffer = scaleBuffer;
    scaleBuffer = C::scalesAfter(scaleBuffer);
    if constexpr (C::Shares) // those of the leaf before are read by all
      b.syncNamed(C::WidenersBarrier, C::WidenThreads);
    KV_UNROLL_BY(1)
    for (int key = thread; key < C::Leaf; key += C::WidenThreads) {
      int64_t at = scalesOf(leaf, head, key);
      // A plane after the other: the scales of both find no registers.
      KV_UNROLL_BY(1)
      for (int plane = 0; plane < 2; ++plane) {
        uint32_t scales[C::ScaleGroups];
        KV_UNROLL for (int g = 0; g < C::ScaleGroups; ++g) {
          scales[g] = 0;
          if (at >= 0 && (C::ScaleGroups == 1 || g < p.scales.groups))
            scales[g] =
                loadScale(b, p.scales, at + plane * p.scales.planeStride + g);
        }
        rows.store((buffer * 2 + plane) * C::Leaf + key,
                   divideScales(p.scales, scales, [&](int g, uint32_t share) {
                     shares().store(sharePlace(plane, g) + key, share);
                   }));
      }
    }
    if constexpr (C::Shares)
      b.syncNamed(C::WidenersBarrier, C::WidenThreads);
  }

  const int thread;
  int copy = 0, copyPhase = 0; // of the next slab
  int scaleBuffer = 0;         // of the next leaf
};

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTION_WGMMA_TILEWIDENER_H
