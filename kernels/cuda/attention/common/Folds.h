//===- Folds.h - How a leaf and a group of rows fold ------------*- C++ -*-===//

#ifndef KV_KERNELS_CUDA_ATTENTION_COMMON_FOLDS_H
#define KV_KERNELS_CUDA_ATTENTION_COMMON_FOLDS_H

#include "Unit.h"

namespace kv::cuda {

/// Who keeps a row's state tells all warps that have values of it, through
/// shared memory, in the slot of the leaf's weights or of the total's.
template <class U> class SharedFolds {
  using C = typename U::C;

public:
  template <class Slot>
  KV_BODY void announce(U &u, int row, int, kv::plan::Weights weights) {
    if (u.map.lane % 4 == 0)
      view<C, Slot, FloatPair>(u.b).store(row, {weights.left, weights.right});
  }
  template <class Slot> KV_BODY FloatPair announced(U &u, int row, int) const {
    return view<C, Slot, FloatPair>(u.b).load(row);
  }

  float leafWeights[2]; // by which the sums of a leaf fold into the group's
};

/// A thread has the states of its two rows and all that they fold.
template <class U> class OwnFolds {
public:
  template <class>
  KV_BODY void announce(U &, int, int side, kv::plan::Weights weights) {
    rowWeights[side] = {weights.left, weights.right};
  }
  template <class> KV_BODY FloatPair announced(U &, int, int side) const {
    return rowWeights[side];
  }

  float leafWeights[2];
  FloatPair rowWeights[2]; // announced last
};

template <class U>
using Folds =
    std::conditional_t<TileRows<typename U::C>, OwnFolds<U>, SharedFolds<U>>;

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTION_COMMON_FOLDS_H
