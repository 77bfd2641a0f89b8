//===- QuantOps.cpp - Products and quantised weights ----------------------===//

#include "Verification.h"

#include "llvm/ADT/Twine.h"

using namespace mlir;
using namespace kv;

std::string kv::layoutName(QuantFormat format) {
  return (stringifyQuantFormat(format) + "x" + Twine(kPackedRows)).str();
}

int64_t kv::depthOf(QuantFormat format, ShapedType packed) {
  QuantSizes sizes = sizesOf(format);
  if (sizes.group)
    return packed.getDimSize(1) * sizes.group;
  return (packed.getDimSize(2) - sizes.bytes) / kPackedRows;
}

SmallVector<int64_t> kv::packedShape(QuantFormat format, int64_t rows,
                                     int64_t depth) {
  QuantSizes sizes = sizesOf(format);
  return {rows / kPackedRows, sizes.group ? depth / sizes.group : 1,
          sizes.of(depth).bytes};
}

/// The shape of a packed weight of a format, for messages: "[N / 16, K / 32,
/// 288]".
static std::string packedForm(QuantFormat format) {
  QuantSizes sizes = sizesOf(format);
  Twine rows(kPackedRows), bytes(sizes.bytes), unit(sizes.unit());
  if (sizes.group)
    return ("[N / " + rows + ", K / " + unit + ", " + bytes + "]").str();
  return ("[N / " + rows + ", 1, " + bytes + " + " + rows +
          " * K] with K a multiple of " + unit)
      .str();
}

/// [N, K] of a packed weight of `format`.
static std::array<int64_t, 2> logicalShape(ShapedType packed,
                                           QuantFormat format) {
  return {packed.getDimSize(0) * kPackedRows, depthOf(format, packed)};
}

static LogicalResult verifyPacked(Operation *op, ShapedType packed,
                                  QuantFormat format) {
  int64_t depth = packed.getNumDynamicDims() ? -1 : depthOf(format, packed);
  int64_t rows = packed.getDimSize(0) * kPackedRows;
  if (depth < 0 || depth % sizesOf(format).unit() ||
      packed.getShape() != ArrayRef(packedShape(format, rows, depth)))
    return op->emitOpError()
           << "a packed weight of " << stringifyQuantFormat(format)
           << " must be a static " << packedForm(format) << ", not " << packed;
  return success();
}

/// Rows of quantised elements, `weight`, are whole blocks.
static LogicalResult verifyQuantRows(Operation *op, ShapedType weight,
                                     QuantFormat format) {
  int64_t unit = sizesOf(format).unit();
  if (weight.getDimSize(1) % unit)
    return op->emitOpError() << "rows of " << stringifyQuantFormat(format)
                             << " must be blocks of " << unit
                             << " elements, not those of " << weight;
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
    logical = {weight.getDimSize(0), weight.getDimSize(1)};
    if (failed(verifyQuantRows(*this, weight, quant.getFormat())))
      return failure();
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

/// Entry `i` of `formats`: nothing for a weight of numbers.
static std::optional<QuantFormat> formatAt(ArrayAttr formats, size_t i) {
  auto format =
      formats ? dyn_cast<QuantFormatAttr>(formats[i]) : QuantFormatAttr();
  return format ? std::optional(format.getValue()) : std::nullopt;
}

std::optional<QuantFormat> MatmulOp::getFormat(size_t i) {
  return formatAt(getFormatsAttr(), i);
}

int64_t MatmulOp::getWidth(size_t i) {
  return cast<ShapedType>(getWeights()[i].getType()).getDimSize(0) *
         kPackedRows;
}

/// `formats` has an entry a weight: a format for bytes, unit for numbers.
template <typename Op> static LogicalResult verifyFormats(Op op) {
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

/// One packed weight: [N, K] if it is well-formed.
static FailureOr<std::array<int64_t, 2>>
verifyWeight(Operation *op, ShapedType w, std::optional<QuantFormat> format) {
  if (format) {
    if (failed(verifyPacked(op, w, *format)))
      return failure();
    return logicalShape(w, *format);
  }
  if (w.getNumDynamicDims() || w.getDimSize(2) != kPackedRows)
    return op->emitOpError() << "weight must be a static [N / " << kPackedRows
                             << ", K, " << kPackedRows << "], not " << w;
  return std::array{w.getDimSize(0) * kPackedRows, w.getDimSize(1)};
}

/// Checks that there is one weight per product, with its format, and that all
/// have one form.
template <typename Op> static LogicalResult verifyProducts(Op op) {
  ValueRange weights = op.getWeights(), outs = op.getOuts(),
             products = op.getProducts();
  if (weights.empty())
    return op.emitOpError("takes at least one weight");
  // verifyForm checks the first value, and speaks of that one.
  if (failed(verifyForm(op, outs.empty() ? ValueRange(Value()) : outs,
                        products.empty() ? ValueRange(Value()) : products)))
    return failure();
  size_t made = products.empty() ? outs.size() : products.size();
  if (made != weights.size())
    return op.emitOpError() << "takes one weight a product, not "
                            << weights.size() << " weights for " << made;
  return verifyFormats(op);
}

LogicalResult MatmulOp::verify() {
  if (failed(verifyProducts(*this)))
    return failure();
  auto x = cast<ShapedType>(getX().getType());
  ValueRange made =
      getProducts().empty() ? ValueRange(getOuts()) : ValueRange(getProducts());
  for (auto [i, product] : llvm::enumerate(made)) {
    FailureOr<std::array<int64_t, 2>> shape = verifyWeight(
        *this, cast<ShapedType>(getWeights()[i].getType()), getFormat(i));
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

//===----------------------------------------------------------------------===//
// kv.expert_matmul
//===----------------------------------------------------------------------===//

std::optional<QuantFormat> ExpertMatmulOp::getFormat(size_t i) {
  return formatAt(getFormatsAttr(), i);
}

/// The type of product `i`, in either form.
static ShapedType productType(ExpertMatmulOp op, size_t i) {
  ValueRange outs = op.getOuts(), products = op.getProducts();
  return cast<ShapedType>((products.empty() ? outs : products)[i].getType());
}

int64_t ExpertMatmulOp::getWidth(size_t i) {
  return productType(*this, i).getDimSize(2);
}

int64_t ExpertMatmulOp::getChoices() {
  return cast<ShapedType>(getExperts().getType()).getDimSize(1);
}

int64_t ExpertMatmulOp::getNumExperts() {
  auto weight = cast<ShapedType>(getWeights().front().getType());
  int64_t rows = weight.getDimSize(0) *
                 (weight.getRank() == 3 ? int64_t(kPackedRows) : int64_t(1));
  return rows / getWidth(0);
}

bool ExpertMatmulOp::isPacked() {
  return llvm::all_of(getWeights().getTypes(), [](Type type) {
    return cast<ShapedType>(type).getRank() == 3;
  });
}

/// [E * N, K] of a weight in any form, if it is well-formed.
static FailureOr<std::array<int64_t, 2>> verifyStack(ExpertMatmulOp op,
                                                     size_t i) {
  auto w = cast<ShapedType>(op.getWeights()[i].getType());
  if (w.getRank() == 3)
    return verifyWeight(op, w, op.getFormat(i));
  if (w.getNumDynamicDims())
    return op.emitOpError() << "weight must have a static shape, not " << w;
  std::array shape{w.getDimSize(0), w.getDimSize(1)};
  if (auto quant = dyn_cast<QuantType>(w.getElementType());
      quant && failed(verifyQuantRows(op, w, quant.getFormat())))
    return failure();
  return shape;
}

LogicalResult ExpertMatmulOp::verify() {
  if (failed(verifyProducts(*this)))
    return failure();
  auto x = cast<ShapedType>(getX().getType());
  auto experts = cast<ShapedType>(getExperts().getType());
  int64_t choices = getChoices();
  if (choices < 1)
    return emitOpError() << "experts must be [T, C] with a static C of at "
                            "least 1, not "
                         << experts;
  if (x.getRank() == 3 && x.getDimSize(1) != choices)
    return emitOpError() << "x must be [T, K], or [T, " << choices
                         << ", K]: a row for each choice, not " << x;
  if (failed(verifySameRows(*this, "x", x, "experts", experts)))
    return failure();
  int64_t numExperts = 0;
  for (size_t i = 0; i < getWeights().size(); ++i) {
    FailureOr<std::array<int64_t, 2>> shape = verifyStack(*this, i);
    if (failed(shape))
      return failure();
    ShapedType out = productType(*this, i);
    int64_t width = out.getDimSize(2);
    if (out.getDimSize(1) != choices || width < 1 || width % kPackedRows)
      return emitOpError() << "result must be [T, " << choices
                           << ", N] with N a multiple of " << kPackedRows
                           << ", not " << out;
    auto [rows, columns] = *shape;
    if (rows == 0 || rows % width)
      return emitOpError() << "weight must have rows of whole experts, "
                           << width << " each, not " << rows;
    if (numExperts && rows / width != numExperts)
      return emitOpError() << "weights must be of equally many experts, not of "
                           << numExperts << " and " << rows / width;
    numExperts = rows / width;
    if (x.getShape().back() != columns)
      return emitOpError() << "x has " << x.getShape().back()
                           << " columns, the weight takes " << columns;
    if (failed(verifySameRows(*this, "x", x, "result", out)))
      return failure();
  }
  return success();
}
