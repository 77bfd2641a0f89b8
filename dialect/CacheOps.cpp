//===- CacheOps.cpp - Operations on a cache -------------------------------===//

#include "kv/Dialect/KV.h"

#include "OpSyntax.h"
#include "Verification.h"
#include "kv/Dialect/Bytecode.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace kv;

//===----------------------------------------------------------------------===//
// Syntax: a cache is a handle, or its components in parentheses
//===----------------------------------------------------------------------===//

static ParseResult
parseCache(OpAsmParser &parser,
           SmallVectorImpl<OpAsmParser::UnresolvedOperand> &cache) {
  if (failed(parser.parseOptionalLParen()))
    return parser.parseOperand(cache.emplace_back());
  return failure(parser.parseOperandList(cache) || parser.parseRParen());
}

static void printCache(OpAsmPrinter &p, Operation *op, OperandRange cache) {
  if (cache.size() == 1)
    p << cache.front();
  else
    p << '(' << cache << ')';
}

static ParseResult parseCacheType(OpAsmParser &parser,
                                  SmallVectorImpl<Type> &types,
                                  TypeAttr &collection) {
  if (failed(parser.parseOptionalLParen()))
    return parser.parseType(types.emplace_back());
  Type type;
  if (parser.parseTypeList(types) || parser.parseRParen() ||
      parser.parseKeyword("as") || parser.parseType(type))
    return failure();
  collection = TypeAttr::get(type);
  return success();
}

static void printCacheType(OpAsmPrinter &p, Operation *op, TypeRange types,
                           TypeAttr collection) {
  if (types.size() == 1 && !collection)
    p << types.front();
  else
    p << '(' << types << ") as " << collection;
}

//===----------------------------------------------------------------------===//
// Row offsets, and what must agree with them
//===----------------------------------------------------------------------===//

SmallVector<StepRows> PositionsOp::getStepRows() {
  StepRows step{.rowOffsets = getRowOffsets(),
                .rows = staticRows(getOut(), getResult())};
  if (getAncestors())
    step.rows.push_back(getAncestors());
  return {step};
}

SmallVector<StepRows> RowOffsetsOp::getStepRows() {
  int64_t offsets =
      cast<ShapedType>(formType(getOut(), getResult())).getDimSize(0);
  return {
      {.rowOffsets = getRowOffsets(),
       .sequences = ShapedType::isDynamic(offsets) ? offsets : offsets - 1}};
}

SmallVector<StepRows> StoreOp::getStepRows() {
  StepRows step{
      .rowOffsets = getRowOffsets(), .rows = {getK()}, .haveKeys = true};
  if (getV())
    step.rows.push_back(getV());
  return {step};
}

SmallVector<StepRows> AttentionOp::getStepRows() {
  StepRows queries{.rowOffsets = getRowOffsets(),
                   .rows = {getQ()},
                   .haveKeys = !getKvRowOffsets()};
  if (getAncestors())
    queries.rows.push_back(getAncestors());
  if (!getKvRowOffsets())
    return {queries};
  return {queries, {.rowOffsets = getKvRowOffsets(), .haveKeys = true}};
}

SmallVector<StepRows> LoadOp::getStepRows() {
  auto dense = cast<ShapedType>(formType(getOut(), getResult()));
  auto lengths = cast<ShapedType>(formType(getOutLengths(), getLengths()));
  return {{.rowOffsets = getRowOffsets(),
           .sequences = dense.isDynamicDim(0) ? lengths.getDimSize(0)
                                              : dense.getDimSize(0),
           .haveKeys = true}};
}

SmallVector<StepRows> PrintOp::getStepRows() {
  if (!getRowOffsets())
    return {};
  return {{.rowOffsets = getRowOffsets()}};
}

//===----------------------------------------------------------------------===//
// The operations
//===----------------------------------------------------------------------===//

LogicalResult PositionsOp::verify() {
  if (failed(verifyCache(*this, getCollection())) ||
      failed(verifyForm(*this, {getOut()}, {getResult()})))
    return failure();
  if (!getAncestors())
    return success();
  return verifySameRows(*this, "tree", getAncestors().getType(), "result",
                        formType(getOut(), getResult()));
}

LogicalResult RowOffsetsOp::verify() {
  if (failed(verifyCache(*this, getCollection())) ||
      failed(verifyForm(*this, {getOut()}, {getResult()})))
    return failure();
  return verifySameRows(*this, "row_offsets", getRowOffsets().getType(),
                        "result", formType(getOut(), getResult()));
}

LogicalResult LoadOp::verify() {
  if (failed(verifyCache(*this, getCollection())) ||
      failed(verifyForm(*this, {getOut(), getOutLengths()},
                        {getResult(), getLengths()}, /*required=*/2)))
    return failure();
  if (failed(verifyPlace(*this, getPlace())))
    return failure();
  CollectionType type = getCollectionType();
  auto out = cast<ShapedType>(formType(getOut(), getResult()));
  Type element = out.getElementType();
  if ((!ShapedType::isDynamic(type.getHeads()) &&
       out.getDimSize(2) != type.getHeads()) ||
      out.getDimSize(3) != type.getDim() ||
      (!element.isF32() && element != type.getElementType()))
    return emitOpError() << "result must be [B, S, "
                         << HeadCount{type.getHeads()} << ", " << type.getDim()
                         << "] of " << type.getElementType() << " or f32, not "
                         << out;
  return verifySameRows(*this, "result", out, "lengths",
                        formType(getOutLengths(), getLengths()));
}

LogicalResult PrintOp::verify() {
  if (failed(verifyCache(*this, getCollection())) ||
      failed(verifyLayer(*this, getLayer(), getCollectionType())))
    return failure();
  // A handle alone has no form.
  if (!cast<CacheOpInterface>(getOperation()).isResolved() && !getRowOffsets())
    return success();
  return verifyOneForm(*this);
}

LogicalResult CopyPagesOp::verify() {
  if (failed(verifyOneForm(*this)) ||
      failed(verifySameRows(*this, "source", getSource().getType(),
                            "destination", getDestination().getType())))
    return failure();
  APInt layer;
  // Where the layers stand in memory.
  auto order = blockOrder(static_cast<CacheLayout>(getLayout()));
  int64_t layers =
      getBlocks().getType().getDimSize(llvm::find(order, 2) - order.begin());
  if (getLayer() && !ShapedType::isDynamic(layers) &&
      matchPattern(getLayer(), m_ConstantInt(&layer)) && layer.uge(layers))
    return emitOpError() << "layer " << layer.getSExtValue()
                         << " is outside the blocks' " << layers << " layers";
  return success();
}

LogicalResult StoreOp::verify() {
  if (failed(verifyCache(*this, getCollection())) ||
      failed(verifyLayer(*this, getLayer(), getCollectionType())) ||
      failed(verifyOneForm(*this)))
    return failure();
  CollectionType type = getCollectionType();
  if (failed(verifyRowShape(*this, "k", getK().getType(), type.getHeads(),
                            type.getDim())))
    return failure();
  if (type.isLatent() && getV())
    return emitOpError("a latent cache takes its rows as k, and no v");
  if (type.isLatent())
    return success();
  if (!getV())
    return emitOpError("needs v: only a latent cache goes without");
  if (failed(verifyRowShape(*this, "v", getV().getType(), type.getHeads(),
                            type.getDim())))
    return failure();
  return verifySameRows(*this, "k", getK().getType(), "v", getV().getType());
}

/// Verifies an attention whose products are of 8 bits.
static LogicalResult verifyProducts(AttentionOp op) {
  if (!op.getProducts())
    return success();
  Type products = *op.getProducts();
  if (!isa<Float8E4M3FNType>(products))
    return op.emitOpError() << "products must be f8E4M3FN, not " << products;
  CollectionType type = op.getCollectionType();
  if (!isa<Float8E4M3FNType>(type.getElementType()) || type.getScale() ||
      type.isLatent())
    return op.emitOpError()
           << "has products of f8E4M3FN, which are for keys and values of "
              "f8E4M3FN without a scale, not for "
           << type;
  if (type.getDim() % kProductDepth)
    return op.emitOpError() << "has products of f8E4M3FN, which are for a "
                               "head dimension that is a multiple of "
                            << kProductDepth << ", not for " << type.getDim();
  MaskKind mask = op.getMask().getKind();
  if (mask != MaskKind::Causal && mask != MaskKind::Sliding)
    return op.emitOpError() << "has products of f8E4M3FN and the mask "
                            << op.getMask() << ": it must be causal or sliding";
  KernelAttr kernel = getKernel(op);
  if (kernel && !multipliesEightBits(kernel.getKind()))
    return op.emitOpError()
           << "has products of f8E4M3FN, which the kernel '"
           << stringifyKernelKind(kernel.getKind()) << "' does not make";
  return success();
}

LogicalResult AttentionOp::verify() {
  if (failed(verifyCache(*this, getCollection())) ||
      failed(verifyLayer(*this, getLayer(), getCollectionType())) ||
      failed(
          verifyForm(*this, {getOut(), getOutLse()}, {getResult(), getLse()})))
    return failure();
  CollectionType type = getCollectionType();
  if (failed(verifyWindow(*this, getMask(), type)))
    return failure();
  ArrayRef<int64_t> q = cast<ShapedType>(getQ().getType()).getShape();
  if (ShapedType::isDynamic(q[1]) ||
      (!ShapedType::isDynamic(type.getHeads()) && q[1] % type.getHeads() != 0))
    return emitOpError() << "query heads must be a static multiple of the "
                            "collection's "
                         << HeadCount{type.getHeads()} << " heads, not "
                         << getQ().getType();
  if (q[2] != type.getDim())
    return emitOpError() << "head dimension of q must be the collection's "
                         << type.getDim() << ", not that of "
                         << getQ().getType();
  Type out = formType(getOut(), getResult());
  int64_t wanted[] = {q[0], q[1], type.getValueDim()};
  auto outShape = cast<ShapedType>(out).getShape();
  if (failed(verifyCompatibleShape(outShape, wanted)) ||
      ShapedType::isDynamic(outShape[2]) ||
      getElementTypeOrSelf(out) != getElementTypeOrSelf(getQ()))
    return emitOpError() << "result must be [T, " << q[1] << ", "
                         << type.getValueDim() << "] of "
                         << getElementTypeOrSelf(getQ()) << ", not " << out;
  if (getSinks() &&
      cast<ShapedType>(getSinks().getType()).getDimSize(0) != q[1])
    return emitOpError() << "sinks must be one number a query head, [" << q[1]
                         << "], not " << getSinks().getType();
  if (getLse() || getOutLse()) {
    Type lse = formType(getOutLse(), getLse());
    if (failed(verifyCompatibleShape(cast<ShapedType>(lse).getShape(),
                                     q.drop_back())))
      return emitOpError() << "lse must be [T, Hq] of q, " << getQ().getType()
                           << ", not " << lse;
  }
  if (failed(verifyTree(*this)) || failed(verifyPlanned(*this)))
    return failure();
  if (getKvRowOffsets()) {
    if (getPlan())
      return emitOpError("takes a plan or 'keys', not both: a plan's keys are "
                         "those of its rows");
    if (failed(verifySameRows(*this, "rows", getRowOffsets().getType(), "keys",
                              getKvRowOffsets().getType())))
      return failure();
  }
  if (failed(verifyNumber(*this, "scale", getScale(), Sign::Positive)))
    return failure();
  if (getSoftcap() &&
      failed(verifyNumber(*this, "softcap", *getSoftcap(), Sign::Positive)))
    return failure();
  return verifyProducts(*this);
}

//===----------------------------------------------------------------------===//
// Properties of kv.store in bytecode
//===----------------------------------------------------------------------===//

// k, v, the cache, layer, row_offsets: before version 2 no segments were
// written, and while reading how many operands the cache has is not known yet:
// upgradeFromVersion fills it in.

void StoreOp::writeProperties(DialectBytecodeWriter &writer) {
  writer.writeOptionalAttribute(getProperties().collection);
  if (versionToWrite(writer) >= 2)
    writer.writeSparseArray(ArrayRef(getProperties().operandSegmentSizes));
}

LogicalResult StoreOp::readProperties(DialectBytecodeReader &reader,
                                      OperationState &state) {
  auto &properties = state.getOrAddProperties<Properties>();
  if (failed(reader.readOptionalAttribute(properties.collection)))
    return failure();
  if (versionOf(reader) >= 2)
    return reader.readSparseArray(
        MutableArrayRef(properties.operandSegmentSizes));
  properties.operandSegmentSizes = {1, 1, 1, 1, 1};
  return success();
}

#define GET_OP_CLASSES
#include "kv/Dialect/KVInterfaces.cpp.inc"
#include "kv/Dialect/KVOps.cpp.inc"
