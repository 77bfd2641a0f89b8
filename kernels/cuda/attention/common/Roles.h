//===- Roles.h - Which warps of a block do what -----------------*- C++ -*-===//

#ifndef KV_KERNELS_CUDA_ATTENTION_COMMON_ROLES_H
#define KV_KERNELS_CUDA_ATTENTION_COMMON_ROLES_H

#include "kernels/block/Body.h"
#include "kernels/cuda/parameters/AttentionTiles.h"

namespace kv::cuda {

enum class Role {
  Copies,     // boxes of pages to shared memory
  Cleans,     // rows of values that no query sees
  Widens,     // tiles of 8 bits to 16
  Transposes, // tiles of 8 bits whose products are of 8 bits
  Issues,     // products with tensor memory
  Rests,
  Consumes, // has rows: weighs scores and folds values
};

/// The number of warps of a role.
template <Role RoleV, int CountV> struct RoleWarps {
  static constexpr Role Is = RoleV;
  static constexpr int Count = CountV;
};

/// The roles of a block's warps, from warp 0 on.
template <class... Rows> class RoleTable {
public:
  /// Whether a thread of the block has a role. In threads, not in warps: so a
  /// compiler knows that a consumer's number among consumers is not negative.
  template <Role R> static KV_BODY bool has(int thread) {
    constexpr int Begin = before<R>() * WarpLanes,
                  End = Begin + count<R>() * WarpLanes;
    return (Begin == 0 || thread >= Begin) && (End == Threads || thread < End);
  }

private:
  static constexpr int Threads = (Rows::Count + ...) * WarpLanes;
  template <Role R> static KV_HD constexpr int before() {
    int warps = 0;
    bool found = false;
    ((found |= Rows::Is == R, warps += found ? 0 : Rows::Count), ...);
    return warps;
  }
  template <Role R> static KV_HD constexpr int count() {
    return ((Rows::Is == R ? Rows::Count : 0) + ...);
  }
};

/// The block as the consumers' code sees it: the consumers alone.
template <Block B, class C> struct Consumers : B {
  KV_BODY explicit Consumers(const B &b) : B(b) {}
  KV_BODY int thread() const { return B::thread() - GroupThreads; }
  KV_BODY void sync() { B::syncNamed(C::ConsumerBarrier, C::Threads); }
};

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTION_COMMON_ROLES_H
