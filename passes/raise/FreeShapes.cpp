//===- FreeShapes.cpp - What the tokens do not reach ----------------------===//
//
// Masks, tables and numbers of rows that a graph makes of nothing are made with
// the dimensions that their users want.
//
//===----------------------------------------------------------------------===//

#include "Shapes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace kv;

//------------------------------------------------------===//

/// A value as `user` needs it. A value that the tokens do not reach can have
/// any roles that its operations allow.
FailureOr<Value> Shapes::demand(Operation *user, Value value,
                                ArrayRef<ShapeRole> roles) {
  if (auto found = made.find(value); found != made.end()) {
    if (ArrayRef<ShapeRole>(found->second.roles) == roles)
      return found->second.value;
    return refuse(user, "meets the sequence, or the batch, with what has "
                        "none");
  }
  if (arePlain(roles))
    return value;
  std::pair<void *, std::vector<ShapeRole>> key{value.getAsOpaquePointer(),
                                                roles.vec()};
  Value &fresh = free[key];
  if (fresh)
    return fresh;
  FailureOr<Value> result = makeFree(user, value, roles);
  if (succeeded(result))
    free[key] = *result;
  return result;
}

FailureOr<Value> Shapes::makeFree(Operation *user, Value value,
                                  ArrayRef<ShapeRole> roles) {
  auto type = cast<RankedTensorType>(value.getType());
  Operation *op = value.getDefiningOp();
  Location loc = user->getLoc();
  DenseElementsAttr constant;
  if (op && matchPattern(value, m_Constant(&constant)) && constant.isSplat()) {
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
      // The result does not depend on the tokens, so other users may want other
      // roles.
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

FailureOr<Value> Shapes::firsts(Operation *user, Value value,
                                ArrayRef<ShapeRole> roles,
                                DenseElementsAttr constant) {
  auto type = cast<RankedTensorType>(value.getType());
  for (auto [d, role] : llvm::enumerate(roles))
    if (role.batch && (!constant || !repeats(constant, d)))
      return refuse(user, "reads what may differ between the members of the "
                          "batch");
  if (rows == 1)
    return repeated(user, value, roles);
  SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0)),
      strides(type.getRank(), b.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(b, user->getLoc(), newType(type, roles),
                                        value, offsets, sizesOf(type, roles),
                                        strides)
      .getResult();
}

bool Shapes::repeats(DenseElementsAttr constant, int64_t dim) const {
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

Value Shapes::repeated(Operation *user, Value value,
                       ArrayRef<ShapeRole> roles) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<AffineExpr> exprs;
  for (auto [d, role] : llvm::enumerate(roles))
    exprs.push_back(role.rows ? b.getAffineConstantExpr(0)
                              : b.getAffineDimExpr(d));
  Location loc = user->getLoc();
  Value to = tensor::EmptyOp::create(b, loc, sizesOf(type, roles),
                                     type.getElementType());
  return linalg::GenericOp::create(
             b, loc, to.getType(), value, to,
             ArrayRef{AffineMap::get(type.getRank(), 0, exprs, b.getContext()),
                      b.getMultiDimIdentityMap(type.getRank())},
             SmallVector(type.getRank(), utils::IteratorType::parallel),
             [&](OpBuilder &b, Location loc, ValueRange in) {
               linalg::YieldOp::create(b, loc, in[0]);
             })
      .getResult(0);
}
