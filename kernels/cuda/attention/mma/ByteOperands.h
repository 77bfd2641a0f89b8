//===- ByteOperands.h - Products of 8 bits ----------------------*- C++ -*-===//
//
// Both products are of f8E4M3FN (docs/reference/products.md), by mma.m16n8k32.
// Keys are multiplied as they lie. Of a chunk of sixteen keys, a thread has the
// scores of keys 2 t, 2 t + 1, 8 + 2 t and 9 + 2 t. These become a word of
// weights, so a word of values has the same keys of a column.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_ATTENTION_MMA_BYTEOPERANDS_H
#define KV_KERNELS_CUDA_ATTENTION_MMA_BYTEOPERANDS_H

#include "TileOperands.h"

namespace kv::cuda {

template <class U> class ByteOperands {
  using B = typename U::B;
  using C = typename U::C;
  using Matrix = typename C::CacheRows;

public:
  using Ring = KeyRing<U>;

  static KV_BODY void score(U &u, Ring &ring, QueryFragments<U> &queries,
                            WarpScales<U> &, Scores<U> &scores, int leaf) {
    KV_UNROLL for (int half = 0; half < 2; ++half) {
      int tile = ring.nextHalf(u, leaf, 0, half);
      Place kt = loadTransposedB(u.map.lane);
      int kChunk = Matrix::chunk(u.map.keyWarp() * 16 + kt.row, kt.column);
      KV_UNROLL for (int d = 0; d < C::KeyDim / ProductDepth<C>; ++d) {
        uint32_t kFragment[4];
        u.b.loadMatrix(kFragment, ring.tiles(u),
                       tile + Matrix::moved(kChunk, d * 2));
        queries.multiply(u, scores, half, d, kFragment);
      }
    }
  }

  static KV_BODY void multiplyHalf(U &u, Ring &ring, WarpScales<U> &,
                                   WarpValues<U> &values, int, int half,
                                   int tile) {
    constexpr int Depth = ProductDepth<C>;
    int place = tile + TileOperands<U>::valueChunk(u, 0);
    KV_UNROLL for (int k = 0; k < C::HalfKeys / Depth; ++k) {
      uint32_t vFragments[C::ColumnTiles][2];
      KV_UNROLL for (int n = 0; n < C::ColumnTiles; n += 2) {
        uint32_t loaded[4];
        u.b.loadMatrixTransposed(loaded, ring.tiles(u),
                                 Matrix::moved(place, n / 2) +
                                     k * Depth * Matrix::Pitch);
        KV_UNROLL for (int i = 0; i < 2; ++i) {
          // Of two neighbouring columns the even one of four keys, and the odd.
          vFragments[n][i] =
              permuteBytes(loaded[i * 2], loaded[i * 2 + 1], 0x6420);
          vFragments[n + 1][i] =
              permuteBytes(loaded[i * 2], loaded[i * 2 + 1], 0x7531);
        }
      }
      values.multiply(u, half * (C::HalfKeys / Depth) + k, vFragments);
    }
  }
};

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTION_MMA_BYTEOPERANDS_H
