//===- QuantBody.h - Products with quantised weights ------------*- C++ -*-===//
//
// Rows are rounded to 8 bits in groups of 32, and multiplied with the weight's
// integers. The sums of a group are exact, and the factors of the groups are
// applied in their order. So a product has the bits of kv.matmul on a CPU,
// whatever other rows there are. Sums of a weight of 8-bit floats are f32's, in
// the order of the hardware. No bit depends on other rows then, but a CPU's
// bits differ.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_PRODUCTS_QUANTBODY_H
#define KV_KERNELS_CUDA_PRODUCTS_QUANTBODY_H

#include "kernels/block/Widen.h"
#include "kernels/cuda/movers/MoverBodies.h"
#include "kernels/cuda/parameters/QuantFormat.h"

namespace kv::cuda {

/// One thread per group of a row.
template <class B> KV_BODY void roundRowsBody(B &b, const RoundRowsParams &p) {
  int groups = p.width / QuantGroup;
  for (int64_t i = firstItem(b, MoverThreads); i < int64_t(p.rows) * groups;
       i += itemStep(b, MoverThreads)) {
    int64_t row = i / groups;
    int group = int(i - row * groups);
    float x[4][Eight], largest = 0;
    KV_UNROLL for (int c = 0; c < 4; ++c) {
      loadEight(b, p.x, row * p.xStride + group * QuantGroup + c * Eight,
                p.xType, x[c]);
      KV_UNROLL for (int j = 0; j < Eight; ++j) {
        float magnitude = fabsf(x[c][j]);
        if (!(magnitude <= largest)) // also where it is NaN, which stays
          largest = largest != largest ? largest : magnitude;
      }
    }
    float factor = largest >= 1e-30f ? 127.0f / largest : 0.0f;
    int8_t *out = p.out + row * p.outStride;
    KV_UNROLL for (int c = 0; c < 4; ++c) {
      IntPair bytes{0, 0};
      KV_UNROLL for (int j = 0; j < Eight; ++j) {
        float scaled = fmaxf(fminf(x[c][j] * factor, 127.0f), -127.0f);
        // Ties to even: the low bits of the sum are the integer.
        uint32_t bits = bitsAs<uint32_t>(scaled + 12582912.0f) & 0xff;
        (j < 4 ? bytes.x : bytes.y) |= int32_t(bits << j % 4 * 8);
      }
      b.store(reinterpret_cast<IntPair *>(out + group * QuantGroup) + c, bytes);
    }
    b.store(reinterpret_cast<float *>(out + p.width) + group, largest / 127.0f);
  }
}

static_assert(MoverThreads == 16 * BlockRows, "a thread folds one product");

/// Rows in the order in which they stand, 16 a tile.
struct PlainTiles {
  KV_BODY PlainTiles(const QuantMatmulParams &p) : rows(p.rows) {}

  int64_t rows, tile = 0;
  KV_BODY int64_t count() const { return (rows + 15) / 16; }
  /// Goes to a tile; returns false if it has no rows.
  template <class B> KV_BODY bool begin(B &, int64_t number) {
    tile = number;
    return true;
  }
  template <class B> KV_BODY int64_t expert(B &) const { return 0; }
  /// Row i of out that the tile has, or -1; the row of x that it is made of.
  template <class B> KV_BODY int64_t rowAt(B &, int i) const {
    return tile * 16 + i < rows ? tile * 16 + i : -1;
  }
  KV_BODY int64_t sourceOf(int64_t row) const { return row; }
};

/// Quarters of the tiles in which choices are ordered by experts.
struct ExpertTiles {
  KV_BODY ExpertTiles(const ExpertQuantMatmulParams &p) : p(p) {}

  const ExpertQuantMatmulParams &p;
  const int32_t *record = nullptr;
  int first = 0, last = 0;
  KV_BODY int64_t count() const { return int64_t(p.tiles) * Quarters; }
  template <class B> KV_BODY bool begin(B &b, int64_t number) {
    record = p.order + number / Quarters * ExpertRecord;
    first = int(number % Quarters) * 16;
    last = b.load(record + 1);
    return first < last;
  }
  template <class B> KV_BODY int64_t expert(B &b) const {
    return b.load(record);
  }
  template <class B> KV_BODY int64_t rowAt(B &b, int i) const {
    return first + i < last ? b.load(record + 2 + first + i) : -1;
  }
  KV_BODY int64_t sourceOf(int64_t row) const { return row / p.choicesPerRow; }

private:
  static constexpr int Quarters = ExpertRows / 16;
};

/// The group's sums of 16 rows with the 16 columns of a block. `row`: of this
/// thread's rows of the tile the first and the one 8 further, or null.
template <QuantFormat F, class B>
KV_BODY void multiplyGroup(B &b, const QuantMatmulParams &p,
                           const int8_t *const (&row)[2], int64_t block,
                           int group, typename B::template Shared<float> sums,
                           int at) {
  int lane = b.thread() % WarpLanes, quarter = lane % 4, place = lane / 4;
  // Rows that are not there are zeros, which the sums of others do not see.
  auto rowWord = [&](int half, int step) -> uint32_t {
    if (!row[half])
      return 0;
    return b.load(reinterpret_cast<const uint32_t *>(
        row[half] + group * QuantGroup + step * 16 + quarter * 4));
  };
  // f16 has every float of 8 bits.
  using Product = std::conditional_t<HasFloats<F>, F16, Bf16>;
  auto widenRow = [](uint32_t word, uint32_t &low, uint32_t &high) {
    if constexpr (HasFloats<F>) {
      widenFour<I8>(word, low, high);
    } else {
      low = widenBytes(word, 0);
      high = widenBytes(word, 2);
    }
  };
  float ofRow[4] = {};
  constexpr int Subs = SubBlockView<F>::PerGroup, Steps = 2 / Subs;
  KV_UNROLL for (int sub = 0; sub < Subs; ++sub) {
    SubBlockView<F> view(p.weight, block, group, sub);
    float c[2][4] = {};
    KV_UNROLL for (int step = 0; step < Steps; ++step) {
      uint32_t upper = rowWord(0, sub * Steps + step);
      uint32_t lower = rowWord(1, sub * Steps + step);
      // Four neighbouring elements stand for the k's 2 q, 2 q + 1, and those
      // eight further, in rows and in the weight.
      uint32_t a[4];
      widenRow(upper, a[0], a[2]);
      widenRow(lower, a[1], a[3]);
      KV_UNROLL for (int h = 0; h < 2; ++h) {
        uint32_t low, high, word = view.values(b, place + 8 * h, step, quarter);
        if constexpr (HasFloats<F>)
          widenFour<ValueOf<F>>(word, low, high);
        else
          widenRow(word, low, high);
        b.template multiplyAdd<Product>(c[h], a, low, high);
      }
      if constexpr (HasMinimum<F>)
        b.template multiplyAdd<Bf16>(ofRow, a, OnePair<Bf16>, OnePair<Bf16>);
    }
    KV_UNROLL for (int h = 0; h < 2; ++h) KV_UNROLL
      for (int i = 0; i < 4; ++i)
        sums.store(at + sub * QuantTileFloats +
                       (place + i / 2 * 8) * BlockRows + h * 8 + quarter * 2 +
                       i % 2,
                   c[h][i]);
  }
  if constexpr (HasMinimum<F>)
    if (quarter == 0) {
      sums.store(at + 2 * QuantTileFloats + place, ofRow[0]);
      sums.store(at + 2 * QuantTileFloats + place + 8, ofRow[2]);
    }
}

template <QuantFormat F, class B, class Tiles>
KV_BODY void quantProducts(B &b, const QuantMatmulParams &p, Tiles rows) {
  auto sums = b.template shared<float>(0, 2 * MoverWarps * QuantWarpFloats);
  int warp = b.thread() / WarpLanes, place = b.thread() % WarpLanes / 4;
  int myRow = b.thread() / BlockRows, myColumn = b.thread() % BlockRows;
  int groups = p.depth / QuantGroup, blocks = p.columns / BlockRows;
  int64_t tiles = rows.count();
  auto sourceAt = [&](int i) -> const int8_t * {
    int64_t row = rows.rowAt(b, i);
    return row < 0 ? nullptr : p.x + rows.sourceOf(row) * p.xStride;
  };
  for (int64_t item = b.block(); item < tiles * blocks; item += b.blocks()) {
    // Blocks that are neighbours read the same weights.
    int64_t column = item / tiles;
    if (!rows.begin(b, item - column * tiles))
      continue;
    int64_t block = rows.expert(b) * blocks + column;
    const int8_t *multiplied[2] = {sourceAt(place), sourceAt(place + 8)};
    const int8_t *x = sourceAt(myRow);
    float total = 0;
    for (int first = 0, turn = 0; first < groups;
         first += MoverWarps, turn ^= 1) {
      int buffer = turn * MoverWarps * QuantWarpFloats;
      if (first + warp < groups)
        multiplyGroup<F>(b, p, multiplied, block, first + warp, sums,
                         buffer + warp * QuantWarpFloats);
      b.sync();
      if (!x)
        continue;
      KV_UNROLL_BY(2)
      for (int w = 0; w < MoverWarps; ++w) {
        int group = first + w, at = buffer + w * QuantWarpFloats;
        if (group >= groups)
          break;
        float scale =
            b.load(reinterpret_cast<const float *>(x + p.depth) + group);
        KV_UNROLL for (int sub = 0; sub < SubBlockView<F>::PerGroup; ++sub) {
          Factors factors =
              SubBlockView<F>(p.weight, block, group, sub).factors(b, myColumn);
          float sum = sums.load(at + sub * QuantTileFloats + myRow * BlockRows +
                                myColumn);
          total = kv::plan::fusedMultiplyAdd(
              sum, kv::plan::multiply(factors.scale, scale), total);
          if constexpr (HasMinimum<F>)
            total = kv::plan::fusedMultiplyAdd(
                factors.minimum,
                kv::plan::multiply(scale,
                                   sums.load(at + 2 * QuantTileFloats + myRow)),
                total);
        }
      }
    }
    if (x)
      storeOne(b, p.out,
               rows.rowAt(b, myRow) * p.outStride + column * BlockRows +
                   myColumn,
               p.outType, total);
    b.sync(); // the next item's sums may come
  }
}

template <class B>
KV_BODY void quantMatmulBody(B &b, const QuantMatmulParams &p) {
  withFormat(p.format, [&]<QuantFormat Format>() {
    quantProducts<Format>(b, p, PlainTiles(p));
  });
}

template <class B>
KV_BODY void expertQuantMatmulBody(B &b, const ExpertQuantMatmulParams &p) {
  withFormat(p.product.format, [&]<QuantFormat Format>() {
    quantProducts<Format>(b, p.product, ExpertTiles(p));
  });
}

/// One thread per 16 elements of a row.
template <class B>
KV_BODY void quantEmbeddingBody(B &b, const QuantEmbeddingParams &p) {
  withFormat(p.format, [&]<QuantFormat F>() {
    constexpr int Steps = 2 / SubBlockView<F>::PerGroup;
    int pieces = p.width / 16;
    for (int64_t i = firstItem(b, MoverThreads); i < int64_t(p.rows) * pieces;
         i += itemStep(b, MoverThreads)) {
      int64_t row = i / pieces;
      int piece = int(i - row * pieces);
      int32_t id = b.load(p.ids + row);
      float x[2][Eight];
      if (id >= 0 && id < p.tableRows) {
        int half = piece % 2;
        SubBlockView<F> view(p.table, id / BlockRows, piece / 2, half / Steps);
        Factors factors = view.factors(b, id % BlockRows);
        KV_UNROLL for (int j = 0; j < 16; ++j) {
          uint32_t word = view.values(b, id % BlockRows, half % Steps, j / 4);
          float value = kv::plan::multiply(factors.scale,
                                           valueIn<ValueOf<F>>(word, j % 4));
          x[j / Eight][j % Eight] =
              HasMinimum<F> ? value + factors.minimum : value;
        }
      } else {
        fillNaN(x[0]);
        fillNaN(x[1]);
        if (piece == 0)
          raiseStepError(b, p.errors, StepErrorKind::EmbeddingId, row, id);
      }
      int64_t to = row * p.outStride + piece * 16;
      storeEight(b, p.out, to, p.outType, x[0]);
      storeEight(b, p.out, to + Eight, p.outType, x[1]);
    }
  });
}

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_PRODUCTS_QUANTBODY_H
