//===- ExpandFloat8.cpp - Conversions of 8-bit floats ---------------------===//
//
// LLVM has no 8-bit floats, so conversions from and to them become integer
// arithmetic on scalars or vectors. The results have the same bits as
// Elements.h of the reference kernels, but are not clamped: a value that is too
// large becomes an infinity or a NaN, as arith defines it.
//
//===----------------------------------------------------------------------===//

#include "ExpandFloat8.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace {
/// f8E4M3FN or f8E5M2.
struct Format {
  int mantissa, bias;
  bool hasInfinity;

  int shift() const { return 23 - mantissa; }
  /// The bits of the smallest magnitude that is not finite.
  int64_t firstSpecial() const { return hasInfinity ? 0x7c : 0x7f; }
};

std::optional<Format> formatOf(Type type) {
  Type element = getElementTypeOrSelf(type);
  if (isa<Float8E4M3FNType>(element))
    return Format{3, 7, false};
  if (isa<Float8E5M2Type>(element))
    return Format{2, 15, true};
  return std::nullopt;
}

/// Builds i32 arithmetic on values of one shape.
class Bits : public ImplicitLocOpBuilder {
public:
  Bits(Operation *op, PatternRewriter &rewriter)
      : ImplicitLocOpBuilder(op->getLoc(), rewriter),
        shaped(dyn_cast<ShapedType>(op->getResult(0).getType())) {}

  Type like(Type element) { return shaped ? shaped.clone(element) : element; }
  Value constant(uint32_t value) {
    Type type = like(getI32Type());
    auto attr = getI32IntegerAttr(static_cast<int32_t>(value));
    if (shaped)
      return arith::ConstantOp::create(
          *this,
          DenseElementsAttr::get(cast<ShapedType>(type), Attribute(attr)));
    return arith::ConstantOp::create(*this, attr);
  }
  Value asFloat(Value bits) {
    return arith::BitcastOp::create(*this, like(getF32Type()), bits);
  }
  Value asBits(Value f32) {
    return arith::BitcastOp::create(*this, like(getI32Type()), f32);
  }
  Value band(Value a, uint32_t b) {
    return arith::AndIOp::create(*this, a, constant(b));
  }
  Value bor(Value a, Value b) { return arith::OrIOp::create(*this, a, b); }
  Value shl(Value a, int b) {
    return arith::ShLIOp::create(*this, a, constant(b));
  }
  Value shr(Value a, int b) {
    return arith::ShRUIOp::create(*this, a, constant(b));
  }
  Value add(Value a, Value b) { return arith::AddIOp::create(*this, a, b); }
  Value atLeast(Value a, uint32_t b) {
    return arith::CmpIOp::create(*this, arith::CmpIPredicate::uge, a,
                                 constant(b));
  }
  Value select(Value condition, Value a, Value b) {
    return arith::SelectOp::create(*this, condition, a, b);
  }

private:
  ShapedType shaped;
};

struct ExpandExtF : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::ExtFOp op,
                                PatternRewriter &rewriter) const override {
    std::optional<Format> format = formatOf(op.getIn().getType());
    if (!format || !getElementTypeOrSelf(op.getType()).isF32())
      return failure();
    Bits b(op, rewriter);
    Value byte = arith::BitcastOp::create(b, b.like(b.getI8Type()), op.getIn());
    Value bits = arith::ExtUIOp::create(b, b.like(b.getI32Type()), byte);
    Value sign = b.shl(b.band(bits, 0x80), 24);
    Value rest = b.band(bits, 0x7f);
    Value shifted = b.shl(rest, format->shift());
    // An exact product, which also normalises subnormals.
    Value rebias = b.constant(uint32_t(127 + 127 - format->bias) << 23);
    Value finite = b.asBits(
        arith::MulFOp::create(b, b.asFloat(shifted), b.asFloat(rebias)));
    Value special = format->hasInfinity ? b.bor(shifted, b.constant(0x7f800000))
                                        : b.constant(0x7fc00000);
    Value magnitude =
        b.select(b.atLeast(rest, format->firstSpecial()), special, finite);
    rewriter.replaceOp(op, b.asFloat(b.bor(sign, magnitude)));
    return success();
  }
};

struct ExpandTruncF : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    std::optional<Format> format = formatOf(op.getType());
    if (!format || !getElementTypeOrSelf(op.getIn().getType()).isF32() ||
        (op.getRoundingmode() &&
         *op.getRoundingmode() != arith::RoundingMode::to_nearest_even))
      return failure();
    Bits b(op, rewriter);
    int shift = format->shift();
    Value bits = b.asBits(op.getIn());
    Value sign = b.band(b.shr(bits, 24), 0x80);
    Value magnitude = b.band(bits, 0x7fffffff);
    // Normal numbers: the exponent's bias is changed, and the mantissa rounded
    // to nearest even.
    uint32_t rebias = uint32_t(127 - format->bias) << 23;
    Value odd = b.band(b.shr(magnitude, shift), 1);
    Value rounded = b.add(
        b.add(magnitude, b.constant(((1u << (shift - 1)) - 1) - rebias)), odd);
    Value normal = b.shr(rounded, shift);
    // Numbers larger than the largest one become the value after it.
    Value top = b.constant(format->firstSpecial());
    normal = arith::MinUIOp::create(b, normal, top);
    // Subnormal numbers: adding this constant rounds at their last bit.
    Value magic = b.constant(uint32_t(128 - format->bias + shift) << 23);
    Value sum = b.asBits(
        arith::AddFOp::create(b, b.asFloat(magnitude), b.asFloat(magic)));
    Value subnormal = arith::SubIOp::create(b, sum, magic);
    Value result =
        b.select(b.atLeast(magnitude, uint32_t(128 - format->bias) << 23),
                 normal, subnormal);
    result =
        b.select(b.atLeast(magnitude, 0x7f800001), b.constant(0x7f), result);
    Value byte =
        arith::TruncIOp::create(b, b.like(b.getI8Type()), b.bor(sign, result));
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, op.getType(), byte);
    return success();
  }
};
} // namespace

void kv::populateExpandFloat8Patterns(RewritePatternSet &patterns) {
  patterns.add<ExpandExtF, ExpandTruncF>(patterns.getContext());
}
