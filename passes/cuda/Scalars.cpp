//===- Scalars.cpp - What a linalg.generic computes with ------------------===//

#include "Scalars.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace kv;
using linalg::GenericOp;

bool kv::isElementwise(GenericOp op, unsigned i) {
  return op.getNumParallelLoops() == op.getNumLoops() &&
         op.getMatchingIndexingMap(op.getDpsInitOperand(i)).isIdentity();
}

Scalar kv::trace(Scalar scalar, Through through) {
  while (true) {
    if (auto wide = scalar.value.getDefiningOp<arith::ExtFOp>()) {
      scalar.value = wide.getIn();
      continue;
    }
    auto argument = dyn_cast<BlockArgument>(scalar.value);
    auto op = argument ? dyn_cast<GenericOp>(argument.getOwner()->getParentOp())
                       : GenericOp();
    if (!op || argument.getArgNumber() >= op.getNumDpsInputs())
      return scalar;
    OpOperand *operand = op.getDpsInputOperand(argument.getArgNumber());
    AffineMap map = op.getMatchingIndexingMap(operand).compose(scalar.at);
    if (auto fill = operand->get().getDefiningOp<linalg::FillOp>()) {
      scalar = {fill.getInputs()[0], map};
      continue;
    }
    auto producer = operand->get().getDefiningOp<GenericOp>();
    if (!producer || through == Through::None ||
        (through == Through::UsedOnce && !operand->get().hasOneUse()))
      return scalar;
    unsigned i = cast<OpResult>(operand->get()).getResultNumber();
    if (!isElementwise(producer, i))
      return scalar;
    scalar = {producer.getBody()->getTerminator()->getOperand(i), map};
  }
}

std::optional<Element> kv::elementOf(Scalar scalar, Through through) {
  scalar = trace(scalar, through);
  auto argument = dyn_cast<BlockArgument>(scalar.value);
  auto op = argument ? dyn_cast<GenericOp>(argument.getOwner()->getParentOp())
                     : GenericOp();
  if (!op || argument.getArgNumber() >= op.getNumDpsInputs())
    return std::nullopt;
  OpOperand *operand = op.getDpsInputOperand(argument.getArgNumber());
  return Element{operand->get(),
                 op.getMatchingIndexingMap(operand).compose(scalar.at)};
}

std::optional<double> kv::constantOf(Scalar scalar, Through through) {
  APFloat value(0.0);
  if (!matchPattern(trace(scalar, through).value, m_ConstantFloat(&value)))
    return std::nullopt;
  return value.convertToDouble();
}

Scalar kv::yielded(GenericOp op) {
  Value value = op.getBody()->getTerminator()->getOperand(0);
  if (auto round = value.getDefiningOp<arith::TruncFOp>())
    value = round.getIn();
  return {value, Maps(op).identity};
}
