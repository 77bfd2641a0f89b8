//===- VectorizeMatrix.cpp - Products by a matrix unit --------------------===//
//
// The unit wants pairs of neighbouring elements of a column side by side, so
// that the weights of a tile are interleaved first: with many rows once for all
// of them, in memory near the core; with few, as they come from memory. A row's
// result is the same either way: one multiplication for every 32 elements, in
// order.
//
//===----------------------------------------------------------------------===//

#include "VectorizeMatrix.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/common/KernelLoops.h"
#include "passes/cpu/vector/MatrixUnit.h"

using namespace mlir;
using namespace kv;

constexpr int64_t kRows = MatrixUnit::tileRows, kDepth = MatrixUnit::tileDepth;
/// Bytes of a row of a tile.
constexpr int64_t kLine = 64;
/// Columns of x whose weights are interleaved at a time: four blocks of them
/// take 128 KiB, which stay in the second level.
constexpr int64_t kChunk = 1024;

static int64_t columnsOf(Value weight) {
  return cast<MemRefType>(weight.getType()).getDimSize(1);
}

bool kv::fitsMatrixUnit(Value weight) {
  return cast<MemRefType>(weight.getType()).getElementType().isBF16() &&
         columnsOf(weight) % kDepth == 0 && columnsOf(weight) > 0;
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

MatrixRows kv::tileMatrixRows(OpBuilder &builder, Location loc, Value x) {
  VectorEmitter b(loc, builder);
  int64_t depth = cast<MemRefType>(x.getType()).getDimSize(1);
  Value count = b.extent(x, 0);
  auto type = MemRefType::get(
      {ShapedType::kDynamic, depth / kDepth, kRows, kDepth}, b.getI16Type());
  Value tiles = memref::AllocOp::create(
      b, type, ValueRange{b.divideUp(count, kRows)}, b.getI64IntegerAttr(64));
  auto i32 = VectorType::get({kLanes}, b.getI32Type());
  auto i16 = VectorType::get({kLanes}, b.getI16Type());
  buildForall(b, loc, count, grainOf(depth), [&](OpBuilder &nested, Value row) {
    VectorEmitter b(loc, nested);
    Value tile = b.div(row, b.index(kRows)), place = b.rem(row, b.index(kRows));
    b.forEach(b.index(0), b.index(depth), kLanes,
              [&](VectorEmitter &b, Value column) {
                Value lanes = vector::LoadOp::create(b, b.floats(), x,
                                                     ValueRange{row, column});
                // bf16 is the upper half of such a number.
                Value bits = arith::BitcastOp::create(b, i32, lanes);
                Value sixteen = arith::ConstantOp::create(
                    b, DenseElementsAttr::get(i32, APInt(32, 16)));
                Value upper = arith::TruncIOp::create(
                    b, i16, arith::ShRUIOp::create(b, bits, sixteen));
                vector::StoreOp::create(
                    b, upper, tiles,
                    ValueRange{tile, b.div(column, b.index(kDepth)), place,
                               b.rem(column, b.index(kDepth))});
              });
  });
  return {tiles, count};
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

namespace {
class MatrixTileBuilder {
public:
  MatrixTileBuilder(VectorEmitter &b, const MatrixProduct &product, Value first,
                    int64_t width)
      : product(product), first(first), width(width),
        depth(columnsOf(product.weight)), chunk(std::min(depth, kChunk)),
        unit(b),
        pairs(b.stack({width, chunk / 2, 2 * kPackedRows}, b.getI16Type())),
        flat(memref::CollapseShapeOp::create(
            b, product.weight, ArrayRef<ReassociationIndices>{{0}, {1, 2}})) {}

  void build(VectorEmitter &b) {
    // No tile may have no rows.
    Value any = b.less(b.index(0), product.x.count);
    b.when(any, [&](VectorEmitter &b) {
      Value few = b.lessOrEqual(product.x.count, b.index(kRows));
      b.when(few, [&](VectorEmitter &b) { buildFew(b); });
      Value many = b.less(b.index(kRows), product.x.count);
      b.when(many, [&](VectorEmitter &b) { buildMany(b); });
      MatrixUnit::release(b);
    });
  }

private:
  /// At most 16 rows: the sums stay in tiles.
  void buildFew(VectorEmitter &b) {
    unit.configure(b, product.x.count);
    Value rowBlock = b.index(0);
    TileSums sums{rowBlock, 1, 0, width};
    for (int64_t sum = 0; sum < width; ++sum)
      MatrixUnit::zero(b, sum);
    Value zero = b.index(0);
    b.forEach(zero, b.index(depth / kDepth), 1,
              [&](VectorEmitter &b, Value step) {
                interleave(b, b.mul(step, b.index(kDepth)), zero);
                multiply(b, sums, step, zero);
              });
    storeSums(b, sums);
  }

  /// Columns of x in chunks; between them the sums are in the product.
  void buildMany(VectorEmitter &b) {
    Value count = product.x.count;
    Value whole = b.div(count, b.index(2 * kRows));
    b.forEach(
        b.index(0), b.index(depth), chunk, [&](VectorEmitter &b, Value from) {
          Value length = b.minimum(b.index(chunk), b.sub(b.index(depth), from));
          b.forEach(b.index(0), b.div(length, b.index(kDepth)), 1,
                    [&](VectorEmitter &b, Value step) {
                      Value offset = b.mul(step, b.index(kDepth));
                      interleave(b, b.add(from, offset),
                                 b.mul(step, b.index(kRows)));
                    });
          unit.configure(b, b.index(kRows));
          b.forEach(b.index(0), whole, 1, [&](VectorEmitter &b, Value pair) {
            Value rowBlock = b.mul(pair, b.index(2));
            for (int64_t column = 0; column < width; column += 2)
              buildChunk(
                  b,
                  {rowBlock, 2, column, std::min<int64_t>(2, width - column)},
                  from, length);
          });
          // One or two tiles of rows are left, of which the last may be lower.
          b.forEach(b.mul(whole, b.index(2)), b.divideUp(count, kRows), 1,
                    [&](VectorEmitter &b, Value rowBlock) {
                      Value done = b.mul(rowBlock, b.index(kRows));
                      unit.configure(
                          b, b.minimum(b.index(kRows), b.sub(count, done)));
                      buildChunk(b, {rowBlock, 1, 0, width}, from, length);
                    });
        });
  }

  /// Tiles of sums: of `rowBlocks` times 16 rows and `columns` blocks of the
  /// weight, from block `column` of this tile's.
  struct TileSums {
    Value rowBlock;
    int64_t rowBlocks, column, columns;
  };

  void buildChunk(VectorEmitter &b, const TileSums &sums, Value from,
                  Value length) {
    Value isFirst =
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, from, b.index(0));
    b.when(isFirst, [&](VectorEmitter &b) {
      for (int64_t sum = 0; sum < sums.rowBlocks * sums.columns; ++sum)
        MatrixUnit::zero(b, sum);
    });
    Value isLater = b.less(b.index(0), from);
    b.when(isLater, [&](VectorEmitter &b) { loadSums(b, sums); });
    Value before = b.div(from, b.index(kDepth));
    b.forEach(b.index(0), b.div(length, b.index(kDepth)), 1,
              [&](VectorEmitter &b, Value step) {
                multiply(b, sums, b.add(before, step),
                         b.mul(step, b.index(kRows)));
              });
    storeSums(b, sums);
  }

  /// The weights of 32 columns of x from `from` on, as pairs from `to` on.
  void interleave(VectorEmitter &b, Value from, Value to) {
    auto bits = VectorType::get({2 * kPackedRows}, b.getI16Type());
    auto numbers = VectorType::get({2 * kPackedRows}, b.getBF16Type());
    SmallVector<int64_t> mask;
    for (int64_t lane = 0; lane < kPackedRows; ++lane)
      mask.append({lane, lane + kPackedRows});
    Value start = b.mul(from, b.index(kPackedRows));
    // All streams at once, as memory likes it.
    for (int64_t pair = 0; pair < kRows; ++pair)
      for (int64_t j = 0; j < width; ++j) {
        SmallVector<Value> at = {b.add(first, j),
                                 b.add(start, 2 * pair * kPackedRows)};
        prefetch(b, b.getLoc(), flat, at, prefetchDistance(width), kLine);
        Value both = vector::LoadOp::create(b, numbers, flat, at);
        both = vector::BitCastOp::create(b, bits, both);
        Value mixed = vector::ShuffleOp::create(b, both, both, mask);
        vector::StoreOp::create(
            b, mixed, pairs,
            ValueRange{b.index(j), b.add(to, pair), b.index(0)});
      }
  }

  /// sums += x's tiles of 32 columns `step` times the pairs from `from` on.
  void multiply(VectorEmitter &b, const TileSums &sums, Value step,
                Value from) {
    // Two columns at a time, for which there are tiles.
    for (int64_t c = 0; c < sums.columns; c += 2) {
      int64_t both = std::min<int64_t>(2, sums.columns - c);
      for (int64_t i = 0; i < both; ++i)
        MatrixUnit::load(b, MatrixUnit::firstWeights + i, pairs,
                         {b.index(sums.column + c + i), from, b.index(0)},
                         kLine);
      for (int64_t r = 0; r < sums.rowBlocks; ++r) {
        int64_t rows = MatrixUnit::firstRows + r;
        MatrixUnit::load(
            b, rows, product.x.tiles,
            {b.add(sums.rowBlock, r), step, b.index(0), b.index(0)}, kLine);
        for (int64_t i = 0; i < both; ++i)
          MatrixUnit::multiply(b, r * sums.columns + c + i, rows,
                               MatrixUnit::firstWeights + i);
      }
    }
  }

  template <typename Fn>
  void forEachSum(VectorEmitter &b, const TileSums &sums, Fn &&fn) {
    int64_t stride = cast<MemRefType>(product.out.getType()).getDimSize(1) * 4;
    for (int64_t r = 0; r < sums.rowBlocks; ++r)
      for (int64_t c = 0; c < sums.columns; ++c) {
        Value row = b.mul(b.add(sums.rowBlock, r), b.index(kRows));
        Value column =
            b.mul(b.add(first, sums.column + c), b.index(kPackedRows));
        fn(r * sums.columns + c, ValueRange{row, column}, stride);
      }
  }
  void loadSums(VectorEmitter &b, const TileSums &sums) {
    forEachSum(b, sums, [&](int64_t sum, ValueRange at, int64_t stride) {
      MatrixUnit::load(b, sum, product.out, at, stride);
    });
  }
  void storeSums(VectorEmitter &b, const TileSums &sums) {
    forEachSum(b, sums, [&](int64_t sum, ValueRange at, int64_t stride) {
      MatrixUnit::store(b, sum, product.out, at, stride);
    });
  }

  const MatrixProduct &product;
  Value first;
  int64_t width, depth, chunk;
  MatrixUnit unit;
  Value pairs; // i16 [width, chunk / 2, 32]: interleaved weights
  Value flat;  // the weight [N / 16, K * 16]
};
} // namespace

void kv::buildMatrixTile(OpBuilder &builder, Location loc,
                         const MatrixProduct &product, Value first,
                         int64_t width) {
  VectorEmitter b(loc, builder);
  MatrixTileBuilder(b, product, first, width).build(b);
}
