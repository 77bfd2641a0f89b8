//===- CacheAccess.cpp - Where decompositions find a cache's rows ---------===//

#include "CacheAccess.h"

#include "kv/ABI/Context.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace kv;

Value kv::inLogicalOrder(OpBuilder &b, Location loc, Value buffer,
                         Layout layout) {
  if (layout == Layout::NHD)
    return buffer;
  std::array<int, 6> order = blockOrder(static_cast<CacheLayout>(layout));
  SmallVector<unsigned> places(6);
  for (auto [place, dim] : llvm::enumerate(order))
    places[dim] = place;
  return memref::TransposeOp::create(
      b, loc, buffer,
      AffineMapAttr::get(AffineMap::getPermutationMap(places, b.getContext())));
}

CacheAccess::CacheAccess(Emitter &b, CacheOpInterface op)
    : type(op.getCollectionType()), geometry(type.getGeometry()),
      blocks(inLogicalOrder(b, op.getLoc(), op.getBlocks(), type.getLayout())),
      lengths(op.getCacheLengths()), table(op.getLookupTable()) {
  if (op.getScales())
    scales = inLogicalOrder(b, op.getLoc(), op.getScales(), type.getLayout());
  Value one = b.index(1);
  lastPage = b.sub(sizeOf(b, b.getLoc(), blocks, 0), one);
  if (geometry.isPaged())
    lastEntry = b.sub(b.dim(table, 1), one);
}

Value kv::checkedLayer(Emitter &b, Value layer, CollectionType type) {
  if (getConstantIntValue(layer)) // the verifier has looked
    return layer;
  Value layers = b.index(type.getLayers());
  AssertOp::create(b, b.less(layer, layers), KV_STATUS_OUT_OF_RANGE,
                   ("the layer is outside the collection's " +
                    Twine(type.getLayers()) + " layers")
                       .str());
  return b.minimum(layer, b.sub(layers, b.index(1)));
}

Value CacheAccess::checkPlane(Emitter &b, Value plane) const {
  if (getConstantIntValue(plane))
    return plane;
  Value planes = b.index(geometry.planes());
  AssertOp::create(b, b.less(plane, planes), KV_STATUS_OUT_OF_RANGE,
                   "the plane is neither keys nor values");
  return b.minimum(plane, b.sub(planes, b.index(1)));
}

CachePlace CacheAccess::readPlace(Emitter &b, Value sequence,
                                  Value position) const {
  Value size = b.index(type.getPage());
  if (!geometry.isPaged())
    return {b.minimum(b.extractIndex(table, sequence), lastPage),
            b.minimum(position, b.index(type.getPage() - 1))};
  Value entry = b.minimum(b.div(position, size), lastEntry);
  Value page = b.extractIndex(table, ValueRange{sequence, entry});
  return {b.minimum(page, lastPage), b.rem(position, size)};
}

void CacheAccess::whenWritable(
    Emitter &b, Value sequence, Value position,
    function_ref<void(Emitter &, const CachePlace &)> body) const {
  Value size = b.index(type.getPage());
  auto notAfter = [](Emitter &b, Value a, Value most) -> Value {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ule, a, most);
  };
  if (!geometry.isPaged()) {
    Value slot = b.extractIndex(table, sequence);
    when(b, b.both(notAfter(b, slot, lastPage), b.less(position, size)),
         [&](Emitter &b) { body(b, {slot, position}); });
    return;
  }
  Value entry = b.div(position, size);
  when(b, notAfter(b, entry, lastEntry), [&](Emitter &b) {
    Value page = b.extractIndex(table, ValueRange{sequence, entry});
    Value ok = b.both(b.less(b.index(0), page), notAfter(b, page, lastPage));
    when(b, ok, [&](Emitter &b) { body(b, {page, b.rem(position, size)}); });
  });
}

std::pair<Value, CachePlace> CacheAccess::writePlace(Emitter &b, Value sequence,
                                                     Value position) const {
  Value size = b.index(type.getPage()), entry = b.div(position, size);
  Value page =
      b.extractIndex(table, ValueRange{sequence, b.minimum(entry, lastEntry)});
  Value exists =
      b.both(b.less(b.index(0), page), b.lessOrEqual(page, lastPage));
  return {b.both(b.lessOrEqual(entry, lastEntry), exists),
          {page, b.rem(position, size)}};
}

//===----------------------------------------------------------------------===//
// Elements: #kv.scale says what they mean
//===----------------------------------------------------------------------===//

/// The largest magnitude that an 8-bit element holds.
static double largestElement(KvDType dtype) {
  return dtype == KV_DTYPE_I8 ? 127 : dtype == KV_DTYPE_F8E4M3FN ? 448 : 57344;
}

static Value constantI32(Emitter &b, int64_t value) {
  return arith::ConstantIntOp::create(b, value, 32);
}

static Value bitsOf(Emitter &b, Value f32) {
  return arith::BitcastOp::create(b, b.getI32Type(), f32);
}

/// 2^(exponent - 127) of an f8E8M0FNU; 255 is NaN.
static Value powerOf(Emitter &b, Value scale) {
  Value byte = arith::BitcastOp::create(b, b.getI8Type(), scale);
  Value exponent = arith::ExtUIOp::create(b, b.getI32Type(), byte);
  auto is = [&](int64_t value) -> Value {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, exponent,
                                 constantI32(b, value));
  };
  Value bits = arith::ShLIOp::create(b, exponent, constantI32(b, 23));
  bits = b.select(is(0), constantI32(b, 0x00400000), bits);
  bits = b.select(is(255), constantI32(b, 0x7fc00000), bits);
  return arith::BitcastOp::create(b, b.getF32Type(), bits);
}

/// The scale of a group, as it is stored.
Value CacheAccess::scaleOf(Emitter &b, Value largest) const {
  Value ratio = arith::DivFOp::create(
      b, largest, b.constant(b.getF32Type(), largestElement(geometry.dtype)));
  if (geometry.scaleDType == KV_DTYPE_F32)
    return ratio;
  // The exponent, one more unless the ratio is a power of two: rounded up.
  Value bits = bitsOf(b, ratio);
  Value exponent = arith::ShRUIOp::create(b, bits, constantI32(b, 23));
  Value fraction = arith::AndIOp::create(b, bits, constantI32(b, 0x7fffff));
  Value more = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, fraction,
                                     constantI32(b, 0));
  exponent = arith::AddIOp::create(
      b, exponent, arith::ExtUIOp::create(b, b.getI32Type(), more));
  exponent = arith::MinUIOp::create(b, exponent, constantI32(b, 255));
  Value byte = arith::TruncIOp::create(b, b.getI8Type(), exponent);
  return arith::BitcastOp::create(b, Float8E8M0FNUType::get(b.getContext()),
                                  byte);
}

/// An f32 number as an element, rounded to nearest even and clamped.
Value CacheAccess::encode(Emitter &b, Value value) const {
  Type element = type.getElementType();
  if (element.getIntOrFloatBitWidth() != 8)
    return b.fromF32(value, element);
  Value most = b.constant(b.getF32Type(), largestElement(geometry.dtype));
  Value least = arith::NegFOp::create(b, most);
  value = arith::MinimumFOp::create(b, value, most);
  value = arith::MaximumFOp::create(b, value, least);
  if (isa<FloatType>(element))
    return b.fromF32(value, element);
  // No integer is NaN; its group's scale is.
  Value isNaN =
      arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, value, value);
  value = b.select(isNaN, b.constant(b.getF32Type(), 0), value);
  value = math::RoundEvenOp::create(b, value);
  return arith::FPToSIOp::create(b, element, value);
}

Value CacheAccess::load(Emitter &b, const CachePlace &place, Value plane,
                        Value layer, Value head, Value element) const {
  SmallVector<Value> at = {place.page, plane, layer, place.slot, head, element};
  Value loaded = isa<TensorType>(blocks.getType())
                     ? tensor::ExtractOp::create(b, blocks, at).getResult()
                     : memref::LoadOp::create(b, blocks, at).getResult();
  if (isa<IntegerType>(loaded.getType()))
    loaded = arith::SIToFPOp::create(b, b.getF32Type(), loaded);
  loaded = b.toF32(loaded);
  if (!scales)
    return loaded;
  at.back() = b.div(element, b.index(geometry.scaleGroup));
  Value scale = memref::LoadOp::create(b, scales, at);
  if (geometry.scaleDType != KV_DTYPE_F32)
    scale = powerOf(b, scale);
  return arith::MulFOp::create(b, loaded, scale);
}

void CacheAccess::storeRow(
    Emitter &b, const CachePlace &place, Value plane, Value layer, Value head,
    function_ref<Value(Emitter &, Value)> element) const {
  auto at = [&](Value last) {
    return SmallVector<Value>{place.page, plane, layer, place.slot, head, last};
  };
  if (!scales) {
    forEach(b, b.index(0), b.index(type.getDim()), [&](Emitter &b, Value d) {
      memref::StoreOp::create(b, encode(b, element(b, d)), blocks, at(d));
    });
    return;
  }
  Value group = b.index(geometry.scaleGroup), zero = b.index(0);
  forEach(
      b, zero, b.index(type.getDim() / geometry.scaleGroup),
      [&](Emitter &b, Value g) {
        Value first = b.mul(g, group), end = b.add(first, group);
        Value nothing = b.constant(b.getF32Type(), 0);
        auto largest = scf::ForOp::create(
            b, first, end, b.index(1), nothing,
            [&](OpBuilder &nested, Location loc, Value d, ValueRange carried) {
              Emitter b(loc, nested);
              Value magnitude = math::AbsFOp::create(b, element(b, d));
              Value next =
                  arith::MaximumFOp::create(b, carried.front(), magnitude);
              scf::YieldOp::create(b, next);
            });
        Value stored = scaleOf(b, largest.getResult(0));
        memref::StoreOp::create(b, stored, scales, at(g));
        Value scale =
            geometry.scaleDType == KV_DTYPE_F32 ? stored : powerOf(b, stored);
        Value isZero =
            arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, scale, nothing);
        forEach(b, first, end, [&](Emitter &b, Value d) {
          Value ratio = arith::DivFOp::create(b, element(b, d), scale);
          Value scaled = b.select(isZero, nothing, ratio);
          memref::StoreOp::create(b, encode(b, scaled), blocks, at(d));
        });
      });
}
