//===- TileLoader.h - The warps that bring tiles ----------------*- C++ -*-===//
//
// One warp copies from pages to the ring, one box per lane. Another warp makes
// rows of values zero that no query sees: a weight of zero does not make a NaN
// harmless. Tiles of 8 bits go through three warps that widen (TileWidener.h),
// slab by slab.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_ATTENTION_COMMON_TILELOADER_H
#define KV_KERNELS_CUDA_ATTENTION_COMMON_TILELOADER_H

#include "Works.h"
#include "kernels/block/Body.h"
#include "kernels/cuda/parameters/AttentionTiles.h"

namespace kv::cuda {

/// The common part of the warps that bring tiles.
template <Block B, class C> class TileBringer {
protected:
  using Work = kv::plan::Work;

  KV_BODY TileBringer(B &b, const TileParams &p)
      : b(b), p(p), lane(b.thread() % WarpLanes) {}

  /// The keys that any row of the tile sees.
  KV_BODY void seeKeys(const Work &work, const kv::plan::Tile &tile) {
    if (work.leafBegin >= work.leafEnd)
      return;
    kv::plan::Keys keys = kv::plan::tileKeys<HasChunks<C>>(
        p.shape, sequenceOf(p, tile.sequence), tile.row);
    first = int32_t(keys.first);
    last = int32_t(kv::plan::lesser<int64_t>(keys.last, INT32_MAX));
    tableRow = p.table + tile.sequence * p.tablePitch;
  }

  /// Whether the leaf has keys that no row sees.
  KV_BODY bool isSeenInPart(int leaf) const {
    return leaf * C::Leaf < first || leaf * C::Leaf > last - C::Leaf;
  }

  /// The page of a position that is seen, or `none`.
  KV_BODY int32_t pageOf(int32_t position, int32_t none) const {
    int32_t entry = b.load(tableRow + p.cache.pageSize.quotient(position));
    return uint32_t(entry) < uint32_t(p.cache.pages) ? entry : none;
  }

  template <int Stages> KV_BODY void nextStage() {
    if (++stage == Stages) {
      stage = 0;
      phase ^= 1;
    }
  }

  B &b;
  const TileParams &p;
  const int lane;
  const int32_t *tableRow = nullptr;
  int32_t first = 0, last = 0;
  int stage = 0, phase = 0;
};

template <Block B, class C> class TileLoader : protected TileBringer<B, C> {
  using Base = TileBringer<B, C>;
  using typename Base::Work;

protected:
  using Base::b, Base::p, Base::lane, Base::first, Base::last, Base::stage,
      Base::phase, Base::seeKeys, Base::isSeenInPart;

public:
  KV_BODY TileLoader(B &b, const TileParams &p) : Base(b, p) {}

  /// By one warp: all tiles of this block's part.
  KV_BODY void load() {
    if (hasNoBox(boxes() * C::CopySlabs))
      return;
    forEachWork</*AtOnce=*/false, /*ByIndex=*/true>(
        b, p, [&](const Work &work, const kv::plan::Tile &tile) {
          seeKeys(work, tile);
          int32_t page = lookUp(work.leafBegin, work);
          for (int leaf = work.leafBegin; leaf < work.leafEnd; ++leaf) {
            b.atLeaf(leaf);
            int32_t next = lookUp(leaf + 1, work);
            KV_UNROLL_BY(1)
            for (int i = 0; i < 2 * C::CopyParts; ++i)
              copyTile(leaf, work.head, page, i / C::CopyParts,
                       i % C::CopyParts);
            page = next;
          }
        });
  }

  /// By one warp: the tiles of values that have such rows.
  KV_BODY void clean() {
    forEachWork</*AtOnce=*/false, /*ByIndex=*/true>(
        b, p, [&](const Work &work, const kv::plan::Tile &tile) {
          seeKeys(work, tile);
          for (int leaf = work.leafBegin; leaf < work.leafEnd; ++leaf) {
            b.atLeaf(leaf);
            KV_UNROLL_BY(1)
            for (int i = 0; i < 2 * C::Parts; ++i) {
              if (i >= C::Parts && isSeenInPart(leaf))
                cleanTile(leaf);
              this->template nextStage<C::Stages>();
            }
          }
        });
  }

protected:
  KV_BODY int boxes() const { return C::Leaf >> p.boxShift; }
  /// Whether this lane copies none of so many boxes. Such a lane must not wait
  /// for room: no box of its own would hold up the ring, and when the lane
  /// comes late, the phase after the one that it waits for may be complete.
  KV_BODY bool hasNoBox(int count) const { return lane >= count; }
  /// The number of boxes that this block asks for, and this lane's box.
  KV_BODY int ownBoxes() const { return boxes() / PartBlocks<C>; }
  KV_BODY int ownBox() const {
    int box = lane & (ownBoxes() - 1);
    if constexpr (PartBlocks<C> > 1)
      box += b.clusterRank() * ownBoxes();
    return box;
  }

  /// The page of this lane's box of a leaf. The page after the last is none: a
  /// box from there is zeros.
  KV_BODY int32_t lookUp(int leaf, const Work &work) const {
    int box = ownBox();
    int32_t position = int32_t(uint32_t(leaf) * C::Leaf + (box << p.boxShift));
    int32_t page = p.cache.pages;
    if (leaf < work.leafEnd && position < last &&
        position > first - (1 << p.boxShift))
      page = this->pageOf(position, page);
    return page;
  }

  /// The barrier at which those arrive that have read what boxes brought.
  static KV_BODY int readOf(int stage) {
    if constexpr (CopiesApart<C>)
      return C::widened(stage);
    else
      return C::empty(stage);
  }

  /// A tile of a leaf's keys, or values, to the next stage.
  KV_BODY void copyTile(int leaf, int head, int32_t page, int plane, int part) {
    b.awaitPhase(b.barrier(readOf(stage)), phase ^ 1);
    copyBoxes(leaf, head, page, plane, part,
              CopiesBegin<C> + stage * C::CopyBytes,
              b.barrier(CopiesApart<C> || (plane && isSeenInPart(leaf))
                            ? C::landed(stage)
                            : C::full(stage)));
    this->template nextStage<C::CopyStages>();
  }

  /// The boxes of a tile to a place in shared memory, complete on `bar`.
  template <class Barrier>
  KV_BODY void copyBoxes(int leaf, int head, int32_t page, int plane, int part,
                         int target, Barrier bar) {
    if (lane == 0)
      b.expectBytes(bar, C::CopyBytes);
    KV_UNROLL_BY(1)
    for (int i = lane; i < boxes() * C::CopySlabs; i += WarpLanes) {
      int box = i & (boxes() - 1), slab = i / boxes();
      int token = p.cache.pageSize.remainder(
          int32_t(uint32_t(leaf) * C::Leaf + (box << p.boxShift)));
      int column = (part * C::CopySlabs + slab) * (C::CopyRowBytes / 2);
      b.copyTile(p.maps[plane],
                 target + slab * C::CopySlabBytes +
                     (box << p.boxShift) * C::CopyRowBytes,
                 TileAt{{column, p.headsFirst ? head : token,
                         p.headsFirst ? token : head, page}},
                 bar);
    }
  }

  KV_BODY void cleanTile(int leaf) {
    cleanRows(leaf, C::TileSlabs);
    if (lane == 0)
      b.arriveAt(b.barrier(C::full(stage)));
  }

  /// Cleans this warp's rows in `slabs` slabs of the tile.
  KV_BODY void cleanRows(int leaf, int slabs) {
    b.awaitPhase(b.barrier(C::landed(stage)), landings >> stage & 1);
    landings ^= 1u << stage;
    constexpr int RowChunks = SlabRowBytes / ChunkBytes;
    auto tile =
        b.template shared<Chunk>(OffsetOf<C, slot::Ring> + stage * C::TileBytes,
                                 C::TileBytes / ChunkBytes);
    int begin = first - leaf * C::Leaf, end = last - leaf * C::Leaf;
    int behind = kv::plan::greater(C::Leaf - end, 0);
    begin = kv::plan::greater(begin, 0);
    // A row's chunks are exchanged among themselves only.
    KV_UNROLL for (int slab = 0; slab < slabs; ++slab)
      KV_UNROLL_BY(1)
    for (int i = lane; i < (begin + behind) * RowChunks; i += WarpLanes) {
      int skipped = i < begin * RowChunks ? 0 : C::Leaf - behind - begin;
      tile.store((slab * C::Leaf + skipped) * RowChunks + i, Chunk{});
    }
    b.fenceAsync();
    b.syncWarp();
  }

  uint32_t landings = 0; // a bit a stage: the parity of its next landing
};

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTION_COMMON_TILELOADER_H
