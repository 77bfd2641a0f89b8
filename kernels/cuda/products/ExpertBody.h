//===- ExpertBody.h - Mixtures of experts -----------------------*- C++ -*-===//
//
// Which experts a row goes through, an order of the choices by their experts,
// and products of rows with the matrices of their experts. A product is one
// chain over the row's elements in their order, whatever else is in the tile:
// no bit of a row depends on the other rows or on their experts.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_PRODUCTS_EXPERTBODY_H
#define KV_KERNELS_CUDA_PRODUCTS_EXPERTBODY_H

#include "kernels/cuda/movers/MoverBodies.h"
#include "kernels/cuda/movers/PlanBody.h"

namespace kv::cuda {

/// Each row is the work of a warp.
template <class B, class Function>
KV_BODY void forEachWarpRow(B &b, int32_t rows, Function f) {
  for (int64_t row = int64_t(b.block()) * MoverWarps + b.thread() / WarpLanes;
       row < rows; row += int64_t(b.blocks()) * MoverWarps)
    f(row, b.thread() % WarpLanes);
}

/// An element of a row and its number, in the order of choices: the greater
/// first, and of equal ones that of the lower number.
struct Ranked {
  float value = -kv::plan::NoScore; // before all
  int at = -1;
};

/// The first of the elements `first`, `first + step`, ... below `end` that
/// comes after `last` in order; a NaN counts as -inf.
template <class B>
KV_BODY Ranked firstBehind(B &b, Ranked last, const float *row, int first,
                           int end, int step) {
  Ranked best{kv::plan::NoScore, INT32_MAX};
  for (int e = first; e < end; e += step) {
    float value = b.load(row + e);
    if (value != value)
      value = kv::plan::NoScore;
    if (value < last.value || (value == last.value && e > last.at))
      keepBetter(best.value, best.at, value, e);
  }
  return best;
}

/// Each choice is a search for the best one after the choice before.
template <class B> KV_BODY void routeBody(B &b, const RouteParams &p) {
  forEachWarpRow(b, p.rows, [&](int64_t row, int lane) {
    Ranked last;
    for (int c = 0; c < p.choices; ++c) {
      auto [best, at] = firstBehind(b, last, p.logits + row * p.stride, lane,
                                    p.experts, WarpLanes);
      KV_UNROLL for (int mask = 1; mask < WarpLanes; mask *= 2) {
        float other = b.shuffleXor(best, mask);
        int place = bitsAs<int>(b.shuffleXor(bitsAs<float>(at), mask));
        keepBetter(best, at, other, place);
      }
      if (lane == 0)
        b.store(p.out + row * p.choices + c, at);
      last = {best, at};
    }
  });
}

/// A group is the work of a lane: there are no more than 32.
template <class B>
KV_BODY void keepGroupsBody(B &b, const KeepGroupsParams &p) {
  forEachWarpRow(b, p.rows, [&](int64_t row, int lane) {
    const float *x = p.x + row * p.xStride;
    int begin = lane * p.width, end = begin + p.width;
    float score = kv::plan::NoScore;
    if (lane < p.groups) {
      score = 0;
      Ranked last;
      for (int i = 0; i < p.best; ++i) {
        last = firstBehind(b, last, x, begin, end, 1);
        score += last.value;
      }
      if (score != score)
        score = kv::plan::NoScore;
    }
    int before = 0;
    KV_UNROLL for (int mask = 1; mask < WarpLanes; ++mask) {
      float other = b.shuffleXor(score, mask);
      before += other > score || (other == score && (lane ^ mask) < lane);
    }
    if (lane < p.groups)
      for (int e = begin; e < end; ++e)
        b.store(p.out + row * p.outStride + e,
                before < p.keep ? b.load(x + e) : kv::plan::NoScore);
  });
}

template <class B> KV_BODY void sharesBody(B &b, const SharesParams &p) {
  forEachWarpRow(b, p.rows, [&](int64_t row, int lane) {
    const int32_t *chosen = p.experts + row * p.choices;
    auto logitOf = [&](int expert) {
      expert = kv::plan::lesser(kv::plan::greater(expert, 0), p.count - 1);
      return b.load(p.logits + row * p.stride + expert);
    };
    float first = logitOf(b.load(chosen)), sum = 0;
    auto weightOf = [&](int expert) {
      float logit = logitOf(expert);
      return p.sigmoid ? 1 / (1 + expf(-logit)) : expf(logit - first);
    };
    int parts = p.normalised ? p.choices : p.count;
    KV_UNROLL_BY(1)
    for (int i = lane; i < parts; i += WarpLanes)
      sum += weightOf(p.normalised ? b.load(chosen + i) : i);
    KV_UNROLL for (int mask = 1; mask < WarpLanes; mask *= 2)
      sum += b.shuffleXor(sum, mask);
    if (p.sigmoid) // whose sum may be 0
      sum = p.normalised ? sum + 1e-20f : 1;
    KV_UNROLL_BY(1)
    for (int c = lane; c < p.choices; c += WarpLanes)
      b.store(p.out + row * p.choices + c, weightOf(b.load(chosen + c)) / sum);
  });
}

/// One thread per chunk of a row.
template <class B>
KV_BODY void sumChoicesBody(B &b, const SumChoicesParams &p) {
  forEachChunk(b, p.rows, p.width, [&](int64_t row, int column) {
    float sum[Eight] = {};
    for (int c = 0; c < p.choices; ++c) {
      float x[Eight];
      loadEight(b, p.x, (row * p.choices + c) * p.xStride + column, p.xType, x);
      float share =
          kv::plan::multiply(b.load(p.shares + row * p.choices + c), p.scale);
      KV_UNROLL for (int j = 0; j < Eight; ++j)
        sum[j] += kv::plan::multiply(x[j], share);
    }
    storeEight(b, p.out, row * p.outStride + column, p.outType, sum);
  });
}

/// One block per expert, which finds the expert's choices. The number of
/// choices before them says where its tiles begin.
template <class B>
KV_BODY void orderExpertsBody(B &b, const OrderExpertsParams &p) {
  int64_t each = (int64_t(p.choices) + MoverThreads - 1) / MoverThreads;
  int64_t begin = kv::plan::lesser<int64_t>(b.thread() * each, p.choices);
  int64_t end = kv::plan::lesser<int64_t>(begin + each, p.choices);
  auto expertOf = [&](int64_t choice) {
    return kv::plan::lesser(kv::plan::greater(b.load(p.experts + choice), 0),
                            p.count - 1);
  };
  for (int32_t expert = b.block(); expert < p.count; expert += b.blocks()) {
    int64_t counts = 0; // in the upper half those before, in the lower its own
    for (int64_t i = begin; i < end; ++i) {
      int32_t chosen = expertOf(i);
      counts += chosen < expert ? int64_t(1) << 32 : chosen == expert;
    }
    int64_t all = counts;
    int64_t at = uint32_t(sumBefore(b, all));
    int64_t before = all >> 32, own = uint32_t(all);
    int64_t first = expertTilesBefore(expert, before);
    int64_t next = expertTilesBefore(expert + 1, before + own);
    for (int64_t i = begin; i < end; ++i) {
      if (expertOf(i) != expert)
        continue;
      b.store(p.out + (first + at / ExpertRows) * ExpertRecord + 2 +
                  at % ExpertRows,
              int32_t(i));
      ++at;
    }
    for (int64_t tile = first + b.thread(); tile < next; tile += MoverThreads) {
      int64_t left = own - (tile - first) * ExpertRows;
      int32_t *record = p.out + tile * ExpertRecord;
      b.store(record, expert);
      b.store(record + 1,
              int32_t(kv::plan::lesser<int64_t>(
                  kv::plan::greater<int64_t>(left, 0), ExpertRows)));
    }
  }
}

/// 64 rows of one expert times 64 rows of its matrix; slices of 128 bytes of
/// both come through a ring. T: of rows and weights, Bf16 or float.
template <class T, class B> struct ExpertTile {
  using Matrix = Swizzled<ExpertSliceChunks>;
  static constexpr int Stage = 2 * ExpertRows * ExpertSliceChunks;
  static constexpr bool OnTensorCores = !std::is_same_v<T, float>;

  B &b;
  const ExpertMatmulParams &p;
  int lane = b.thread() % WarpLanes, warp = b.thread() / WarpLanes;
  int firstRow = warp / 4 * 32, firstColumn = warp % 4 * 16;
  int myChunk = b.thread() % ExpertSliceChunks;
  int myRow = b.thread() / ExpertSliceChunks;
  int chunks = p.depth / (ChunkBytes / int(sizeof(T)));
  int slices = (chunks + ExpertSliceChunks - 1) / ExpertSliceChunks;
  int count = 0;
  const int32_t *choices = nullptr;
  int64_t from[4] = {};
  // Sums of a warp's 32 rows and 16 columns, in tiles of 16 rows and 8 columns.
  // With f32, sums of a thread's four rows, each of four columns.
  float sums[4][4] = {};

  KV_BODY auto ring() {
    return b.template shared<Chunk>(0, ExpertStages * Stage);
  }

  /// Where this thread's chunks of two rows and of two columns come from.
  KV_BODY void begin(const int32_t *record, int64_t column) {
    count = b.load(record + 1);
    choices = record + 2;
    int32_t expert = b.load(record);
    KV_UNROLL for (int i = 0; i < 2; ++i) {
      int row = myRow + 32 * i;
      from[i] = from[2 + i] = NoAddress;
      if (row < count) {
        int64_t at = b.load(choices + row) / p.choicesPerRow * p.xStride;
        from[i] = addressOf(static_cast<const T *>(p.x) + at);
      }
      if (column + row < p.columns) {
        int64_t at = (int64_t(expert) * p.columns + column + row) * p.depth;
        from[2 + i] = addressOf(static_cast<const T *>(p.weight) + at);
      }
    }
    KV_UNROLL for (auto &four : sums) KV_UNROLL
      for (float &sum : four)
        sum = 0;
  }

  KV_BODY void load(int slice) {
    if (slice < slices) {
      int chunk = slice * ExpertSliceChunks + myChunk;
      bool there = chunk < chunks;
      int to = slice % ExpertStages * Stage + Matrix::chunk(myRow, myChunk);
      KV_UNROLL for (int i = 0; i < 4; ++i)
        // Rows that a tile does not have are zeros; halves of a tile that are
        // not read are not written.
        if (i != 1 || count > 32)
          b.copyAsync(ring(), to + i * 32 * Matrix::Pitch,
                      there ? from[i] : NoAddress, chunk * ChunkBytes);
    }
    b.commit();
  }

  KV_BODY void multiplySlice(int slice) {
    int stage = slice % ExpertStages * Stage;
    if constexpr (OnTensorCores)
      multiplyMatrices(stage);
    else
      multiplyNumbers(stage);
  }

  KV_BODY void multiplyMatrices(int stage) {
    if (firstRow >= count)
      return;
    Place a = loadA(lane), w = loadTransposedB(lane);
    int rows = stage + Matrix::chunk(firstRow + a.row, a.column);
    int columns =
        stage + Matrix::chunk(ExpertRows + firstColumn + w.row, w.column);
    KV_UNROLL for (int k = 0; k < ExpertSliceChunks; k += 2) {
      uint32_t weight[4];
      b.loadMatrix(weight, ring(), Matrix::moved(columns, k));
      KV_UNROLL for (int m = 0; m < 2; ++m) {
        if (firstRow + m * 16 >= count)
          break;
        uint32_t x[4];
        b.loadMatrix(x, ring(),
                     Matrix::moved(rows, k) + m * 16 * Matrix::Pitch);
        KV_UNROLL for (int n = 0; n < 2; ++n)
          b.template multiplyAdd<T>(sums[m * 2 + n], x, weight[n * 2],
                                    weight[n * 2 + 1]);
      }
    }
  }

  KV_BODY void multiplyNumbers(int stage) {
    int row = b.thread() / 16 * 4, column = b.thread() % 16 * 4;
    if (row >= count)
      return;
    for (int k = 0; k < ExpertSliceChunks; ++k) {
      Chunk w[4];
      KV_UNROLL for (int n = 0; n < 4; ++n)
        w[n] = ring().load(stage + Matrix::chunk(ExpertRows + column + n, k));
      KV_UNROLL for (int m = 0; m < 4; ++m) {
        Chunk x = ring().load(stage + Matrix::chunk(row + m, k));
        KV_UNROLL for (int n = 0; n < 4; ++n) KV_UNROLL
          for (int i = 0; i < 4; ++i)
            sums[m][n] = kv::plan::fusedMultiplyAdd(
                bitsAs<float>(x.words[i]), bitsAs<float>(w[n].words[i]),
                sums[m][n]);
      }
    }
  }

  /// Two neighbouring columns of a row.
  KV_BODY void storePair(int row, int64_t column, float low, float high) {
    if (row >= count || column >= p.columns)
      return;
    int64_t to = b.load(choices + row) * p.outStride + column;
    if (p.outType == KV_DTYPE_F32)
      b.store(reinterpret_cast<FloatPair *>(static_cast<float *>(p.out) + to),
              FloatPair{low, high});
    else
      b.store(reinterpret_cast<uint32_t *>(static_cast<Bf16 *>(p.out) + to),
              narrowPair<Bf16>(low, high));
  }

  KV_BODY void storeSums(int64_t column) {
    KV_UNROLL for (int m = 0; m < 4; ++m) KV_UNROLL
      for (int side = 0; side < 2; ++side) {
        float low = sums[m][side * 2], high = sums[m][side * 2 + 1];
        Place c = fragmentC(lane, side * 2);
        if constexpr (OnTensorCores)
          storePair(firstRow + m / 2 * 16 + c.row,
                    column + firstColumn + m % 2 * 8 + c.column, low, high);
        else
          storePair(b.thread() / 16 * 4 + m,
                    column + b.thread() % 16 * 4 + side * 2, low, high);
      }
  }

  KV_BODY void run() {
    int64_t across = (int64_t(p.columns) + ExpertRows - 1) / ExpertRows;
    for (int64_t item = b.block(); item < p.tiles * across;
         item += b.blocks()) {
      int64_t tile = item / across,
              column = (item - tile * across) * ExpertRows;
      begin(p.order + tile * ExpertRecord, column);
      if (!count)
        continue;
      KV_UNROLL for (int slice = 0; slice + 1 < ExpertStages; ++slice)
        load(slice);
      for (int slice = 0; slice < slices; ++slice) {
        b.template wait<ExpertStages - 2>();
        b.sync(); // all have their chunks, and the stage before is read
        load(slice + ExpertStages - 1);
        multiplySlice(slice);
      }
      storeSums(column);
      b.sync(); // the next tile's slices may come
    }
  }
};

template <class B>
KV_BODY void expertMatmulBody(B &b, const ExpertMatmulParams &p) {
  if (p.type == KV_DTYPE_F32)
    ExpertTile<float, B>{b, p}.run();
  else
    ExpertTile<Bf16, B>{b, p}.run();
}

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_PRODUCTS_EXPERTBODY_H
