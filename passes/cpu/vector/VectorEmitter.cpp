//===- VectorEmitter.cpp - Vector code on buffers -------------------------===//

#include "VectorEmitter.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace kv;

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

using LoopBody =
    function_ref<SmallVector<Value>(VectorEmitter &, Value, ValueRange)>;

static scf::ForOp makeLoop(VectorEmitter &b, Value low, Value high,
                           int64_t step, ValueRange initial, LoopBody body) {
  return scf::ForOp::create(
      b, low, high, b.index(step), initial,
      [&](OpBuilder &nested, Location loc, Value i, ValueRange carried) {
        VectorEmitter b(loc, nested);
        scf::YieldOp::create(b, body(b, i, carried));
      });
}

SmallVector<Value> VectorEmitter::loop(Value low, Value high, int64_t step,
                                       ValueRange initial, LoopBody body) {
  scf::ForOp made = makeLoop(*this, low, high, step, initial, body);
  return llvm::to_vector_of<Value>(made.getResults());
}

SmallVector<Value> VectorEmitter::innerLoop(Value low, Value high, int64_t step,
                                            ValueRange initial, LoopBody body) {
  scf::ForOp made = makeLoop(*this, low, high, step, initial, body);
  auto unroll = LLVM::LoopUnrollAttr::get(
      getContext(), /*disable=*/getBoolAttr(true), /*count=*/{},
      /*runtimeDisable=*/{}, /*full=*/{}, /*followupUnrolled=*/{},
      /*followupRemainder=*/{}, /*followupAll=*/{});
  auto annotation = LLVM::LoopAnnotationAttr::get(
      getContext(), /*disableNonforced=*/{}, /*vectorize=*/{},
      /*interleave=*/{}, unroll, /*unrollAndJam=*/{}, /*licm=*/{},
      /*distribute=*/{}, /*pipeline=*/{}, /*peeled=*/{}, /*unswitch=*/{},
      /*mustProgress=*/{}, /*isVectorized=*/{}, /*startLoc=*/{}, /*endLoc=*/{},
      /*parallelAccesses=*/{});
  // The name that branches of the LLVM dialect have for it: they inherit it.
  made->setAttr("loop_annotation", annotation);
  return llvm::to_vector_of<Value>(made.getResults());
}

void VectorEmitter::forEach(Value low, Value high, int64_t step,
                            function_ref<void(VectorEmitter &, Value)> body) {
  loop(low, high, step, ValueRange(),
       [&](VectorEmitter &b, Value i, ValueRange) -> SmallVector<Value> {
         body(b, i);
         return {};
       });
}

void VectorEmitter::when(Value condition,
                         function_ref<void(VectorEmitter &)> body) {
  scf::IfOp::create(*this, condition, [&](OpBuilder &nested, Location loc) {
    VectorEmitter b(loc, nested);
    body(b);
    scf::YieldOp::create(b);
  });
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

Value VectorEmitter::add(Value a, int64_t b) {
  return b == 0 ? a : Emitter::add(a, index(b));
}

Value VectorEmitter::maximum(Value a, Value b) {
  return arith::MaxUIOp::create(*this, a, b);
}

Value VectorEmitter::clamp(Value a, int64_t low, int64_t high) {
  Value atLeast = arith::MaxSIOp::create(*this, a, index(low));
  return arith::MinSIOp::create(*this, atLeast, index(high));
}

Value VectorEmitter::divideUp(Value a, int64_t b) {
  Value raised = add(a, b - 1);
  return div(raised, index(b));
}

Value VectorEmitter::divideUp(Value a, Value b) {
  Value raised = Emitter::add(a, add(b, -1));
  return div(raised, b);
}

Value VectorEmitter::roundDown(Value a, int64_t multiple) {
  return sub(a, rem(a, index(multiple)));
}

Value VectorEmitter::roundUp(Value a, int64_t multiple) {
  return roundDown(add(a, multiple - 1), multiple);
}

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

VectorType VectorEmitter::floats(int64_t count) {
  return VectorType::get({count}, getF32Type());
}

Value VectorEmitter::splat(Value scalar) {
  return vector::BroadcastOp::create(*this, floats(), scalar);
}

Value VectorEmitter::splat(double value) {
  auto attribute = DenseElementsAttr::get(floats(), static_cast<float>(value));
  return arith::ConstantOp::create(*this, attribute);
}

Value VectorEmitter::zeros(int64_t lanes) {
  return arith::ConstantOp::create(*this, getZeroAttr(floats(lanes)));
}

Value VectorEmitter::like(Value other, double value) {
  auto vector = dyn_cast<VectorType>(other.getType());
  if (!vector)
    return constant(other.getType(), value);
  return arith::ConstantOp::create(
      *this, DenseElementsAttr::get(vector, static_cast<float>(value)));
}

Value VectorEmitter::fma(Value a, Value b, Value c) {
  // Not vector.fma: that becomes fmuladd, which fuses only where the backend
  // likes to.
  return math::FmaOp::create(*this, a, b, c);
}

Value VectorEmitter::times(Value a, Value b) {
  return arith::MulFOp::create(*this, a, b);
}

Value VectorEmitter::plus(Value a, Value b) {
  return arith::AddFOp::create(*this, a, b);
}

Value VectorEmitter::minus(Value a, Value b) {
  return arith::SubFOp::create(*this, a, b);
}

Value VectorEmitter::greaterOf(Value a, Value b) {
  Value greater = arith::CmpFOp::create(*this, arith::CmpFPredicate::OGT, b, a);
  return select(greater, b, a);
}

Value VectorEmitter::isEqual(Value a, double b) {
  return arith::CmpFOp::create(*this, arith::CmpFPredicate::OEQ, a, like(a, b));
}

Value VectorEmitter::powerOfTwo(Value x) {
  // x = n + f with an integer n and |f| <= 1/2. 2^f is a polynomial, the least
  // relative error of its degree with the constant term 1.
  constexpr double kTerms[] = {0.00015353361959569156,
                               0.0013398875016719103,
                               0.00961843691766262,
                               0.055503323674201965,
                               0.24022647738456726,
                               0.6931471824645996,
                               1.0};
  Value least = like(x, -126);
  Value isZero =
      arith::CmpFOp::create(*this, arith::CmpFPredicate::OLT, x, least);
  Value bounded = select(isZero, least, x);
  // Adding 1.5 * 2^23 rounds to an integer, which then stands in the low bits.
  Value magic = like(x, 12582912);
  Value rounded = plus(bounded, magic);
  Value f = minus(bounded, minus(rounded, magic));
  Value power = like(x, kTerms[0]);
  for (double term : ArrayRef(kTerms).drop_front())
    power = fma(power, f, like(x, term));

  Type bitsType = getI32Type();
  auto vector = dyn_cast<VectorType>(x.getType());
  if (vector)
    bitsType = vector.clone(bitsType);
  auto bits = [&](int32_t value) -> Value {
    auto one = getI32IntegerAttr(value);
    if (!vector)
      return arith::ConstantOp::create(*this, one);
    return arith::ConstantOp::create(
        *this,
        DenseElementsAttr::get(cast<ShapedType>(bitsType), Attribute(one)));
  };
  Value n = arith::BitcastOp::create(*this, bitsType, rounded);
  Value exponent = arith::ShLIOp::create(*this, n, bits(23));
  exponent = arith::AddIOp::create(*this, exponent, bits(127 << 23));
  Value scale = arith::BitcastOp::create(*this, x.getType(), exponent);
  Value product = times(power, scale);
  return select(isZero, like(x, 0), product);
}

//===----------------------------------------------------------------------===//
// Lanes
//===----------------------------------------------------------------------===//

Value VectorEmitter::shuffle(Value a, Value b, ArrayRef<int64_t> lanes) {
  return vector::ShuffleOp::create(*this, a, b, lanes);
}

static int64_t lanesOf(Value vector) {
  return cast<VectorType>(vector.getType()).getDimSize(0);
}

/// The first half (`which` is 0) or the second one of each group of `width`
/// lanes, in one vector or two.
Value VectorEmitter::halves(ArrayRef<Value> vectors, int64_t width,
                            int64_t which) {
  int64_t count = lanesOf(vectors[0]);
  SmallVector<int64_t> lanes;
  for (int64_t v = 0, e = vectors.size(); v < e; ++v)
    for (int64_t group = 0; group < count; group += width)
      for (int64_t i = 0; i < width / 2; ++i)
        lanes.push_back(v * count + group + which * (width / 2) + i);
  return shuffle(vectors.front(), vectors.back(), lanes);
}

Value VectorEmitter::sumLanes(ArrayRef<Value> vectors) {
  assert(llvm::isPowerOf2_64(vectors.size()) &&
         static_cast<int64_t>(vectors.size()) <= lanesOf(vectors.front()));
  SmallVector<Value> sums(vectors);
  for (int64_t width = lanesOf(vectors.front()); width > 1; width /= 2) {
    // Two vectors of partial sums become one as long as there are two.
    int64_t step = sums.size() > 1 ? 2 : 1;
    SmallVector<Value> next;
    for (int64_t i = 0, e = sums.size(); i < e; i += step) {
      ArrayRef<Value> some = ArrayRef(sums).slice(i, step);
      Value lower = halves(some, width, 0);
      Value upper = halves(some, width, 1);
      next.push_back(plus(lower, upper));
    }
    sums = std::move(next);
  }
  return sums.front();
}

Value VectorEmitter::sumLanes(Value vector) {
  return vector::ExtractOp::create(*this, sumLanes(ArrayRef(vector)),
                                   ArrayRef<int64_t>{0});
}

Value VectorEmitter::greatestLane(Value vector) {
  for (int64_t width = kLanes; width > 1; width /= 2) {
    Value lower = halves(vector, width, 0);
    Value upper = halves(vector, width, 1);
    vector = greaterOf(lower, upper);
  }
  return vector::ExtractOp::create(*this, vector, ArrayRef<int64_t>{0});
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Value VectorEmitter::extent(Value buffer, int64_t dimension) {
  return createOrFold<memref::DimOp>(buffer, dimension);
}

Value VectorEmitter::loadScalar(Value buffer, ValueRange at) {
  return memref::LoadOp::create(*this, buffer, at);
}

void VectorEmitter::storeScalar(Value value, Value buffer, ValueRange at) {
  memref::StoreOp::create(*this, value, buffer, at);
}

Value VectorEmitter::loadIndex(Value buffer, ValueRange at) {
  return arith::IndexCastUIOp::create(*this, getIndexType(),
                                      loadScalar(buffer, at));
}

/// Calls `piece` with the powers of two that `count` lanes consist of, and the
/// lane at which each begins: every machine has such accesses.
static void forPieces(int64_t count,
                      function_ref<void(int64_t, int64_t)> piece) {
  int64_t lane = 0;
  for (int64_t size = kLanes; size > 0; size /= 2)
    if (count & size) {
      piece(lane, size);
      lane += size;
    }
}

static SmallVector<Value> advance(VectorEmitter &b, ValueRange at,
                                  int64_t lanes) {
  SmallVector<Value> place(at);
  place.back() = b.add(place.back(), lanes);
  return place;
}

/// 2^(exponent - 127) of each f8E8M0FNU; 255 is NaN.
Value VectorEmitter::powersOfTwo(Value scales) {
  auto shape = cast<VectorType>(scales.getType());
  VectorType bits = shape.clone(getI32Type());
  auto all = [&](int32_t value) -> Value {
    return arith::ConstantOp::create(
        *this,
        DenseElementsAttr::get(bits, Attribute(getI32IntegerAttr(value))));
  };
  auto where = [&](Value exponent, int32_t value, int32_t result, Value other) {
    Value is = arith::CmpIOp::create(*this, arith::CmpIPredicate::eq, exponent,
                                     all(value));
    return select(is, all(result), other);
  };
  Value bytes =
      arith::BitcastOp::create(*this, shape.clone(getI8Type()), scales);
  Value exponent = arith::ExtUIOp::create(*this, bits, bytes);
  Value power = arith::ShLIOp::create(*this, exponent, all(23));
  power = where(exponent, 0, 0x00400000, power);
  power = where(exponent, 255, 0x7fc00000, power);
  return arith::BitcastOp::create(*this, shape.clone(getF32Type()), power);
}

Value VectorEmitter::loadLanes(Value buffer, ValueRange at, int64_t count,
                               int64_t lanes) {
  Type element = getElementTypeOrSelf(buffer.getType());
  auto load = [&](int64_t lane, int64_t size) -> Value {
    Value loaded =
        vector::LoadOp::create(*this, VectorType::get({size}, element), buffer,
                               advance(*this, at, lane));
    if (element.isF32())
      return loaded;
    if (isa<IntegerType>(element))
      return arith::SIToFPOp::create(*this, floats(size), loaded);
    if (isa<Float8E8M0FNUType>(element))
      return powersOfTwo(loaded);
    return arith::ExtFOp::create(*this, floats(size), loaded);
  };
  if (count == lanes)
    return load(0, lanes);
  Value result = zeros(lanes);
  forPieces(count, [&](int64_t lane, int64_t size) {
    result = vector::InsertStridedSliceOp::create(
        *this, load(lane, size), result, ArrayRef<int64_t>{lane},
        ArrayRef<int64_t>{1});
  });
  return result;
}

Value VectorEmitter::slice(Value vector, int64_t first, int64_t count) {
  if (count == lanesOf(vector))
    return vector;
  return vector::ExtractStridedSliceOp::create(
      *this, vector, ArrayRef<int64_t>{first}, ArrayRef<int64_t>{count},
      ArrayRef<int64_t>{1});
}

void VectorEmitter::storeLanes(Value vector, Value buffer, ValueRange at,
                               int64_t count) {
  Type element = getElementTypeOrSelf(buffer.getType());
  forPieces(count, [&](int64_t lane, int64_t size) {
    Value piece = slice(vector, lane, size);
    if (!element.isF32())
      piece = arith::TruncFOp::create(*this, VectorType::get({size}, element),
                                      piece);
    vector::StoreOp::create(*this, piece, buffer, advance(*this, at, lane));
  });
}

Value VectorEmitter::stack(ArrayRef<int64_t> shape, Type element) {
  return memref::AllocaOp::create(*this, MemRefType::get(shape, element),
                                  getI64IntegerAttr(64));
}
