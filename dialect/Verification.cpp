//===- Verification.cpp - Checks that operations share --------------------===//

#include "Verification.h"

#include "mlir/IR/Matchers.h"

#include <charconv>

using namespace mlir;
using namespace kv;

//===----------------------------------------------------------------------===//
// Forms: tensors, or buffers
//===----------------------------------------------------------------------===//

std::optional<bool> kv::isOnTensors(Operation *op) {
  Value blocks, scales;
  if (auto cacheOp = dyn_cast<CacheOpInterface>(op);
      cacheOp && cacheOp.isResolved()) {
    blocks = cacheOp.getBlocks();
    scales = cacheOp.getScales();
  } else if (auto copy = dyn_cast<CopyPagesOp>(op)) {
    blocks = copy.getBlocks();
  }
  SmallVector<Value> outs;
  if (auto form = dyn_cast<TwoFormOpInterface>(op))
    outs = form.getOutValues();
  std::optional<bool> onTensors;
  for (Value operand : op->getOperands()) {
    if (!isa<ShapedType>(operand.getType()) || operand == blocks ||
        operand == scales || llvm::is_contained(outs, operand))
      continue;
    bool isTensor = isa<TensorType>(operand.getType());
    if (onTensors && *onTensors != isTensor)
      return std::nullopt;
    onTensors = isTensor;
  }
  return onTensors;
}

LogicalResult kv::verifyOneForm(Operation *op) {
  if (!isOnTensors(op))
    return op->emitOpError("mixes tensors and buffers");
  return success();
}

LogicalResult kv::verifyForm(Operation *op, ValueRange outs, ValueRange results,
                             size_t required) {
  std::optional<bool> onTensors = isOnTensors(op);
  if (!onTensors)
    return op->emitOpError("mixes tensors and buffers");
  ValueRange wanted = *onTensors ? results : outs;
  ValueRange unwanted = *onTensors ? outs : results;
  auto given = [](Value value) { return !!value; };
  if (llvm::all_of(wanted.take_front(required), given) &&
      llvm::none_of(unwanted, given))
    return success();
  if (*onTensors)
    return op->emitOpError("on tensors returns its result and takes no 'outs'");
  return op->emitOpError("on buffers writes its 'outs' and returns nothing");
}

LogicalResult kv::verifySameRows(Operation *op, StringRef nameA, Type a,
                                 StringRef nameB, Type b) {
  int64_t rowsA = cast<ShapedType>(a).getDimSize(0);
  int64_t rowsB = cast<ShapedType>(b).getDimSize(0);
  if (ShapedType::isDynamic(rowsA) || ShapedType::isDynamic(rowsB) ||
      rowsA == rowsB)
    return success();
  return op->emitOpError() << "'" << nameA << "' has " << rowsA << " rows, '"
                           << nameB << "' has " << rowsB;
}

LogicalResult kv::verifyNumber(Operation *op, StringRef name, APFloat value,
                               Sign sign) {
  // The shortest text that names the number that was written.
  char text[32];
  double number = value.convertToDouble();
  StringRef given(text, std::to_chars(text, std::end(text), number).ptr - text);
  bool isRounded;
  value.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven,
                &isRounded);
  bool isPositive = !value.isNegative() && !value.isZero();
  if (value.isFinite() && (sign == Sign::Any || isPositive ||
                           (sign == Sign::NotNegative && value.isZero())))
    return success();
  return op->emitOpError() << name << " must be finite"
                           << (sign == Sign::Positive      ? " and positive"
                               : sign == Sign::NotNegative ? " and not negative"
                                                           : "")
                           << " in f32, not " << given;
}

Type kv::formType(Value out, Value result) {
  return (out ? out : result).getType();
}

SmallVector<Value, 2> kv::staticRows(Value out, Value result) {
  Value made = out ? out : result;
  if (cast<ShapedType>(made.getType()).isDynamicDim(0))
    return {};
  return {made};
}

//===----------------------------------------------------------------------===//
// A cache and its components
//===----------------------------------------------------------------------===//

LogicalResult kv::verifyComponent(Operation *op, size_t i, Type have,
                                  CollectionType type) {
  Type want = type.getComponentTypes()[i];
  auto haveShaped = cast<ShapedType>(have), wantShaped = cast<ShapedType>(want);
  bool kindOk = !isa<MemRefType>(want) || isa<MemRefType>(have);
  if (kindOk && haveShaped.getElementType() == wantShaped.getElementType() &&
      succeeded(
          verifyCompatibleShape(haveShaped.getShape(), wantShaped.getShape())))
    return success();
  return op->emitOpError() << "component '" << type.getComponentNames()[i]
                           << "' of " << type << " must be like " << want
                           << ", not " << have;
}

LogicalResult kv::verifyComponents(Operation *op, TypeRange given,
                                   CollectionType type) {
  size_t wanted = type.getScale() ? 5 : 4;
  if (given.size() != wanted)
    return op->emitOpError()
           << "takes " << wanted << " components of its collection, not "
           << given.size();
  for (auto [i, have] : llvm::enumerate(given))
    if (failed(verifyComponent(op, i, have, type)))
      return failure();
  return success();
}

LogicalResult kv::verifyLayer(Operation *op, Value layer, CollectionType type) {
  APInt value;
  if (!matchPattern(layer, m_ConstantInt(&value)) ||
      value.ult(type.getLayers()))
    return success();
  return op->emitOpError() << "layer " << value.getSExtValue()
                           << " is outside the collection's "
                           << type.getLayers() << " layers";
}

LogicalResult kv::verifyCache(CacheOpInterface op,
                              std::optional<Type> collection) {
  OperandRange cache = op.getCacheOperands();
  if (cache.empty())
    return op->emitOpError("names no cache");
  bool isOnStates =
      isa<StateReadOp, StateWriteOp, StateConvolutionOp, StateScanOp>(
          op.getOperation());
  CollectionType type = collectionOf(cache, collection);
  if (type && isOnStates != type.getGeometry().isRecurrent())
    return op->emitOpError()
           << "is on " << type
           << (isOnStates ? ", which holds keys and values, and no states"
                          : ", which holds states, and no keys and values");
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

LogicalResult kv::verifyRowShape(Operation *op, StringRef name, Type type,
                                 int64_t heads, int64_t dim) {
  ArrayRef<int64_t> shape = cast<ShapedType>(type).getShape();
  if ((ShapedType::isDynamic(heads) || shape[1] == heads) && shape[2] == dim)
    return success();
  return op->emitOpError() << "'" << name << "' must be [T, "
                           << HeadCount{heads} << ", " << dim
                           << "] as the collection says, not " << type;
}

LogicalResult kv::verifyPlace(CacheOpInterface op, OperandRange place) {
  if (place.size() != (op.isResolved() ? 2 : 0))
    return op->emitOpError("takes [layer, plane] with components, and only "
                           "then");
  if (!op.isResolved())
    return success();
  if (failed(verifyLayer(op, place[0], op.getCollectionType())))
    return failure();
  APInt plane;
  CollectionType type = op.getCollectionType();
  if (matchPattern(place[1], m_ConstantInt(&plane)) &&
      plane.uge(type.getGeometry().planes()))
    return op->emitOpError()
           << "plane must be "
           << (type.isLatent() ? "0 (latent rows)" : "0 (keys) or 1 (values)")
           << ", not " << plane.getSExtValue();
  return success();
}

LogicalResult kv::verifyWindow(Operation *op, MaskAttr mask,
                               CollectionType type) {
  int64_t window = type.getWindow();
  MaskKind kind = mask.getKind();
  bool looksBack = kind == MaskKind::None || kind == MaskKind::Causal;
  if (!window || (!looksBack && mask.getWindow() <= window))
    return success();
  return op->emitOpError() << "has the mask " << mask
                           << ", but the collection has 'window = " << window
                           << "': the mask must be sliding, sliding_noncausal, "
                           << "chunked or chunked_causal, of at most " << window
                           << " tokens";
}

LogicalResult kv::verifyTreeMask(Operation *op, MaskAttr mask) {
  if (llvm::is_contained(
          {MaskKind::Causal, MaskKind::Sliding, MaskKind::ChunkedCausal},
          mask.getKind()))
    return success();
  return op->emitOpError()
         << "has a tree and the mask " << mask
         << ": that of a tree must be causal, sliding or chunked_causal";
}

CollectionType kv::collectionOf(OperandRange cache, std::optional<Type> given) {
  if (auto type = dyn_cast<CollectionType>(cache.front().getType()))
    return type;
  if (auto type = dyn_cast<CacheType>(cache.front().getType()))
    return type.getCollectionType();
  return dyn_cast_or_null<CollectionType>(given.value_or(Type()));
}

//===----------------------------------------------------------------------===//
// Kernels and plans
//===----------------------------------------------------------------------===//

KernelAttr kv::getKernel(Operation *op) {
  return op->getAttrOfType<KernelAttr>(KVDialect::getKernelAttrName());
}

LogicalResult kv::verifyTree(AttentionOp op) {
  if (!op.getAncestors())
    return success();
  if (failed(verifyTreeMask(op, op.getMask())))
    return failure();
  if (op.getKvRowOffsets())
    return op.emitOpError("takes a tree or 'keys', not both: the nodes of a "
                          "tree are keys of this step's rows");
  return verifySameRows(op, "q", op.getQ().getType(), "tree",
                        op.getAncestors().getType());
}

LogicalResult kv::verifyPlanned(AttentionOp op) {
  if (!op.getPlan())
    return success();
  auto plan = cast<ShapedType>(op.getPlan().getType());
  KernelAttr kernel = getKernel(op);
  bool isBytes = plan.getElementType().isInteger(8);
  if (kernel && takesPlan(kernel.getKind()) &&
      isBytes != (kernel.getKind() == KernelKind::Cuda))
    return op.emitOpError()
           << "has the plan " << plan << ", the kernel '"
           << stringifyKernelKind(kernel.getKind()) << "' takes "
           << (isBytes ? "i32 [T, 4]" : "i8 [bytes]");
  if (!isBytes && plan.getDimSize(1) != kPlanWidth)
    return op.emitOpError()
           << "plan must be [T, " << kPlanWidth << "], not " << Type(plan);
  if (!isBytes &&
      failed(verifySameRows(op, "q", op.getQ().getType(), "plan", plan)))
    return failure();
  auto made = op.getPlan().getDefiningOp<PlanOp>();
  if (made && made.getMask() != op.getMask())
    return op.emitOpError() << "has the mask " << op.getMask()
                            << ", its plan is for " << made.getMask();
  bool hasTree = static_cast<bool>(op.getAncestors());
  if (made && made.getTree() != hasTree)
    return op.emitOpError() << "has " << (hasTree ? "a" : "no")
                            << " tree, its plan is for attentions with "
                            << (hasTree ? "none" : "one");
  if (kernel && !takesPlan(kernel.getKind()))
    return op.emitOpError()
           << "has a plan, which the kernel '"
           << stringifyKernelKind(kernel.getKind()) << "' does not take";
  return success();
}
