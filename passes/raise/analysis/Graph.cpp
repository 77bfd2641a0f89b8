//===- Graph.cpp - The graph that is raised -------------------------------===//

#include "Graph.h"

#include "kv/Dialect/KV.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace kv;

/// The only public function with a body.
static func::FuncOp findFunction(ModuleOp module) {
  func::FuncOp found;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isPrivate() || function.isExternal())
      continue;
    if (found)
      return nullptr;
    found = function;
  }
  return found;
}

/// Whether an argument can be the tokens: integers, one dynamic dimension, and
/// all others of size 1.
static bool looksLikeTokens(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getElementType().isInteger() &&
         tensor.getNumDynamicDims() == 1 &&
         llvm::all_of(tensor.getShape(), [](int64_t size) {
           return size == 1 || ShapedType::isDynamic(size);
         });
}

FailureOr<Graph> Graph::find(ModuleOp module) {
  Graph graph;
  graph.function = findFunction(module);
  if (!graph.function)
    return module.emitError("kv-raise: the module has no public function, or "
                            "several; a graph is one");
  if (!graph.function.getBody().hasOneBlock())
    return graph.function.emitError(
        "kv-raise: the graph has branches; one block is needed");
  for (BlockArgument argument : graph.function.getArguments()) {
    if (isa<CollectionType>(argument.getType()))
      return graph.function.emitError(
          "kv-raise: the graph has a collection already");
    if (argumentAttr(argument, KVDialect::getWeightAttrName()) ||
        rowDims(argument.getType()).empty())
      continue;
    if (graph.tokens || !looksLikeTokens(argument.getType()))
      return graph.function.emitError("kv-raise: argument ")
             << argument.getArgNumber() << " of type " << argument.getType()
             << " has a dynamic size; only the tokens may, integers [1, T] or "
                "[T], once";
    graph.tokens = argument;
  }
  if (!graph.tokens)
    return graph.function.emitError(
        "kv-raise: no argument is the tokens: integers [1, T] with a dynamic "
        "length");
  graph.sequenceDim = rowDims(graph.tokens.getType()).front();
  graph.maxLength = std::numeric_limits<int32_t>::max();
  if (auto model =
          module->getAttrOfType<DictionaryAttr>(KVDialect::getModelAttrName()))
    if (auto most = model.getAs<IntegerAttr>("max_seq_len"))
      graph.maxLength = std::max<int64_t>(1, most.getInt());
  return graph;
}

StringAttr kv::argumentAttr(Value value, StringRef name) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto function =
      argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp())
               : func::FuncOp();
  return function ? function.getArgAttrOfType<StringAttr>(
                        argument.getArgNumber(), name)
                  : StringAttr();
}

SmallVector<int64_t> kv::rowDims(Type type) {
  SmallVector<int64_t> dims;
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    for (auto [d, size] : llvm::enumerate(tensor.getShape()))
      if (ShapedType::isDynamic(size))
        dims.push_back(d);
  return dims;
}

bool kv::isRows(Type type) { return rowDims(type).size() == 1; }

SmallVector<unsigned> kv::rowLoops(linalg::LinalgOp op) {
  llvm::SmallSetVector<unsigned, 4> loops;
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (int64_t d : rowDims(operand.get().getType()))
      if (auto dim = dyn_cast<AffineDimExpr>(map.getResult(d)))
        loops.insert(dim.getPosition());
  }
  return llvm::to_vector(loops);
}

bool kv::isAttention(Operation *op) {
  return op->getName().getStringRef() == "tm_tensor.attention";
}

bool kv::isScan(Operation *op) {
  return op->getName().getStringRef() == "tm_tensor.scan";
}

bool kv::isSort(Operation *op) {
  return op->getName().getStringRef() == "tm_tensor.sort";
}

AttentionForm::AttentionForm(Operation *op) {
  auto at = [&](unsigned i) {
    return i < op->getNumOperands() ? op->getOperand(i) : Value();
  };
  q = at(0), k = at(1), v = at(2), mask = at(3), init = at(4), sinks = at(5);
  if (op->getNumOperands() == 4)
    std::swap(mask, init);
}

bool kv::namesRow(OpOperand &use) {
  auto extract = dyn_cast<tensor::ExtractOp>(use.getOwner());
  if (!extract || use.getOperandNumber() == 0)
    return false;
  return extract.getTensor().getType().isDynamicDim(use.getOperandNumber() - 1);
}

Attribute kv::attributeOf(Operation *op, StringRef name) {
  if (Attribute attribute = op->getDiscardableAttr(name))
    return attribute;
  auto properties =
      dyn_cast_or_null<DictionaryAttr>(op->getPropertiesAsAttribute());
  return properties ? properties.get(name) : Attribute();
}

FailureOr<ScoreFactors> kv::scoreFactors(Operation *op) {
  auto type = cast<RankedTensorType>(op->getOperand(0).getType());
  ScoreFactors factors = {
      1 / std::sqrt(static_cast<double>(type.getShape().back()))};
  auto dictionary =
      dyn_cast_or_null<DictionaryAttr>(op->getPropertiesAsAttribute());
  SmallVector<NamedAttribute> all(op->getDiscardableAttrs());
  if (dictionary)
    llvm::append_range(all, dictionary);
  for (NamedAttribute each : all) {
    auto number = dyn_cast<FloatAttr>(each.getValue());
    if (each.getName() == "scale" && number)
      factors.scale = number.getValueAsDouble();
    else if (each.getName() == kSoftcapAttrName && number)
      factors.softcap = number.getValueAsDouble();
    else if (each.getName() != "operandSegmentSizes")
      return op->emitOpError("kv-raise: its attribute '")
             << each.getName().getValue() << "' is not known";
  }
  return factors;
}

linalg::MatmulOp kv::createWeightProduct(OpBuilder &b, Location loc, Value x,
                                         Value w, Value init) {
  AffineExpr m, n, k;
  bindDims(b.getContext(), m, n, k);
  SmallVector<Attribute> maps;
  for (auto [i, j] : {std::pair(m, k), std::pair(n, k), std::pair(m, n)})
    maps.push_back(
        AffineMapAttr::get(AffineMap::get(3, 0, {i, j}, b.getContext())));
  auto product = linalg::MatmulOp::create(b, loc, TypeRange(init.getType()),
                                          ValueRange{x, w}, ValueRange(init));
  product.setIndexingMapsAttr(b.getArrayAttr(maps));
  return product;
}
