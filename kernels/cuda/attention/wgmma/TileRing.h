//===- TileRing.h - Tiles that others copy, as operands ---------*- C++ -*-===//

#ifndef KV_KERNELS_CUDA_ATTENTION_WGMMA_TILERING_H
#define KV_KERNELS_CUDA_ATTENTION_WGMMA_TILERING_H

#include "kernels/cuda/attention/common/Unit.h"

namespace kv::cuda {

/// Warpgroups begin their products in turn, so that one has the tensor cores
/// while the other weighs: were they to begin together, both would weigh
/// together. One alone has no turns. The named barrier of a warpgroup's turn.
KV_BODY int turnOf(int group) { return 3 + group; }
template <class C, Block B> KV_BODY void awaitTurn(B &b, int warp) {
  if constexpr (C::Groups > 1)
    b.syncNamed(turnOf(warp / GroupWarps), 2 * GroupThreads);
}
template <class C, Block B> KV_BODY void passTurn(B &b, int warp) {
  if constexpr (C::Groups > 1)
    b.arriveNamed(turnOf(C::Groups == 2 ? 1 - warp / GroupWarps
                         : warp / GroupWarps == C::Groups - 1
                             ? 0
                             : warp / GroupWarps + 1),
                  2 * GroupThreads);
}

/// The part of an operand that begins at a byte of the ring or the queries.
template <class C, Block B> KV_BODY Descriptor operandAt(B &b, int offset) {
  return encode({b.sharedAddress(offset), C::SlabBytes, AtomBytes});
}
/// A warpgroup's rows of the queries.
template <class C, Block B> KV_BODY Descriptor queriesOf(B &b, int group) {
  return operandAt<C>(b, OffsetOf<C, slot::Queries> +
                             group * GroupWarps * 16 * SlabRowBytes);
}

/// The tiles in the order in which a consumer reads them.
template <class U> class TileRing {
  using C = typename U::C;

public:
  /// Waits until the tile that is `ahead` tiles after the current one has come.
  KV_BODY void awaitTile(U &u, int ahead) {
    int at = stage + ahead;
    bool wraps = at >= C::Stages;
    u.b.awaitPhase(u.b.barrier(C::full(wraps ? at - C::Stages : at)),
                   phase ^ wraps);
  }
  /// That tile.
  KV_BODY Descriptor tileAt(U &u, int ahead) const {
    int at = stage + ahead;
    return operandAt<C>(u.b, OffsetOf<C, slot::Ring> +
                                 (at >= C::Stages ? at - C::Stages : at) *
                                     C::TileBytes);
  }
  /// Its stage, which this warp has read, may be filled again.
  KV_BODY void releaseTile(U &u) {
    if (u.map.lane == 0)
      u.b.arriveAt(u.b.barrier(C::empty(stage)));
    if (++stage == C::Stages) {
      stage = 0;
      phase ^= 1;
    }
  }

private:
  int stage = 0, phase = 0; // of the next tile
};

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTION_WGMMA_TILERING_H
