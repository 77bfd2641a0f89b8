//===- QuantOps.cpp - Products and quantised weights ----------------------===//

#include "Verification.h"

#include "llvm/ADT/Twine.h"

using namespace mlir;
using namespace kv;

std::string kv::layoutName(QuantFormat format) {
  return (stringifyQuantFormat(format) + "x" + Twine(kPackedRows)).str();
}

/// What a packed weight of a format is, for messages: "[N / 16, K / 32, 288]".
static std::string packedShape(QuantFormat format) {
  return ("[N / " + Twine(kPackedRows) + ", K / " +
          Twine(sizesOf(format).group) + ", " + Twine(sizesOf(format).bytes) +
          "]")
      .str();
}

/// [N, K] of a packed weight of `format`.
static std::array<int64_t, 2> logicalShape(ShapedType packed,
                                           QuantFormat format) {
  return {packed.getDimSize(0) * kPackedRows,
          packed.getDimSize(1) * sizesOf(format).group};
}

static LogicalResult verifyPacked(Operation *op, ShapedType packed,
                                  QuantFormat format) {
  if (packed.getNumDynamicDims() ||
      packed.getDimSize(2) != sizesOf(format).bytes)
    return op->emitOpError()
           << "a packed weight of " << stringifyQuantFormat(format)
           << " must be a static " << packedShape(format) << ", not " << packed;
  return success();
}

//===----------------------------------------------------------------------===//
// kv.dequantize
//===----------------------------------------------------------------------===//

Value DequantizeOp::getResultSize(OpBuilder &b, unsigned, int64_t) {
  // The only dynamic size is the number of chosen rows.
  return sizeOf(b, getLoc(), getRows(), 0);
}

LogicalResult DequantizeOp::verify() {
  if (failed(verifyForm(*this, {getOut()}, {getResult()})))
    return failure();
  auto weight = cast<ShapedType>(getWeight().getType());
  std::array<int64_t, 2> logical;
  if (auto quant = dyn_cast<QuantType>(weight.getElementType())) {
    if (getFormat())
      return emitOpError("takes a format only with a packed weight");
    if (weight.getNumDynamicDims())
      return emitOpError() << "weight must have a static shape, not " << weight;
    int64_t group = sizesOf(quant.getFormat()).group;
    logical = {weight.getDimSize(0), weight.getDimSize(1)};
    if (logical[1] % group)
      return emitOpError() << "rows of "
                           << stringifyQuantFormat(quant.getFormat())
                           << " must be blocks of " << group
                           << " elements, not those of " << weight;
  } else {
    if (!getFormat())
      return emitOpError("must name the format of a packed weight");
    if (failed(verifyPacked(*this, weight, *getFormat())))
      return failure();
    logical = logicalShape(weight, *getFormat());
  }
  auto out = cast<ShapedType>(formType(getOut(), getResult()));
  if (getRows()) {
    if (failed(
            verifySameRows(*this, "rows", getRows().getType(), "result", out)))
      return failure();
  } else if (out.getDimSize(0) != logical[0]) {
    return emitOpError() << "result must have the " << logical[0]
                         << " rows of the weight, not those of " << out;
  }
  if (out.getDimSize(1) != logical[1])
    return emitOpError() << "result must have the " << logical[1]
                         << " columns of the weight, not those of " << out;
  return success();
}

//===----------------------------------------------------------------------===//
// kv.matmul
//===----------------------------------------------------------------------===//

std::optional<QuantFormat> MatmulOp::getFormat(size_t i) {
  if (!getFormats())
    return std::nullopt;
  if (auto format = dyn_cast<QuantFormatAttr>(getFormatsAttr()[i]))
    return format.getValue();
  return std::nullopt;
}

int64_t MatmulOp::getWidth(size_t i) {
  return cast<ShapedType>(getWeights()[i].getType()).getDimSize(0) *
         kPackedRows;
}

/// `formats` has an entry a weight: a format for bytes, unit for numbers.
static LogicalResult verifyFormats(MatmulOp op) {
  ArrayAttr formats = op.getFormatsAttr();
  size_t count = op.getWeights().size();
  if (formats && formats.size() != count)
    return op.emitOpError() << "formats has " << formats.size()
                            << " entries for " << count << " weights";
  for (auto [i, weight] : llvm::enumerate(op.getWeights())) {
    bool bytes = getElementTypeOrSelf(weight).isInteger(8);
    if (bytes != op.getFormat(i).has_value())
      return op.emitOpError()
             << (bytes ? "formats must say what weight " + Twine(i) + ", "
                       : "formats must be unit for weight " + Twine(i) + ", ")
             << weight.getType() << (bytes ? ", holds" : "");
    if (formats && !bytes && !isa<UnitAttr>(formats[i]))
      return op.emitOpError() << "formats holds " << formats[i]
                              << ", expected a #kv.quant or unit";
  }
  return success();
}

/// One weight: [N, K] if it is well-formed.
static FailureOr<std::array<int64_t, 2>> verifyWeight(MatmulOp op, size_t i) {
  auto w = cast<ShapedType>(op.getWeights()[i].getType());
  if (std::optional<QuantFormat> format = op.getFormat(i)) {
    if (failed(verifyPacked(op, w, *format)))
      return failure();
    return logicalShape(w, *format);
  }
  if (w.getNumDynamicDims() || w.getDimSize(2) != kPackedRows)
    return op.emitOpError() << "weight must be a static [N / " << kPackedRows
                            << ", K, " << kPackedRows << "], not " << w;
  return std::array{w.getDimSize(0) * kPackedRows, w.getDimSize(1)};
}

LogicalResult MatmulOp::verify() {
  ValueRange weights = getWeights(), outs = getOuts(), products = getProducts();
  if (weights.empty())
    return emitOpError("takes at least one weight");
  // What verifyForm says of one value is said of the first.
  if (failed(verifyForm(*this, outs.empty() ? ValueRange(Value()) : outs,
                        products.empty() ? ValueRange(Value()) : products)))
    return failure();
  ValueRange made = products.empty() ? outs : products;
  if (made.size() != weights.size())
    return emitOpError() << "takes one weight a product, not " << weights.size()
                         << " weights for " << made.size();
  if (failed(verifyFormats(*this)))
    return failure();
  auto x = cast<ShapedType>(getX().getType());
  for (auto [i, product] : llvm::enumerate(made)) {
    FailureOr<std::array<int64_t, 2>> shape = verifyWeight(*this, i);
    if (failed(shape))
      return failure();
    auto out = cast<ShapedType>(product.getType());
    if (x.getDimSize(1) != (*shape)[1])
      return emitOpError() << "x has " << x.getDimSize(1)
                           << " columns, the weight takes " << (*shape)[1];
    if (out.getDimSize(1) != (*shape)[0])
      return emitOpError() << "result must have " << (*shape)[0]
                           << " columns, not " << out.getDimSize(1);
    if (failed(verifySameRows(*this, "x", x, "result", out)))
      return failure();
  }
  return success();
}
