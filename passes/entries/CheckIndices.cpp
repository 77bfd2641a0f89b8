//===- CheckIndices.cpp - Numbers of rows are checked before they are used ===//

#include "kv/Passes/Passes.h"

#include "kv/Dialect/KV.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Dominance.h"
#include "passes/common/HostSizes.h"

namespace kv {
#define GEN_PASS_DEF_KVCHECKINDICES
#include "kv/Passes/Passes.h.inc"
} // namespace kv

using namespace mlir;
using namespace kv;

/// The tensor of integers of which `number` is an element; null if it is none.
static Value integersOf(Value number) {
  if (!isa<IntegerType>(number.getType()))
    return {};
  if (auto extract = number.getDefiningOp<tensor::ExtractOp>())
    return extract.getTensor();
  auto argument = dyn_cast<BlockArgument>(number);
  auto generic =
      argument ? dyn_cast<linalg::LinalgOp>(argument.getOwner()->getParentOp())
               : linalg::LinalgOp();
  return generic ? generic.getMatchingOpOperand(argument)->get() : Value();
}

/// The value before conversions that keep its number.
static Value beforeCasts(Value index) {
  while (Operation *op = index.getDefiningOp()) {
    if (!isa<arith::IndexCastOp, arith::ExtSIOp>(op))
      break;
    index = op->getOperand(0);
  }
  return index;
}

/// Whether the value is computed from an element of a tensor of integers.
static bool dependsOnIntegers(Value value) {
  SmallVector<Value> open = {value};
  llvm::SmallDenseSet<Value> seen;
  while (!open.empty()) {
    Value next = open.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    if (integersOf(next))
      return true;
    if (Operation *op = next.getDefiningOp();
        op && isa<arith::ArithDialect>(op->getDialect()))
      llvm::append_range(open, op->getOperands());
  }
  return false;
}

/// Whether the integers are a function's argument, or a part or another shape
/// of one.
static BlockArgument argumentBehind(Value integers) {
  while (Operation *op = integers.getDefiningOp()) {
    if (!isa<tensor::CastOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp,
             tensor::ExtractSliceOp>(op))
      return {};
    integers = op->getOperand(0);
  }
  auto argument = cast<BlockArgument>(integers);
  return isa<func::FuncOp>(argument.getOwner()->getParentOp())
             ? argument
             : BlockArgument();
}

namespace {

class Checker {
public:
  explicit Checker(func::FuncOp function)
      : function(function), first(&function.front().front()) {}

  void run() {
    // New extracts are not looked at.
    SmallVector<Operation *> found;
    function.walk([&](Operation *op) {
      if (isa<tensor::ExtractOp, DequantizeOp>(op))
        found.push_back(op);
    });
    for (Operation *op : found)
      if (auto extract = dyn_cast<tensor::ExtractOp>(op))
        check(extract);
      else
        check(cast<DequantizeOp>(op));
  }

private:
  void check(tensor::ExtractOp op) {
    for (OpOperand &index : op.getIndicesMutable()) {
      int64_t dim = index.getOperandNumber() - 1;
      Value integers = integersOf(beforeCasts(index.get()));
      if (integers && !isConditional(op) &&
          check(op, integers, op.getTensor(), dim))
        continue;
      if (integers || dependsOnIntegers(index.get()))
        keepInside(op, index, dim);
    }
  }

  /// Numbers outside stand for the nearest row, so nothing else is read; but
  /// what an entry is given is an error all the same.
  void check(DequantizeOp op) {
    if (op.getRows() && !isConditional(op))
      (void)check(op, op.getRows(), op.getWeight(), 0);
  }

  /// Whether a check of all of the integers could be placed before `op`.
  bool check(Operation *op, Value integers, Value table, int64_t dim) {
    auto type = cast<RankedTensorType>(integers.getType());
    BlockArgument argument = argumentBehind(integers);
    bool isWide = type.getElementType().isInteger(32) ||
                  type.getElementType().isInteger(64);
    if (!argument || !isWide || type.getRank() < 1 || type.getRank() > 4)
      return false;
    HostSize count = traceSize(table, dim);
    Operation *place = earliest(op, integers, count.value);
    if (!place)
      return false;
    if (!known.insert({integers, count.value, count.number}).second)
      return true;
    OpBuilder b(place);
    auto name = function.getArgAttrOfType<StringAttr>(
        argument.getArgNumber(), KVDialect::getNameAttrName());
    CheckIndicesOp::create(b, op->getLoc(), integers,
                           name ? name : b.getStringAttr("indices"),
                           count.materialize(b, op->getLoc()));
    return true;
  }

  /// Whether `op` may be there for some elements only.
  bool isConditional(Operation *op) {
    for (Operation *parent = op->getParentOp(); parent != function;
         parent = parent->getParentOp())
      if (!isa<linalg::LinalgOp, scf::ForOp, scf::ForallOp>(parent))
        return true;
    return false;
  }

  /// The function's first operation where both values are arguments, so that
  /// nothing has been done when one is wrong. If a value is no argument: the
  /// outermost operation around `op`, or `op` itself, before which both values
  /// exist.
  Operation *earliest(Operation *op, Value integers, Value size) {
    if (isa<BlockArgument>(integers) && (!size || isa<BlockArgument>(size)) &&
        dominance.properlyDominates(integers, first) &&
        (!size || dominance.properlyDominates(size, first)))
      return first;
    Operation *place = nullptr;
    for (; op != function; op = op->getParentOp())
      if (!isa<linalg::LinalgOp>(op->getParentOp()) &&
          dominance.properlyDominates(integers, op) &&
          (!size || dominance.properlyDominates(size, op)))
        place = op;
    return place;
  }

  static void keepInside(tensor::ExtractOp op, OpOperand &index, int64_t dim) {
    OpBuilder b(op);
    Location loc = op.getLoc();
    Value zero = arith::ConstantIndexOp::create(b, loc, 0);
    Value one = arith::ConstantIndexOp::create(b, loc, 1);
    Value size = b.createOrFold<tensor::DimOp>(loc, op.getTensor(), dim);
    Value last = b.createOrFold<arith::SubIOp>(loc, size, one);
    Value most = arith::MinSIOp::create(b, loc, index.get(), last);
    index.set(arith::MaxSIOp::create(b, loc, most, zero));
  }

  func::FuncOp function;
  Operation *first;
  DominanceInfo dominance;
  llvm::DenseSet<std::tuple<Value, Value, int64_t>> known;
};

struct CheckIndices : kv::impl::KVCheckIndicesBase<CheckIndices> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal())
        Checker(function).run();
  }
};

} // namespace
