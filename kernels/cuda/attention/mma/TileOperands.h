//===- TileOperands.h - Tiles of the ring as operands -----------*- C++ -*-===//

#ifndef KV_KERNELS_CUDA_ATTENTION_MMA_TILEOPERANDS_H
#define KV_KERNELS_CUDA_ATTENTION_MMA_TILEOPERANDS_H

#include "KeyRing.h"
#include "WarpProducts.h"
#include "WarpScales.h"

namespace kv::cuda {

/// Keys and values of 16 bits, or of 8 that are widened. A chunk has eight
/// elements of 16 bits or sixteen of 8.
template <class U> class TileOperands {
  using B = typename U::B;
  using C = typename U::C;
  using Matrix = typename C::CacheRows;

public:
  using Ring = KeyRing<U>;

  /// Warp w has keys 16 w .. 16 w + 15 of both halves of the leaf.
  static KV_BODY void score(U &u, Ring &ring, QueryFragments<U> &queries,
                            WarpScales<U> &scales, Scores<U> &scores,
                            int leaf) {
    KV_UNROLL for (int half = 0; half < 2; ++half)
      scoreHalf(u, ring, queries, scales, scores, leaf, half,
                ring.nextHalf(u, leaf, 0, half));
  }

  static KV_BODY void scoreHalf(U &u, StageRing<U> &ring,
                                QueryFragments<U> &queries,
                                WarpScales<U> &scales, Scores<U> &scores,
                                int leaf, int half, int tile) {
    constexpr int ChunkSteps = C::Widens ? 2 : 1;
    auto k = ring.tiles(u);
    Place kt = loadTransposedB(u.map.lane);
    constexpr bool OneTile = C::KeyWarps * 16 <= C::HalfKeys;
    int firstKey =
        OneTile ? u.map.keyWarp() * 16 : u.map.keyWarp() * 16 % C::HalfKeys;
    int kChunk = Matrix::chunk(firstKey + kt.row, kt.column);
    KV_UNROLL for (int d = 0; d < C::KeyDim / 16; d += ChunkSteps) {
      uint32_t loaded[4];
      // Of a last chunk without a neighbour, all lanes read that one.
      bool alone = d + ChunkSteps > C::KeyDim / 16;
      u.b.loadMatrix(loaded, k,
                     tile + Matrix::moved(alone ? kChunk - kt.column : kChunk,
                                          d * 2 / ChunkSteps));
      KV_UNROLL for (int step = 0;
                     step < ChunkSteps && d + step < C::KeyDim / 16; ++step) {
        uint32_t kFragment[4];
        KV_UNROLL for (int n = 0; n < 2; ++n) {
          if constexpr (C::Widens) {
            widenFour<typename C::Cache>(loaded[n * 2 + step], kFragment[n * 2],
                                         kFragment[n * 2 + 1]);
            if constexpr (C::Shares) {
              uint32_t shares = scales.keyShares(u, leaf, half, d + step, n);
              kFragment[n * 2] = multiplyPair(kFragment[n * 2], shares);
              kFragment[n * 2 + 1] = multiplyPair(kFragment[n * 2 + 1], shares);
            }
          } else {
            kFragment[n * 2] = loaded[n * 2];
            kFragment[n * 2 + 1] = loaded[n * 2 + 1];
          }
        }
        queries.multiply(u, scores, half, d + step, kFragment);
      }
    }
  }

  /// Warp w has columns w * WarpColumns and on.
  static KV_BODY void multiplyHalf(U &u, Ring &ring, WarpScales<U> &scales,
                                   WarpValues<U> &values, int leaf, int half,
                                   int tile) {
    ValuePlaces places;
    KV_UNROLL for (int i = 0; i < C::ValueLoads; ++i)
      places[i] = valueChunk(u, i * 2);
    KV_UNROLL for (int k = 0; k < C::HalfKeys / 16; k += C::ValueSteps) {
      ValueFragments vFragments;
      loadValues(u, ring, scales, vFragments, places, tile, leaf, half, k);
      KV_UNROLL for (int step = 0; step < C::ValueSteps; ++step)
        values.multiply(u, half * (C::HalfKeys / 16) + k + step,
                        vFragments[step]);
    }
  }

  /// The chunk of a tile that this lane names for column tiles n and n + 1.
  static KV_BODY int valueChunk(U &u, int n) {
    Place vt = C::Widens ? Place{u.map.lane, 0} : loadB(u.map.lane);
    int column = u.map.warp * C::WarpChunks + n / C::ValueSteps;
    // A last tile without a neighbour is read twice.
    if (n + 1 < C::ColumnTiles)
      column += vt.column;
    if (C::Ragged)
      column = kv::plan::lesser(column, C::RowChunks - 1);
    return C::CacheRows::chunk(vt.row, column);
  }

private:
  /// V of ValueSteps times sixteen keys of a half, from the k-th sixteen on,
  /// all columns of the warp.
  using ValueFragments = uint32_t[C::ValueSteps][C::ColumnTiles][2];
  using ValuePlaces = int[C::ValueLoads];
  static KV_BODY void loadValues(U &u, Ring &ring, WarpScales<U> &scales,
                                 ValueFragments &fragments,
                                 const ValuePlaces &places, int tile, int leaf,
                                 int half, int k) {
    auto v = ring.tiles(u);
    KV_UNROLL for (int n = 0; n < C::ColumnTiles; n += 2) {
      uint32_t loaded[4];
      int chunk = C::ValuesAtConstants
                      ? Matrix::moved(places[0], n / C::ValueSteps)
                      : places[C::ValuesAtConstants ? 0 : n / 2];
      u.b.loadMatrixTransposed(loaded, v,
                               tile + chunk + k * 16 * Matrix::Pitch);
      KV_UNROLL for (int i = 0; i < 4; ++i)
        if constexpr (C::Widens) {
          uint32_t &even = fragments[i / 2][n][i % 2];
          uint32_t &odd = fragments[i / 2][n + 1][i % 2];
          widenEvenOdd<typename C::Cache>(loaded[i], even, odd);
          if constexpr (C::Shares) {
            uint32_t shares = scales.valueShares(
                u, leaf, half * (C::HalfKeys / 16) + k + i / 2, n / 2, i % 2);
            even = multiplyPair(even, shares);
            odd = multiplyPair(odd, shares);
          }
        } else if (n + i / 2 < C::ColumnTiles)
          fragments[0][n + i / 2][i % 2] = loaded[i];
    }
  }
};

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTION_MMA_TILEOPERANDS_H
