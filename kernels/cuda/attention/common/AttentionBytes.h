//===- AttentionBytes.h - Products of 8 bits --------------------*- C++ -*-===//
//
// Part of AttentionBody.h: what is other where both products are of f8E4M3FN
// (docs/products.md), by mma.m16n8k32. Keys are multiplied as they lie. Of a
// chunk of sixteen keys a thread has scores of 2 t, 2 t + 1, 8 + 2 t and 9 + 2
// t, which are a word of weights; so weights lie in that order, and a word of
// values has those keys of a column.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_ATTENTION_COMMON_ATTENTIONBYTES_H
#define KV_KERNELS_CUDA_ATTENTION_COMMON_ATTENTIONBYTES_H

#include "AttentionBody.h"

namespace kv::cuda {

template <Block B, class C>
KV_BODY void AttentionBody<B, C>::scoreHalf(int, int half, int tile)
  requires ByteProducts<C>
{
  using Matrix = typename C::CacheRows;
  Place kt = loadTransposedB(lane);
  int kChunk = Matrix::chunk(keyWarp() * 16 + kt.row, kt.column);
  KV_UNROLL
  for (int d = 0; d < C::KeyDim / ProductDepth; ++d) {
    uint32_t kFragment[4];
    b.loadMatrix(kFragment, ringView(), tile + Matrix::moved(kChunk, d * 2));
    multiplyScores(half, d, kFragment);
  }
}

template <Block B, class C>
KV_BODY void AttentionBody<B, C>::storeWeights(int m, int side, float factor,
                                               float base) {
  using Matrix = Swizzled<C::LeafWords / 4>;
  auto weights = view<C, slot::Weights, uint32_t>(b);
  int chunk = Matrix::chunk(rowOf(scoreTile(m), side), keyWarp());
  KV_UNROLL
  for (int half = 0; half < 2; ++half) {
    float w[4];
    KV_UNROLL
    for (int i = 0; i < 4; ++i) {
      w[i] = weightOf(scores[m][half * 2 + i / 2][side * 2 + i % 2], factor,
                      base - WeightLog);
    }
    weights.store(Matrix::moved(chunk, half * C::KeyWarps) * 4 + lane % 4,
                  narrowFour<F8E4M3>(w[0], w[1], w[2], w[3]));
  }
}

template <Block B, class C>
KV_BODY void AttentionBody<B, C>::valueHalf(int, int half, int tile)
  requires ByteProducts<C>
{
  using Matrix = typename C::CacheRows;
  int place = tile + valueChunk(0);
  KV_UNROLL
  for (int k = 0; k < C::HalfKeys / ProductDepth; ++k) {
    uint32_t vFragments[C::ColumnTiles][2];
    KV_UNROLL
    for (int n = 0; n < C::ColumnTiles; n += 2) {
      uint32_t loaded[4];
      b.loadMatrixTransposed(loaded, ringView(),
                             Matrix::moved(place, n / 2) +
                                 k * ProductDepth * Matrix::Pitch);
      KV_UNROLL
      for (int i = 0; i < 2; ++i) {
        // Of two neighbouring columns the even one of four keys, and the odd.
        vFragments[n][i] =
            permuteBytes(loaded[i * 2], loaded[i * 2 + 1], 0x6420);
        vFragments[n + 1][i] =
            permuteBytes(loaded[i * 2], loaded[i * 2 + 1], 0x7531);
      }
    }
    multiplyValues(half * (C::HalfKeys / ProductDepth) + k, vFragments);
  }
}

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTION_COMMON_ATTENTIONBYTES_H
