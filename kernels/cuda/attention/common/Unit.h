//===- Unit.h - One tile of rows with one KV head ---------------*- C++ -*-===//

#ifndef KV_KERNELS_CUDA_ATTENTION_COMMON_UNIT_H
#define KV_KERNELS_CUDA_ATTENTION_COMMON_UNIT_H

#include "Bounds.h"
#include "ScoreScale.h"

namespace kv::cuda {

/// The state that every part of a kernel reads: the thread's block and
/// parameters, its elements, the rows and their bounds, and the leaves that
/// this block computes of the unit. A part gets the unit as an argument and
/// keeps none.
template <Block BlockT, class ConfigT> struct Unit {
  using B = BlockT;
  using C = ConfigT;

  KV_BODY Unit(B &b, const AttentionParams &p)
      : b(b), p(p), map(b), scale(b, p), rows(b, p), bounds(b, p) {}

  KV_BODY void renewThread() { map.renew(threadNow<C>(b)); }

  B &b;
  const AttentionParams &p;
  ThreadMap<C> map;
  ScoreScale<B, C> scale;
  Rows<B, C> rows;
  Bounds<B, C> bounds;
  int leafBegin, leafEnd;
};

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTION_COMMON_UNIT_H
