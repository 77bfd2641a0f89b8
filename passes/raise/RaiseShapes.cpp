//===- RaiseShapes.cpp - Graphs of one length and several sequences -------===//
//
// A graph that was written for N tokens is, where it looks back alone, one for
// each T up to N: the first T rows of what it computes. So the dimensions that
// come from the tokens become dynamic, and what is made of nothing else (masks,
// tables, numbers of rows) is made for T, or its first T rows are taken. That
// the graph looks back alone, row by row, is proven by the passes that follow.
//
// A batch of B sequences becomes its first one, where no operation combines the
// batch, tells its members apart, or has a weight for each of them: the members
// are then computed in the same way.
//
//===----------------------------------------------------------------------===//

#include "kv/Passes/Raise.h"

#include "Graph.h"
#include "kv/Dialect/KV.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

namespace kv {
#define GEN_PASS_DEF_KVRAISESHAPES
#include "kv/Passes/RaisePasses.h.inc"
} // namespace kv

using namespace mlir;
using namespace kv;

namespace {
/// What a dimension of the graph is: one of the batch's members first, then the
/// tokens and `beyond` more, or neither.
struct Role {
  bool batch = false, rows = false;
  int64_t beyond = 0;

  bool isPlain() const { return !batch && !rows; }
  auto operator<=>(const Role &) const = default;
};
using Roles = SmallVector<Role>;

bool arePlain(ArrayRef<Role> roles) {
  return llvm::all_of(roles, [](const Role &role) { return role.isPlain(); });
}

/// A value of the new graph, and what its dimensions are.
struct Made {
  Value value;
  Roles roles;
};

class Shapes {
public:
  Shapes(func::FuncOp function, BlockArgument tokens)
      : function(function), tokens(tokens),
        type(cast<RankedTensorType>(tokens.getType())),
        batch(type.getRank() == 2 ? type.getDimSize(0) : 1),
        rows(type.getShape().back()), b(function.getContext()) {}

  /// Writes the function anew.
  LogicalResult run() {
    Block &body = function.getBody().front();
    SmallVector<Operation *> old;
    for (Operation &op : body)
      old.push_back(&op);
    Roles roles(type.getRank());
    roles.back().rows = true;
    if (type.getRank() == 2)
      roles[0].batch = batch > 1;
    unsigned at = tokens.getArgNumber();
    (void)function.insertArgument(at + 1, newType(type, roles),
                                  function.getArgAttrDict(at), tokens.getLoc());
    Value fresh = function.getArgument(at + 1);
    made[tokens] = {fresh, roles};
    b.setInsertionPointToStart(&body);
    length =
        tensor::DimOp::create(b, function.getLoc(), fresh, type.getRank() - 1);
    auto end = cast<func::ReturnOp>(old.back());
    for (Operation *op : ArrayRef(old).drop_back()) {
      b.setInsertionPoint(end);
      if (llvm::any_of(taken(op),
                       [&](Value each) { return made.contains(each); }))
        if (failed(write(op)))
          return failure();
    }
    for (OpOperand &result : end->getOpOperands())
      if (auto found = made.find(result.get()); found != made.end())
        result.set(found->second.value);
    for (Operation *op : llvm::reverse(ArrayRef(old).drop_back()))
      if (op->use_empty())
        op->erase();
    (void)function.eraseArgument(at);
    Builder builder(function.getContext());
    function.setType(builder.getFunctionType(function.getArgumentTypes(),
                                             end.getOperandTypes()));
    return success();
  }

private:
  /// What an operation and its regions take from outside.
  static llvm::SetVector<Value> taken(Operation *op) {
    llvm::SetVector<Value> values;
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (!op->isAncestor(operand.getParentBlock()->getParentOp()))
          values.insert(operand);
    });
    return values;
  }

  LogicalResult refuse(Operation *op, const Twine &reason) {
    return op->emitOpError("kv-raise: in a graph of ")
           << batch << " x " << rows << " tokens, " << reason;
  }

  RankedTensorType newType(RankedTensorType from, ArrayRef<Role> roles) const {
    SmallVector<int64_t> shape(from.getShape());
    for (auto [size, role] : llvm::zip(shape, roles)) {
      if (role.batch)
        size /= batch;
      if (role.rows)
        size = ShapedType::kDynamic;
    }
    return RankedTensorType::get(shape, from.getElementType());
  }

  OpFoldResult sizeOf(int64_t size, const Role &role) {
    if (!role.rows)
      return b.getIndexAttr(role.batch ? size / batch : size);
    if (!role.beyond)
      return length;
    Value more =
        arith::ConstantIndexOp::create(b, length.getLoc(), role.beyond);
    return arith::AddIOp::create(b, length.getLoc(), length, more).getResult();
  }

  SmallVector<OpFoldResult> sizesOf(RankedTensorType from,
                                    ArrayRef<Role> roles) {
    SmallVector<OpFoldResult> sizes;
    for (auto [size, role] : llvm::zip(from.getShape(), roles))
      sizes.push_back(sizeOf(size, role));
    return sizes;
  }

  /// One dimension for several: the batch comes first, and beside the tokens
  /// there are ones alone.
  std::optional<Role> joined(ArrayRef<int64_t> sizes, ArrayRef<Role> roles) {
    Role all;
    bool others = false;
    for (auto [size, role] : llvm::zip(sizes, roles)) {
      if ((role.batch && (all.batch || all.rows || others)) ||
          (role.rows && (all.rows || others || role.beyond)))
        return std::nullopt;
      if (role.isPlain() && size != 1) {
        if (all.rows)
          return std::nullopt;
        others = true;
      }
      all.batch |= role.batch;
      all.rows |= role.rows;
      if (role.batch && !role.rows && size != batch)
        others = true;
    }
    return all;
  }

  /// Several dimensions for one.
  std::optional<Roles> split(ArrayRef<int64_t> sizes, Role role) {
    Roles roles(sizes.size());
    int64_t count = role.batch ? batch : 1;
    for (auto [i, size] : llvm::enumerate(sizes)) {
      if (size == 1)
        continue;
      if (role.batch && role.rows && size == count * rows) {
        roles[i] = role;
        role = {};
      } else if (role.batch && size % count == 0 &&
                 (!role.rows || size == count)) {
        roles[i].batch = true;
        role.batch = false;
      } else if (!role.batch && role.rows && size == rows + role.beyond) {
        roles[i] = role;
        role = {};
      } else if (!role.isPlain()) {
        return std::nullopt;
      }
    }
    // A length of one token, or a batch that is not there.
    return role.isPlain() ? std::optional(roles) : std::nullopt;
  }

  /// The roles of a reshape's other side.
  std::optional<Roles> through(ArrayRef<ReassociationIndices> groups,
                               RankedTensorType wide, ArrayRef<Role> roles,
                               bool joins) {
    Roles other(joins ? groups.size() : wide.getRank());
    for (auto [g, group] : llvm::enumerate(groups)) {
      SmallVector<int64_t> sizes;
      Roles inner;
      for (int64_t d : group) {
        sizes.push_back(wide.getDimSize(d));
        if (joins)
          inner.push_back(roles[d]);
      }
      if (joins) {
        std::optional<Role> role = joined(sizes, inner);
        if (!role)
          return std::nullopt;
        other[g] = *role;
        continue;
      }
      std::optional<Roles> parts = split(sizes, roles[g]);
      if (!parts)
        return std::nullopt;
      for (auto [d, role] : llvm::zip(group, *parts))
        other[d] = role;
    }
    return other;
  }

  //===--- What is computed from the tokens
  //--------------------------------===//

  LogicalResult write(Operation *op) {
    return llvm::TypeSwitch<Operation *, LogicalResult>(op)
        .Case([&](linalg::LinalgOp linalgOp) { return writeLinalg(linalgOp); })
        .Case<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(
            [&](auto reshape) { return writeReshape(reshape); })
        .Case([&](tensor::ExtractSliceOp slice) { return writeSlice(slice); })
        .Case([&](tensor::InsertSliceOp insert) { return writeInsert(insert); })
        .Case([&](tensor::ConcatOp concat) { return writeConcat(concat); })
        .Default([&](Operation *other) { return writeOther(other); });
  }

  LogicalResult writeLinalg(linalg::LinalgOp op) {
    Roles loops(op.getNumLoops());
    for (OpOperand &operand : op->getOpOperands()) {
      auto found = made.find(operand.get());
      if (found == made.end())
        continue;
      AffineMap map = op.getMatchingIndexingMap(&operand);
      for (auto [expr, role] : llvm::zip(map.getResults(), found->second.roles))
        if (auto dim = dyn_cast<AffineDimExpr>(expr))
          loops[dim.getPosition()] = std::max(loops[dim.getPosition()], role);
    }
    return writeLoops(op, loops);
  }

  /// An operation with loops of these roles.
  LogicalResult writeLoops(linalg::LinalgOp op, ArrayRef<Role> loops) {
    SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
    for (auto [role, kind] : llvm::zip(loops, kinds))
      if (role.batch && kind != utils::IteratorType::parallel)
        return refuse(op, "combines the batch");
    IRMapping mapping;
    SmallVector<Roles> results;
    for (OpOperand &operand : op->getOpOperands()) {
      auto type = dyn_cast<RankedTensorType>(operand.get().getType());
      Roles roles(type ? type.getRank() : 0);
      AffineMap map = op.getMatchingIndexingMap(&operand);
      for (auto [d, expr] : llvm::enumerate(map.getResults()))
        if (auto dim = dyn_cast<AffineDimExpr>(expr))
          roles[d] = loops[dim.getPosition()];
      FailureOr<Value> value = demand(op, operand.get(), roles);
      if (failed(value))
        return failure();
      mapping.map(operand.get(), *value);
      if (operand.getOperandNumber() >= op.getNumDpsInputs())
        results.push_back(roles);
    }
    if (failed(takeInside(op, loops, mapping)))
      return failure();
    Operation *clone = b.clone(*op, mapping);
    for (auto [old, fresh, roles] :
         llvm::zip(op->getResults(), clone->getResults(), results)) {
      fresh.setType(newType(cast<RankedTensorType>(old.getType()), roles));
      made[old] = {fresh, roles};
    }
    return success();
  }

  /// Values that the body of an operation takes from outside, and its numbers
  /// of loops.
  LogicalResult takeInside(linalg::LinalgOp op, ArrayRef<Role> loops,
                           IRMapping &mapping) {
    auto isOfBatch = [&](Value value) {
      auto index = value.getDefiningOp<linalg::IndexOp>();
      return index && loops[index.getDim()].batch;
    };
    WalkResult walked = op->walk([&](Operation *inner) -> WalkResult {
      if (inner == op.getOperation())
        return WalkResult::advance();
      auto extract = dyn_cast<tensor::ExtractOp>(inner);
      auto found = extract ? made.find(extract.getTensor()) : made.end();
      for (OpOperand &use : inner->getOpOperands()) {
        unsigned i = use.getOperandNumber();
        bool readsBatch =
            found != made.end() && i > 0 && found->second.roles[i - 1].batch;
        if (readsBatch != isOfBatch(use.get()))
          return refuse(inner, "tells the members of the batch apart");
      }
      return WalkResult::advance();
    });
    if (walked.wasInterrupted())
      return failure();
    for (Value value : taken(op)) {
      if (mapping.contains(value))
        continue;
      auto found = made.find(value);
      Roles plain;
      if (auto type = dyn_cast<RankedTensorType>(value.getType()))
        plain.resize(type.getRank());
      FailureOr<Value> fresh =
          demand(op, value, found == made.end() ? plain : found->second.roles);
      if (failed(fresh))
        return failure();
      mapping.map(value, *fresh);
    }
    return success();
  }

  template <typename Reshape> LogicalResult writeReshape(Reshape op) {
    const Made &from = made.find(op.getSrc())->second;
    constexpr bool joins = std::is_same_v<Reshape, tensor::CollapseShapeOp>;
    RankedTensorType wide = joins ? op.getSrcType() : op.getResultType();
    SmallVector<ReassociationIndices> groups = op.getReassociationIndices();
    std::optional<Roles> roles = through(groups, wide, from.roles, joins);
    if (!roles)
      return refuse(op, "joins the sequence, or the batch, with other "
                        "dimensions");
    made[op.getResult()] = {reshaped(op, from.value, groups, *roles), *roles};
    return success();
  }

  Value reshaped(Operation *op, Value from,
                 ArrayRef<ReassociationIndices> groups, ArrayRef<Role> roles) {
    auto old = cast<RankedTensorType>(op->getResult(0).getType());
    RankedTensorType to = newType(old, roles);
    if (isa<tensor::CollapseShapeOp>(op))
      return tensor::CollapseShapeOp::create(b, op->getLoc(), to, from, groups);
    return tensor::ExpandShapeOp::create(b, op->getLoc(), to, from, groups,
                                         sizesOf(old, roles));
  }

  /// All of the batch; all of the tokens, or the last one.
  LogicalResult writeSlice(tensor::ExtractSliceOp op) {
    const Made &from = made.find(op.getSource())->second;
    RankedTensorType source = op.getSourceType();
    SmallVector<OpFoldResult> offsets = op.getMixedOffsets(),
                              sizes = op.getMixedSizes();
    llvm::SmallBitVector dropped = op.getDroppedDims();
    Roles kept;
    for (auto [d, role] : llvm::enumerate(from.roles)) {
      int64_t offset = op.getStaticOffset(d), size = op.getStaticSize(d);
      Role own = role;
      bool isAll = offset == 0 && size == source.getDimSize(d);
      if (role.rows && !role.batch && offset == rows - 1 && size == 1 &&
          !role.beyond) {
        Value one = arith::ConstantIndexOp::create(b, op.getLoc(), 1);
        offsets[d] =
            arith::SubIOp::create(b, op.getLoc(), length, one).getResult();
        own = {};
      } else if (role.rows && !role.batch && offset == 0 && size >= rows &&
                 size < source.getDimSize(d)) {
        own.beyond = size - rows;
        sizes[d] = sizeOf(size, own);
      } else if (!role.isPlain()) {
        if (!isAll)
          return refuse(op, "takes a part of the sequence, or of the batch");
        sizes[d] = sizeOf(size, own);
      }
      if (!dropped.test(d))
        kept.push_back(own);
    }
    Value slice = tensor::ExtractSliceOp::create(
        b, op.getLoc(), newType(op.getType(), kept), from.value, offsets, sizes,
        op.getMixedStrides());
    made[op.getResult()] = {slice, kept};
    return success();
  }

  LogicalResult writeInsert(tensor::InsertSliceOp op) {
    auto part = made.find(op.getSource()), whole = made.find(op.getDest());
    llvm::SmallBitVector dropped = op.getDroppedDims();
    RankedTensorType to = op.getDestType();
    Roles roles =
        whole != made.end() ? whole->second.roles : Roles(to.getRank());
    Roles inner;
    SmallVector<OpFoldResult> sizes = op.getMixedSizes();
    for (int64_t d = 0, i = 0; d < to.getRank(); ++d) {
      bool isAll =
          op.getStaticOffset(d) == 0 && op.getStaticSize(d) == to.getDimSize(d);
      if (!dropped.test(d) && part != made.end())
        roles[d] = std::max(roles[d], part->second.roles[i]);
      if (!roles[d].isPlain()) {
        if (!isAll || dropped.test(d))
          return refuse(op, "takes a part of the sequence, or of the batch");
        sizes[d] = sizeOf(to.getDimSize(d), roles[d]);
      }
      if (!dropped.test(d)) {
        inner.push_back(roles[d]);
        ++i;
      }
    }
    FailureOr<Value> source = demand(op, op.getSource(), inner);
    FailureOr<Value> dest = demand(op, op.getDest(), roles);
    if (failed(source) || failed(dest))
      return failure();
    Value result = tensor::InsertSliceOp::create(b, op.getLoc(), *source, *dest,
                                                 op.getMixedOffsets(), sizes,
                                                 op.getMixedStrides());
    made[op.getResult()] = {result, roles};
    return success();
  }

  LogicalResult writeConcat(tensor::ConcatOp op) {
    size_t dim = op.getDim();
    Roles roles(op.getResultType().getRank());
    for (Value input : op.getInputs())
      if (auto found = made.find(input); found != made.end())
        for (auto [role, own] : llvm::zip(roles, found->second.roles))
          role = std::max(role, own);
    if (roles[dim].batch)
      return refuse(op, "joins along the batch");
    SmallVector<Value> inputs;
    for (auto [i, input] : llvm::enumerate(op.getInputs())) {
      Roles own = roles;
      auto type = cast<RankedTensorType>(input.getType());
      if (roles[dim].rows && i) {
        own[dim] = {};
        roles[dim].beyond += type.getDimSize(dim);
      }
      FailureOr<Value> value = demand(op, input, own);
      if (failed(value))
        return failure();
      inputs.push_back(*value);
    }
    Value result = tensor::ConcatOp::create(
        b, op.getLoc(), newType(op.getResultType(), roles), dim, inputs);
    made[op.getResult()] = {result, roles};
    return success();
  }

  /// Attention, and what keeps the shape of its first operand.
  LogicalResult writeOther(Operation *op) {
    Roles roles;
    if (auto found = made.find(op->getOperand(0)); found != made.end())
      roles = found->second.roles;
    bool isLike =
        isScan(op) || isSort(op) ||
        (op->hasTrait<OpTrait::Elementwise>() && op->getNumResults() == 1 &&
         isa<RankedTensorType>(op->getResult(0).getType()));
    if ((!isLike && !isAttention(op)) || roles.empty())
      return refuse(op, "is none of the operations whose dimensions are known");
    IRMapping mapping;
    AttentionForm form(op);
    for (Value operand : op->getOperands()) {
      Roles own = roles;
      auto type = cast<RankedTensorType>(operand.getType());
      if (isAttention(op) && operand == form.mask)
        own[2] = own[1];
      else if (isAttention(op) && operand == form.sinks)
        own.resize(1);
      else if (isScan(op) && type.getRank() < (int64_t)roles.size())
        own.erase(own.begin() +
                  cast<IntegerAttr>(attributeOf(op, "dimension")).getInt());
      FailureOr<Value> value = demand(op, operand, own);
      if (failed(value))
        return failure();
      mapping.map(operand, *value);
    }
    Operation *clone = b.clone(*op, mapping);
    for (auto [old, fresh] : llvm::zip(op->getResults(), clone->getResults())) {
      auto type = cast<RankedTensorType>(old.getType());
      Roles own = roles;
      if (type.getRank() < (int64_t)own.size())
        own.erase(own.begin() +
                  cast<IntegerAttr>(attributeOf(op, "dimension")).getInt());
      fresh.setType(newType(type, own));
      made[old] = {fresh, own};
    }
    return success();
  }

  //===--- What is not
  //------------------------------------------------------===//

  /// A value as `user` needs it. What the tokens do not reach can have any
  /// roles that its operations allow.
  FailureOr<Value> demand(Operation *user, Value value, ArrayRef<Role> roles) {
    if (auto found = made.find(value); found != made.end()) {
      if (ArrayRef<Role>(found->second.roles) == roles)
        return found->second.value;
      return refuse(user, "meets the sequence, or the batch, with what has "
                          "none");
    }
    if (arePlain(roles))
      return value;
    std::pair<void *, std::vector<Role>> key{value.getAsOpaquePointer(),
                                             roles.vec()};
    Value &fresh = free[key];
    if (fresh)
      return fresh;
    FailureOr<Value> result = makeFree(user, value, roles);
    if (succeeded(result))
      free[key] = *result;
    return result;
  }

  FailureOr<Value> makeFree(Operation *user, Value value,
                            ArrayRef<Role> roles) {
    auto type = cast<RankedTensorType>(value.getType());
    Operation *op = value.getDefiningOp();
    Location loc = user->getLoc();
    DenseElementsAttr constant;
    if (op && matchPattern(value, m_Constant(&constant)) &&
        constant.isSplat()) {
      Value scalar = arith::ConstantOp::create(
          b, loc, cast<TypedAttr>(constant.getSplatValue<Attribute>()));
      Value to = tensor::EmptyOp::create(b, loc, sizesOf(type, roles),
                                         type.getElementType());
      return linalg::FillOp::create(b, loc, scalar, to).getResult(0);
    }
    if (isa_and_nonnull<tensor::EmptyOp>(op))
      return tensor::EmptyOp::create(b, loc, sizesOf(type, roles),
                                     type.getElementType())
          .getResult();
    if (auto linalgOp = dyn_cast_or_null<linalg::LinalgOp>(op)) {
      Roles loops(linalgOp.getNumLoops());
      AffineMap map = linalgOp.getMatchingIndexingMap(
          linalgOp.getDpsInitOperand(cast<OpResult>(value).getResultNumber()));
      bool isPlain = true;
      for (auto [expr, role] : llvm::zip(map.getResults(), roles)) {
        if (auto dim = dyn_cast<AffineDimExpr>(expr))
          loops[dim.getPosition()] = role;
        else
          isPlain &= role.isPlain();
      }
      if (isPlain) {
        if (failed(writeLoops(linalgOp, loops)))
          return failure();
        Value fresh = made[value].value;
        // It is no value of the tokens: others may want other roles.
        for (Value result : op->getResults())
          made.erase(result);
        return fresh;
      }
    }
    if (isa_and_nonnull<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op)) {
      bool joins = isa<tensor::CollapseShapeOp>(op);
      auto from = cast<RankedTensorType>(op->getOperand(0).getType());
      SmallVector<ReassociationIndices> groups =
          joins ? cast<tensor::CollapseShapeOp>(op).getReassociationIndices()
                : cast<tensor::ExpandShapeOp>(op).getReassociationIndices();
      if (std::optional<Roles> inner =
              through(groups, joins ? from : type, roles, !joins)) {
        FailureOr<Value> source = demand(user, op->getOperand(0), *inner);
        if (failed(source))
          return failure();
        return reshaped(op, *source, groups, roles);
      }
    }
    return firsts(user, value, roles, constant);
  }

  /// The first rows of a table. Members of a batch have none of their own.
  FailureOr<Value> firsts(Operation *user, Value value, ArrayRef<Role> roles,
                          DenseElementsAttr constant) {
    auto type = cast<RankedTensorType>(value.getType());
    for (auto [d, role] : llvm::enumerate(roles))
      if (role.batch && (!constant || !repeats(constant, d)))
        return refuse(user, "reads what may differ between the members of the "
                            "batch");
    SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0)),
        strides(type.getRank(), b.getIndexAttr(1));
    return tensor::ExtractSliceOp::create(b, user->getLoc(),
                                          newType(type, roles), value, offsets,
                                          sizesOf(type, roles), strides)
        .getResult();
  }

  /// Whether a constant has the same elements for each member of the batch.
  bool repeats(DenseElementsAttr constant, int64_t dim) const {
    ArrayRef<int64_t> shape = constant.getType().getShape();
    int64_t inner = 1;
    for (int64_t size : shape.drop_front(dim + 1))
      inner *= size;
    auto values = constant.getValues<Attribute>();
    int64_t share = shape[dim] / batch * inner, all = shape[dim] * inner;
    for (int64_t i = 0; i < constant.getNumElements(); ++i)
      if (values[i] != values[i - i % all + i % all % share])
        return false;
    return true;
  }

  func::FuncOp function;
  BlockArgument tokens;
  RankedTensorType type;
  int64_t batch, rows;
  OpBuilder b;
  Value length;
  llvm::DenseMap<Value, Made> made;
  std::map<std::pair<void *, std::vector<Role>>, Value> free;
};

struct RaiseShapes : kv::impl::KVRaiseShapesBase<RaiseShapes> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isPrivate() || function.isExternal() ||
          !function.getBody().hasOneBlock())
        continue;
      BlockArgument tokens = staticTokens(function);
      if (!tokens)
        continue;
      auto type = cast<RankedTensorType>(tokens.getType());
      int64_t rows = type.getShape().back();
      if (failed(Shapes(function, tokens).run()))
        return signalPassFailure();
      limit(rows);
      remark::passed(function.getLoc(), raiseRemark("Length")) << remark::add(
          "tokens {0} are one sequence of at most {1}", type, rows);
    }
  }

private:
  /// The only integers that are no weight, if they have a static length.
  static BlockArgument staticTokens(func::FuncOp function) {
    BlockArgument found;
    for (BlockArgument argument : function.getArguments()) {
      auto type = dyn_cast<RankedTensorType>(argument.getType());
      if (!type || !type.hasStaticShape())
        return nullptr;
      if (!type.getElementType().isInteger() ||
          function.getArgAttr(argument.getArgNumber(),
                              KVDialect::getWeightAttrName()))
        continue;
      if (found || type.getRank() < 1 || type.getRank() > 2 ||
          type.getShape().back() < 2)
        return nullptr;
      found = argument;
    }
    return found;
  }

  /// The module takes no more tokens than the graph did.
  void limit(int64_t rows) {
    ModuleOp module = getOperation();
    StringRef name = KVDialect::getModelAttrName();
    auto model = module->getAttrOfType<DictionaryAttr>(name);
    NamedAttrList list(model);
    auto most = model ? model.getAs<IntegerAttr>("max_seq_len") : IntegerAttr();
    Builder b(&getContext());
    list.set("max_seq_len",
             b.getI64IntegerAttr(most ? std::min(rows, most.getInt()) : rows));
    module->setAttr(name, list.getDictionary(&getContext()));
  }
};
} // namespace
