//===- RaiseAttention.cpp - Attention becomes stores and a cache ----------===//

#include "kv/Passes/Raise.h"

#include "Elements.h"
#include "MaskProof.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace kv {
#define GEN_PASS_DEF_KVRAISEATTENTION
#include "kv/Passes/RaisePasses.h.inc"
} // namespace kv

using namespace mlir;
using namespace kv;

namespace {
/// An attention and what was proven of it.
struct Layer {
  Operation *op;
  MaskAttr mask;
  ScoreFactors factors;
  int64_t heads, dim, groups; // query heads, and how many read one KV head
  unsigned collection;        // an index of the collections
  int64_t layer;              // counted in that collection
};

/// The layers with one window and one shape of heads.
struct Kind {
  int64_t heads, dim, window, layers;
};

struct RaiseAttention : kv::impl::KVRaiseAttentionBase<RaiseAttention> {
  using KVRaiseAttentionBase::KVRaiseAttentionBase;

  void runOnOperation() override {
    FailureOr<Graph> graph = Graph::find(getOperation());
    // What follows is not sound without this.
    if (failed(graph) || failed(checkTokens(*graph)) || failed(raise(*graph)))
      signalPassFailure();
  }

private:
  LogicalResult raise(const Graph &graph) {
    std::optional<KvDType> dtype = elementType();
    if (!dtype || page < 1)
      return graph.function.emitError("kv-raise: dtype is '")
             << dtypeName << "' and page " << page.getValue()
             << ", expected f32, bf16 or f16 and a positive number";
    SmallVector<Layer> layers;
    SmallVector<Kind> kinds;
    llvm::DenseMap<Value, MaskAttr> proven;
    for (Operation &op : graph.body())
      if (isAttention(&op)) {
        FailureOr<Layer> layer = prove(graph, &op, proven);
        if (failed(layer))
          return failure();
        place(*layer, kinds);
        layers.push_back(*layer);
      }
    if (layers.empty())
      return graph.function.emitError(
          "kv-raise: the graph has no attention (tm_tensor.attention)");

    Value rowOffsets = addRowOffsets(graph.function);
    SmallVector<Value> collections;
    for (auto [i, kind] : llvm::enumerate(kinds))
      collections.push_back(addCollection(graph.function, kind, *dtype, i));
    for (const Layer &layer : layers)
      rewrite(graph, layer, collections[layer.collection], rowOffsets);
    return success();
  }

  std::optional<KvDType> elementType() const {
    return llvm::StringSwitch<std::optional<KvDType>>(dtypeName)
        .Case("f32", KV_DTYPE_F32)
        .Case("bf16", KV_DTYPE_BF16)
        .Case("f16", KV_DTYPE_F16)
        .Default(std::nullopt);
  }

  FailureOr<Layer> prove(const Graph &graph, Operation *op,
                         llvm::DenseMap<Value, MaskAttr> &proven) {
    if (op->getNumOperands() != 5 || op->getNumResults() != 1)
      return op->emitOpError(
          "kv-raise: has no mask, so that a token sees later "
          "ones: no cache can have them");
    auto q = cast<RankedTensorType>(op->getOperand(0).getType());
    auto k = cast<RankedTensorType>(op->getOperand(1).getType());
    auto v = cast<RankedTensorType>(op->getOperand(2).getType());
    auto m = cast<RankedTensorType>(op->getOperand(3).getType());
    if (q != k || k != v || m.getDimSize(0) != q.getDimSize(0) ||
        op->getResult(0).getType() != q)
      return op->emitOpError("kv-raise: queries are ")
             << q << ", keys " << k << ", values " << v << ", the mask " << m
             << ": equal heads and one head dimension are needed";
    FailureOr<ScoreFactors> factors = scoreFactors(op);
    if (failed(factors))
      return failure();
    MaskAttr &mask = proven[op->getOperand(3)];
    if (!mask) {
      FailureOr<MaskAttr> found = proveMask(graph, op, op->getOperand(3));
      if (failed(found))
        return failure();
      mask = *found;
    }
    Layer layer{op, mask, *factors, q.getDimSize(0), q.getDimSize(2), 1, 0, 0};
    layer.groups = groupsOf(graph, layer);
    return layer;
  }

  /// The greatest number of neighbouring heads whose keys, and values, are
  /// equal: the same elements of the same tensors.
  static int64_t groupsOf(const Graph &graph, const Layer &layer) {
    Elements elements(graph, /*keepsLeaves=*/true);
    int64_t common = layer.heads;
    for (unsigned operand : {1, 2}) {
      SmallVector<ExprId> heads;
      for (int64_t head = 0; head < layer.heads; ++head)
        heads.push_back(*elements.element(layer.op->getOperand(operand),
                                          {elements.integer({head}),
                                           elements.integer({0, {1, 0, 0}}),
                                           elements.integer({0, {0, 1, 0}})}));
      auto repeats = [&](int64_t groups) {
        for (int64_t head = 0; head < layer.heads; ++head)
          if (heads[head] != heads[head - head % groups])
            return false;
        return true;
      };
      while (layer.heads % common || !repeats(common))
        --common;
    }
    return common;
  }

  /// Counts a layer in the collection of its kind.
  static void place(Layer &layer, SmallVector<Kind> &kinds) {
    Kind kind{layer.heads / layer.groups, layer.dim, layer.mask.getWindow(), 0};
    for (auto [i, each] : llvm::enumerate(kinds))
      if (each.heads == kind.heads && each.dim == kind.dim &&
          each.window == kind.window) {
        layer.collection = i;
        layer.layer = each.layers++;
        return;
      }
    layer.collection = kinds.size();
    kind.layers = 1;
    kinds.push_back(kind);
  }

  static Value addRowOffsets(func::FuncOp function) {
    Builder b(function.getContext());
    auto type = RankedTensorType::get({ShapedType::kDynamic}, b.getI32Type());
    auto attributes =
        b.getDictionaryAttr({b.getNamedAttr(KVDialect::getNameAttrName(),
                                            b.getStringAttr("row_offsets")),
                             b.getNamedAttr(KVDialect::getDimsAttrName(),
                                            b.getStrArrayAttr({"offsets"}))});
    unsigned at = function.getNumArguments();
    (void)function.insertArgument(at, type, attributes, function.getLoc());
    return function.getArgument(at);
  }

  Value addCollection(func::FuncOp function, const Kind &kind, KvDType dtype,
                      size_t index) {
    CacheGeometry geometry;
    geometry.dtype = dtype;
    geometry.layers = kind.layers;
    geometry.heads = kind.heads;
    geometry.dim = kind.dim;
    geometry.page = page;
    geometry.window = kind.window;
    Builder b(function.getContext());
    std::string name = index ? "kv" + std::to_string(index) : "kv";
    auto attributes = b.getDictionaryAttr(
        b.getNamedAttr(KVDialect::getNameAttrName(), b.getStringAttr(name)));
    unsigned at = function.getNumArguments();
    (void)function.insertArgument(
        at, CollectionType::get(function.getContext(), geometry), attributes,
        function.getLoc());
    return function.getArgument(at);
  }

  /// Heads come first in the operation, and rows in a cache.
  static Value transposed(OpBuilder &b, Location loc, Value value,
                          Value length) {
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<OpFoldResult> shape;
    for (int64_t d : {1, 0, 2})
      shape.push_back(type.isDynamicDim(d)
                          ? OpFoldResult(length)
                          : OpFoldResult(b.getIndexAttr(type.getDimSize(d))));
    Value to = tensor::EmptyOp::create(b, loc, shape, type.getElementType());
    return linalg::TransposeOp::create(b, loc, value, to,
                                       ArrayRef<int64_t>{1, 0, 2})
        ->getResult(0);
  }

  /// The first head of each group.
  static Value firsts(OpBuilder &b, Location loc, Value value, int64_t groups,
                      Value length) {
    auto type = cast<RankedTensorType>(value.getType());
    if (groups == 1)
      return value;
    SmallVector<OpFoldResult> offsets(3, b.getIndexAttr(0)),
        strides(3, b.getIndexAttr(1)),
        sizes = {b.getIndexAttr(type.getDimSize(0) / groups), length,
                 b.getIndexAttr(type.getDimSize(2))};
    strides[0] = b.getIndexAttr(groups);
    return tensor::ExtractSliceOp::create(b, loc, value, offsets, sizes,
                                          strides);
  }

  void rewrite(const Graph &graph, const Layer &layer, Value collection,
               Value rowOffsets) {
    Operation *op = layer.op;
    OpBuilder b(op);
    Location loc = op->getLoc();
    Value length =
        tensor::DimOp::create(b, loc, graph.tokens, graph.sequenceDim);
    auto rows = [&](unsigned operand, int64_t groups) {
      Value value = firsts(b, loc, op->getOperand(operand), groups, length);
      return transposed(b, loc, value, length);
    };
    Value q = rows(0, 1), k = rows(1, layer.groups), v = rows(2, layer.groups);
    Value index = arith::ConstantIndexOp::create(b, loc, layer.layer);
    OperationState store(loc, StoreOp::getOperationName());
    StoreOp::build(b, store, k, v, collection, index, rowOffsets, TypeAttr());
    b.create(store);
    FloatAttr softcap = layer.factors.softcap
                            ? b.getF64FloatAttr(layer.factors.softcap)
                            : FloatAttr();
    OperationState attend(loc, AttentionOp::getOperationName());
    AttentionOp::build(b, attend, q.getType(), /*lse=*/Type(), q, collection,
                       index, rowOffsets, /*sinks=*/Value(), /*out=*/Value(),
                       /*out_lse=*/Value(), /*plan=*/Value(),
                       /*kv_row_offsets=*/Value(), layer.mask,
                       b.getF64FloatAttr(layer.factors.scale), softcap,
                       /*collection=*/TypeAttr());
    Value result = transposed(b, loc, b.create(attend)->getResult(0), length);
    op->replaceAllUsesWith(ValueRange(result));
    remark::passed(loc, raiseRemark("Attention")) << remark::add(
        "layer {0} of {1}: {2} query heads read {3} KV heads, {4}, scale {5}",
        layer.layer, printed(collection.getType()), layer.heads,
        layer.heads / layer.groups, printed(layer.mask), layer.factors.scale);
    ++numLayers;
    op->erase();
  }

  template <typename T> static std::string printed(T what) {
    std::string text;
    llvm::raw_string_ostream(text) << what;
    return text;
  }
};
} // namespace
