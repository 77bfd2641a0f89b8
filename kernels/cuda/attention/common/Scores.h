//===- Scores.h - A thread's scores of a leaf -------------------*- C++ -*-===//

#ifndef KV_KERNELS_CUDA_ATTENTION_COMMON_SCORES_H
#define KV_KERNELS_CUDA_ATTENTION_COMMON_SCORES_H

#include "Unit.h"
#include "kernels/cuda/parameters/ByteTiles.h"

namespace kv::cuda {

/// The accumulators of queries and keys: scaled, masked and compared. `Scales`
/// are those of the cache's rows, where it has any.
template <class U> class Scores {
  using B = typename U::B;
  using C = typename U::C;

public:
  KV_BODY void clear() {
    KV_UNROLL for (int m = 0; m < C::ScoreTiles; ++m) KV_UNROLL
      for (int n = 0; n < C::KeyTiles; ++n) KV_UNROLL
        for (int i = 0; i < 4; ++i)
          tiles[m][n][i] = 0;
  }

  /// Scales and masks scores as far as that is done before their maxima.
  template <class Scales> KV_BODY void prepare(U &u, int leaf, Scales &scales) {
    if constexpr (C::Scaled)
      applyKeyScales(u, leaf, scales);
    if (u.scale.comesFirst)
      scaleAll(u);
    int first = leaf * C::Leaf;
    bool masked = u.bounds.isMasked(first);
    if (masked)
      maskBounds(u, first);
    if constexpr (C::Scaled)
      findLargestScales(u, leaf, masked, scales);
  }

  /// The largest of a row's scores that lanes of this warp have.
  KV_BODY float largest(U &u, int m, int side) {
    // Where nothing else hides them, in chains side by side.
    constexpr int Chains = ByteTiles<C> ? 4 : 1;
    auto larger = [](float a, float b) {
      return ByteTiles<C> ? kv::plan::largerOrNaN(a, b)
                          : kv::plan::larger(a, b);
    };
    float chains[Chains];
    KV_UNROLL for (float &chain : chains)
      chain = kv::plan::NoScore;
    KV_UNROLL for (int n = 0; n < C::KeyTiles; ++n) KV_UNROLL
      for (int i = 0; i < 2; ++i) {
        float &chain = chains[(n * 2 + i) % Chains];
        chain = larger(chain, tiles[m][n][side * 2 + i]);
      }
    float largest = chains[0];
    KV_UNROLL for (int i = 1; i < Chains; ++i)
      largest = larger(largest, chains[i]);
    largest = larger(largest, u.b.shuffleXor(largest, 1));
    return larger(largest, u.b.shuffleXor(largest, 2));
  }

  /// A weight: two to the score times `factor` less `base`.
  static KV_BODY float weightOf(float score, float factor, float base) {
    return kv::plan::powerOfTwo(
        kv::plan::fusedMultiplyAdd(score, factor, -base));
  }

  float tiles[C::ScoreTiles][C::KeyTiles][4];

private:
  template <class Scales>
  KV_BODY void applyKeyScales(U &u, int leaf, Scales &scales) {
    KV_UNROLL for (int n = 0; n < C::KeyTiles; ++n) {
      FloatPair its = scales.of(u, leaf, 0, n);
      KV_UNROLL for (int m = 0; m < C::ScoreTiles; ++m) KV_UNROLL
        for (int i = 0; i < 4; ++i)
          tiles[m][n][i] =
              kv::plan::multiply(tiles[m][n][i], i % 2 ? its.y : its.x);
    }
  }

  KV_BODY void scaleAll(U &u) {
    float before = u.scale.before();
    KV_UNROLL for (int m = 0; m < C::ScoreTiles; ++m) KV_UNROLL
      for (int n = 0; n < C::KeyTiles; ++n) KV_UNROLL
        for (int i = 0; i < 4; ++i) {
          float &score = tiles[m][n][i];
          int row = u.map.rowOf(u.map.scoreTile(m), i / 2);
          score = kv::plan::multiply(score, before * u.scale.scoreFactor(row));
          if (u.p.softcap > 0)
            score = kv::plan::multiply(hyperbolicTangent(score), u.p.softcap);
        }
  }

  /// Keys that a row does not see get no score, so that even a NaN there counts
  /// for nothing.
  KV_BODY void maskBounds(U &u, int first) {
    auto bounds = u.bounds.seen();
    KV_UNROLL for (int m = 0; m < C::ScoreTiles; ++m) KV_UNROLL
      for (int side = 0; side < 2; ++side) {
        // From this thread's first key on, so that all others are constants.
        IntPair seen = bounds.load(u.map.rowOf(u.map.scoreTile(m), side));
        int from = seen.x - first - u.map.keyOf(0, 0),
            to = seen.y - first - u.map.keyOf(0, 0);
        KV_UNROLL for (int n = 0; n < C::KeyTiles; ++n) KV_UNROLL
          for (int i = 0; i < 2; ++i) {
            int key = u.map.keyOf(n, i) - u.map.keyOf(0, 0);
            if (key < from || key >= to)
              tiles[m][n][side * 2 + i] = kv::plan::NoScore;
          }
      }
    if (u.p.ancestors)
      maskPaths(u, first);
  }

  /// Of the 64 keys up to its own a row sees those of its path.
  KV_BODY void maskPaths(U &u, int first) {
    auto bounds = u.bounds.seen();
    KV_UNROLL for (int m = 0; m < C::ScoreTiles; ++m) KV_UNROLL
      for (int side = 0; side < 2; ++side) {
        int row = u.map.rowOf(u.map.scoreTile(m), side);
        int last = bounds.load(row).y - 1;
        IntPair path = u.bounds.paths().load(row);
        KV_UNROLL for (int n = 0; n < C::KeyTiles; ++n) KV_UNROLL
          for (int i = 0; i < 2; ++i) {
            int behind = last - (first + u.map.keyOf(n, i));
            uint32_t word = behind < 32 ? path.x : path.y;
            if (uint32_t(behind) < 64u && !(word >> (31 - (behind & 31)) & 1))
              tiles[m][n][side * 2 + i] = kv::plan::NoScore;
          }
      }
  }

  /// The largest scale of a value that a row sees, over this warp's keys.
  template <class Scales>
  KV_BODY void findLargestScales(U &u, int leaf, bool masked, Scales &scales) {
    float magnitudes[C::KeyTiles * 2], all = 0;
    KV_UNROLL for (int n = 0; n < C::KeyTiles; ++n) {
      FloatPair pair = scales.of(u, leaf, 1, n);
      magnitudes[n * 2] = fabsf(pair.x);
      magnitudes[n * 2 + 1] = fabsf(pair.y);
      all = kv::plan::larger(kv::plan::larger(all, magnitudes[n * 2]),
                             magnitudes[n * 2 + 1]);
    }
    if (!masked)
      all = largestOfRow(u, all);
    KV_UNROLL for (int m = 0; m < C::ScoreTiles; ++m) KV_UNROLL
      for (int side = 0; side < 2; ++side) {
        if (!u.rows.hasRows(side))
          continue;
        float most = all;
        if (masked) {
          most = 0;
          KV_UNROLL for (int i = 0; i < C::KeyTiles * 2; ++i)
            if (tiles[m][i / 2][side * 2 + i % 2] != kv::plan::NoScore)
              most = kv::plan::larger(most, magnitudes[i]);
          most = largestOfRow(u, most);
        }
        scales.keepLargest(u, m, side, most);
      }
  }
  /// Over the four lanes that have keys of a row.
  static KV_BODY float largestOfRow(U &u, float x) {
    x = kv::plan::larger(x, u.b.shuffleXor(x, 1));
    return kv::plan::larger(x, u.b.shuffleXor(x, 2));
  }
};

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTION_COMMON_SCORES_H
