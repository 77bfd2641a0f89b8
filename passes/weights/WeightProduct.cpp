//===- WeightProduct.cpp - Products with a weight -------------------------===//

#include "WeightProduct.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

bool kv::isWeightProduct(linalg::MatmulOp op, OpOperand &use) {
  if (use.getOperandNumber() != 1 || !op.hasPureTensorSemantics())
    return false;
  if (!cast<ShapedType>(op.getInputs()[0].getType()).getElementType().isF32() ||
      !cast<ShapedType>(op.getOutputs()[0].getType()).getElementType().isF32())
    return false;
  AffineExpr m, n, k;
  bindDims(op.getContext(), m, n, k);
  auto map = [&](AffineExpr a, AffineExpr b) {
    return AffineMap::get(3, 0, {a, b}, op.getContext());
  };
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  if (maps[0] != map(m, k) || maps[1] != map(n, k) || maps[2] != map(m, n))
    return false;
  auto fill = op.getOutputs()[0].getDefiningOp<linalg::FillOp>();
  return fill && matchPattern(fill.getInputs()[0], m_AnyZeroFloat());
}
