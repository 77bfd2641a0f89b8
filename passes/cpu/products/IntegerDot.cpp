//===- IntegerDot.cpp - Sums of products of bytes -------------------------===//

#include "IntegerDot.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace kv;

std::optional<DotKind> kv::symbolizeDotKind(StringRef name) {
  return llvm::StringSwitch<std::optional<DotKind>>(name)
      .Case("generic", DotKind::Generic)
      .Case("avx2", DotKind::AVX2)
      .Case("avx512", DotKind::AVX512)
      .Case("vnni", DotKind::VNNI)
      .Case("amx", DotKind::AMX)
      .Default(std::nullopt);
}

static Value splat(OpBuilder &b, Location loc, VectorType type, int64_t value) {
  return arith::ConstantOp::create(
      b, loc,
      DenseElementsAttr::get(type, APInt(type.getElementTypeBitWidth(), value,
                                         /*isSigned=*/true)));
}

static Value intrinsic(OpBuilder &b, Location loc, StringRef name, Type result,
                       ValueRange operands) {
  return LLVM::CallIntrinsicOp::create(b, loc, result, b.getStringAttr(name),
                                       operands)
      .getResult(0);
}

static VectorType vectorOf(OpBuilder &b, int64_t lanes, unsigned bits) {
  return VectorType::get({lanes}, b.getIntegerType(bits));
}

/// `values` with its sign changed where `weights` is negative, 0 or as it is
/// where that is 0: a product with |weights| does not see the difference.
static Value withSignOf(OpBuilder &b, Location loc, DotKind kind, Value values,
                        Value weights) {
  if (kind == DotKind::AVX2)
    return intrinsic(b, loc, "llvm.x86.avx2.psign.b", values.getType(),
                     {values, weights});
  Value zero = splat(b, loc, cast<VectorType>(values.getType()), 0);
  Value negative =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, weights, zero);
  Value minus = arith::SubIOp::create(b, loc, zero, values);
  return arith::SelectOp::create(b, loc, negative, minus, values);
}

/// Products of neighbouring bytes, unsigned times signed, summed in pairs.
static Value multiplyPairs(OpBuilder &b, Location loc, DotKind kind,
                           Value weights, Value values) {
  bool wide = kind == DotKind::AVX512;
  return intrinsic(b, loc,
                   wide ? "llvm.x86.avx512.pmaddubs.w.512"
                        : "llvm.x86.avx2.pmadd.ub.sw",
                   vectorOf(b, 2 * dotLanes(kind), 16), {weights, values});
}

/// Neighbouring i16 summed to i32.
static Value sumPairs(OpBuilder &b, Location loc, DotKind kind, Value pairs) {
  bool wide = kind == DotKind::AVX512;
  Value ones = splat(b, loc, cast<VectorType>(pairs.getType()), 1);
  return intrinsic(
      b, loc, wide ? "llvm.x86.avx512.pmaddw.d.512" : "llvm.x86.avx2.pmadd.wd",
      vectorOf(b, dotLanes(kind), 32), {pairs, ones});
}

/// Each four neighbours of a vector of i32 summed.
static Value sumFours(OpBuilder &b, Location loc, Value products) {
  int64_t lanes = cast<VectorType>(products.getType()).getDimSize(0) / 4;
  Value sum;
  for (int64_t q = 0; q < 4; ++q) {
    SmallVector<int64_t> mask;
    for (int64_t lane = 0; lane < lanes; ++lane)
      mask.push_back(4 * lane + q);
    Value part = vector::ShuffleOp::create(b, loc, products, products, mask);
    sum = sum ? arith::AddIOp::create(b, loc, sum, part).getResult() : part;
  }
  return sum;
}

static Value addTo(OpBuilder &b, Location loc, Value sum, Value more) {
  return sum ? arith::AddIOp::create(b, loc, sum, more).getResult() : more;
}

IntegerDot::IntegerDot(DotKind kind, int64_t rows, int64_t largest,
                       bool isSigned)
    : kind(kind), most(INT16_MAX / (2 * 127 * largest)), isSigned(isSigned),
      sums(rows) {
  assert(kind != DotKind::AMX && "not a vector's instruction");
  assert(most > 0 && "a pair of products does not fit 16 bits");
}

void IntegerDot::add(OpBuilder &b, Location loc, Value weights,
                     llvm::function_ref<Value(int64_t)> elements) {
  int64_t lanes = dotLanes(kind);
  auto bytes = cast<VectorType>(weights.getType());
  Value signs = weights;
  if (kind == DotKind::Generic) {
    VectorType wide = vectorOf(b, 4 * lanes, 32);
    weights = isSigned ? arith::ExtSIOp::create(b, loc, wide, weights).getOut()
                       : arith::ExtUIOp::create(b, loc, wide, weights).getOut();
  } else if (isSigned) {
    // The magnitude of the most negative number is right as an unsigned number.
    weights =
        kind == DotKind::VNNI
            ? arith::XOrIOp::create(b, loc, weights, splat(b, loc, bytes, -128))
                  .getResult()
            : math::AbsIOp::create(b, loc, weights).getResult();
  }
  for (auto [row, sum] : llvm::enumerate(sums)) {
    Value four = elements(static_cast<int64_t>(row));
    Value spread =
        vector::BroadcastOp::create(b, loc, vectorOf(b, lanes, 32), four);
    Value values = vector::BitCastOp::create(b, loc, bytes, spread);
    switch (kind) {
    case DotKind::Generic: {
      Value wide = arith::ExtSIOp::create(b, loc, weights.getType(), values);
      Value products = arith::MulIOp::create(b, loc, weights, wide);
      sum.total = addTo(b, loc, sum.total, products);
      break;
    }
    case DotKind::VNNI: {
      VectorType type = vectorOf(b, lanes, 32);
      Value before = sum.total ? sum.total : splat(b, loc, type, 0);
      sum.total = intrinsic(b, loc, "llvm.x86.avx512.vpdpbusd.512", type,
                            {before, weights, values});
      break;
    }
    case DotKind::AVX2:
    case DotKind::AVX512:
      if (isSigned)
        values = withSignOf(b, loc, kind, values, signs);
      sum.pairs = addTo(b, loc, sum.pairs,
                        multiplyPairs(b, loc, kind, weights, values));
      if (++sum.pending == most)
        flush(b, loc, sum);
      break;
    case DotKind::AMX:
      llvm_unreachable("not a vector's instruction");
    }
  }
}

void IntegerDot::flush(OpBuilder &b, Location loc, Sums &sum) {
  if (!sum.pairs)
    return;
  sum.total = addTo(b, loc, sum.total, sumPairs(b, loc, kind, sum.pairs));
  sum.pairs = nullptr;
  sum.pending = 0;
}

Value IntegerDot::take(OpBuilder &b, Location loc, int64_t row) {
  Sums &sum = sums[row];
  flush(b, loc, sum);
  Value total =
      kind == DotKind::Generic ? sumFours(b, loc, sum.total) : sum.total;
  sum = {};
  return total;
}
