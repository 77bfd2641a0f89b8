//===- RaiseSoftmax.cpp - Attention that is spelled out -------------------===//
//
// Elements are compared as expressions, in which moved data, reshapes and casts
// do not show: what a softmax is made of may be written in many ways.
//
//===----------------------------------------------------------------------===//

#include "kv/Passes/Raise.h"

#include "Elements.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

namespace kv {
#define GEN_PASS_DEF_KVRAISESOFTMAX
#include "kv/Passes/RaisePasses.h.inc"
} // namespace kv

using namespace mlir;
using namespace kv;

namespace {
/// How the weights of one head come about.
struct Softmax {
  double scale = 1, softcap = 0;
  ExprId mask = 0;
  bool hidesWhereTrue = false; // of a mask of truth values
  Value scores;                // the product of queries and keys
  bool keysFirst = false;      // it is that of keys and queries

  bool operator==(const Softmax &other) const {
    return std::tie(scale, softcap, mask, hidesWhereTrue, scores, keysFirst) ==
           std::tie(other.scale, other.softcap, other.mask,
                    other.hidesWhereTrue, other.scores, other.keysFirst);
  }
};

/// Reads expressions as a softmax.
class Reader {
public:
  explicit Reader(Elements &elements) : elements(elements) {}

  /// The weight of key k for query q in a head.
  std::optional<Softmax> read(ExprId weight, int64_t head) {
    auto [exponential, total] = binary<arith::DivFOp>(weight);
    if (!total || !isReduction<arith::AddFOp>(total, exponential) ||
        constant(at(total).operands[1]) != 0.0)
      return std::nullopt;
    const Expr *exp = application<math::ExpOp>(exponential);
    if (!exp)
      return std::nullopt;
    auto [score, most] = binary<arith::SubFOp>(exp->operands[0]);
    most = most ? readMaximum(most) : most;
    if (!most ||
        !(isReduction<arith::MaximumFOp>(most, score) ||
          isReduction<arith::MaxNumFOp>(most, score)) ||
        !isHiding(at(most).operands[1]))
      return std::nullopt;
    Softmax softmax;
    std::optional<ExprId> shown = readMask(score, softmax);
    if (!shown)
      return std::nullopt;
    ExprId product = readFactors(readCap(*shown, softmax), softmax);
    const Expr &leaf = at(product);
    auto q = elements.integer({0, {1, 0, 0}});
    auto k = elements.integer({0, {0, 1, 0}});
    using Index = SmallVector<ExprId, 3>;
    softmax.keysFirst = leaf.operands == Index{elements.integer({head}), k, q};
    if (!leaf.tensor ||
        (!softmax.keysFirst &&
         leaf.operands != Index{elements.integer({head}), q, k}))
      return std::nullopt;
    softmax.scores = leaf.tensor;
    return softmax;
  }

  /// Whether nothing but positions are in an expression, and not the length.
  bool isOfPositions(ExprId id) {
    const Expr &expr = at(id);
    return !expr.tensor && !expr.isReduction &&
           expr.linear.coefficients[2] == 0 &&
           llvm::all_of(expr.operands,
                        [&](ExprId each) { return isOfPositions(each); });
  }

private:
  const Expr &at(ExprId id) { return elements.expressions()[id]; }

  template <typename Op> const Expr *application(ExprId id) {
    const Expr &expr = at(id);
    bool matches = expr.kind == Expr::Kind::Operation && expr.op &&
                   !expr.isReduction && isa<Op>(expr.op);
    return matches ? &expr : nullptr;
  }

  /// Operands of an operation, or zeros.
  template <typename Op> std::pair<ExprId, ExprId> binary(ExprId id) {
    const Expr *expr = application<Op>(id);
    return expr ? std::pair(expr->operands[0], expr->operands[1])
                : std::pair<ExprId, ExprId>(0, 0);
  }

  template <typename Op> bool isReduction(ExprId id, ExprId of) {
    const Expr &expr = at(id);
    return expr.isReduction && isa<Op>(expr.op) && expr.operands[0] == of;
  }

  std::optional<double> constant(ExprId id) {
    const Expr &expr = at(id);
    if (expr.kind == Expr::Kind::Float)
      return expr.value.convertToDouble();
    // Rounded as the operation would.
    if (expr.kind == Expr::Kind::Operation && expr.op && !expr.isReduction &&
        isa<arith::TruncFOp, arith::ExtFOp>(expr.op))
      if (const Expr &from = at(expr.operands[0]);
          from.kind == Expr::Kind::Float) {
        APFloat value = from.value;
        bool loses;
        value.convert(cast<FloatType>(expr.op->getResult(0).getType())
                          .getFloatSemantics(),
                      APFloat::rmNearestTiesToEven, &loses);
        return value.convertToDouble();
      }
    return std::nullopt;
  }

  bool isHiding(ExprId id) {
    std::optional<double> value = constant(id);
    return value && *value < -1e30;
  }

  /// x of max(x, -inf), which JAX begins a maximum with.
  ExprId readMaximum(ExprId id) {
    auto [a, b] = binary<arith::MaximumFOp>(id);
    for (auto [least, x] : {std::pair(a, b), std::pair(b, a)})
      if (b && constant(least) == -INFINITY)
        return x;
    return id;
  }

  /// What a mask shows; its expression goes to `softmax`.
  std::optional<ExprId> readMask(ExprId score, Softmax &softmax) {
    if (const Expr *select = application<arith::SelectOp>(score)) {
      softmax.mask = select->operands[0];
      softmax.hidesWhereTrue = isHiding(select->operands[1]);
      bool shows = !softmax.hidesWhereTrue && isHiding(select->operands[2]);
      if (shows || softmax.hidesWhereTrue)
        return select->operands[shows ? 1 : 2];
      return std::nullopt;
    }
    auto [a, b] = binary<arith::AddFOp>(score);
    if (!b)
      return std::nullopt;
    bool first = isOfPositions(a);
    softmax.mask = first ? a : b;
    return first ? b : a;
  }

  /// What c * tanh(x / c) caps.
  ExprId readCap(ExprId id, Softmax &softmax) {
    auto [a, b] = binary<arith::MulFOp>(id);
    for (auto [value, cap] : {std::pair(a, b), std::pair(b, a)}) {
      const Expr *tanh = b ? application<math::TanhOp>(value) : nullptr;
      std::optional<double> c = b ? constant(cap) : std::nullopt;
      if (!tanh || !c || !(*c > 0))
        continue;
      auto [x, divisor] = binary<arith::DivFOp>(tanh->operands[0]);
      if (!divisor || constant(divisor) != c)
        continue;
      softmax.softcap = *c;
      return x;
    }
    return id;
  }

  /// What is multiplied with constants.
  ExprId readFactors(ExprId id, Softmax &softmax) {
    while (true) {
      auto [x, divisor] = binary<arith::DivFOp>(id);
      if (std::optional<double> c =
              divisor ? constant(divisor) : std::nullopt) {
        softmax.scale /= *c;
        id = x;
        continue;
      }
      auto [a, b] = binary<arith::MulFOp>(id);
      std::optional<double> first = b ? constant(a) : std::nullopt;
      std::optional<double> second = b ? constant(b) : std::nullopt;
      if (!first && !second)
        return id;
      softmax.scale *= first ? *first : *second;
      id = first ? b : a;
    }
  }

  Elements &elements;
};

struct RaiseSoftmax : kv::impl::KVRaiseSoftmaxBase<RaiseSoftmax> {
  void runOnOperation() override {
    FailureOr<Graph> graph = Graph::find(getOperation());
    if (failed(graph))
      return signalPassFailure();
    for (Operation &op : llvm::make_early_inc_range(graph->body()))
      if (auto product = dyn_cast<linalg::BatchMatmulOp>(op))
        raise(*graph, product);
  }

private:
  /// x * y from 0, by the plain maps.
  static bool isPlain(linalg::BatchMatmulOp product) {
    auto fill = product.getOutputs()[0].getDefiningOp<linalg::FillOp>();
    return !product.hasUserDefinedMaps() && fill &&
           matchPattern(fill.getInputs()[0], m_AnyZeroFloat()) &&
           cast<ShapedType>(product.getResult(0).getType())
               .getElementType()
               .isF32();
  }

  void raise(const Graph &graph, linalg::BatchMatmulOp product) {
    Value weights = product.getInputs()[0], v = product.getInputs()[1];
    auto type = cast<RankedTensorType>(weights.getType());
    if (rowDims(type) != SmallVector<int64_t>{1, 2} || !isPlain(product))
      return;
    Elements elements(graph, /*keepsLeaves=*/true);
    Reader reader(elements);
    std::optional<Softmax> softmax;
    for (int64_t head = 0; head < type.getDimSize(0); ++head) {
      std::optional<ExprId> weight = elements.element(
          weights, {elements.integer({head}), elements.integer({0, {1, 0, 0}}),
                    elements.integer({0, {0, 1, 0}})});
      std::optional<Softmax> found =
          weight ? reader.read(*weight, head) : std::nullopt;
      if (!found || (head && !(*found == *softmax)))
        return;
      softmax = found;
    }
    auto scores = softmax->scores.getDefiningOp<linalg::BatchMatmulOp>();
    if (!scores || !isPlain(scores) || !reader.isOfPositions(softmax->mask))
      return;
    OpBuilder b(product);
    Location loc = product.getLoc();
    // One of them is the right side, [heads, dim, T].
    Value q = scores.getInputs()[softmax->keysFirst],
          k = scores.getInputs()[!softmax->keysFirst];
    Value &right = softmax->keysFirst ? q : k;
    Type qType = (softmax->keysFirst ? k : q).getType();
    if (qType != v.getType() || qType != product.getResult(0).getType())
      return;
    Value length =
        tensor::DimOp::create(b, loc, graph.tokens, graph.sequenceDim);
    auto vType = cast<RankedTensorType>(v.getType());
    Value to = tensor::EmptyOp::create(
        b, loc, vType.getShape(), vType.getElementType(), ValueRange(length));
    right = linalg::TransposeOp::create(b, loc, right, to,
                                        ArrayRef<int64_t>{0, 2, 1})
                ->getResult(0);
    std::optional<Value> mask =
        maskTensor(b, loc, elements, *softmax, type, length);
    if (!mask)
      return;
    OperationState state(loc, "tm_tensor.attention");
    state.addOperands({q, k, v, *mask, product.getOutputs()[0]});
    state.addTypes(qType);
    state.addAttribute("scale", b.getF64FloatAttr(softmax->scale));
    if (softmax->softcap)
      state.addAttribute(kSoftcapAttrName, b.getF64FloatAttr(softmax->softcap));
    product.getResult(0).replaceAllUsesWith(b.create(state)->getResult(0));
    product.erase();
    ++numAttentions;
    remark::passed(loc, raiseRemark("Softmax")) << remark::add(
        "a product with a softmax of {0} * q . k is attention", softmax->scale);
  }

  /// The mask as a tensor [heads, T, T] of its own.
  static std::optional<Value> maskTensor(OpBuilder &b, Location loc,
                                         Elements &elements,
                                         const Softmax &softmax,
                                         RankedTensorType type, Value length) {
    const Expr &root = elements.expressions()[softmax.mask];
    if (root.kind != Expr::Kind::Operation)
      return std::nullopt;
    Type element = root.op->getResult(0).getType();
    if (!element.isInteger(1) && !element.isF32())
      return std::nullopt;
    Value to = tensor::EmptyOp::create(b, loc, type.getShape(), element,
                                       ValueRange{length, length});
    SmallVector<utils::IteratorType> loops(3, utils::IteratorType::parallel);
    return linalg::GenericOp::create(
               b, loc, to.getType(), ValueRange(), to,
               ArrayRef{b.getMultiDimIdentityMap(3)}, loops,
               [&](OpBuilder &inner, Location, ValueRange) {
                 llvm::DenseMap<ExprId, Value> done;
                 Value value =
                     emit(inner, loc, elements, softmax.mask, element, done);
                 if (softmax.hidesWhereTrue) {
                   Value one = arith::ConstantIntOp::create(inner, loc, 1, 1);
                   value = arith::XOrIOp::create(inner, loc, value, one);
                 }
                 linalg::YieldOp::create(inner, loc, value);
               })
        .getResult(0);
  }

  /// An expression of positions, in the type that its user wants.
  static Value emit(OpBuilder &b, Location loc, Elements &elements, ExprId id,
                    Type type, llvm::DenseMap<ExprId, Value> &done) {
    const Expr &expr = elements.expressions()[id];
    if (expr.kind == Expr::Kind::Float)
      return arith::ConstantOp::create(b, loc,
                                       b.getFloatAttr(type, expr.value));
    if (expr.kind == Expr::Kind::Integer) {
      Value sum = arith::ConstantIndexOp::create(b, loc, expr.linear.constant);
      for (int64_t i : {0, 1}) {
        int64_t factor = expr.linear.coefficients[i];
        if (factor == 0)
          continue;
        Value position = linalg::IndexOp::create(b, loc, i + 1);
        Value by = arith::ConstantIndexOp::create(b, loc, factor);
        Value term = arith::MulIOp::create(b, loc, position, by);
        sum = arith::AddIOp::create(b, loc, sum, term);
      }
      if (type.isInteger(1))
        return arith::ConstantIntOp::create(b, loc, expr.linear.constant, 1);
      return type.isIndex()
                 ? sum
                 : arith::IndexCastOp::create(b, loc, type, sum).getResult();
    }
    Value &value = done[id];
    if (!value) {
      SmallVector<Value> operands;
      for (auto [operand, old] :
           llvm::zip(expr.operands, expr.op->getOperands()))
        operands.push_back(
            emit(b, loc, elements, operand, old.getType(), done));
      Operation *clone = b.clone(*expr.op);
      clone->setOperands(operands);
      done[id] = clone->getResult(0);
    }
    return done[id];
  }
};
} // namespace
