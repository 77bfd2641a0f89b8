//===- PackedBlocks.cpp - Reading blocks of a weight ----------------------===//

#include "PackedBlocks.h"

#include "KernelLoops.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace kv;

FormatFacts kv::factsOf(QuantFormat format) {
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
  case QuantFormat::F8E4M3: // whose values are no integers
  case QuantFormat::F8E5M2:
    return {32, 64, 512, 128, /*isSigned=*/true, 0, false};
  }
  llvm_unreachable("a format of QuantFormats.def");
}

FloatType kv::floatType(OpBuilder &b, QuantFormat format) {
  if (format == QuantFormat::F8E4M3)
    return Float8E4M3FNType::get(b.getContext());
  assert(format == QuantFormat::F8E5M2 && "a format of floats");
  return Float8E5M2Type::get(b.getContext());
}

BlockReader::BlockReader(QuantFormat format, Value weight, Value block,
                         int64_t lanes)
    : format(format), facts(factsOf(format)), weight(weight), block(block),
      lanes(lanes) {
  auto packed = cast<ShapedType>(weight.getType());
  group = sizesOf(format).of(depthOf(format, packed)).group;
}

VectorType BlockReader::vectorOf(Type element, int64_t each) const {
  return VectorType::get({each * lanes}, element);
}

/// `each` bytes a lane; `at` is where lane 0 has its.
Value BlockReader::load(Emitter &b, Value inner, Value at, int64_t lane,
                        int64_t each) const {
  return vector::LoadOp::create(
      b, vectorOf(b.getI8Type(), each), weight,
      ValueRange{block, inner, b.add(at, b.index(each * lane))});
}

/// Loads a header: f32 if a row has one, else f16.
Value BlockReader::loadHeader(Emitter &b, Value inner, int64_t at,
                              int64_t lane) const {
  bool single = format == QuantFormat::I8 || hasFloats(format);
  Value bytes = load(b, inner, b.index(at), lane, single ? 4 : 2);
  Type type = single ? b.getF32Type() : b.getF16Type();
  Value numbers = vector::BitCastOp::create(b, vectorOf(type), bytes);
  if (single)
    return numbers;
  return arith::ExtFOp::create(b, vectorOf(b.getF32Type()), numbers);
}

/// Numbers of a sub-block, a byte each.
Value BlockReader::loadFactors(Emitter &b, Value inner, Value at, int64_t lane,
                               bool isSigned) const {
  Value bytes = load(b, inner, at, lane, 1);
  VectorType wide = vectorOf(b.getI32Type());
  Value numbers = isSigned ? arith::ExtSIOp::create(b, wide, bytes).getOut()
                           : arith::ExtUIOp::create(b, wide, bytes).getOut();
  return arith::SIToFPOp::create(b, vectorOf(b.getF32Type()), numbers);
}

BlockFactors BlockReader::header(Emitter &b, Value inner, int64_t lane) const {
  BlockFactors header{loadHeader(b, inner, 0, lane), {}};
  if (facts.minima)
    header.minimum = loadHeader(b, inner, 2 * kPackedRows, lane);
  return header;
}

BlockFactors BlockReader::factors(Emitter &b, Value inner, Value at,
                                  int64_t lane,
                                  const BlockFactors &header) const {
  if (!facts.ownFactors)
    return header;
  bool isSigned = format == QuantFormat::Q6_K;
  BlockFactors own{
      arith::MulFOp::create(b, header.scale,
                            loadFactors(b, inner, at, lane, isSigned)),
      {}};
  if (!facts.minima)
    return own;
  Value behind = b.add(at, b.index(kPackedRows));
  Value product = arith::MulFOp::create(
      b, header.minimum,
      loadFactors(b, inner, behind, lane, /*isSigned=*/false));
  own.minimum = arith::NegFOp::create(b, product);
  return own;
}

void BlockReader::forEachPart(
    Emitter &b, Value inner, Value at, int64_t lane,
    llvm::function_ref<void(Value, int64_t)> use) const {
  VectorType bytes = vectorOf(b.getI8Type(), 4);
  if (facts.ownFactors)
    at = b.add(at, b.index((facts.minima ? 2 : 1) * kPackedRows));
  auto part = [&](int64_t j) {
    return load(b, inner, b.add(at, b.index(4 * kPackedRows * j)), lane, 4);
  };
  if (facts.isSigned) {
    for (int64_t j = 0; j < facts.elements / 4; ++j)
      use(part(j), 4 * j);
    return;
  }
  auto splat = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(
        b, DenseElementsAttr::get(bytes, APInt(8, value)));
  };
  auto masked = [&](Value value, int64_t shift, int64_t mask) -> Value {
    if (shift)
      value = arith::ShRUIOp::create(b, value, splat(shift));
    return arith::AndIOp::create(b, value, splat(mask));
  };
  int64_t half = facts.elements / 2;
  Value upper;
  if (format == QuantFormat::Q6_K)
    upper = part(half / 4);
  for (int64_t j = 0; j < half / 4; ++j) {
    Value both = part(j);
    for (int64_t which : {0, 1}) {
      Value low = which ? arith::ShRUIOp::create(b, both, splat(4)).getResult()
                        : masked(both, 0, 15);
      int64_t element = which * half + 4 * j;
      if (upper) {
        Value high = masked(upper, element / 2, 3);
        high = arith::ShLIOp::create(b, high, splat(4));
        low = arith::OrIOp::create(b, low, high);
      }
      use(low, element);
    }
  }
}

void BlockReader::ask(Emitter &b, Value inner, Value at, int64_t bytes) const {
  prefetch(b, b.getLoc(), weight, {block, inner, at}, prefetchDistance(1),
           bytes);
}
