//===- RaiseRotations.cpp - Heads where they are made, and rotated --------===//
//
// Queries, keys and values are compared, element by element, with the tensors
// that they are made of: how a graph moves heads, repeats and rotates them does
// not show. Angles, which positions and weights alone decide, become a table.
//
//===----------------------------------------------------------------------===//

#include "kv/Passes/Raise.h"

#include "kv/Dialect/StoredWeight.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/RegionUtils.h"
#include "passes/raise/analysis/Angles.h"
#include "llvm/ADT/SetVector.h"

namespace kv {
#define GEN_PASS_DEF_KVRAISEROTATIONS
#include "kv/Passes/RaisePasses.h.inc"
} // namespace kv

using namespace mlir;
using namespace kv;

namespace {
/// How rows of heads come of others: their first `width` elements are rotated,
/// element i with i + width / 2, or 2i with 2i + 1. `angles` are the cosine and
/// the sine of each pair.
struct Rotation {
  int64_t width = 0;
  bool interleaved = false;
  SmallVector<ExprId> angles = {};
  /// What all elements are multiplied with behind it.
  std::optional<ExprId> factor = {};

  bool operator==(const Rotation &other) const {
    return std::tie(interleaved, angles, factor) ==
           std::tie(other.interleaved, other.angles, other.factor);
  }
};

/// own * cosine + other * sine, or minus that.
struct Turn {
  ExprId cosine, sine;
  bool isMinus;
};

struct RaiseRotations : kv::impl::KVRaiseRotationsBase<RaiseRotations> {
  using KVRaiseRotationsBase::KVRaiseRotationsBase;

  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (std::optional<Graph> graph = entryOf(function))
        raise(*graph);
  }

private:
  /// An entry that kv-raise-rows has made.
  std::optional<Graph> entryOf(func::FuncOp function) {
    Graph graph{function, {}, 0, std::numeric_limits<int32_t>::max()};
    for (BlockArgument argument : function.getArguments()) {
      StringAttr name = argumentAttr(argument, KVDialect::getNameAttrName());
      if (name && name == "tokens" && isRows(argument.getType()))
        graph.tokens = argument;
    }
    if (!graph.tokens || !function.getBody().hasOneBlock())
      return std::nullopt;
    return graph;
  }

  void raise(const Graph &graph) {
    SmallVector<OpOperand *> heads;
    Value positions;
    graph.function.walk([&](Operation *op) {
      if (auto found = dyn_cast<PositionsOp>(op))
        positions = found.getResult();
      if (isa<StoreOp, AttentionOp>(op))
        for (OpOperand &operand : op->getOpOperands())
          if (auto type = dyn_cast<RankedTensorType>(operand.get().getType());
              type && type.getRank() == 3 && type.getNumDynamicDims() == 1 &&
              type.isDynamicDim(0))
            heads.push_back(&operand);
    });
    Elements elements(graph, /*keepsLeaves=*/true);
    Angles angles(elements, graph.function, positions, longest());
    for (OpOperand *each : heads)
      raise(elements, angles, *each);
    if (tables)
      for (BlockArgument argument : graph.function.getArguments())
        if (argument.getType() ==
            RankedTensorType::get({}, Float32Type::get(&getContext())))
          spread(elements, angles, argument);
  }

  /// A weight that is one number becomes a row of it for those who read it
  /// element by element.
  static void spread(Elements &elements, Angles &angles, Value number) {
    for (OpOperand &use : llvm::make_early_inc_range(number.getUses())) {
      auto op = dyn_cast<linalg::GenericOp>(use.getOwner());
      auto type = op && op.getNumResults() == 1
                      ? cast<RankedTensorType>(op.getResult(0).getType())
                      : RankedTensorType();
      if (!type || op.getNumReductionLoops() || type.getRank() == 0 ||
          type.getShape().back() % 2 || !op.isDpsInput(&use) ||
          !op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity())
        continue;
      SmallVector<ExprId> columns(type.getShape().back(),
                                  *elements.element(number, {}));
      Value table = angles.table(columns, /*rows=*/1);
      if (!table)
        continue;
      OpBuilder b(op);
      SmallVector<AffineMap> maps = op.getIndexingMapsArray();
      maps[use.getOperandNumber()] =
          b.getMultiDimIdentityMap(type.getRank()).getMinorSubMap(1);
      op.setIndexingMapsAttr(b.getAffineMapArrayAttr(maps));
      use.set(tensor::CollapseShapeOp::create(
          b, op.getLoc(), table, ArrayRef<ReassociationIndices>{{0, 1}}));
    }
  }

  /// The most positions there can be; 0 if the module does not say.
  int64_t longest() {
    auto model = getOperation()->getAttrOfType<DictionaryAttr>(
        KVDialect::getModelAttrName());
    auto most = model ? model.getAs<IntegerAttr>("max_seq_len") : IntegerAttr();
    return most ? most.getInt() : 0;
  }

  void raise(Elements &elements, Angles &angles, OpOperand &operand) {
    Value heads = operand.get();
    auto type = cast<RankedTensorType>(heads.getType());
    Value from;
    Rotation rotation;
    for (Value each : sources(heads)) {
      std::optional<Rotation> found = compare(elements, angles, heads, each);
      if (!found || (found->width && !tables) ||
          (isByHeads(each) && found->width <= rotation.width))
        continue;
      from = each;
      rotation = *found;
    }
    if (!from || (from == heads && !rotation.width))
      return;
    Value table;
    if (rotation.width &&
        !(table = angles.table(rotation.angles, angles.length())))
      return;
    OpBuilder b(heads.getContext());
    Location loc = operand.getOwner()->getLoc();
    b.setInsertionPointAfterValue(from);
    Operation *positions = table ? angles.positions().getDefiningOp() : nullptr;
    if (positions && (!from.getDefiningOp() ||
                      from.getDefiningOp()->isBeforeInBlock(positions)))
      b.setInsertionPointAfter(positions);
    Value rows = asHeads(b, loc, from, type);
    if (table) {
      rows = RopeOp::create(b, loc, type, rows, angles.positions(), table,
                            /*out=*/Value(), rotation.interleaved)
                 .getResult();
      ++numRotations;
      remark::passed(loc, raiseRemark("Rotations")) << remark::add(
          "{0} of {1} elements of each head are rotated by a table of angles",
          rotation.width, type.getDimSize(2));
    }
    if (rotation.factor)
      rows = multiplied(b, loc, rows,
                        elements.expressions()[*rotation.factor].value);
    operand.set(rows);
  }

  static Value multiplied(OpBuilder &b, Location loc, Value rows,
                          APFloat factor) {
    auto type = cast<RankedTensorType>(rows.getType());
    AffineMap map = b.getMultiDimIdentityMap(type.getRank());
    SmallVector<utils::IteratorType> loops(type.getRank(),
                                           utils::IteratorType::parallel);
    Value to = tensor::EmptyOp::create(
        b, loc, tensor::getMixedSizes(b, loc, rows), type.getElementType());
    return linalg::GenericOp::create(
               b, loc, type, rows, to, ArrayRef{map, map}, loops,
               [&](OpBuilder &b, Location loc, ValueRange in) {
                 Value by = arith::ConstantOp::create(
                     b, loc, b.getFloatAttr(in[0].getType(), factor));
                 linalg::YieldOp::create(
                     b, loc,
                     arith::MulFOp::create(b, loc, in[0], by).getResult());
               })
        .getResult(0);
  }

  /// Whether heads come before rows, as graphs have them around attention.
  static bool isByHeads(Value value) {
    ArrayRef<int64_t> shape = cast<ShapedType>(value.getType()).getShape();
    const int64_t *large =
        llvm::find_if(shape, [](int64_t size) { return size != 1; });
    return large != shape.end() && !ShapedType::isDynamic(*large);
  }

  /// How `heads` come of `rows`: for any head as one, or, where a graph takes
  /// heads apart, for each of them.
  static std::optional<Rotation> compare(Elements &elements, Angles &angles,
                                         Value heads, Value rows) {
    ArrayRef<int64_t> shape = cast<ShapedType>(heads.getType()).getShape();
    for (bool any : {true, false}) {
      std::optional<Rotation> all;
      int64_t count = any ? 1 : shape[1];
      for (int64_t head = 0; head < count; ++head) {
        Linear number =
            any && shape[1] > 1 ? Linear{0, {0, 0, 0, 1}} : Linear{head};
        auto made = elementsOf(elements, heads, shape, number);
        auto own = elementsOf(elements, rows, shape, number);
        auto found =
            made && own ? prove(elements, angles, *made, *own) : std::nullopt;
        if (made && own && !found)
          found = proveScaled(elements, angles, *made, *own);
        if (!found || (all && !(*all == *found))) {
          all = std::nullopt;
          break;
        }
        all = found;
      }
      if (all)
        return all;
    }
    return std::nullopt;
  }

  /// The elements of row q and one head, where a tensor has rows of heads.
  static std::optional<SmallVector<ExprId>> elementsOf(Elements &elements,
                                                       Value tensor,
                                                       ArrayRef<int64_t> shape,
                                                       Linear head) {
    int64_t heads = shape[1], dim = shape[2];
    auto type = cast<RankedTensorType>(tensor.getType());
    SmallVector<int64_t> large;
    for (auto [d, size] : llvm::enumerate(type.getShape()))
      if (size != 1)
        large.push_back(d);
    auto at = [&](size_t i) { return type.getDimSize(large[i]); };
    bool isJoined = large.size() == 2 && at(1) == heads * dim;
    int64_t row = large.size() == 3 && type.isDynamicDim(large[1]);
    if (large.empty() || !type.isDynamicDim(large[row]) ||
        (!isJoined &&
         (large.size() != 3 || at(1 - row) != heads || at(2) != dim)))
      return std::nullopt;
    SmallVector<ExprId> index(type.getRank(), elements.integer({0})), result;
    index[large[row]] = elements.integer({0, {1, 0, 0, 0}});
    if (!isJoined)
      index[large[1 - row]] = elements.integer(head);
    for (int64_t i = 0; i < dim; ++i) {
      index[large.back()] =
          elements.integer(isJoined ? sum(scaled(head, dim), {i}) : Linear{i});
      std::optional<ExprId> element = elements.element(tensor, index);
      if (!element)
        return std::nullopt;
      result.push_back(*element);
    }
    return result;
  }

  /// What a tensor of rows is made of by moving and combining elements, the
  /// nearest first.
  static llvm::SetVector<Value> sources(Value heads) {
    llvm::SetVector<Value> found;
    found.insert(heads);
    for (size_t i = 0; i < found.size(); ++i) {
      Operation *op = found[i].getDefiningOp();
      auto linalg = dyn_cast_or_null<linalg::LinalgOp>(op);
      if (!op || (linalg ? linalg.getNumReductionLoops() != 0
                         : !isa<tensor::TensorDialect>(op->getDialect())))
        continue;
      llvm::SetVector<Value> read(op->operand_begin(), op->operand_end());
      getUsedValuesDefinedAbove(op->getRegions(), read);
      for (Value each : read)
        if (isRows(each.getType()))
          found.insert(each);
    }
    return found;
  }

  /// Of elements that are all multiplied with one number.
  static std::optional<Rotation> proveScaled(const Elements &elements,
                                             Angles &angles,
                                             SmallVector<ExprId> made,
                                             ArrayRef<ExprId> own) {
    auto isNumber = [&](ExprId id) {
      return elements.expressions()[id].kind == Expr::Kind::Float;
    };
    std::optional<ExprId> factor;
    for (ExprId &each : made) {
      const Expr *product = elements.application<arith::MulFOp>(each);
      int at = product && isNumber(product->operands[1]);
      if (!product || !isNumber(product->operands[at]) ||
          (factor && factor != product->operands[at]))
        return std::nullopt;
      factor = product->operands[at];
      each = product->operands[1 - at];
    }
    std::optional<Rotation> found = prove(elements, angles, made, own);
    if (found)
      found->factor = factor;
    return found;
  }

  static std::optional<Rotation> prove(const Elements &elements, Angles &angles,
                                       ArrayRef<ExprId> made,
                                       ArrayRef<ExprId> own) {
    Rotation rotation;
    rotation.width = made.size();
    while (rotation.width &&
           made[rotation.width - 1] == own[rotation.width - 1])
      --rotation.width;
    if (rotation.width % 2)
      return std::nullopt;
    int64_t half = rotation.width / 2;
    for (bool interleaved : {false, true}) {
      rotation.interleaved = interleaved;
      rotation.angles.clear();
      for (int64_t i = 0; i < half; ++i) {
        int64_t low = interleaved ? 2 * i : i,
                high = interleaved ? 2 * i + 1 : i + half;
        auto a = turn(elements, angles, made[low], own[low], own[high]);
        auto b = turn(elements, angles, made[high], own[high], own[low]);
        if (!a || !b || a->cosine != b->cosine || a->sine != b->sine ||
            !a->isMinus || b->isMinus)
          break;
        llvm::append_values(rotation.angles, a->cosine, a->sine);
      }
      if (static_cast<int64_t>(rotation.angles.size()) == rotation.width)
        return rotation;
    }
    return std::nullopt;
  }

  /// x * angle, or minus that.
  struct Term {
    ExprId x, angle;
    bool isMinus;
  };

  static std::optional<Term> term(const Elements &elements, Angles &angles,
                                  ExprId id) {
    bool isMinus = false;
    auto positive = [&](ExprId each) {
      while (const Expr *negated = elements.application<arith::NegFOp>(each)) {
        isMinus = !isMinus;
        each = negated->operands[0];
      }
      return each;
    };
    const Expr *product = elements.application<arith::MulFOp>(positive(id));
    for (int i : {0, 1})
      if (product && angles.isAngle(product->operands[i])) {
        ExprId x = positive(product->operands[1 - i]);
        ExprId angle = positive(product->operands[i]);
        return Term{x, angle, isMinus};
      }
    return std::nullopt;
  }

  static std::optional<Turn> turn(const Elements &elements, Angles &angles,
                                  ExprId made, ExprId own, ExprId other) {
    const Expr *sum = elements.application<arith::AddFOp>(made);
    const Expr *difference = elements.application<arith::SubFOp>(made);
    if (!sum && !difference)
      return std::nullopt;
    const Expr &both = sum ? *sum : *difference;
    std::optional<Term> a = term(elements, angles, both.operands[0]),
                        b = term(elements, angles, both.operands[1]);
    if (!a || !b)
      return std::nullopt;
    b->isMinus ^= difference != nullptr;
    if (a->x != own)
      std::swap(a, b);
    if (a->x != own || b->x != other || a->isMinus)
      return std::nullopt;
    return Turn{a->angle, b->angle, b->isMinus};
  }

  /// A tensor that has rows of heads as one [T, heads, dim].
  static Value asHeads(OpBuilder &b, Location loc, Value rows,
                       RankedTensorType type) {
    auto from = cast<RankedTensorType>(rows.getType());
    SmallVector<ReassociationIndices> groups(1);
    bool isLater = false; // than a dimension that is not 1
    for (int64_t d = 0; d < from.getRank(); ++d) {
      if (isLater && from.getDimSize(d) != 1)
        groups.emplace_back();
      isLater |= from.getDimSize(d) != 1;
      groups.back().push_back(d);
    }
    if (static_cast<int64_t>(groups.size()) < from.getRank())
      rows = tensor::CollapseShapeOp::create(b, loc, rows, groups);
    from = cast<RankedTensorType>(rows.getType());
    if (from.isDynamicDim(1)) {
      SmallVector<OpFoldResult> shape = tensor::getMixedSizes(b, loc, rows);
      std::swap(shape[0], shape[1]);
      Value to = tensor::EmptyOp::create(b, loc, shape, type.getElementType());
      return linalg::TransposeOp::create(b, loc, rows, to,
                                         ArrayRef<int64_t>{1, 0, 2})
          ->getResult(0);
    }
    if (from == type)
      return rows;
    SmallVector<OpFoldResult> shape = {
        tensor::DimOp::create(b, loc, rows, 0).getResult(),
        b.getIndexAttr(type.getDimSize(1)), b.getIndexAttr(type.getDimSize(2))};
    return tensor::ExpandShapeOp::create(
        b, loc, type, rows, ArrayRef<ReassociationIndices>{{0}, {1, 2}}, shape);
  }
};
} // namespace
