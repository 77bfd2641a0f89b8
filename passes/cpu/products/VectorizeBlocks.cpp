//===- VectorizeBlocks.cpp - Products with packed blocks ------------------===//
//
// A tile is some rows times the 16 rows of a packed block. A tile walks the
// blocks of the weight once. For each sub-block the products are summed as
// integers. Then one fused multiply-add per sub-block joins them to a row's
// sums in f32, in the order of the columns. Products of floats are summed as
// f32, in two chains of every second element. An output does not depend on the
// tile, nor on the instructions.
//
//===----------------------------------------------------------------------===//

#include "VectorizeBlocks.h"

#include "MatrixBlocks.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/common/Emitter.h"
#include "passes/common/KernelLoops.h"
#include "passes/common/PackedBlocks.h"

using namespace mlir;
using namespace kv;

/// Emits a loop that carries values and returns what it carried last.
static SmallVector<Value> loop(
    Emitter &b, Value low, Value high, ValueRange initial,
    llvm::function_ref<void(Emitter &, Value, SmallVectorImpl<Value> &)> body) {
  auto made = scf::ForOp::create(
      b, low, high, b.index(1), initial,
      [&](OpBuilder &nested, Location loc, Value i, ValueRange carried) {
        Emitter b(loc, nested);
        SmallVector<Value> values(carried);
        body(b, i, values);
        scf::YieldOp::create(b, values);
      });
  return made.getResults();
}

static Value spread(Emitter &b, VectorType type, Value scalar) {
  return vector::BroadcastOp::create(b, type, scalar);
}

static Value splat(Emitter &b, VectorType type, double value) {
  return arith::ConstantOp::create(
      b, DenseElementsAttr::get(
             type, b.getFloatAttr(type.getElementType(), value).getValue()));
}

static Value splatInt(Emitter &b, VectorType type, int64_t value) {
  return arith::ConstantOp::create(
      b, DenseElementsAttr::get(
             type, b.getIntegerAttr(type.getElementType(), value).getValue()));
}

//===----------------------------------------------------------------------===//
// Rows to i8
//===----------------------------------------------------------------------===//

/// Below this largest magnitude a group is all zeros: 127 / a would overflow.
constexpr double kLeastMagnitude = 1e-30;
/// Added to a small number, it leaves the number rounded to an integer, ties to
/// even, in the low bits.
constexpr double kRounder = 12582912; // 1.5 * 2^23

/// The group of 32 elements of a row that begins at `column`.
static void quantizeGroup(Emitter &b, Value x, const QuantizedRows &to,
                          Value row, Value group) {
  constexpr int64_t half = kActivationGroup / 2;
  auto f32 = VectorType::get({half}, b.getF32Type());
  auto i32 = VectorType::get({half}, b.getI32Type());
  auto i8 = VectorType::get({half}, b.getI8Type());
  Value column = b.mul(group, b.index(kActivationGroup));
  SmallVector<Value> columns{column, b.add(column, b.index(half))}, parts;
  SmallVector<Value> place = rowIndices(b, b.getLoc(), x, row);
  place.emplace_back();
  // Magnitudes are ordered like their bits, and a NaN is above all of them.
  Value signless = splatInt(b, i32, INT32_MAX), largest;
  for (Value at : columns) {
    place.back() = at;
    Value part = vector::LoadOp::create(b, f32, x, place);
    Value bits = arith::BitcastOp::create(b, i32, part);
    Value magnitude = arith::AndIOp::create(b, bits, signless);
    largest = largest
                  ? arith::MaxSIOp::create(b, largest, magnitude).getResult()
                  : magnitude;
    parts.push_back(part);
  }
  Value mostBits =
      vector::ReductionOp::create(b, vector::CombiningKind::MAXSI, largest);
  Value most = arith::BitcastOp::create(b, b.getF32Type(), mostBits);
  Value limit = b.constant(b.getF32Type(), 127);
  Value scale = arith::DivFOp::create(b, most, limit);
  // NaN is left out: its row is a NaN by its scale.
  Value regular =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OGE, most,
                            b.constant(b.getF32Type(), kLeastMagnitude));
  Value factor = b.select(regular, arith::DivFOp::create(b, limit, most),
                          b.constant(b.getF32Type(), 0));
  memref::StoreOp::create(b, scale, to.scales, ValueRange{row, group});
  Value total;
  for (auto [i, at] : llvm::enumerate(columns)) {
    Value scaled = arith::MulFOp::create(b, parts[i], spread(b, f32, factor));
    scaled = arith::MinNumFOp::create(b, scaled, splat(b, f32, 127));
    scaled = arith::MaxNumFOp::create(b, scaled, splat(b, f32, -127));
    Value rounded = arith::AddFOp::create(b, scaled, splat(b, f32, kRounder));
    Value bits = arith::BitcastOp::create(b, i32, rounded);
    Value bytes = arith::TruncIOp::create(b, i8, bits);
    vector::StoreOp::create(b, bytes, to.values, ValueRange{row, at});
    Value sum = vector::ReductionOp::create(
        b, vector::CombiningKind::ADD, arith::ExtSIOp::create(b, i32, bytes));
    Value ofHalf =
        b.add(b.mul(group, b.index(2)), b.index(static_cast<int64_t>(i)));
    memref::StoreOp::create(b, sum, to.sums, ValueRange{row, ofHalf});
    total = total ? b.add(total, sum) : sum;
  }
  memref::StoreOp::create(b, total, to.groupSums, ValueRange{row, group});
  Value scaled = arith::MulFOp::create(
      b, scale, arith::SIToFPOp::create(b, b.getF32Type(), total));
  memref::StoreOp::create(b, scaled, to.scaledSums, ValueRange{row, group});
}

QuantizedRows kv::quantizeRows(OpBuilder &builder, Location loc, Value x) {
  Emitter b(loc, builder);
  auto type = cast<MemRefType>(x.getType());
  int64_t depth = type.getShape().back();
  Value rows = memref::DimOp::create(b, x, 0);
  if (type.getRank() == 3)
    rows = b.mul(rows, b.index(type.getDimSize(1)));
  auto buffer = [&](int64_t width, Type element) -> Value {
    auto type = MemRefType::get({ShapedType::kDynamic, width}, element);
    return memref::AllocOp::create(b, type, rows);
  };
  constexpr int64_t group = kActivationGroup;
  QuantizedRows to{buffer(depth, b.getI8Type()),
                   buffer(depth / group, b.getF32Type()),
                   buffer(depth / (group / 2), b.getI32Type()),
                   buffer(depth / group, b.getI32Type()),
                   buffer(depth / group, b.getF32Type())};
  buildForall(b, loc, rows, grainOf(depth), [&](OpBuilder &nested, Value row) {
    Emitter b(loc, nested);
    loop(b, b.index(0), b.index(depth / group), {},
         [&](Emitter &b, Value each, SmallVectorImpl<Value> &) {
           quantizeGroup(b, x, to, row, each);
         });
  });
  return to;
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

namespace {
/// `rows` rows times `units` vectors of lanes of a packed block's 16 rows.
class TileBuilder {
public:
  TileBuilder(const BlockProduct &product, Value block,
              ArrayRef<TileRow> places, int64_t firstLane, int64_t units)
      : product(product), facts(factsOf(product.format)), places(places),
        rows(places.size()), firstLane(firstLane), units(units),
        lanes(dotLanes(product.dot)),
        reader(product.format, product.weight, block, lanes) {}

  /// Stores to block `columns` of the product.
  void build(Emitter &b, Value columns) {
    VectorType f32 = reader.vectorOf(b.getF32Type());
    SmallVector<Value> zeros(rows * units, splat(b, f32, 0));
    int64_t blocks = cast<MemRefType>(product.weight.getType()).getDimSize(1);
    SmallVector<Value> sums =
        loop(b, b.index(0), b.index(blocks), zeros,
             [&](Emitter &b, Value i, SmallVectorImpl<Value> &sums) {
               buildBlock(b, i, sums);
             });
    Value column = b.mul(columns, b.index(kPackedRows));
    for (int64_t u = 0; u < units; ++u)
      for (int64_t r = 0; r < rows; ++r) {
        SmallVector<Value> at = places[r].product;
        at.push_back(b.add(column, b.index(laneOf(u))));
        vector::StoreOp::create(b, sums[u * rows + r], product.out, at);
      }
  }

private:
  int64_t laneOf(int64_t unit) const { return firstLane + unit * lanes; }

  void buildBlock(Emitter &b, Value i, SmallVectorImpl<Value> &sums) {
    inner = i;
    bool wholeRow = !sizesOf(product.format).group;
    if (!wholeRow)
      reader.ask(b, inner, b.index(0), sizesOf(product.format).bytes);
    SmallVector<BlockFactors> header;
    for (int64_t u = 0; u < units; ++u)
      header.push_back(reader.header(b, inner, laneOf(u)));
    Value column = b.mul(i, b.index(reader.getGroup()));
    if (!wholeRow && reader.subBlocks() == 1)
      return buildSubBlock(b, b.index(facts.header), column, header, sums);
    SmallVector<Value> made =
        loop(b, b.index(0), b.index(reader.subBlocks()), sums,
             [&](Emitter &b, Value s, SmallVectorImpl<Value> &sums) {
               Value at = b.add(b.index(facts.header),
                                b.mul(s, b.index(facts.subBytes)));
               Value from = b.add(column, b.mul(s, b.index(facts.elements)));
               if (wholeRow)
                 reader.ask(b, inner, at, facts.subBytes);
               buildSubBlock(b, at, from, header, sums);
             });
    llvm::copy(made, sums.begin());
  }

  /// The sub-block at `at`, which stands for the columns from `column` on.
  void buildSubBlock(Emitter &b, Value at, Value column,
                     ArrayRef<BlockFactors> header,
                     SmallVectorImpl<Value> &sums) {
    int64_t bias =
        IntegerDot(product.dot, 1, facts.largest, facts.isSigned).bias();
    int64_t offset = facts.offset + bias;
    Value group = b.div(column, b.index(kActivationGroup));
    auto ofGroup = [&](Value facts, int64_t row) -> Value {
      return memref::LoadOp::create(b, facts,
                                    ValueRange{places[row].rounded, group});
    };
    VectorType f32 = reader.vectorOf(b.getF32Type());
    VectorType i32 = reader.vectorOf(b.getI32Type());
    for (int64_t u = 0; u < units; ++u) {
      BlockFactors own = reader.factors(b, inner, at, laneOf(u), header[u]);
      auto addNumbers = [&](int64_t r, Value numbers) -> Value & {
        Value &sum = sums[u * rows + r];
        Value scale = arith::MulFOp::create(
            b, own.scale, spread(b, f32, ofGroup(product.x.scales, r)));
        return sum = math::FmaOp::create(b, numbers, scale, sum);
      };
      if (hasFloats(product.format)) {
        SmallVector<Value> numbers = floatSums(b, at, column, u);
        for (int64_t r = 0; r < rows; ++r)
          addNumbers(r, numbers[r]);
        continue;
      }
      IntegerDot dot(product.dot, rows, facts.largest, facts.isSigned);
      reader.forEachPart(b, inner, at, laneOf(u),
                         [&](Value weights, int64_t element) {
                           Value where = b.add(column, b.index(element));
                           dot.add(b, b.getLoc(), weights, [&](int64_t row) {
                             return fourOf(b, places[row].rounded, where);
                           });
                         });
      for (int64_t r = 0; r < rows; ++r) {
        Value integers = dot.take(b, b.getLoc(), r);
        if (offset) {
          Value above =
              b.mul(sumOf(b, r, column, group),
                    arith::ConstantIntOp::create(b, offset, 32).getResult());
          integers = b.sub(integers, spread(b, i32, above));
        }
        Value &sum = addNumbers(r, arith::SIToFPOp::create(b, f32, integers));
        if (!own.minimum)
          continue;
        Value rowSum = spread(b, f32, ofGroup(product.x.scaledSums, r));
        sum = math::FmaOp::create(b, own.minimum, rowSum, sum);
      }
    }
  }

  /// The sums of products of floats in the sub-block at `at`, of each row.
  SmallVector<Value> floatSums(Emitter &b, Value at, Value column,
                               int64_t unit) {
    VectorType f32 = reader.vectorOf(b.getF32Type());
    VectorType i32 = reader.vectorOf(b.getI32Type());
    VectorType bytes = reader.vectorOf(b.getI8Type());
    VectorType floats = reader.vectorOf(floatType(b, product.format));
    SmallVector<Value> chains(2 * rows, splat(b, f32, 0));
    reader.forEachPart(
        b, inner, at, laneOf(unit), [&](Value four, int64_t element) {
          Value words = vector::BitCastOp::create(b, i32, four);
          Value where = b.add(column, b.index(element));
          SmallVector<Value> numbers;
          for (int64_t r = 0; r < rows; ++r)
            numbers.push_back(fourNumbers(b, places[r].rounded, where));
          for (int64_t q = 0; q < 4; ++q) {
            Value own = words;
            if (q)
              own = arith::ShRUIOp::create(b, words, splatInt(b, i32, 8 * q));
            own = arith::BitcastOp::create(
                b, floats, arith::TruncIOp::create(b, bytes, own));
            own = arith::ExtFOp::create(b, f32, own);
            for (int64_t r = 0; r < rows; ++r) {
              Value number = vector::ExtractOp::create(b, numbers[r],
                                                       ArrayRef<int64_t>{q});
              Value &chain = chains[2 * r + q % 2];
              chain =
                  math::FmaOp::create(b, own, spread(b, f32, number), chain);
            }
          }
        });
    SmallVector<Value> sums;
    for (int64_t r = 0; r < rows; ++r)
      sums.push_back(
          arith::AddFOp::create(b, chains[2 * r], chains[2 * r + 1]));
    return sums;
  }

  /// Four neighbouring values of a row as <4 x f32>.
  Value fourNumbers(Emitter &b, Value row, Value column) {
    auto four = [&](Type element) { return VectorType::get({4}, element); };
    Value bytes = vector::LoadOp::create(
        b, four(b.getI8Type()), product.x.values, ValueRange{row, column});
    return arith::SIToFPOp::create(
        b, four(b.getF32Type()),
        arith::ExtSIOp::create(b, four(b.getI32Type()), bytes));
  }

  /// The sum of a row's values in the sub-block from `column` on.
  Value sumOf(Emitter &b, int64_t row, Value column, Value group) {
    if (facts.elements == kActivationGroup)
      return memref::LoadOp::create(b, product.x.groupSums,
                                    ValueRange{places[row].rounded, group});
    Value place = b.div(column, b.index(facts.elements));
    return memref::LoadOp::create(b, product.x.sums,
                                  ValueRange{places[row].rounded, place});
  }

  /// Four neighbouring values of a row as an i32.
  Value fourOf(Emitter &b, Value row, Value column) {
    Value bytes =
        vector::LoadOp::create(b, VectorType::get({4}, b.getI8Type()),
                               product.x.values, ValueRange{row, column});
    Value number = vector::BitCastOp::create(
        b, VectorType::get({1}, b.getI32Type()), bytes);
    return vector::ExtractOp::create(b, number, ArrayRef<int64_t>{0});
  }

  const BlockProduct &product;
  FormatFacts facts;
  ArrayRef<TileRow> places;
  int64_t rows, firstLane, units, lanes;
  BlockReader reader;
  Value inner; // the block of columns
};
} // namespace

void kv::buildBlockTile(OpBuilder &builder, Location loc,
                        const BlockProduct &given, Value block, Value column,
                        const TileRows &givenRows) {
  BlockProduct product = given;
  TileRows rows = givenRows;
  if (product.dot == DotKind::AMX) {
    // Rows in any order cannot be loaded as a tile, and products of floats are
    // no integers.
    if (!rows.order && !hasFloats(product.format))
      rows.begin = buildMatrixBlocks(builder, loc, product, block, column,
                                     rows.begin, rows.end);
    product.dot = DotKind::VNNI;
  }
  int64_t lanes = dotLanes(product.dot);
  // The values of a sub-block stay in registers while the rows pass by: many
  // rows take few lanes. A row alone has all lanes in one pass, so that the
  // sums of one vector hide the latency of another's.
  // Floats have two chains a row.
  SmallVector<int64_t> heights{8, 4, 2, 1};
  if (hasFloats(product.format))
    heights = {4, 2, 1};
  rows.forEachTile(
      builder, loc, heights, [&](OpBuilder &nested, int64_t height, Value row) {
        Emitter b(loc, nested);
        SmallVector<TileRow> places;
        for (int64_t r = 0; r < height; ++r)
          places.push_back(rows.at(b, loc, r ? b.add(row, b.index(r)) : row));
        int64_t units = height == 1 ? kPackedRows / lanes : 1;
        for (int64_t lane = 0; lane < kPackedRows; lane += units * lanes)
          TileBuilder(product, block, places, lane, units).build(b, column);
      });
}
