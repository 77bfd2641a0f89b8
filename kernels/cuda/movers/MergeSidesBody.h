//===- MergeSidesBody.h - Two attentions as one -----------------*- C++ -*-===//
//
// kv.merge, in the order of its decomposition; exp and log are the device's.
// MergeBody.h is another kernel, which folds the pieces that blocks of one
// attention leave.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_MOVERS_MERGESIDESBODY_H
#define KV_KERNELS_CUDA_MOVERS_MERGESIDESBODY_H

#include "MoverBodies.h"

#include <cmath>

namespace kv::cuda {

/// The shares of two sides, and the logarithm of their common denominator.
struct MergedSides {
  float first, second, lse;
};

KV_BODY MergedSides mergedSides(float a, float b) {
  constexpr float Nothing = -INFINITY;
  float larger = a > b || a != a ? a : b;
  if (larger == Nothing)
    return {0, 0, larger};
  float first = a == Nothing ? 0 : expf(a - larger);
  float second = b == Nothing ? 0 : expf(b - larger);
  float sum = first + second;
  return {first / sum, second / sum, larger + logf(sum)};
}

template <class B>
KV_BODY void mergeSidesBody(B &b, const MergeSidesParams &p) {
  if (p.lse) {
    for (int64_t row = firstItem(b, MoverThreads); row < p.rows;
         row += itemStep(b, MoverThreads))
      b.store(p.lse + row,
              mergedSides(b.load(p.aLse + row), b.load(p.bLse + row)).lse);
    return;
  }
  forEachChunk(b, p.rows, p.width, [&](int64_t row, int column) {
    MergedSides sides = mergedSides(b.load(p.aLse + row), b.load(p.bLse + row));
    float sum[Eight] = {};
    auto add = [&](const void *x, int64_t stride, int32_t type, float share) {
      // Rows of no weight may hold anything.
      if (share == 0)
        return;
      float part[Eight];
      loadEight(b, x, row * stride + column, type, part);
      KV_UNROLL for (int j = 0; j < Eight; ++j)
        sum[j] += kv::plan::multiply(part[j], share);
    };
    add(p.a, p.aStride, p.aType, sides.first);
    add(p.b, p.bStride, p.bType, sides.second);
    storeEight(b, p.out, row * p.outStride + column, p.outType, sum);
  });
}

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_MOVERS_MERGESIDESBODY_H
