//===- VectorizeBlocks.cpp - Products with packed blocks ------------------===//
//
// A tile is some rows times the 16 rows of a packed block. It walks the blocks
// of the weight once: for each sub-block the products are summed as integers,
// then one fused multiply-add a sub-block joins them to a row's sums in f32, in
// the order of the columns. What an output is does not depend on the tile, nor
// on the instructions.
//
//===----------------------------------------------------------------------===//

#include "VectorizeBlocks.h"

#include "Emitter.h"
#include "KernelLoops.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

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
  // Not of a NaN, whose row is a NaN by its scale.
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
/// What the code of a tile needs to know of a format (QuantFormats.def).
struct FormatFacts {
  int64_t elements; // of a row in a sub-block
  int64_t header;   // bytes before the sub-blocks
  int64_t subBytes; // of a sub-block
  int64_t largest;  // magnitude of a value
  bool isSigned;
  int64_t offset; // that stored values are above what they mean
  bool minima;
  bool ownFactors = false; // of each sub-block
};

FormatFacts factsOf(QuantFormat format) {
  switch (format) {
  case QuantFormat::Q8_0:
    return {32, 32, 512, 128, /*isSigned=*/true, 0, false};
  case QuantFormat::Q4_0:
    return {32, 32, 256, 15, /*isSigned=*/false, 8, false};
  case QuantFormat::Q4_1:
    return {32, 64, 256, 15, /*isSigned=*/false, 0, true};
  case QuantFormat::Q4_K:
    return {32, 64, 288, 15, /*isSigned=*/false, 0, true, /*ownFactors=*/true};
  case QuantFormat::Q6_K:
    return {
        16, 32, 208, 63, /*isSigned=*/false, 32, false, /*ownFactors=*/true};
  case QuantFormat::I8:
    return {32, 64, 512, 128, /*isSigned=*/true, 0, false};
  }
  llvm_unreachable("a format of QuantFormats.def");
}

/// `rows` rows times `units` vectors of lanes of a packed block's 16 rows.
class TileBuilder {
public:
  TileBuilder(const BlockProduct &product, Value block,
              ArrayRef<TileRow> places, int64_t firstLane, int64_t units)
      : product(product), facts(factsOf(product.format)),
        group(groupOf(product)), block(block), places(places),
        rows(places.size()), firstLane(firstLane), units(units),
        lanes(dotLanes(product.dot)) {}

  /// Stores to block `columns` of the product.
  void build(Emitter &b, Value columns) {
    VectorType f32 = vectorOf(b.getF32Type());
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
  static int64_t groupOf(const BlockProduct &product) {
    auto packed = cast<ShapedType>(product.weight.getType());
    return sizesOf(product.format).of(depthOf(product.format, packed)).group;
  }
  VectorType vectorOf(Type element, int64_t each = 1) const {
    return VectorType::get({each * lanes}, element);
  }
  int64_t laneOf(int64_t unit) const { return firstLane + unit * lanes; }

  /// `each` bytes a lane, of the present block; `at` is where lane 0 has its.
  Value load(Emitter &b, Value at, int64_t unit, int64_t each) {
    return vector::LoadOp::create(
        b, vectorOf(b.getI8Type(), each), product.weight,
        ValueRange{block, inner, b.add(at, b.index(each * laneOf(unit)))});
  }

  /// Numbers of the header: of f32 where a row has one, else of f16.
  Value loadHeader(Emitter &b, int64_t at, int64_t unit) {
    bool single = product.format == QuantFormat::I8;
    Value bytes = load(b, b.index(at), unit, single ? 4 : 2);
    Type type = single ? b.getF32Type() : b.getF16Type();
    Value numbers = vector::BitCastOp::create(b, vectorOf(type), bytes);
    return single ? numbers
                  : arith::ExtFOp::create(b, vectorOf(b.getF32Type()), numbers)
                        .getResult();
  }

  /// Scales of a sub-block, a byte each.
  Value loadFactors(Emitter &b, Value at, int64_t unit, bool isSigned) {
    Value bytes = load(b, at, unit, 1);
    VectorType wide = vectorOf(b.getI32Type());
    Value numbers = isSigned ? arith::ExtSIOp::create(b, wide, bytes).getOut()
                             : arith::ExtUIOp::create(b, wide, bytes).getOut();
    return arith::SIToFPOp::create(b, vectorOf(b.getF32Type()), numbers);
  }

  void buildBlock(Emitter &b, Value i, SmallVectorImpl<Value> &sums) {
    inner = i;
    bool wholeRow = !sizesOf(product.format).group;
    if (!wholeRow)
      ask(b, b.index(0), sizesOf(product.format).bytes);
    SmallVector<Value> scales, minima;
    for (int64_t u = 0; u < units; ++u) {
      scales.push_back(loadHeader(b, 0, u));
      if (facts.minima)
        minima.push_back(loadHeader(b, 2 * kPackedRows, u));
    }
    Value column = b.mul(i, b.index(group));
    if (!wholeRow && group == facts.elements)
      return buildSubBlock(b, b.index(facts.header), column, scales, minima,
                           sums);
    SmallVector<Value> made =
        loop(b, b.index(0), b.index(group / facts.elements), sums,
             [&](Emitter &b, Value s, SmallVectorImpl<Value> &sums) {
               Value at = b.add(b.index(facts.header),
                                b.mul(s, b.index(facts.subBytes)));
               Value from = b.add(column, b.mul(s, b.index(facts.elements)));
               if (wholeRow)
                 ask(b, at, facts.subBytes);
               if (facts.ownFactors)
                 buildScaled(b, at, from, scales, minima, sums);
               else
                 buildSubBlock(b, at, from, scales, minima, sums);
             });
    llvm::copy(made, sums.begin());
  }

  /// Asks for what is read a while after the bytes from `at` on: the blocks of
  /// one weight are one stream.
  void ask(Emitter &b, Value at, int64_t bytes) {
    prefetch(b, b.getLoc(), product.weight, {block, inner, at},
             prefetchDistance(1), bytes);
  }

  /// A sub-block with factors of its own.
  void buildScaled(Emitter &b, Value at, Value column, ArrayRef<Value> scales,
                   ArrayRef<Value> minima, SmallVectorImpl<Value> &sums) {
    bool isSigned = product.format == QuantFormat::Q6_K;
    SmallVector<Value> ownScales, ownMinima;
    for (int64_t u = 0; u < units; ++u) {
      ownScales.push_back(
          arith::MulFOp::create(b, scales[u], loadFactors(b, at, u, isSigned)));
      if (!facts.minima)
        continue;
      Value behind = b.add(at, b.index(kPackedRows));
      Value product = arith::MulFOp::create(
          b, minima[u], loadFactors(b, behind, u, /*isSigned=*/false));
      ownMinima.push_back(arith::NegFOp::create(b, product));
    }
    int64_t factors = facts.minima ? 2 : 1;
    buildSubBlock(b, b.add(at, b.index(factors * kPackedRows)), column,
                  ownScales, ownMinima, sums);
  }

  /// The values at `at`, which stand for the columns from `column` on.
  void buildSubBlock(Emitter &b, Value at, Value column, ArrayRef<Value> scales,
                     ArrayRef<Value> minima, SmallVectorImpl<Value> &sums) {
    int64_t bias =
        IntegerDot(product.dot, 1, facts.largest, facts.isSigned).bias();
    int64_t offset = facts.offset + bias;
    Value group = b.div(column, b.index(kActivationGroup));
    auto ofGroup = [&](Value facts, int64_t row) -> Value {
      return memref::LoadOp::create(b, facts,
                                    ValueRange{places[row].rounded, group});
    };
    VectorType f32 = vectorOf(b.getF32Type()), i32 = vectorOf(b.getI32Type());
    for (int64_t u = 0; u < units; ++u) {
      IntegerDot dot(product.dot, rows, facts.largest, facts.isSigned);
      forEachPart(b, at, u, [&](Value weights, int64_t element) {
        Value where = b.add(column, b.index(element));
        dot.add(b, b.getLoc(), weights, [&](int64_t row) {
          return fourOf(b, places[row].rounded, where);
        });
      });
      for (int64_t r = 0; r < rows; ++r) {
        Value &sum = sums[u * rows + r];
        Value integers = dot.take(b, b.getLoc(), r);
        if (offset) {
          Value above =
              b.mul(sumOf(b, r, column, group),
                    arith::ConstantIntOp::create(b, offset, 32).getResult());
          integers = b.sub(integers, spread(b, i32, above));
        }
        Value numbers = arith::SIToFPOp::create(b, f32, integers);
        Value scale = arith::MulFOp::create(
            b, scales[u], spread(b, f32, ofGroup(product.x.scales, r)));
        sum = math::FmaOp::create(b, numbers, scale, sum);
        if (!facts.minima)
          continue;
        Value rowSum = spread(b, f32, ofGroup(product.x.scaledSums, r));
        sum = math::FmaOp::create(b, minima[u], rowSum, sum);
      }
    }
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

  /// Calls `use` with each vector of values of a sub-block and the place of its
  /// first element in it.
  void forEachPart(Emitter &b, Value at, int64_t unit,
                   llvm::function_ref<void(Value, int64_t)> use) {
    VectorType bytes = vectorOf(b.getI8Type(), 4);
    auto part = [&](int64_t j) {
      return load(b, b.add(at, b.index(4 * kPackedRows * j)), unit, 4);
    };
    if (facts.isSigned) {
      for (int64_t j = 0; j < 8; ++j)
        use(part(j), 4 * j);
      return;
    }
    int64_t half = facts.elements / 2;
    auto masked = [&](Value value, int64_t shift, int64_t mask) -> Value {
      if (shift)
        value = arith::ShRUIOp::create(b, value, splatInt(b, bytes, shift));
      return arith::AndIOp::create(b, value, splatInt(b, bytes, mask));
    };
    Value upper;
    if (product.format == QuantFormat::Q6_K)
      upper = part(half / 4);
    for (int64_t j = 0; j < half / 4; ++j) {
      Value both = part(j);
      for (int64_t which : {0, 1}) {
        Value low = which
                        ? arith::ShRUIOp::create(b, both, splatInt(b, bytes, 4))
                              .getResult()
                        : masked(both, 0, 15);
        int64_t element = which * half + 4 * j;
        if (upper) {
          Value high = masked(upper, element / 2, 3);
          high = arith::ShLIOp::create(b, high, splatInt(b, bytes, 4));
          low = arith::OrIOp::create(b, low, high);
        }
        use(low, element);
      }
    }
  }

  const BlockProduct &product;
  FormatFacts facts;
  int64_t group; // elements of a row in a block
  Value block;
  ArrayRef<TileRow> places;
  int64_t rows, firstLane, units, lanes;
  Value inner; // the block of columns
};
} // namespace

void kv::buildBlockTile(OpBuilder &builder, Location loc,
                        const BlockProduct &product, Value block, Value column,
                        const TileRows &rows) {
  int64_t lanes = dotLanes(product.dot);
  // The values of a sub-block stay in registers while the rows pass by: many
  // rows take few lanes. A row alone has all lanes in one pass, so that the
  // sums of one vector hide the latency of another's.
  rows.forEachTile(
      builder, loc, {8, 4, 2, 1},
      [&](OpBuilder &nested, int64_t height, Value row) {
        Emitter b(loc, nested);
        SmallVector<TileRow> places;
        for (int64_t r = 0; r < height; ++r)
          places.push_back(rows.at(b, loc, r ? b.add(row, b.index(r)) : row));
        int64_t units = height == 1 ? kPackedRows / lanes : 1;
        for (int64_t lane = 0; lane < kPackedRows; lane += units * lanes)
          TileBuilder(product, block, places, lane, units).build(b, column);
      });
}
