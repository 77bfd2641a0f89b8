//===- RaiseAttention.cpp - Attention becomes stores and a cache ----------===//

#include "kv/Passes/Raise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/raise/analysis/Elements.h"
#include "passes/raise/analysis/MaskProof.h"

#include <cmath>

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
  MaskFacts mask;
  ScoreFactors factors;
  int64_t heads, groups; // query heads, and how many read one KV head
  int64_t dim;           // of a row in the cache
  /// The position of a key is written as `digits` numbers below `base`.
  int64_t digits = 0, base = 0;
  /// Whether a number that is the same for all keys of a query is added as
  /// well.
  bool addsRow = false;
  size_t expressions = 0;  // that keys and values were compared by
  unsigned collection = 0; // an index of the collections
  int64_t layer = 0;       // counted in that collection
};

/// The layers with one window and one shape of heads.
struct Kind {
  int64_t heads, dim, window, layers;
};

struct RaiseAttention : kv::impl::KVRaiseAttentionBase<RaiseAttention> {
  using KVRaiseAttentionBase::KVRaiseAttentionBase;

  void runOnOperation() override {
    FailureOr<Graph> graph = Graph::find(getOperation());
    // The rewrite is sound only after this proof.
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
    llvm::DenseMap<Value, MaskFacts> proven;
    for (Operation &op : graph.body())
      if (isAttention(&op)) {
        FailureOr<Layer> layer = prove(graph, &op, *dtype, proven);
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
    dropMasks(graph);
    return success();
  }

  std::optional<KvDType> elementType() const {
    return llvm::StringSwitch<std::optional<KvDType>>(dtypeName)
        .Case("f32", KV_DTYPE_F32)
        .Case("bf16", KV_DTYPE_BF16)
        .Case("f16", KV_DTYPE_F16)
        .Default(std::nullopt);
  }

  FailureOr<Layer> prove(const Graph &graph, Operation *op, KvDType dtype,
                         llvm::DenseMap<Value, MaskFacts> &proven) {
    AttentionForm form(op);
    if (!form.mask || op->getNumResults() != 1)
      return op->emitOpError(
          "kv-raise: has no mask, so that a token sees later "
          "ones: no cache can have them");
    auto q = cast<RankedTensorType>(form.q.getType());
    auto k = cast<RankedTensorType>(form.k.getType());
    auto v = cast<RankedTensorType>(form.v.getType());
    auto m = cast<RankedTensorType>(form.mask.getType());
    if (q != k || k.getDimSize(0) != v.getDimSize(0) ||
        k.getElementType() != v.getElementType() ||
        m.getDimSize(0) != q.getDimSize(0) || op->getResult(0).getType() != v)
      return op->emitOpError("kv-raise: queries are ")
             << q << ", keys " << k << ", values " << v << ", the mask " << m
             << ": equal heads are needed";
    FailureOr<ScoreFactors> factors = scoreFactors(op);
    if (failed(factors))
      return failure();
    MaskFacts &mask = proven[form.mask];
    if (!mask.shown) {
      FailureOr<MaskFacts> found = proveMask(graph, op, form.mask);
      if (failed(found))
        return failure();
      mask = *found;
    }
    Layer layer{op, mask, *factors, q.getDimSize(0), 1, q.getDimSize(2)};
    if (failed(addPositions(graph, layer, dtype)))
      return failure();
    layer.dim =
        std::max(layer.dim + layer.digits + layer.addsRow, v.getDimSize(2));
    // Rows of a cache are whole vectors where they are ours to choose.
    if (layer.dim != q.getDimSize(2))
      layer.dim = llvm::alignTo(layer.dim, 8);
    layer.groups = groupsOf(graph, layer);
    return layer;
  }

  /// Numbers that a mask adds become elements of queries and keys. A number
  /// that is the same for all keys of a query changes no weight, unless there
  /// is a sink.
  LogicalResult addPositions(const Graph &graph, Layer &layer, KvDType dtype) {
    bool byKey = false, byLength = false;
    for (const AddedNumber &each : layer.mask.added) {
      byKey |= each.key != 0;
      byLength |= each.length != 0;
      layer.addsRow |= each.query != 0 || each.rest != 0;
    }
    Operation *op = layer.op;
    bool hasSinks = static_cast<bool>(AttentionForm(op).sinks);
    layer.addsRow &= hasSinks;
    if (byLength && hasSinks)
      return op->emitOpError("kv-raise: its mask adds the length of the "
                             "sequence to scores, but not to the sink's");
    if (!byKey && !layer.addsRow)
      return success();
    if (layer.factors.softcap || std::abs(layer.factors.scale) < 1e-6)
      return op->emitOpError("kv-raise: its mask adds positions to scores that "
                             "are capped, or not scaled");
    if (!byKey)
      return success();
    // The largest integer up to which the elements of a cache are exact.
    layer.base = dtype == KV_DTYPE_F32   ? int64_t(1) << 24
                 : dtype == KV_DTYPE_F16 ? int64_t(1) << 11
                                         : int64_t(1) << 8;
    for (int64_t most = graph.maxLength - 1; most > 0; most /= layer.base)
      ++layer.digits;
    layer.digits = std::max<int64_t>(layer.digits, 1);
    return success();
  }

  /// The greatest number of neighbouring heads whose keys, and values, are
  /// equal: the same elements of the same tensors.
  static int64_t groupsOf(const Graph &graph, Layer &layer) {
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
    layer.expressions = elements.expressions().size();
    return common;
  }

  /// Counts a layer in the collection of its kind.
  static void place(Layer &layer, SmallVector<Kind> &kinds) {
    Kind kind{layer.heads / layer.groups, layer.dim,
              layer.mask.shown.getWindow(), 0};
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

  /// [T, heads, columns] whose elements `compute` makes of a loop over them.
  static Value columns(OpBuilder &b, Location loc, Value like, int64_t columns,
                       llvm::function_ref<Value(OpBuilder &)> compute) {
    auto type = cast<RankedTensorType>(like.getType());
    SmallVector<OpFoldResult> shape = tensor::getMixedSizes(b, loc, like);
    shape[2] = b.getIndexAttr(columns);
    Value to = tensor::EmptyOp::create(b, loc, shape, type.getElementType());
    return linalg::GenericOp::create(
               b, loc, to.getType(), ValueRange(), to,
               ArrayRef{b.getMultiDimIdentityMap(3)},
               SmallVector(3, utils::IteratorType::parallel),
               [&](OpBuilder &inner, Location loc, ValueRange) {
                 linalg::YieldOp::create(inner, loc, compute(inner));
               })
        .getResult(0);
  }

  /// Rows [T, heads, n] as [T, heads, dim]: followed by `more` numbers, which
  /// the first `count` of `number` are, and zeros.
  static Value widened(OpBuilder &b, Location loc, Value rows, int64_t dim,
                       int64_t count,
                       llvm::function_ref<Value(OpBuilder &, int64_t)> number) {
    auto type = cast<RankedTensorType>(rows.getType());
    int64_t more = dim - type.getDimSize(2);
    if (more == 0)
      return rows;
    Value last = columns(b, loc, rows, more, [&](OpBuilder &b) {
      Value value = arith::ConstantOp::create(
          b, loc, b.getZeroAttr(type.getElementType()));
      for (int64_t i = 0; i < count; ++i) {
        Value column = linalg::IndexOp::create(b, loc, 2);
        Value at = arith::ConstantIndexOp::create(b, loc, i);
        Value isThis =
            arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, column, at);
        value = arith::SelectOp::create(b, loc, isThis, number(b, i), value);
      }
      return value;
    });
    return tensor::ConcatOp::create(b, loc, 2, ValueRange{rows, last});
  }

  /// A number for each head, chosen by the loop over heads.
  static Value ofHead(OpBuilder &b, Location loc, const Layer &layer, Type type,
                      llvm::function_ref<double(const AddedNumber &)> number) {
    Value head = linalg::IndexOp::create(b, loc, 1), value;
    for (auto [i, each] : llvm::enumerate(layer.mask.added)) {
      Value mine = arith::ConstantOp::create(
          b, loc, b.getFloatAttr(type, number(each) / layer.factors.scale));
      if (i == 0) {
        value = mine;
        continue;
      }
      Value at = arith::ConstantIndexOp::create(b, loc, i);
      Value isThis =
          arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, head, at);
      value = arith::SelectOp::create(b, loc, isThis, mine, value);
    }
    return value;
  }

  /// The further elements of a query: the worth of each digit of the key's
  /// position, and last the number that is the same for all keys.
  static Value factorOf(OpBuilder &b, Location loc, const Layer &layer,
                        Type type, int64_t i) {
    if (i < layer.digits) {
      double worth = std::pow(static_cast<double>(layer.base), i);
      return ofHead(b, loc, layer, type,
                    [&](const AddedNumber &each) { return each.key * worth; });
    }
    Value rest = ofHead(b, loc, layer, type,
                        [](const AddedNumber &each) { return each.rest; });
    Value slope = ofHead(b, loc, layer, type,
                         [](const AddedNumber &each) { return each.query; });
    Value position = asFloat(b, loc, linalg::IndexOp::create(b, loc, 0), type);
    slope = arith::MulFOp::create(b, loc, slope, position);
    return arith::AddFOp::create(b, loc, rest, slope);
  }

  static Value asFloat(OpBuilder &b, Location loc, Value index, Type type) {
    index = arith::IndexCastOp::create(b, loc, b.getI64Type(), index);
    return arith::SIToFPOp::create(b, loc, type, index);
  }

  /// The further elements of a key: digits of its position, and last 1.
  static Value digitOf(OpBuilder &b, Location loc, const Layer &layer,
                       Type type, int64_t digit) {
    if (digit == layer.digits)
      return arith::ConstantOp::create(b, loc, b.getFloatAttr(type, 1));
    Value position = linalg::IndexOp::create(b, loc, 0);
    int64_t worth = 1;
    for (int64_t i = 0; i < digit; ++i)
      worth *= layer.base;
    Value by = arith::ConstantIndexOp::create(b, loc, worth);
    Value base = arith::ConstantIndexOp::create(b, loc, layer.base);
    position = arith::DivUIOp::create(b, loc, position, by);
    position = arith::RemUIOp::create(b, loc, position, base);
    return asFloat(b, loc, position, type);
  }

  void rewrite(const Graph &graph, const Layer &layer, Value collection,
               Value rowOffsets) {
    Operation *op = layer.op;
    AttentionForm form(op);
    OpBuilder b(op);
    Location loc = op->getLoc();
    Type element = getElementTypeOrSelf(form.q.getType());
    int64_t valueDim = cast<RankedTensorType>(form.v.getType()).getDimSize(2);
    Value length =
        tensor::DimOp::create(b, loc, graph.tokens, graph.sequenceDim);
    auto rows = [&](Value value, int64_t groups) {
      return transposed(b, loc, firsts(b, loc, value, groups, length), length);
    };
    Value q =
        widened(b, loc, rows(form.q, 1), layer.dim,
                layer.digits + layer.addsRow, [&](OpBuilder &b, int64_t i) {
                  return factorOf(b, loc, layer, element, i);
                });
    Value k =
        widened(b, loc, rows(form.k, layer.groups), layer.dim,
                layer.digits + layer.addsRow, [&](OpBuilder &b, int64_t i) {
                  return digitOf(b, loc, layer, element, i);
                });
    Value v = widened(b, loc, rows(form.v, layer.groups), layer.dim, 0, {});
    Value index = arith::ConstantIndexOp::create(b, loc, layer.layer);
    OperationState store(loc, StoreOp::getOperationName());
    StoreOp::build(b, store, k, v, collection, index, rowOffsets, TypeAttr());
    b.create(store);
    FloatAttr softcap = layer.factors.softcap
                            ? b.getF64FloatAttr(layer.factors.softcap)
                            : FloatAttr();
    OperationState attend(loc, AttentionOp::getOperationName());
    AttentionOp::build(b, attend, q.getType(), /*lse=*/Type(), q, collection,
                       index, rowOffsets, form.sinks, /*out=*/Value(),
                       /*out_lse=*/Value(), /*plan=*/Value(),
                       /*kv_row_offsets=*/Value(), /*ancestors=*/Value(),
                       layer.mask.shown, b.getF64FloatAttr(layer.factors.scale),
                       softcap, /*products=*/TypeAttr(),
                       /*collection=*/TypeAttr());
    Value result = b.create(attend)->getResult(0);
    if (valueDim != layer.dim) {
      SmallVector<OpFoldResult> offsets(3, b.getIndexAttr(0)),
          strides(3, b.getIndexAttr(1)),
          sizes = tensor::getMixedSizes(b, loc, result);
      sizes[2] = b.getIndexAttr(valueDim);
      result = tensor::ExtractSliceOp::create(b, loc, result, offsets, sizes,
                                              strides);
    }
    op->replaceAllUsesWith(ValueRange(transposed(b, loc, result, length)));
    remark::passed(loc, raiseRemark("Attention")) << remark::add(
        "layer {0} of {1}: {2} query heads read {3} KV heads, {4}, scale "
        "{5}{6}{7}, by {8} expressions",
        layer.layer, printed(collection.getType()), layer.heads,
        layer.heads / layer.groups, printed(layer.mask.shown),
        layer.factors.scale, form.sinks ? ", sinks" : "",
        layer.digits || layer.addsRow ? ", positions are added" : "",
        layer.expressions);
    ++numLayers;
    op->erase();
  }

  /// Drops operations that made masks, which are not needed any more and might
  /// read the length.
  static void dropMasks(const Graph &graph) {
    for (Operation &op :
         llvm::make_early_inc_range(llvm::reverse(graph.body())))
      if (op.use_empty() && !op.hasTrait<OpTrait::IsTerminator>() &&
          (isMemoryEffectFree(&op) || isScan(&op) || isSort(&op)))
        op.erase();
  }

  template <typename T> static std::string printed(T what) {
    std::string text;
    llvm::raw_string_ostream(text) << what;
    return text;
  }
};
} // namespace
