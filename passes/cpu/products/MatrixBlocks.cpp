//===- MatrixBlocks.cpp - Packed blocks by a matrix unit ------------------===//
//
// The blocks of 16 rows of a weight become tiles of signed bytes and vectors of
// factors once for all rows of x, in memory near the core. A tile product then
// gives the integer sums of one sub-block for 16 rows of x. Vector code joins
// them to the rows' sums, in the same order as when it multiplies itself. So
// bits are equal: integers are exact, and the roundings have one order.
//
//===----------------------------------------------------------------------===//

#include "MatrixBlocks.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/common/KernelLoops.h"
#include "passes/common/PackedBlocks.h"
#include "passes/cpu/vector/MatrixUnit.h"

using namespace mlir;
using namespace kv;

constexpr int64_t kRows = MatrixUnit::tileRows;
/// Bytes of a row of a tile of weights: four elements of each of 16 rows.
constexpr int64_t kLine = 64;
/// Columns of x whose weights are brought into tiles at a time: these take 32
/// KiB, which stay near the core.
constexpr int64_t kChunk = 2048;
/// Fewer rows than these take vectors less time than a tile.
constexpr int64_t kFewRows = 8;

namespace {
class PanelBuilder {
public:
  PanelBuilder(VectorEmitter &b, const BlockProduct &product, Value block,
               Value column)
      : product(product), facts(factsOf(product.format)),
        reader(product.format, product.weight, block, kPackedRows),
        depth(depthOf(product.format,
                      cast<ShapedType>(product.weight.getType()))),
        chunk(std::min(depth, kChunk)), column(column), unit(b),
        weights(b.stack({chunk / 4, kLine}, b.getI8Type())),
        scales(b.stack({chunk / facts.elements, kPackedRows}, b.getF32Type())),
        integers(b.stack({kRows, kPackedRows}, b.getI32Type())) {
    if (facts.minima)
      minima = b.stack({chunk / facts.elements, kPackedRows}, b.getF32Type());
  }

  /// The rows from `begin` to `end`, at least 16. The last tile has some of
  /// those of the one before if it would not be whole.
  void build(VectorEmitter &b, Value begin, Value end) {
    unit.configure(b, b.index(kRows), facts.elements);
    b.forEach(
        b.index(0), b.index(depth), chunk, [&](VectorEmitter &b, Value from) {
          Value length = b.minimum(b.index(chunk), b.sub(b.index(depth), from));
          Value count = b.div(length, b.index(facts.elements));
          Value before = b.div(from, b.index(facts.elements));
          b.forEach(b.index(0), count, 1, [&](VectorEmitter &b, Value s) {
            unpack(b, b.add(before, s), s);
          });
          Value isFirst = b.less(from, b.index(1));
          Value last = b.sub(end, b.index(kRows));
          b.forEach(begin, end, kRows, [&](VectorEmitter &b, Value first) {
            buildTile(b, b.minimum(first, last), first, before, count, isFirst);
          });
        });
    MatrixUnit::release(b);
  }

private:
  /// Sub-block `s` of the rows to place `to` of the tiles.
  void unpack(VectorEmitter &b, Value s, Value to) {
    Value each = b.index(reader.subBlocks());
    Value inner = b.div(s, each);
    Value at = b.add(b.index(facts.header),
                     b.mul(b.rem(s, each), b.index(facts.subBytes)));
    reader.ask(b, inner, at, facts.subBytes);
    BlockFactors own = reader.factors(b, inner, at, /*lane=*/0,
                                      reader.header(b, inner, /*lane=*/0));
    Value zero = b.index(0);
    vector::StoreOp::create(b, own.scale, scales, ValueRange{to, zero});
    if (minima)
      vector::StoreOp::create(b, own.minimum, minima, ValueRange{to, zero});
    Value first = b.mul(to, b.index(facts.elements / 4));
    reader.forEachPart(
        b, inner, at, /*lane=*/0, [&](Value bytes, int64_t element) {
          if (facts.offset) {
            auto type = cast<VectorType>(bytes.getType());
            Value offset = arith::ConstantOp::create(
                b, DenseElementsAttr::get(type, APInt(8, facts.offset)));
            bytes = b.sub(bytes, offset);
          }
          vector::StoreOp::create(b, bytes, weights,
                                  ValueRange{b.add(first, element / 4), zero});
        });
  }

  /// 16 rows of x, of which those before `first` are done, with `count`
  /// sub-blocks, the first of which is `before` of the row. Between chunks the
  /// sums are in the product.
  void buildTile(VectorEmitter &b, Value row, Value first, Value before,
                 Value count, Value isFirst) {
    Value place = b.mul(column, b.index(kPackedRows));
    auto forEachRow = [&](VectorEmitter &b,
                          llvm::function_ref<void(int64_t, ValueRange)> use) {
      for (int64_t r = 0; r < kRows; ++r)
        use(r, {b.add(row, r), place});
    };
    SmallVector<Value> sums(kRows, b.zeros(kLanes));
    if (depth > chunk)
      forEachRow(b, [&](int64_t r, ValueRange at) {
        Value before = b.loadLanes(product.out, at);
        sums[r] = b.select(isFirst, sums[r], before);
      });
    sums = b.innerLoop(b.index(0), count, 1, sums,
                       [&](VectorEmitter &b, Value s, ValueRange carried) {
                         SmallVector<Value> sums(carried);
                         Value x =
                             b.mul(b.add(before, s), b.index(facts.elements));
                         // The memory that the next 16 rows store to is
                         // prefetched meanwhile.
                         Value next =
                             b.add(b.add(row, kRows), b.rem(s, b.index(kRows)));
                         prefetch(b, b.getLoc(), product.out, {next, place},
                                  /*ahead=*/0, kLine);
                         multiply(b, row, x, s);
                         join(b, row, x, s, sums);
                         return sums;
                       });
    forEachRow(b, [&](int64_t r, ValueRange at) {
      // Rows that are multiplied twice from their beginning get equal results.
      if (depth <= chunk)
        return b.storeLanes(sums[r], product.out, at);
      b.when(b.lessOrEqual(first, at.front()),
             [&](VectorEmitter &b) { b.storeLanes(sums[r], product.out, at); });
    });
  }

  /// integers = the rows' values from column `x` on times sub-block `s`.
  void multiply(VectorEmitter &b, Value row, Value x, Value s) {
    Value zero = b.index(0);
    MatrixUnit::zero(b, 0);
    MatrixUnit::load(b, MatrixUnit::firstRows, product.x.values, {row, x},
                     depth);
    MatrixUnit::load(b, MatrixUnit::firstWeights, weights,
                     {b.mul(s, b.index(facts.elements / 4)), zero}, kLine);
    MatrixUnit::multiplyBytes(b, 0, MatrixUnit::firstRows,
                              MatrixUnit::firstWeights);
    MatrixUnit::store(b, 0, integers, {zero, zero}, kPackedRows * 4);
  }

  void join(VectorEmitter &b, Value row, Value x, Value s,
            SmallVectorImpl<Value> &sums) {
    Value group = b.div(x, b.index(kActivationGroup)), zero = b.index(0);
    Value scale = b.loadLanes(scales, ValueRange{s, zero});
    Value minimum;
    if (minima)
      minimum = b.loadLanes(minima, ValueRange{s, zero});
    auto i32 = VectorType::get({kPackedRows}, b.getI32Type());
    for (int64_t r = 0; r < kRows; ++r) {
      SmallVector<Value> at = {b.add(row, r), group};
      Value own = b.splat(b.loadScalar(product.x.scales, at));
      Value sum = vector::LoadOp::create(b, i32, integers,
                                         ValueRange{b.index(r), zero});
      Value numbers = arith::SIToFPOp::create(b, b.floats(), sum);
      sums[r] = b.fma(numbers, b.times(scale, own), sums[r]);
      if (minima)
        sums[r] = b.fma(
            minimum, b.splat(b.loadScalar(product.x.scaledSums, at)), sums[r]);
    }
  }

  const BlockProduct &product;
  FormatFacts facts;
  BlockReader reader;
  int64_t depth, chunk;
  Value column; // the block of the product
  MatrixUnit unit;
  Value weights;        // i8 [chunk / 4, 64]: tiles of the sub-blocks
  Value scales, minima; // f32 [chunk / elements, 16]
  Value integers;       // i32 [16, 16]: what a tile product gives
};
} // namespace

Value kv::buildMatrixBlocks(OpBuilder &builder, Location loc,
                            const BlockProduct &product, Value block,
                            Value column, Value begin, Value end) {
  VectorEmitter b(loc, builder);
  PanelBuilder panel(b, product, block, column);
  Value few = b.rem(b.sub(end, begin), b.index(kRows));
  Value last = b.select(b.less(few, b.index(kFewRows)), b.sub(end, few), end);
  Value any = b.lessOrEqual(b.add(begin, kRows), end);
  b.when(any, [&](VectorEmitter &b) { panel.build(b, begin, last); });
  return b.select(any, last, begin);
}
