// The addressing of kernels, with a block and a configuration that name only
// what it reads. addresses.py leaves the values of C's constants free.

#include "kernels/block/Block.h"
#include "kernels/block/Body.h"
#include "kernels/block/TensorBlock.h"
#include <cstdio>
// The concept asks for more than addressing needs, and what is private is to be
// called.
#define Block class
#define private public
#define protected public
#include "kernels/cuda/attention/common/LatentTileLoader.h"
#include "kernels/cuda/attention/mma/KeyPlaces.h"
#include "kernels/cuda/movers/MoverBodies.h"
#include "kernels/cuda/movers/PlanBody.h"

namespace probe {

template <class T> struct View {
  T load(int) const { return {}; }
  void store(int, T) const {}
};

/// A block that shows what it copies.
struct B {
  int lane, rank = 0;
  int thread() const { return lane; }
  int clusterRank() const { return rank; }
  template <class T> T load(const T *place) const { return *place; }
  template <class T> void store(T *place, const T &value) const {
    *place = value;
  }
  template <class T> View<T> shared(int, int) const { return {}; }
  void sync() const {}
  void storeLargest(uint64_t *, uint64_t) const {}
  int barrier(int at) const { return at; }
  void awaitPhase(int, int) const {}
  void expectBytes(int, int) const {}
  void copyTile(const kv::cuda::TensorMap &, int target,
                const kv::cuda::TileAt &box, int) const {
    std::printf("%d %d %d %d %d ", target, box.at[0], box.at[1], box.at[2],
                box.at[3]);
  }
  void copyTileTo(uint32_t, const kv::cuda::TensorMap &map, int target,
                  const kv::cuda::TileAt &box, int bar) const {
    copyTile(map, target, box, bar);
  }
};

struct C {
  using Cache = uint16_t;
  static constexpr bool KeepsFirstKey = true, Scaled = true;
  static constexpr int Leaf = 64, Threads = 64, TileKeys = 32, CopiedRows = 8,
                       ThreadRows = 4, RowPlaceBuffers = 2;
};

/// Of kernels that copy tiles.
struct T {
  using Cache = uint16_t;
  static constexpr int Leaf = 64, PartBlocks = 2, Slabs = 2, CopySlabs = 2,
                       CopyRowBytes = 128, CopySlabBytes = 8192,
                       CopyBytes = 16384, SlabBytes = 8192, TileBytes = 16384,
                       Stages = 2;
  static constexpr int full(int stage, int) { return stage; }
  static constexpr int empty(int stage, int) { return stage; }
  static constexpr int landed(int stage) { return stage; }
  using Shared =
      kv::cuda::SharedLayout<kv::cuda::Slot<kv::cuda::slot::Ring, int, 8192>>;
};

struct Head {
  int32_t head;
};

struct U {
  using B = probe::B;
  using C = probe::C;
  B &b;
  const kv::cuda::AttentionParams &p;
  Head rows;
  int leafBegin, leafEnd;
};

inline void use(kv::cuda::KeyPlaces<U> &places, U &u,
                const kv::plan::Work &work, int32_t (&pages)[3]) {
  places.firstPages(u, work, pages);
  places.keyPlace(u, 0, 0);
}

inline void use(B &b, const kv::cuda::StoreParams &p,
                const kv::cuda::AttentionParams &a, int32_t &page,
                int32_t &slot) {
  kv::cuda::findStored(b, p, p.batch, 0, page, slot);
  kv::cuda::rowAt(p.cache, page, 0, 0, slot, 0);
  kv::cuda::rowAt(a.scales, page, 0, 0, slot, 0);
}

inline void use(B &b, const kv::cuda::PlanParams &p) {
  kv::cuda::planBody(b, p);
}

inline void use(kv::cuda::TileLoader<B, T> &tiles,
                kv::cuda::LatentTileLoader<B, T> &latent,
                const kv::plan::Work &work) {
  tiles.lookUp(0, work);
  tiles.copyBoxes(0, 0, 0, 0, 0, 0, 0);
  latent.copyTile(0, 0);
}

} // namespace probe
