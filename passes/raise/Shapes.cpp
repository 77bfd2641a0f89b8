//===- Shapes.cpp - What is computed from the tokens ----------------------===//

#include "Shapes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace kv;

LogicalResult Shapes::run() {
  SmallVector<Operation *> old, written;
  for (Operation &op : function.getBody().front())
    old.push_back(&op);
  auto end = cast<func::ReturnOp>(old.back());
  b.setInsertionPoint(end);
  for (Operation *op : ArrayRef(old).drop_back())
    if (!llvm::all_of(op->getResults(),
                      [&](Value each) { return made.contains(each); }) ||
        op->getNumResults() == 0)
      if (llvm::any_of(taken(op),
                       [&](Value each) { return made.contains(each); })) {
        if (failed(write(op)))
          return failure();
        written.push_back(op);
      }
  for (OpOperand &result : end->getOpOperands())
    if (auto found = made.find(result.get()); found != made.end())
      result.set(found->second.value);
  for (Operation *op : llvm::reverse(written))
    op->erase();
  function.setType(FunctionType::get(function.getContext(),
                                     function.getArgumentTypes(),
                                     end.getOperandTypes()));
  return success();
}

llvm::SetVector<Value> Shapes::taken(Operation *op) {
  llvm::SetVector<Value> values;
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (!op->isAncestor(operand.getParentBlock()->getParentOp()))
        values.insert(operand);
  });
  return values;
}

LogicalResult Shapes::refuse(Operation *op, const Twine &reason) {
  return op->emitOpError("kv-raise: ") << where << ", " << reason;
}

RankedTensorType Shapes::newType(RankedTensorType from,
                                 ArrayRef<ShapeRole> roles) const {
  SmallVector<int64_t> shape(from.getShape());
  for (auto [size, role] : llvm::zip(shape, roles)) {
    if (role.batch)
      size /= batch;
    if (role.rows)
      size = ShapedType::kDynamic;
  }
  return RankedTensorType::get(shape, from.getElementType());
}

OpFoldResult Shapes::sizeOf(int64_t size, const ShapeRole &role) {
  if (!role.rows)
    return b.getIndexAttr(role.batch ? size / batch : size);
  if (!role.beyond)
    return length;
  Value more = arith::ConstantIndexOp::create(b, length.getLoc(), role.beyond);
  return arith::AddIOp::create(b, length.getLoc(), length, more).getResult();
}

SmallVector<OpFoldResult> Shapes::sizesOf(RankedTensorType from,
                                          ArrayRef<ShapeRole> roles) {
  SmallVector<OpFoldResult> sizes;
  for (auto [size, role] : llvm::zip(from.getShape(), roles))
    sizes.push_back(sizeOf(size, role));
  return sizes;
}

std::optional<ShapeRole> Shapes::joined(ArrayRef<int64_t> sizes,
                                        ArrayRef<ShapeRole> roles) {
  ShapeRole all;
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

std::optional<Roles> Shapes::split(ArrayRef<int64_t> sizes, ShapeRole role) {
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
  // If it is 1, any dimension of 1 will do.
  if (role.rows && !role.batch && rows + role.beyond == 1)
    if (auto *one = llvm::find(sizes, 1); one != sizes.end())
      std::swap(roles[one - sizes.begin()], role);
  return role.isPlain() ? std::optional(roles) : std::nullopt;
}

std::optional<Roles> Shapes::through(ArrayRef<ReassociationIndices> groups,
                                     RankedTensorType wide,
                                     ArrayRef<ShapeRole> roles, bool joins) {
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
      std::optional<ShapeRole> role = joined(sizes, inner);
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

//--------------------------------===//

LogicalResult Shapes::write(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](linalg::LinalgOp linalgOp) { return writeLinalg(linalgOp); })
      .Case<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(
          [&](auto reshape) { return writeReshape(reshape); })
      .Case([&](tensor::ExtractSliceOp slice) { return writeSlice(slice); })
      .Case([&](tensor::InsertSliceOp insert) { return writeInsert(insert); })
      .Case([&](tensor::ConcatOp concat) { return writeConcat(concat); })
      .Default([&](Operation *other) { return writeOther(other); });
}

LogicalResult Shapes::writeLinalg(linalg::LinalgOp op) {
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

LogicalResult Shapes::writeLoops(linalg::LinalgOp op,
                                 ArrayRef<ShapeRole> loops) {
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

LogicalResult Shapes::takeInside(linalg::LinalgOp op, ArrayRef<ShapeRole> loops,
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

template <typename Reshape> LogicalResult Shapes::writeReshape(Reshape op) {
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

Value Shapes::reshaped(Operation *op, Value from,
                       ArrayRef<ReassociationIndices> groups,
                       ArrayRef<ShapeRole> roles) {
  auto old = cast<RankedTensorType>(op->getResult(0).getType());
  RankedTensorType to = newType(old, roles);
  if (isa<tensor::CollapseShapeOp>(op))
    return tensor::CollapseShapeOp::create(b, op->getLoc(), to, from, groups);
  return tensor::ExpandShapeOp::create(b, op->getLoc(), to, from, groups,
                                       sizesOf(old, roles));
}

LogicalResult Shapes::writeSlice(tensor::ExtractSliceOp op) {
  const Made &from = made.find(op.getSource())->second;
  RankedTensorType source = op.getSourceType();
  SmallVector<OpFoldResult> offsets = op.getMixedOffsets(),
                            sizes = op.getMixedSizes();
  llvm::SmallBitVector dropped = op.getDroppedDims();
  Roles kept;
  for (auto [d, role] : llvm::enumerate(from.roles)) {
    int64_t offset = op.getStaticOffset(d), size = op.getStaticSize(d);
    ShapeRole own = role;
    bool isAll = offset == 0 && size == source.getDimSize(d);
    if (!isAll && role.rows && !role.batch && offset == rows - 1 && size == 1 &&
        !role.beyond) {
      Value one = arith::ConstantIndexOp::create(b, op.getLoc(), 1);
      offsets[d] =
          arith::SubIOp::create(b, op.getLoc(), length, one).getResult();
      own = {};
    } else if (!isAll && role.rows && !role.batch && offset == 0 &&
               size >= rows && size < source.getDimSize(d)) {
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

LogicalResult Shapes::writeInsert(tensor::InsertSliceOp op) {
  auto part = made.find(op.getSource()), whole = made.find(op.getDest());
  llvm::SmallBitVector dropped = op.getDroppedDims();
  RankedTensorType to = op.getDestType();
  Roles roles = whole != made.end() ? whole->second.roles : Roles(to.getRank());
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

LogicalResult Shapes::writeConcat(tensor::ConcatOp op) {
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

LogicalResult Shapes::writeOther(Operation *op) {
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
