//===- CacheOps.cpp - Views of a cache and operations on it ---------------===//

#include "kv/Dialect/KV.h"

#include "OpParsing.h"
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
// Verification shared by all of them
//===----------------------------------------------------------------------===//

/// Compares components with what the collection's type asks for. A component
/// other than the blocks may be a tensor or, once bufferized, a memref.
static LogicalResult verifyComponents(Operation *op, TypeRange given,
                                      CollectionType type) {
  SmallVector<Type> wanted = type.getComponentTypes();
  if (given.size() != wanted.size())
    return op->emitOpError()
           << "takes " << wanted.size() << " components of its collection, not "
           << given.size();
  for (auto [name, have, want] :
       llvm::zip(CollectionType::getComponentNames(), given, wanted)) {
    auto haveShaped = cast<ShapedType>(have),
         wantShaped = cast<ShapedType>(want);
    bool kindOk = name != "blocks" || isa<MemRefType>(have);
    if (!kindOk || haveShaped.getElementType() != wantShaped.getElementType() ||
        failed(verifyCompatibleShape(haveShaped.getShape(),
                                     wantShaped.getShape())))
      return op->emitOpError() << "component '" << name << "' of " << type
                               << " must be like " << want << ", not " << have;
  }
  return success();
}

static LogicalResult verifyCache(CacheOpInterface op,
                                 std::optional<Type> collection) {
  OperandRange cache = op.getCacheOperands();
  if (cache.empty())
    return op->emitOpError("names no cache");
  if (!op.isResolved()) {
    if (cache.size() != 1)
      return op->emitOpError("takes one handle, or the components of one");
    if (collection)
      return op->emitOpError("has a handle: 'collection' is its type and must "
                             "not be given again");
    return success();
  }
  if (!collection || !isa<CollectionType>(*collection))
    return op->emitOpError("names its cache by components: 'collection' must "
                           "give the collection's type");
  return verifyComponents(op, cache.getTypes(), op.getCollectionType());
}

static LogicalResult verifyLayer(CacheOpInterface op, Value layer) {
  APInt value;
  if (!matchPattern(layer, m_ConstantInt(&value)))
    return success();
  int64_t layers = op.getCollectionType().getLayers();
  if (value.getSExtValue() < 0 || value.getSExtValue() >= layers)
    return op->emitOpError()
           << "layer " << value.getSExtValue()
           << " is outside the collection's " << layers << " layers";
  return success();
}

static LogicalResult verifyRowShape(Operation *op, StringRef name, Type type,
                                    int64_t heads, int64_t dim) {
  ArrayRef<int64_t> shape = cast<ShapedType>(type).getShape();
  if (shape[1] != heads || shape[2] != dim)
    return op->emitOpError() << "'" << name << "' must be [T, " << heads << ", "
                             << dim << "] as the collection says, not " << type;
  return success();
}

static CollectionType collectionOf(OperandRange cache,
                                   std::optional<Type> given) {
  if (auto type = dyn_cast<CollectionType>(cache.front().getType()))
    return type;
  return dyn_cast_or_null<CollectionType>(given.value_or(Type()));
}

//===----------------------------------------------------------------------===//
// kv.fetch, kv.unpack
//===----------------------------------------------------------------------===//

LogicalResult FetchOp::verify() {
  return verifyComponents(*this, getOperandTypes(), getCollection().getType());
}

OpFoldResult FetchOp::fold(FoldAdaptor) {
  auto unpack = getBlocks().getDefiningOp<UnpackOp>();
  if (unpack && unpack.getCollection().getType() == getType() &&
      llvm::equal(unpack.getResults(), getOperands()))
    return unpack.getCollection();
  return {};
}

LogicalResult UnpackOp::verify() {
  return verifyComponents(*this, getResultTypes(), getCollection().getType());
}

LogicalResult UnpackOp::fold(FoldAdaptor,
                             SmallVectorImpl<OpFoldResult> &results) {
  auto fetch = getCollection().getDefiningOp<FetchOp>();
  if (!fetch || !llvm::equal(fetch.getOperandTypes(), getResultTypes()))
    return failure();
  llvm::append_range(results, fetch.getOperands());
  return success();
}

//===----------------------------------------------------------------------===//
// The cache interface
//===----------------------------------------------------------------------===//

#define KV_CACHE_INTERFACE(Op, Writes, Reads)                                  \
  CollectionType Op::getCollectionType() {                                     \
    return collectionOf(getCache(), getCollection());                          \
  }                                                                            \
  OperandRange Op::getCacheOperands() { return getCache(); }                   \
  void Op::setComponents(ValueRange components, CollectionType type) {         \
    getCacheMutable().assign(components);                                      \
    setCollection(type);                                                       \
  }                                                                            \
  bool Op::writesCache() { return Writes; }                                    \
  bool Op::readsCache() { return Reads; }

KV_CACHE_INTERFACE(PositionsOp, false, false)
KV_CACHE_INTERFACE(StoreOp, true, false)
KV_CACHE_INTERFACE(AttentionOp, false, true)

#undef KV_CACHE_INTERFACE

//===----------------------------------------------------------------------===//
// kv.positions, kv.store, kv.attention
//===----------------------------------------------------------------------===//

LogicalResult PositionsOp::verify() {
  if (failed(verifyCache(*this, getCollection())))
    return failure();
  return verifyForm(*this, {getOut()}, {getResult()});
}

LogicalResult StoreOp::verify() {
  if (failed(verifyCache(*this, getCollection())) ||
      failed(verifyLayer(*this, getLayer())) || failed(verifyOneForm(*this)))
    return failure();
  CollectionType type = getCollectionType();
  if (failed(verifyRowShape(*this, "k", getK().getType(), type.getHeads(),
                            type.getDim())) ||
      failed(verifyRowShape(*this, "v", getV().getType(), type.getHeads(),
                            type.getDim())))
    return failure();
  return verifySameRows(*this, "k", getK().getType(), "v", getV().getType());
}

LogicalResult AttentionOp::verify() {
  if (failed(verifyCache(*this, getCollection())) ||
      failed(verifyLayer(*this, getLayer())) ||
      failed(
          verifyForm(*this, {getOut(), getOutLse()}, {getResult(), getLse()})))
    return failure();
  CollectionType type = getCollectionType();
  ArrayRef<int64_t> q = cast<ShapedType>(getQ().getType()).getShape();
  if (ShapedType::isDynamic(q[1]) || q[1] % type.getHeads() != 0)
    return emitOpError() << "query heads must be a static multiple of the "
                            "collection's "
                         << type.getHeads() << " heads, not "
                         << getQ().getType();
  if (q[2] != type.getDim())
    return emitOpError() << "head dimension of q must be the collection's "
                         << type.getDim() << ", not that of "
                         << getQ().getType();
  Type out = formType(getOut(), getResult());
  if (failed(verifyCompatibleShape(out, getQ().getType())) ||
      getElementTypeOrSelf(out) != getElementTypeOrSelf(getQ()))
    return emitOpError() << "result must be like q, " << getQ().getType()
                         << ", not " << out;
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
  if (!(getScale().convertToDouble() > 0))
    return emitOpError("scale must be positive");
  if (getSoftcap() && !(getSoftcap()->convertToDouble() > 0))
    return emitOpError("softcap must be positive");
  return success();
}

#define GET_OP_CLASSES
#include "kv/Dialect/KVInterfaces.cpp.inc"
#include "kv/Dialect/KVOps.cpp.inc"
