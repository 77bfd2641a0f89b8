//===- KeyRing.h - Keys and values to shared memory -------------*- C++ -*-===//
//
// K and V come in tiles through a ring of asynchronous copies that runs `Ahead`
// tiles in front and never stops at the end of a leaf.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_ATTENTION_MMA_KEYRING_H
#define KV_KERNELS_CUDA_ATTENTION_MMA_KEYRING_H

#include "KeyPlaces.h"

namespace kv::cuda {

/// The stages of a ring, and what this thread copies of a tile.
template <class U> class StageRing {
protected:
  using B = typename U::B;
  using C = typename U::C;

public:
  KV_BODY auto tiles(U &u) const { return view<C, slot::Ring, Chunk>(u.b); }

protected:
  KV_BODY explicit StageRing(U &u) : StageRing(firstCopied(u.b.thread())) {}
  /// The first chunk of a tile that a thread copies; the others are every
  /// CopiedRows rows below.
  static KV_BODY Place firstCopied(int thread) {
    return {int(uint32_t(thread) / C::CopiedColumns),
            int(uint32_t(thread) % C::CopiedColumns)};
  }
  KV_BODY explicit StageRing(Place first)
      : chunk(opaque(C::CacheRows::chunk(first.row, first.column))),
        rows(opaque(first.row * C::ThreadRows / C::PlacesTogether)),
        byte(opaque(first.column * ChunkBytes)) {}

  /// Begins to copy the first tiles of a work; issue(i) copies tile i.
  template <class Issue> KV_BODY void fillBy(Issue issue) {
    stage = 0;
    KV_UNROLL for (int i = 0; i < C::Ahead; ++i) {
      nextStage();
      issue(i);
    }
    // The stage that no copy is in flight to is "read" already.
    lastStage = stage;
    stage = 0;
  }
  KV_BODY void nextStage() {
    lastStage = stage;
    stage += C::StageChunks;
    if (stage == C::Stages * C::StageChunks)
      stage = 0;
  }

  /// The first chunk, the places of its rows, its column's byte.
  const int chunk, rows, byte;
  int stage, lastStage; // of the next tile, and of the one before, in chunks
};

/// The ring of a paged or continuous cache. The first half of a leaf's tiles
/// are K, the others V; those from TilesPerLeaf on are of the leaves after it.
template <class U> class KeyRing : public StageRing<U> {
  using Base = StageRing<U>;
  using Base::chunk, Base::rows, Base::byte, Base::stage, Base::lastStage;
  using typename Base::B, typename Base::C;

public:
  KV_BODY explicit KeyRing(U &u) : Base(u) {}

  KV_BODY void fill(U &u) {
    this->fillBy([&](int i) { issueTile(u, u.leafBegin, i); });
  }

  /// Makes a half of a leaf's keys or values readable for all, and returns its
  /// first chunk.
  KV_BODY int nextHalf(U &u, int leaf, int plane, int half) {
    if (half % C::TileHalves)
      return lastStage +
             half % C::TileHalves * C::HalfKeys * C::CacheRows::Pitch;
    else
      return nextTile(u, leaf,
                      plane * (C::TilesPerLeaf / 2) + half / C::TileHalves);
  }

private:
  /// Makes tile `tile` of a leaf, which is the next, readable for all, and lets
  /// a later one come into the place of the one before.
  KV_BODY int nextTile(U &u, int leaf, int tile) {
    B &b = u.b;
    constexpr int Pending = C::Ahead - 1;
    b.template wait<Pending>();
    b.sync();
    issueTile(u, leaf, tile + C::Ahead);
    this->nextStage();
    return lastStage;
  }

  /// Begins to copy a tile into the stage that was read last.
  KV_BODY void issueTile(U &u, int leaf, int tile) {
    B &b = u.b;
    leaf += tile / C::TilesPerLeaf;
    if (leaf < u.leafEnd) {
      // Several places are read before the first is used, since latency is the
      // cost.
      constexpr int Most = C::RowTiles > 1 && C::HeadDim == 256 ? 4 : 8;
      constexpr int Together = C::ThreadRows < Most ? C::ThreadRows : Most;
      auto ring = this->tiles(u);
      uint32_t first = KeyPlaces<U>::rowPlace(
                           leaf, tile % (C::TilesPerLeaf / 2) * C::TileKeys) /
                           C::PlacesTogether +
                       rows;
      int64_t further = uint32_t(byte);
      if (tile % C::TilesPerLeaf >= C::TilesPerLeaf / 2)
        further += u.p.cache.planeStride * int64_t(sizeof(typename C::Cache));
      KV_UNROLL for (int from = 0; from < C::ThreadRows; from += Together) {
        int64_t places[Together];
        loadRowPlaces(u, places, first + from / C::PlacesTogether);
        KV_UNROLL for (int i = 0; i < Together; ++i) KV_UNROLL
          for (int j = 0; j < C::ThreadColumns; ++j) {
            int column = j * C::CopiedColumns;
            if (column + C::CopiedColumns <= C::RowChunks ||
                byte < (C::RowChunks - column) * ChunkBytes)
              b.copyAsync(ring,
                          lastStage +
                              C::CacheRows::moved(
                                  C::CacheRows::below(chunk, (from + i) *
                                                                 C::CopiedRows),
                                  column),
                          places[i] + further, column * ChunkBytes);
          }
      }
    }
    b.commit();
  }

  /// The places of `Count` of this thread's rows, from row `first` on.
  template <int Count>
  KV_BODY void loadRowPlaces(U &u, int64_t (&places)[Count],
                             uint32_t first) const {
    if constexpr (Count == 1) {
      places[0] = view<C, slot::RowPlaces, int64_t>(u.b).load(first);
    } else {
      auto pairs = view<C, slot::RowPlaces, LongPair>(u.b);
      KV_UNROLL for (int i = 0; i < Count; i += 2) {
        LongPair two = pairs.load(first + i / 2);
        places[i] = two.x;
        places[i + 1] = two.y;
      }
    }
  }
};

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTION_MMA_KEYRING_H
