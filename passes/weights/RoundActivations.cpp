//===- RoundActivations.cpp - What kv.activations means -------------------===//

#include "kv/Passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace kv {
#define GEN_PASS_DEF_KVROUNDACTIVATIONS
#include "kv/Passes/Passes.h.inc"
} // namespace kv

using namespace mlir;
using namespace kv;

/// `x` with each element rounded to `type`.
static Value rounded(OpBuilder &b, Location loc, Value x, Type type) {
  auto rows = cast<RankedTensorType>(x.getType());
  Value empty = tensor::EmptyOp::create(
      b, loc, tensor::getMixedSizes(b, loc, x), rows.getElementType());
  AffineMap identity = b.getMultiDimIdentityMap(rows.getRank());
  SmallVector<utils::IteratorType> parallel(rows.getRank(),
                                            utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             b, loc, rows, x, empty, {identity, identity}, parallel,
             [&](OpBuilder &b, Location loc, ValueRange args) {
               Value narrow = arith::TruncFOp::create(b, loc, type, args[0]);
               Value wide =
                   arith::ExtFOp::create(b, loc, rows.getElementType(), narrow);
               linalg::YieldOp::create(b, loc, wide);
             })
      .getResult(0);
}

namespace {
struct RoundActivations : kv::impl::KVRoundActivationsBase<RoundActivations> {
  void runOnOperation() override {
    auto activations = getOperation()->getAttrOfType<TypeAttr>(
        KVDialect::getActivationsAttrName());
    // i8 is a matter of the products with quantised weights alone.
    if (!activations || activations.getValue().isF32() ||
        activations.getValue().isInteger(8))
      return;
    getOperation().walk([&](Operation *op) {
      if (!isa<linalg::MatmulOp, MatmulOp, ExpertMatmulOp>(op))
        return;
      OpOperand &x = op->getOpOperand(0);
      if (!isa<TensorType>(x.get().getType()) ||
          !getElementTypeOrSelf(x.get()).isF32())
        return;
      OpBuilder b(op);
      x.set(rounded(b, op->getLoc(), x.get(), activations.getValue()));
      ++numRounded;
    });
  }
};
} // namespace
