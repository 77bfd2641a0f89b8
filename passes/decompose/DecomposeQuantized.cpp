//===- DecomposeQuantized.cpp - The plain meaning of quantised weights ----===//

#include "DecomposeQuantized.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/common/PackedBlocks.h"

using namespace mlir;
using namespace kv;

namespace {
/// Row `lane` of the packed block [block, inner] of a weight.
struct BlockRow {
  QuantFormat format;
  Value weight, block, inner, lane;

  Value byte(Emitter &b, Value at) const {
    return tensor::ExtractOp::create(b, weight, ValueRange{block, inner, at});
  }
  /// Byte `at` of those that each row has one of, unsigned, as i32.
  Value number(Emitter &b, Value at) const {
    return arith::ExtUIOp::create(b, b.getI32Type(), byte(b, b.add(at, lane)));
  }
  Value signedNumber(Emitter &b, Value at) const {
    return arith::ExtSIOp::create(b, b.getI32Type(), byte(b, b.add(at, lane)));
  }
  /// A number of the header, of which row 0 has its own at `at`.
  Value header(Emitter &b, FloatType type, int64_t at) const {
    unsigned width = type.getWidth();
    Type integer = b.getIntegerType(width);
    Value place = b.add(b.index(at), b.mul(lane, b.index(width / 8))), bits;
    for (unsigned shift = 0; shift < width; shift += 8) {
      Value part = arith::ExtUIOp::create(
          b, integer, byte(b, b.add(place, b.index(shift / 8))));
      part = arith::ShLIOp::create(
          b, part, arith::ConstantIntOp::create(b, shift, width));
      bits = bits ? arith::OrIOp::create(b, bits, part).getResult() : part;
    }
    return b.toF32(arith::BitcastOp::create(b, type, bits));
  }
  Value half(Emitter &b, int64_t at) const {
    return header(b, b.getF16Type(), at);
  }
};

/// Elements of a sub-block are scale * value + minimum. The minimum is null if
/// the format has none.
struct Factors {
  Value scale, minimum;
};

Value toFloat(Emitter &b, Value integer) {
  return arith::SIToFPOp::create(b, b.getF32Type(), integer);
}

/// Elements of a row in a sub-block; bytes of `format` before the first one,
/// from one to the next, and of the factors at its head.
struct SubBlocks {
  int64_t elements, header, bytes, factors;
};

SubBlocks subBlocksOf(QuantFormat format) {
  switch (format) {
  case QuantFormat::Q8_0:
    return {32, 2 * kPackedRows, 512, 0};
  case QuantFormat::Q4_0:
    return {32, 2 * kPackedRows, 256, 0};
  case QuantFormat::Q4_1:
    return {32, 4 * kPackedRows, 256, 0};
  case QuantFormat::Q4_K:
    return {32, 4 * kPackedRows, 288, 2 * kPackedRows};
  case QuantFormat::Q6_K:
    return {16, 2 * kPackedRows, 208, kPackedRows};
  case QuantFormat::I8:
  case QuantFormat::F8E4M3:
  case QuantFormat::F8E5M2:
    return {32, 4 * kPackedRows, 512, 0};
  }
  llvm_unreachable("a format of QuantFormats.def");
}

/// Where sub-block `s` begins.
Value startOf(Emitter &b, QuantFormat format, Value s) {
  SubBlocks sub = subBlocksOf(format);
  return b.add(b.index(sub.header), b.mul(s, b.index(sub.bytes)));
}

Factors factorsOf(Emitter &b, const BlockRow &row, Value s) {
  if (row.format == QuantFormat::I8 || hasFloats(row.format))
    return {row.header(b, b.getF32Type(), 0), {}};
  Value scale = row.half(b, 0), start = startOf(b, row.format, s);
  switch (row.format) {
  case QuantFormat::Q8_0:
  case QuantFormat::Q4_0:
    return {scale, {}};
  case QuantFormat::Q4_1:
    return {scale, row.half(b, 2 * kPackedRows)};
  case QuantFormat::Q4_K: {
    Value minimum = row.half(b, 2 * kPackedRows);
    Value lowest = toFloat(b, row.number(b, b.add(start, b.index(16))));
    return {
        arith::MulFOp::create(b, scale, toFloat(b, row.number(b, start))),
        arith::NegFOp::create(b, arith::MulFOp::create(b, minimum, lowest))};
  }
  case QuantFormat::Q6_K:
    return {
        arith::MulFOp::create(b, scale, toFloat(b, row.signedNumber(b, start))),
        {}};
  default:
    break;
  }
  llvm_unreachable("a format of QuantFormats.def");
}

/// Element `e` of sub-block `s` as an i32, its constant offset taken off; bytes
/// of floats as they are.
Value valueOf(Emitter &b, const BlockRow &row, Value s, Value e) {
  QuantFormat format = row.format;
  SubBlocks sub = subBlocksOf(format);
  int64_t elements = sub.elements;
  Value start = b.add(startOf(b, format, s), b.index(sub.factors));
  Value quarter = b.index(4);
  // Part j, byte q of the row.
  auto place = [&](Value j, Value q) {
    Value ofRow = b.add(b.mul(row.lane, quarter), q);
    return b.add(start, b.add(b.mul(j, b.index(4 * kPackedRows)), ofRow));
  };
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(b, value, 32);
  };
  auto unsignedAt = [&](Value at) -> Value {
    return arith::ExtUIOp::create(b, b.getI32Type(), row.byte(b, at));
  };
  Value q = b.rem(e, quarter);
  if (format == QuantFormat::Q8_0 || format == QuantFormat::I8 ||
      hasFloats(format))
    return arith::ExtSIOp::create(b, b.getI32Type(),
                                  row.byte(b, place(b.div(e, quarter), q)));
  Value half = b.index(elements / 2);
  Value within = b.rem(e, half);
  Value shift = b.mul(b.asI32(b.div(e, half)), constant(4));
  Value both = unsignedAt(place(b.div(within, quarter), q));
  Value low = b.both(arith::ShRUIOp::create(b, both, shift), constant(15));
  switch (format) {
  case QuantFormat::Q4_0:
    return b.sub(low, constant(8));
  case QuantFormat::Q6_K: {
    Value upper = unsignedAt(place(b.index(elements / 8), q));
    Value from = b.mul(b.asI32(b.div(e, quarter)), constant(2));
    Value high = b.both(arith::ShRUIOp::create(b, upper, from), constant(3));
    Value all = b.add(low, b.mul(high, constant(16)));
    return b.sub(all, constant(32));
  }
  default:
    return low;
  }
}

/// The value of an element as f32.
Value floatOf(Emitter &b, const BlockRow &row, Value s, Value e) {
  Value value = valueOf(b, row, s, e);
  if (!hasFloats(row.format))
    return toFloat(b, value);
  Value byte = arith::TruncIOp::create(b, b.getI8Type(), value);
  return b.toF32(arith::BitcastOp::create(b, floatType(b, row.format), byte));
}
} // namespace

//===----------------------------------------------------------------------===//
// kv.dequantize
//===----------------------------------------------------------------------===//

static SmallVector<Value> decompose(Emitter &b, DequantizeOp op) {
  QuantFormat format = *op.getFormat();
  auto type = op.getResult().getType();
  auto weight = cast<ShapedType>(op.getWeight().getType());
  SmallVector<Value> sizes;
  if (type.isDynamicDim(0))
    sizes.push_back(b.dim(op.getRows(), 0));
  Value empty = tensor::EmptyOp::create(b, type, sizes);
  int64_t blockGroup = sizesOf(format).of(type.getDimSize(1)).group;
  int64_t elements = subBlocksOf(format).elements;
  AffineMap element = b.getMultiDimIdentityMap(2);
  SmallVector<utils::IteratorType> parallel(2, utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      b, type, ValueRange(), empty, element, parallel,
      [&](OpBuilder &nested, Location loc, ValueRange) {
        Emitter b(loc, nested);
        Value row = linalg::IndexOp::create(b, 0);
        Value column = linalg::IndexOp::create(b, 1);
        if (op.getRows()) {
          Value number = tensor::ExtractOp::create(b, op.getRows(), row);
          row = b.nearestIndex(number, weight.getDimSize(0) * kPackedRows);
        }
        Value group = b.index(blockGroup);
        Value width = b.index(kPackedRows);
        BlockRow at{format, op.getWeight(), b.div(row, width),
                    b.div(column, group), b.rem(row, width)};
        Value within = b.rem(column, group), each = b.index(elements);
        Value s = b.div(within, each);
        Factors factors = factorsOf(b, at, s);
        Value value = floatOf(b, at, s, b.rem(within, each));
        // Exact, so that the sum is rounded once.
        value = arith::MulFOp::create(b, factors.scale, value);
        if (factors.minimum)
          value = arith::AddFOp::create(b, value, factors.minimum);
        linalg::YieldOp::create(b, value);
      });
  return {generic.getResult(0)};
}

void kv::attachQuantizedDecompositions(MLIRContext *context) {
  DequantizeOp::attachInterface<Decomposition<DequantizeOp, decompose>>(
      *context);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

RoundedRows kv::roundRows(Emitter &b, Value x) {
  auto type = cast<RankedTensorType>(x.getType());
  int64_t rows = type.getDimSize(0), depth = type.getDimSize(1);
  int64_t groups = depth / kActivationGroup;
  SmallVector<Value> sizes;
  if (type.isDynamicDim(0))
    sizes.push_back(b.dim(x, 0));
  Type f32 = b.getF32Type();
  auto groupType = RankedTensorType::get({rows, groups}, f32);
  auto largestEmpty = tensor::EmptyOp::create(b, groupType, sizes);
  Value zero =
      linalg::FillOp::create(b, b.constant(f32, 0), largestEmpty.getResult())
          .getResult(0);
  AffineExpr t, g, i;
  bindDims(b.getContext(), t, g, i);
  AffineMap element =
      AffineMap::get(3, 0, {t, g * kActivationGroup + i}, b.getContext());
  AffineMap ofGroup = AffineMap::get(3, 0, {t, g}, b.getContext());
  // A dimension of the sizes alone: the map of x cannot be inverted.
  Value sizesOnly = tensor::EmptyOp::create(
      b, RankedTensorType::get({kActivationGroup}, f32), ValueRange());
  AffineMap within = AffineMap::get(3, 0, {i}, b.getContext());
  using Kind = utils::IteratorType;
  auto largest = linalg::GenericOp::create(
      b, groupType, ValueRange{x, sizesOnly}, zero,
      ArrayRef<AffineMap>{element, within, ofGroup},
      ArrayRef<Kind>{Kind::parallel, Kind::parallel, Kind::reduction},
      [&](OpBuilder &nested, Location loc, ValueRange args) {
        Emitter b(loc, nested);
        Value magnitude = math::AbsFOp::create(b, args[0]);
        Value most = arith::MaximumFOp::create(b, args[2], magnitude);
        linalg::YieldOp::create(b, most);
      });
  auto scales = linalg::GenericOp::create(
      b, groupType, largest.getResults(), largestEmpty.getResult(),
      SmallVector<AffineMap>(2, b.getMultiDimIdentityMap(2)),
      ArrayRef<Kind>{Kind::parallel, Kind::parallel},
      [&](OpBuilder &nested, Location loc, ValueRange args) {
        Emitter b(loc, nested);
        Value scale = arith::DivFOp::create(b, args[0], b.constant(f32, 127));
        linalg::YieldOp::create(b, scale);
      });
  auto bytes = RankedTensorType::get({rows, depth}, b.getI8Type());
  Value empty = tensor::EmptyOp::create(b, bytes, sizes);
  auto values = linalg::GenericOp::create(
      b, bytes, x, empty,
      SmallVector<AffineMap>(2, b.getMultiDimIdentityMap(2)),
      ArrayRef<Kind>{Kind::parallel, Kind::parallel},
      [&](OpBuilder &nested, Location loc, ValueRange args) {
        Emitter b(loc, nested);
        Value row = linalg::IndexOp::create(b, 0);
        Value group =
            b.div(linalg::IndexOp::create(b, 1), b.index(kActivationGroup));
        Value most = tensor::ExtractOp::create(b, largest.getResult(0),
                                               ValueRange{row, group});
        Value limit = b.constant(f32, 127);
        Value regular = arith::CmpFOp::create(b, arith::CmpFPredicate::OGE,
                                              most, b.constant(f32, 1e-30));
        Value factor = b.select(regular, arith::DivFOp::create(b, limit, most),
                                b.constant(f32, 0));
        Value scaled = arith::MulFOp::create(b, args[0], factor);
        scaled = arith::MinNumFOp::create(b, scaled, limit);
        scaled = arith::MaxNumFOp::create(b, scaled, b.constant(f32, -127));
        // Rounds to an integer, ties to even, in the low bits.
        Value shifted =
            arith::AddFOp::create(b, scaled, b.constant(f32, 12582912));
        Value bits = arith::BitcastOp::create(b, b.getI32Type(), shifted);
        Value byte = arith::TruncIOp::create(b, b.getI8Type(), bits);
        linalg::YieldOp::create(b, byte);
      });
  return {values.getResult(0), scales.getResult(0)};
}

/// carried = body(i, carried) for i in [0, count).
static SmallVector<Value> repeat(
    Emitter &b, int64_t count, ValueRange initial,
    llvm::function_ref<SmallVector<Value>(Emitter &, Value, ValueRange)> body) {
  auto loop = scf::ForOp::create(
      b, b.index(0), b.index(count), b.index(1), initial,
      [&](OpBuilder &nested, Location loc, Value i, ValueRange carried) {
        Emitter b(loc, nested);
        scf::YieldOp::create(b, body(b, i, carried));
      });
  return loop.getResults();
}

/// `sum` plus the products of the sub-block at `s` of block `inner`.
static Value addSubBlock(Emitter &b, const RoundedRows &x, Value t,
                         const BlockRow &row, int64_t group, Value s,
                         Value sum) {
  int64_t elements = subBlocksOf(row.format).elements;
  Value column =
      b.add(b.mul(row.inner, b.index(group)), b.mul(s, b.index(elements)));
  Value place = b.div(column, b.index(kActivationGroup));
  Value scale = tensor::ExtractOp::create(b, x.scales, ValueRange{t, place});
  Factors factors = factorsOf(b, row, s);
  auto numberAt = [&](Emitter &b, Value e) -> Value {
    Value byte =
        tensor::ExtractOp::create(b, x.values, ValueRange{t, b.add(column, e)});
    return arith::ExtSIOp::create(b, b.getI32Type(), byte);
  };
  if (hasFloats(row.format)) {
    // Two chains, of every second element each.
    Value none = b.constant(b.getF32Type(), 0);
    SmallVector<Value> chains =
        repeat(b, elements / 2, {none, none},
               [&](Emitter &b, Value i, ValueRange carried) {
                 SmallVector<Value> next;
                 for (int64_t which : {0, 1}) {
                   Value e = b.add(b.mul(i, b.index(2)), b.index(which));
                   next.push_back(math::FmaOp::create(
                       b, floatOf(b, row, s, e), toFloat(b, numberAt(b, e)),
                       carried[which]));
                 }
                 return next;
               });
    return math::FmaOp::create(
        b, arith::AddFOp::create(b, chains[0], chains[1]),
        arith::MulFOp::create(b, factors.scale, scale), sum);
  }
  Value zero = arith::ConstantIntOp::create(b, 0, 32);
  SmallVector<Value> totals = repeat(
      b, elements, {zero, zero},
      [&](Emitter &b, Value e, ValueRange carried) -> SmallVector<Value> {
        Value number = numberAt(b, e);
        Value product = b.mul(valueOf(b, row, s, e), number);
        return {b.add(carried[0], product), b.add(carried[1], number)};
      });
  sum =
      math::FmaOp::create(b, toFloat(b, totals[0]),
                          arith::MulFOp::create(b, factors.scale, scale), sum);
  if (!factors.minimum)
    return sum;
  Value rowSum = arith::MulFOp::create(b, scale, toFloat(b, totals[1]));
  return math::FmaOp::create(b, factors.minimum, rowSum, sum);
}

Value kv::multiplyBlocks(
    Emitter &b, const RoundedRows &x, Value weight, QuantFormat format,
    Value empty,
    llvm::function_ref<std::pair<Value, Value>(Emitter &, ValueRange)> rowsOf) {
  auto type = cast<RankedTensorType>(empty.getType());
  auto packed = cast<ShapedType>(weight.getType());
  int64_t blocks = packed.getDimSize(1);
  int64_t group = sizesOf(format).of(depthOf(format, packed)).group;
  int64_t subBlocks = group / subBlocksOf(format).elements;
  using Kind = utils::IteratorType;
  auto generic = linalg::GenericOp::create(
      b, type, ValueRange(), empty, b.getMultiDimIdentityMap(type.getRank()),
      SmallVector<Kind>(type.getRank(), Kind::parallel),
      [&](OpBuilder &nested, Location loc, ValueRange) {
        Emitter b(loc, nested);
        SmallVector<Value> at;
        for (int64_t i = 0; i < type.getRank(); ++i)
          at.push_back(linalg::IndexOp::create(b, i));
        auto [row, n] = rowsOf(b, at);
        Value t = row; // A structured binding cannot be captured.
        Value width = b.index(kPackedRows);
        Value block = b.div(n, width), lane = b.rem(n, width);
        Value zero = b.constant(b.getF32Type(), 0);
        SmallVector<Value> sum = repeat(
            b, blocks, zero, [&](Emitter &b, Value inner, ValueRange carried) {
              BlockRow row{format, weight, block, inner, lane};
              return repeat(
                  b, subBlocks, carried,
                  [&](Emitter &b, Value s,
                      ValueRange carried) -> SmallVector<Value> {
                    return {addSubBlock(b, x, t, row, group, s, carried[0])};
                  });
            });
        linalg::YieldOp::create(b, sum[0]);
      });
  return generic.getResult(0);
}
