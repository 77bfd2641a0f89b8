//===- RaiseSoftmax.cpp - Attention that is spelled out -------------------===//
//
// Elements are compared as expressions, in which moved data, reshapes and casts
// do not show: what a softmax is made of may be written in many ways.
//
//===----------------------------------------------------------------------===//

#include "kv/Passes/Raise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "passes/raise/analysis/Elements.h"

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
  /// Truth values, each with whether it hides a key where it is true.
  SmallVector<std::pair<ExprId, bool>> hidden = {};
  SmallVector<std::pair<ExprId, double>> added = {}; // numbers, times that
  std::optional<ExprId> sink = {};
  Value scores;           // the product of queries and keys
  bool keysFirst = false; // it is that of keys and queries

  /// Whether heads differ in what is hidden and added at most.
  bool isLike(const Softmax &other) const {
    return std::tie(scale, softcap, scores, keysFirst) ==
               std::tie(other.scale, other.softcap, other.scores,
                        other.keysFirst) &&
           sink.has_value() == other.sink.has_value();
  }
  bool hasMaskOf(const Softmax &other) const {
    return hidden == other.hidden && added == other.added;
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
    ExprId largest = most ? readMaximum(most) : 0;
    if (!most ||
        !(isReduction<arith::MaximumFOp>(largest, score) ||
          isReduction<arith::MaxNumFOp>(largest, score)) ||
        !isHiding(at(largest).operands[1]))
      return std::nullopt;
    Softmax softmax;
    if (!readSink(at(total), at(largest), most, softmax))
      return std::nullopt;
    dropShifts(score, softmax);
    std::optional<ExprId> shown = readMask(score, softmax);
    if (!shown)
      return std::nullopt;
    ExprId product = readFactors(*shown, softmax);
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

  /// Whether nothing but positions are in an expression.
  bool isOfPositions(ExprId id) {
    const Expr &expr = at(id);
    return !expr.tensor && !expr.isReduction &&
           llvm::all_of(expr.operands,
                        [&](ExprId each) { return isOfPositions(each); });
  }

private:
  const Expr &at(ExprId id) { return elements.expressions()[id]; }

  template <typename Op> const Expr *application(ExprId id) {
    return elements.application<Op>(id);
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

  /// A logit beyond the sequence takes part in the maximum and in the sum: one
  /// more logit, or none.
  bool readSink(const Expr &total, const Expr &maximum, ExprId most,
                Softmax &softmax) {
    if (total.operands.size() != maximum.operands.size() ||
        total.operands.size() > 3)
      return false;
    if (total.operands.size() == 2)
      return true;
    const Expr *exp = application<math::ExpOp>(total.operands[2]);
    if (!exp || binary<arith::SubFOp>(exp->operands[0]) !=
                    std::pair(maximum.operands[2], most))
      return false;
    softmax.sink = maximum.operands[2];
    return true;
  }

  /// A number that is the same for all keys and the sink changes no weight.
  void dropShifts(ExprId &score, Softmax &softmax) {
    while (true) {
      auto [x, shift] = binary<arith::SubFOp>(score);
      if (!shift || dependsOnKey(shift))
        return;
      if (softmax.sink) {
        auto [sink, same] = binary<arith::SubFOp>(*softmax.sink);
        if (same != shift)
          return;
        softmax.sink = sink;
      }
      score = x;
    }
  }

  bool dependsOnKey(ExprId id) {
    const Expr &expr = at(id);
    if (expr.isReduction)
      return false;
    return expr.linear.coefficients[1] != 0 ||
           llvm::any_of(expr.operands,
                        [&](ExprId each) { return dependsOnKey(each); });
  }

  /// Moves the keys that a mask hides, and the numbers that it adds, to
  /// `softmax`. Returns the rest of the score.
  std::optional<ExprId> readMask(ExprId score, Softmax &softmax) {
    while (true) {
      if (softmax.scale == 1)
        if (ExprId capped = readCap(score, softmax); capped != score)
          return capped;
      if (const Expr *select = application<arith::SelectOp>(score)) {
        bool hides = isHiding(select->operands[1]);
        if (!isOfPositions(select->operands[0]) || softmax.scale != 1 ||
            hides == isHiding(select->operands[2]))
          return std::nullopt;
        softmax.hidden.push_back({select->operands[0], hides});
        score = select->operands[hides ? 2 : 1];
        continue;
      }
      auto [a, b] = binary<arith::AddFOp>(score);
      if (!b) {
        ExprId inner = readFactor(score, softmax);
        if (inner == score)
          return score;
        score = inner;
        continue;
      }
      if (!isOfPositions(a) && !isOfPositions(b))
        return std::nullopt;
      softmax.added.push_back({isOfPositions(a) ? a : b, softmax.scale});
      score = isOfPositions(a) ? b : a;
    }
  }

  /// The x of c * tanh(x / c).
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

  /// The expression that constants are multiplied with.
  ExprId readFactors(ExprId id, Softmax &softmax) {
    while (true) {
      ExprId inner = readFactor(id, softmax);
      if (inner == id)
        return id;
      id = inner;
    }
  }

  /// The expression that a constant is multiplied with, or `id` itself.
  ExprId readFactor(ExprId id, Softmax &softmax) {
    auto [x, divisor] = binary<arith::DivFOp>(id);
    if (std::optional<double> c = divisor ? constant(divisor) : std::nullopt) {
      softmax.scale /= *c;
      return x;
    }
    auto [a, b] = binary<arith::MulFOp>(id);
    std::optional<double> first = b ? constant(a) : std::nullopt;
    std::optional<double> second = b ? constant(b) : std::nullopt;
    if (!first && !second)
      return id;
    softmax.scale *= first ? *first : *second;
    return first ? b : a;
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
    SmallVector<Softmax> heads;
    for (int64_t head = 0; head < type.getDimSize(0); ++head) {
      std::optional<ExprId> weight = elements.element(
          weights, {elements.integer({head}), elements.integer({0, {1, 0, 0}}),
                    elements.integer({0, {0, 1, 0}})});
      std::optional<Softmax> found =
          weight ? reader.read(*weight, head) : std::nullopt;
      if (!found || (head && !found->isLike(heads[0])))
        return;
      heads.push_back(*found);
    }
    const Softmax &softmax = heads[0];
    auto scores = softmax.scores.getDefiningOp<linalg::BatchMatmulOp>();
    if (!scores || !isPlain(scores) ||
        (softmax.hidden.empty() && softmax.added.empty()))
      return;
    OpBuilder b(product);
    Location loc = product.getLoc();
    // The right side is [heads, dim, T].
    Value left = scores.getInputs()[0], right = scores.getInputs()[1];
    auto leftType = cast<RankedTensorType>(left.getType());
    auto vType = cast<RankedTensorType>(v.getType());
    if (leftType.getShape().drop_back() != vType.getShape().drop_back() ||
        leftType.getElementType() != vType.getElementType() ||
        vType != product.getResult(0).getType())
      return;
    std::optional<Value> sinks = sinkTensor(b, loc, elements, heads);
    if (!sinks)
      return;
    Value length =
        tensor::DimOp::create(b, loc, graph.tokens, graph.sequenceDim);
    Value to =
        tensor::EmptyOp::create(b, loc, leftType.getShape(),
                                leftType.getElementType(), ValueRange(length));
    right = linalg::TransposeOp::create(b, loc, right, to,
                                        ArrayRef<int64_t>{0, 2, 1})
                ->getResult(0);
    Value q = softmax.keysFirst ? right : left,
          k = softmax.keysFirst ? left : right;
    Value mask = maskTensor(b, loc, elements, heads, type, length);
    OperationState state(loc, "tm_tensor.attention");
    state.addOperands({q, k, v, mask, product.getOutputs()[0]});
    if (*sinks)
      state.addOperands(*sinks);
    state.addTypes(vType);
    state.addAttribute("scale", b.getF64FloatAttr(softmax.scale));
    if (softmax.softcap)
      state.addAttribute(kSoftcapAttrName, b.getF64FloatAttr(softmax.softcap));
    product.getResult(0).replaceAllUsesWith(b.create(state)->getResult(0));
    product.erase();
    ++numAttentions;
    remark::passed(loc, raiseRemark("Softmax")) << remark::add(
        "a product with a softmax of {0} * q . k is attention, by {1} "
        "expressions",
        softmax.scale, elements.expressions().size());
  }

  /// The logits that have no key, f32 [heads]; no value where there are none,
  /// and nothing where they are not known.
  static std::optional<Value> sinkTensor(OpBuilder &b, Location loc,
                                         Elements &elements,
                                         ArrayRef<Softmax> heads) {
    if (!heads[0].sink)
      return Value();
    const std::deque<Expr> &all = elements.expressions();
    Value whole = all[*heads[0].sink].tensor;
    SmallVector<Value> each;
    for (auto [head, softmax] : llvm::enumerate(heads)) {
      const Expr &leaf = all[*softmax.sink];
      auto type = leaf.tensor ? cast<RankedTensorType>(leaf.tensor.getType())
                              : RankedTensorType();
      if (!type || !rowDims(type).empty() || !type.getElementType().isF32())
        return std::nullopt;
      SmallVector<Value> index;
      for (ExprId operand : leaf.operands) {
        if (all[operand].kind != Expr::Kind::Integer ||
            !all[operand].linear.isConstant())
          return std::nullopt;
        index.push_back(arith::ConstantIndexOp::create(
            b, loc, all[operand].linear.constant));
      }
      if (leaf.tensor != whole || type.getRank() != 1 ||
          type.getDimSize(0) != static_cast<int64_t>(heads.size()) ||
          all[leaf.operands[0]].linear.constant != static_cast<int64_t>(head))
        whole = Value();
      each.push_back(tensor::ExtractOp::create(b, loc, leaf.tensor, index));
    }
    if (whole)
      return whole;
    return tensor::FromElementsOp::create(b, loc, each).getResult();
  }

  /// The mask as a tensor [heads, T, T] of its own: of truth values, or of
  /// numbers where some are added.
  static Value maskTensor(OpBuilder &b, Location loc, Elements &elements,
                          ArrayRef<Softmax> heads, RankedTensorType type,
                          Value length) {
    bool adds = llvm::any_of(
        heads, [](const Softmax &each) { return !each.added.empty(); });
    Type element = adds ? Type(b.getF32Type()) : b.getI1Type();
    Value to = tensor::EmptyOp::create(b, loc, type.getShape(), element,
                                       ValueRange{length, length});
    bool areSame = llvm::all_of(
        heads, [&](const Softmax &each) { return each.hasMaskOf(heads[0]); });
    SmallVector<utils::IteratorType> loops(3, utils::IteratorType::parallel);
    return linalg::GenericOp::create(
               b, loc, to.getType(), ValueRange(), to,
               ArrayRef{b.getMultiDimIdentityMap(3)}, loops,
               [&](OpBuilder &b, Location loc, ValueRange) {
                 Emission emission{b, loc, elements, length};
                 Value value = emission.mask(heads[0], adds);
                 for (size_t i = 1; i < heads.size() && !areSame; ++i) {
                   Value head = linalg::IndexOp::create(b, loc, 0);
                   Value at = arith::ConstantIndexOp::create(b, loc, i);
                   Value isThis = arith::CmpIOp::create(
                       b, loc, arith::CmpIPredicate::eq, head, at);
                   Value other = emission.mask(heads[i], adds);
                   value =
                       arith::SelectOp::create(b, loc, isThis, other, value);
                 }
                 linalg::YieldOp::create(b, loc, value);
               })
        .getResult(0);
  }

  /// Writes expressions of positions into the body of a loop over heads,
  /// queries and keys.
  struct Emission {
    OpBuilder &b;
    Location loc;
    Elements &elements;
    Value length;
    llvm::DenseMap<ExprId, Value> done{};

    Value mask(const Softmax &softmax, bool adds) {
      Value shown = arith::ConstantIntOp::create(b, loc, 1, 1), one = shown;
      for (auto [id, hides] : softmax.hidden) {
        Value truth = emit(id, b.getI1Type());
        if (hides)
          truth = arith::XOrIOp::create(b, loc, truth, one);
        shown = arith::AndIOp::create(b, loc, shown, truth);
      }
      if (!adds)
        return shown;
      Type type = b.getF32Type();
      Value sum = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(0));
      for (auto [id, factor] : softmax.added) {
        Value by = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(factor));
        Value term = arith::MulFOp::create(b, loc, emit(id, type), by);
        sum = arith::AddFOp::create(b, loc, sum, term);
      }
      Value low = arith::ConstantOp::create(
          b, loc, b.getF32FloatAttr(-std::numeric_limits<float>::infinity()));
      return arith::SelectOp::create(b, loc, shown, sum, low);
    }

    /// An expression of positions, in the type that its user wants.
    Value emit(ExprId id, Type type) {
      const Expr &expr = elements.expressions()[id];
      if (expr.kind == Expr::Kind::Float)
        return arith::ConstantOp::create(b, loc,
                                         b.getFloatAttr(type, expr.value));
      if (expr.kind == Expr::Kind::Integer)
        return linear(expr.linear, type);
      if (!done.lookup(id)) {
        SmallVector<Value> operands;
        for (auto [operand, old] :
             llvm::zip(expr.operands, expr.op->getOperands()))
          operands.push_back(emit(operand, old.getType()));
        Operation *clone = b.clone(*expr.op);
        clone->setOperands(operands);
        done[id] = clone->getResult(0);
      }
      return done[id];
    }

    Value linear(const Linear &linear, Type type) {
      if (type.isInteger(1))
        return arith::ConstantIntOp::create(b, loc, linear.constant, 1);
      Value sum = arith::ConstantIndexOp::create(b, loc, linear.constant);
      for (int64_t i : {0, 1, 2}) {
        int64_t factor = linear.coefficients[i];
        if (factor == 0)
          continue;
        Value position =
            i == 2 ? length
                   : linalg::IndexOp::create(b, loc, i + 1).getResult();
        Value by = arith::ConstantIndexOp::create(b, loc, factor);
        Value term = arith::MulIOp::create(b, loc, position, by);
        sum = arith::AddIOp::create(b, loc, sum, term);
      }
      return type.isIndex()
                 ? sum
                 : arith::IndexCastOp::create(b, loc, type, sum).getResult();
    }
  };
};
} // namespace
