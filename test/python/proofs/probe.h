// The addressing of kernels, with a block and a configuration that name only
// what it reads. addresses.py leaves the values of C's constants free.

#include "kernels/block/Block.h"
#include "kernels/block/Body.h"
#include "kernels/block/TensorBlock.h"
// The concept asks for more than addressing needs, and what is private is to be
// called.
#define Block class
#define private public
#define protected public
#include "kernels/cuda/attention/common/TileLoader.h"
#include "kernels/cuda/attention/mma/KeyPlaces.h"
#include "kernels/cuda/movers/MoverBodies.h"

namespace probe {

struct B {
  int lane;
  int thread() const { return lane; }
  int clusterRank() const { return 0; }
  template <class T> T load(const T *place) const { return *place; }
};

struct C {
  using Cache = uint16_t;
  static constexpr bool KeepsFirstKey = true, Scaled = true;
  static constexpr int Leaf = 64, Threads = 64, TileKeys = 32, CopiedRows = 8,
                       ThreadRows = 4, RowPlaceBuffers = 2;
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

inline void use(const kv::cuda::TileLoader<B, C> &tiles,
                const kv::plan::Work &work) {
  tiles.lookUp(0, work);
}

} // namespace probe
