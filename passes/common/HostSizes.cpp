//===- HostSizes.cpp - Sizes that host code knows -------------------------===//

#include "HostSizes.h"

#include "kv/Dialect/KV.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

using namespace mlir;
using namespace kv;

/// Calls nest no deeper in a graph; a function that calls itself has no end.
constexpr int kMaxCalls = 32;

Value HostSize::materialize(OpBuilder &b, Location loc) const {
  if (isConstant())
    return arith::ConstantIndexOp::create(b, loc, number);
  if (isItself())
    return value;
  if (isa<TensorType>(value.getType()))
    return b.createOrFold<tensor::DimOp>(loc, value, number);
  return b.createOrFold<memref::DimOp>(loc, value, number);
}

/// The function that a call names, when it has a body of one block.
static func::FuncOp calleeOf(func::CallOp call) {
  auto function = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      call, call.getCalleeAttr());
  return function && !function.isExternal() &&
                 llvm::hasSingleElement(function.getBody())
             ? function
             : func::FuncOp();
}

template <class Dim> static std::optional<int64_t> dimensionIn(Dim op) {
  std::optional<int64_t> dim = op.getConstantIndex();
  auto type = dyn_cast<ShapedType>(op.getSource().getType());
  if (!dim || !type || !type.hasRank() || *dim < 0 || *dim >= type.getRank())
    return std::nullopt;
  return dim;
}
std::optional<int64_t> kv::dimensionOf(tensor::DimOp op) {
  return dimensionIn(op);
}
std::optional<int64_t> kv::dimensionOf(memref::DimOp op) {
  return dimensionIn(op);
}

/// The dimension that an index is.
static std::optional<HostSize> sourceOfIndex(Value index) {
  if (auto dim = index.getDefiningOp<tensor::DimOp>())
    if (auto number = dimensionOf(dim))
      return HostSize{dim.getSource(), *number};
  if (auto dim = index.getDefiningOp<memref::DimOp>())
    if (auto number = dimensionOf(dim))
      return HostSize{dim.getSource(), *number};
  return std::nullopt;
}

static HostSize trace(HostSize size, int depth, Value stop = {});

/// The size of a loop's initial value, if each iteration keeps the size of the
/// value that it carries.
static std::optional<HostSize> beforeLoop(HostSize size, int depth) {
  scf::ForOp loop;
  auto carried = dyn_cast<BlockArgument>(size.value);
  if (carried) {
    loop = dyn_cast<scf::ForOp>(carried.getOwner()->getParentOp());
  } else if ((loop = size.value.getDefiningOp<scf::ForOp>())) {
    carried = loop.getTiedLoopRegionIterArg(cast<OpResult>(size.value));
  }
  OpOperand *init = loop ? loop.getTiedLoopInit(carried) : nullptr;
  if (!init || depth == kMaxCalls)
    return std::nullopt;
  Value next = loop.getTiedLoopYieldedValue(carried)->get();
  HostSize turn = trace({next, size.number}, depth + 1, /*stop=*/carried);
  if (turn.value != carried || turn.number != size.number)
    return std::nullopt;
  return HostSize{init->get(), size.number};
}

/// One operation back, or nothing.
static std::optional<HostSize> stepBack(HostSize size, int depth) {
  Operation *op = size.value.getDefiningOp();
  int64_t dim = size.number;
  if (!op || isa<scf::ForOp>(op))
    return beforeLoop(size, depth);
  if (auto empty = dyn_cast<tensor::EmptyOp>(op))
    return sourceOfIndex(empty.getDynamicSize(dim));
  if (auto destination = dyn_cast<DestinationStyleOpInterface>(op))
    return HostSize{
        destination.getTiedOpOperand(cast<OpResult>(size.value))->get(), dim};
  if (auto convert = dyn_cast<tensor::CastOp>(op))
    return HostSize{convert.getSource(), dim};
  if (auto rows = dyn_cast<DequantizeOp>(op); rows && rows.getRows())
    return HostSize{rows.getRows(), dim};
  if (auto form = dyn_cast<TwoFormOpInterface>(op); form && !form.hasOwnSizes())
    return HostSize{op->getOperand(0), dim};
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
    OpFoldResult given = expand.getMixedOutputShape()[dim];
    return sourceOfIndex(cast<Value>(given));
  }
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    return HostSize{insert.getDest(), dim};
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    int64_t at = 0;
    for (int64_t kept = 0; dropped[at] || kept < dim; ++at)
      kept += !dropped[at];
    OpFoldResult given = slice.getMixedSizes()[at];
    if (auto size = dyn_cast<Value>(given))
      return sourceOfIndex(size);
    return std::nullopt;
  }
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
    ReassociationIndices group = collapse.getReassociationIndices()[dim];
    if (group.size() == 1)
      return HostSize{collapse.getSrc(), group.front()};
    return std::nullopt;
  }
  auto call = dyn_cast<func::CallOp>(op);
  func::FuncOp function = call ? calleeOf(call) : func::FuncOp();
  if (!function || depth == kMaxCalls)
    return std::nullopt;
  Value returned = function.getBody().front().getTerminator()->getOperand(
      cast<OpResult>(size.value).getResultNumber());
  HostSize inside = trace({returned, dim}, depth + 1);
  if (inside.isConstant())
    return inside;
  auto argument = dyn_cast<BlockArgument>(inside.value);
  if (!argument || argument.getOwner() != &function.getBody().front())
    return std::nullopt;
  return HostSize{call.getOperand(argument.getArgNumber()), inside.number};
}

static HostSize trace(HostSize size, int depth, Value stop) {
  while (true) {
    if (size.isConstant() || size.value == stop)
      return size;
    auto type = cast<ShapedType>(size.value.getType());
    if (!type.isDynamicDim(size.number))
      return {Value(), type.getDimSize(size.number)};
    std::optional<HostSize> before = stepBack(size, depth);
    if (!before)
      return size;
    size = *before;
  }
}

HostSize kv::traceSize(Value shaped, int64_t dim) {
  return trace({shaped, dim}, 0);
}

SmallVector<OpFoldResult> kv::hostSizes(OpBuilder &b, Location loc,
                                        Value tensor) {
  SmallVector<OpFoldResult> sizes;
  int64_t rank = cast<ShapedType>(tensor.getType()).getRank();
  for (int64_t i = 0; i < rank; ++i) {
    HostSize size = traceSize(tensor, i);
    if (size.isConstant())
      sizes.push_back(b.getIndexAttr(size.number));
    else
      sizes.push_back(size.materialize(b, loc));
  }
  return sizes;
}

static std::optional<HostSize> rowsOfUsers(Value positions, int depth) {
  for (OpOperand &use : positions.getUses()) {
    Operation *user = use.getOwner();
    if (auto rope = dyn_cast<RopeOp>(user);
        rope && &use == &rope.getPositionsMutable())
      return trace({rope.getX(), 0}, 0);
    auto call = dyn_cast<func::CallOp>(user);
    func::FuncOp function = call ? calleeOf(call) : func::FuncOp();
    if (!function || depth == kMaxCalls)
      continue;
    std::optional<HostSize> inside =
        rowsOfUsers(function.getArgument(use.getOperandNumber()), depth + 1);
    if (!inside || inside->isConstant())
      return inside;
    auto argument = dyn_cast<BlockArgument>(inside->value);
    if (argument && argument.getOwner() == &function.getBody().front())
      return trace({call.getOperand(argument.getArgNumber()), inside->number},
                   0);
  }
  return std::nullopt;
}

std::optional<HostSize> kv::rowsOfUsers(Value positions) {
  return ::rowsOfUsers(positions, 0);
}

void kv::foldSizes(Operation *root) {
  root->walk([](tensor::DimOp op) {
    std::optional<int64_t> dim = dimensionOf(op);
    if (!dim)
      return;
    OpBuilder b(op);
    Value size = traceSize(op.getSource(), *dim).materialize(b, op.getLoc());
    op.replaceAllUsesWith(size);
    op.erase();
  });
}
