//===- GateBody.h - Rows times a gate per row -------------------*- C++ -*-===//
//
// A block has a row: the product of two vectors, which is one number, and what
// is scaled by it. A product with a matrix of one row would use a sixteenth of
// a tile, and its column would be no row that a mover reads.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_PRODUCTS_GATEBODY_H
#define KV_KERNELS_CUDA_PRODUCTS_GATEBODY_H

#include "kernels/cuda/movers/MoverBodies.h"

namespace kv::cuda {

template <class B> KV_BODY void gateRowsBody(B &b, const GateRowsParams &p) {
  for (int row = b.block(); row < p.rows; row += b.blocks()) {
    float sum = 0;
    for (int i = b.thread() * Eight; i < p.depth; i += MoverThreads * Eight) {
      float m[Eight], w[Eight];
      loadEight(b, p.m, row * p.mStride + i, p.mType, m);
      loadEight(b, p.weight, i, p.weightType, w);
      KV_UNROLL for (int j = 0; j < Eight; ++j)
        sum = kv::plan::fusedMultiplyAdd(m[j], w[j], sum);
    }
    float below = expf(-sumOfBlock(b, sum)) + 1.0f;
    for (int i = b.thread() * Eight; i < p.width; i += MoverThreads * Eight) {
      float x[Eight];
      loadEight(b, p.x, row * p.xStride + i, p.xType, x);
      KV_UNROLL for (int j = 0; j < Eight; ++j)
        x[j] = x[j] / below;
      storeEight(b, p.out, row * p.outStride + i, p.outType, x);
    }
  }
}

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_PRODUCTS_GATEBODY_H
