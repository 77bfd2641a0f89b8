//===- KeptUnit.h - What waits until leaves are done ------------*- C++ -*-===//

#ifndef KV_KERNELS_CUDA_ATTENTION_COMMON_KEPTUNIT_H
#define KV_KERNELS_CUDA_ATTENTION_COMMON_KEPTUNIT_H

#include "Group.h"

namespace kv::cuda {

/// Where leaves leave few registers (KeepsUnit), what only some leaves or the
/// unit's end need waits in shared memory. Elsewhere nothing does.
template <class U> class KeptUnit {
  using B = typename U::B;
  using C = typename U::C;
  using Work = kv::plan::Work;

public:
  KV_BODY void keep(U &u, const Work &work) const {
    if (u.b.thread() == 0)
      stored(u).store(0, {work, u.rows.head, u.rows.firstToken, u.rows.firstRow,
                          u.rows.liveRows, u.bounds.allSeeFrom,
                          u.bounds.allSeeTo, u.scale.comesFirst});
  }
  KV_BODY void keepTotal(U &u, const Group<U> &group) const {
    states(u).store(u.map.warp * WarpLanes + u.map.lane,
                    {group.totalStates[0].maximum, group.totalStates[0].sum,
                     group.totalStates[1].maximum, group.totalStates[1].sum});
  }

  KV_BODY Work work(U &u) const { return stored(u).load(0).work; }
  /// The work, between leaves: of latent rows in registers.
  KV_BODY Work inLeaves(U &u, const Work &inRegisters) const {
    if constexpr (KeepsUnit<C> && !LatentTiles<C>)
      return work(u);
    else
      return inRegisters;
  }
  /// Restores the bounds, which masks need.
  KV_BODY void recallBounds(U &u) const {
    Stored unit = stored(u).load(0);
    u.bounds.allSeeFrom = unit.allSeeFrom;
    u.bounds.allSeeTo = unit.allSeeTo;
  }
  /// Restores the bounds and the scale, which scores need.
  KV_BODY void recallLeaves(U &u) const {
    recallBounds(u);
    u.scale.comesFirst = stored(u).load(0).scaleFirst;
  }

  /// f(), which is not for every leaf: what it needs of the thread and the unit
  /// is computed or loaded for it.
  template <class Function>
  KV_BODY void rarely(U &u, Group<U> &group, Function f) const {
    if constexpr (KeepsUnit<C>) {
      u.renewThread();
      recall(u, group);
      f();
      keepTotal(u, group);
    } else {
      if constexpr (DraftRows<C>)
        u.renewThread();
      f();
    }
  }

private:
  struct Stored {
    Work work;
    int32_t head, firstToken, firstRow, liveRows, allSeeFrom, allSeeTo;
    bool scaleFirst;
  };
  static KV_BODY auto stored(U &u) {
    return view<C, slot::KeptUnit, Stored>(u.b);
  }
  /// Of this thread alone.
  static KV_BODY auto states(U &u) {
    return view<C, slot::TotalStates, FloatQuad>(u.b);
  }
  KV_BODY void recall(U &u, Group<U> &group) const {
    Stored unit = stored(u).load(0);
    u.rows.head = unit.head;
    u.rows.firstToken = unit.firstToken;
    u.rows.firstRow = unit.firstRow;
    u.rows.liveRows = unit.liveRows;
    FloatQuad four = states(u).load(threadNow<C>(u.b));
    group.totalStates[0] = {four.x, four.y};
    group.totalStates[1] = {four.z, four.w};
  }
};

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTION_COMMON_KEPTUNIT_H
