//===- ByteTileLoader.h - The warps that bring tiles of bytes ---*- C++ -*-===//
//
// One warp copies keys to the ring and values to where three warps read them,
// which leave them in the ring transposed. Each row is an element of the head
// and holds all keys of the leaf, so that wgmma sums over the keys. Values that
// no query sees are zeros there. Below a stage's values lie eight rows of ones,
// whose product with the weights is their sum.
//
// Of each sixteen keys, four lie side by side that one lane has the weights of:
// 2 t, 2 t + 1, 8 + 2 t, 9 + 2 t of lane t. So a thread's weights are an
// operand as they are.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_ATTENTION_WGMMA_BYTETILELOADER_H
#define KV_KERNELS_CUDA_ATTENTION_WGMMA_BYTETILELOADER_H

#include "kernels/block/Widen.h"
#include "kernels/cuda/attention/common/TileLoader.h"
#include "kernels/cuda/parameters/ByteTiles.h"

namespace kv::cuda {

/// A thread's own values that only the end of a stretch needs: leaves need the
/// registers more.
template <class C, Block B> KV_BODY auto keptWorks(B &b) {
  return view<C, slot::KeptWorks, kv::plan::Work>(b);
}

template <Block B, class C> class ByteTileLoader : TileLoader<B, C> {
  using Base = TileLoader<B, C>;
  using Base::b, Base::p, Base::stage, Base::phase;
  using Work = kv::plan::Work;

public:
  using Base::Base;

  /// By one warp: all tiles of this block's part.
  KV_BODY void load() {
    if (this->hasNoBox(this->boxes() * C::CopySlabs))
      return;
    forEachWork</*AtOnce=*/false, /*ByIndex=*/true>(
        b, p, [&](Work &work, const kv::plan::Tile &tile) {
          this->seeKeys(work, tile);
          keptWorks<C>(b).store(late(b.thread()), work);
          int32_t page = this->lookUp(work.leafBegin, work);
          for (int leaf = work.leafBegin; leaf < work.leafEnd; ++leaf) {
            b.atLeaf(leaf);
            int32_t next = this->lookUp(leaf + 1, work);
            copyKeys(leaf, work.head, page);
            copyValues(leaf, work.head, page);
            page = next;
          }
          work = keptWorks<C>(b).load(late(b.thread()));
        });
  }

private:
  KV_BODY void copyKeys(int leaf, int head, int32_t page) {
    b.awaitPhase(b.barrier(C::empty(stage)), phase ^ 1);
    this->copyBoxes(leaf, head, page, /*plane=*/0, /*part=*/0,
                    OffsetOf<C, slot::Ring> + stage * C::TileBytes,
                    b.barrier(C::full(stage)));
    this->template nextStage<C::Stages>();
    this->template nextStage<C::Stages>(); // of the leaf's values
  }
  KV_BODY void copyValues(int leaf, int head, int32_t page) {
    b.awaitPhase(b.barrier(C::transposed(copy)), copyPhase ^ 1);
    this->copyBoxes(leaf, head, page, /*plane=*/1, /*part=*/0,
                    CopiesBegin<C> + copy * C::CopyBytes,
                    b.barrier(C::landed(copy)));
    if (++copy == C::CopyStages) {
      copy = 0;
      copyPhase ^= 1;
    }
  }

  int copy = 0, copyPhase = 0; // of the next values
};

template <Block B, class C> class ByteTransposer : TileBringer<B, C> {
  using Base = TileBringer<B, C>;
  using Base::b, Base::p, Base::lane, Base::first, Base::last, Base::stage,
      Base::phase;
  using typename Base::Work;
  static constexpr int Threads = C::Transposers * WarpLanes;

public:
  KV_BODY ByteTransposer(B &b, const TileParams &p)
      : Base(b, p), thread(b.thread() - WarpLanes) {
    stage = 1;
  }

  /// By C::Transposers warps: all values of this block's part.
  KV_BODY void transpose() {
    storeOnes();
    forEachWork</*AtOnce=*/false, /*ByIndex=*/true>(
        b, p, [&](Work &work, const kv::plan::Tile &tile) {
          this->seeKeys(work, tile);
          keptWorks<C>(b).store(late(b.thread()), work);
          for (int leaf = work.leafBegin;; ++leaf) {
            b.atLeaf(leaf);
            work = keptWorks<C>(b).load(late(b.thread()));
            if (leaf >= work.leafEnd)
              return;
            transposeTile(leaf);
          }
        });
  }

private:
  /// The ones stay there. The first tile's fence holds for them, too.
  KV_BODY void storeOnes() {
    constexpr int AtomChunks = AtomBytes / ChunkBytes;
    constexpr uint32_t Ones = 0x01010101u * 0x38; // f8E4M3
    KV_UNROLL_BY(1)
    for (int i = thread; i < C::Stages / 2 * AtomChunks; i += Threads)
      view<C, slot::Ring, Chunk>(b).store(
          (i / AtomChunks * 2 + 1) * (C::TileBytes / ChunkBytes) +
              C::ValueAtoms * AtomChunks + i % AtomChunks,
          {{Ones, Ones, Ones, Ones}});
  }

  KV_BODY void transposeTile(int leaf) {
    b.awaitPhase(b.barrier(C::landed(copy)), copyPhase);
    b.awaitPhase(b.barrier(C::empty(stage)), phase ^ 1);
    auto released = b.barrier(C::transposed(copy));
    // Two loops: most leaves need not look at what is seen.
    if (this->isSeenInPart(leaf))
      transposeChunks</*Clears=*/true>(leaf);
    else
      transposeChunks</*Clears=*/false>(leaf);
    b.fenceAsync();
    b.syncWarp();
    if (lane == 0) {
      b.arriveAt(released);
      b.arriveAt(b.barrier(C::full(stage)));
    }
    if (++copy == C::CopyStages) {
      copy = 0;
      copyPhase ^= 1;
    }
    this->template nextStage<C::Stages>();
    this->template nextStage<C::Stages>(); // of the next leaf's keys
  }

  /// A chunk of sixteen elements of all keys at a time. The lanes name the rows
  /// of 32 keys, and ldmatrix gives each lane pairs of elements of pairs of
  /// keys. Two such registers become one register of four keys' even elements
  /// and one of their odd elements. Of the eight rows that are stored at a
  /// time, no two lie in the same banks: the lower four are of one kind, the
  /// upper four of the other.
  template <bool Clears> KV_BODY void transposeChunks(int leaf) {
    constexpr int RowChunks = SlabRowBytes / ChunkBytes, LoadKeys = WarpLanes;
    const int own = late(thread); // what is made of it is kept for a tile only
    const int self = own % WarpLanes;
    auto from = b.template shared<Chunk>(CopiesBegin<C> + copy * C::CopyBytes,
                                         C::CopyBytes / ChunkBytes);
    auto to =
        b.template shared<Chunk>(OffsetOf<C, slot::Ring> + stage * C::TileBytes,
                                 C::TileBytes / ChunkBytes);
    // Of an operand's row in eight, whether the first store is of odd elements.
    auto isOdd = [](int row) { return row / 4; };
    const uint32_t even = 0x6420, odd = 0x7531;
    const uint32_t selected = isOdd(self / 4) ? odd : even;
    // Of this lane the row of the matrix it names to store: first of the first
    // sixteen keys, both kinds, then of the others.
    int row = self % 8, kind = isOdd(row) ^ (self / 8 & 1);
    int stored = ByteQueryRows::chunk(row * 2 + kind, self / 16);
    int loaded = ByteQueryRows::chunk(self, 0);
    KV_UNROLL_BY(1)
    for (int chunk = own / WarpLanes; chunk < C::HeadDim / 16;
         chunk += C::Transposers) {
      KV_UNROLL for (int keys = 0; keys < C::Leaf; keys += LoadKeys) {
        uint32_t words[4], out[4];
        b.loadMatrixTransposed(words, from,
                               (loaded ^ chunk) + keys * RowChunks);
        if constexpr (Clears)
          clearUnseen(words, leaf, keys, self);
        KV_UNROLL for (int i = 0; i < 4; ++i)
          out[i] = permuteBytes(words[i & 2], words[(i & 2) + 1],
                                i % 2 ? selected ^ even ^ odd : selected);
        b.storeMatrix(out, to, (stored ^ (keys / 16)) + chunk * 16 * RowChunks);
      }
    }
  }

  /// Of keys in a register's halves that no row sees.
  KV_BODY void clearUnseen(uint32_t (&words)[4], int leaf, int keys,
                           int self) const {
    int unseen = first - leaf * C::Leaf, seenTo = last - leaf * C::Leaf;
    KV_UNROLL for (int i = 0; i < 4; ++i) {
      int key = keys + i * 8 + self % 4 * 2;
      if (key < unseen || key >= seenTo)
        words[i] &= 0xffff0000u;
      if (key + 1 < unseen || key + 1 >= seenTo)
        words[i] &= 0xffffu;
    }
  }

  const int thread;
  int copy = 0, copyPhase = 0; // of the next values
};

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTION_WGMMA_BYTETILELOADER_H
