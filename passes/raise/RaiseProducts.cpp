//===- RaiseProducts.cpp - Forms that have kernels ------------------------===//

#include "kv/Passes/Raise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/raise/analysis/Graph.h"

namespace kv {
#define GEN_PASS_DEF_KVRAISEPRODUCTS
#include "kv/Passes/RaisePasses.h.inc"
} // namespace kv

using namespace mlir;

namespace {
/// x * transpose(transpose(w)) to x * transpose(w) by w itself.
struct ReadTransposed : OpRewritePattern<linalg::MatmulOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::MatmulOp op,
                                PatternRewriter &rewriter) const override {
    if (op.hasUserDefinedMaps())
      return failure();
    auto transpose = op.getInputs()[1].getDefiningOp<linalg::TransposeOp>();
    if (!transpose)
      return failure();
    auto product =
        kv::createWeightProduct(rewriter, op.getLoc(), op.getInputs()[0],
                                transpose.getInput(), op.getOutputs()[0]);
    rewriter.replaceOp(op, product);
    return success();
  }
};

/// The tensor whose elements, widened, a value has.
Value widenedFrom(Value value) {
  auto op = value.getDefiningOp<linalg::GenericOp>();
  if (!op || op.getNumDpsInputs() != 1 || op.getNumDpsInits() != 1 ||
      op.getNumReductionLoops() ||
      !llvm::all_of(op.getIndexingMapsArray(),
                    [](AffineMap map) { return map.isIdentity(); }))
    return Value();
  auto extend = dyn_cast<arith::ExtFOp>(op.getBody()->front());
  bool isPlain =
      extend && extend.getIn() == op.getBody()->getArgument(0) &&
      op.getBody()->getTerminator()->getOperand(0) == extend.getOut();
  return isPlain ? op.getInputs()[0] : Value();
}

/// x * widen(w) by w itself: a product widens what it reads, exactly.
struct ReadNarrow : OpRewritePattern<linalg::MatmulOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::MatmulOp op,
                                PatternRewriter &rewriter) const override {
    Value narrow = widenedFrom(op.getInputs()[1]);
    if (!narrow || !getElementTypeOrSelf(narrow).isBF16())
      return failure();
    auto product = linalg::MatmulOp::create(
        rewriter, op.getLoc(), op.getResultTypes(),
        ValueRange{op.getInputs()[0], narrow}, op.getOutputs());
    product.setIndexingMapsAttr(op.getIndexingMapsAttr());
    rewriter.replaceOp(op, product);
    return success();
  }
};

/// One element of what is widened is widened alone.
struct ReadNarrowElement : OpRewritePattern<tensor::ExtractOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ExtractOp op,
                                PatternRewriter &rewriter) const override {
    Value narrow = widenedFrom(op.getTensor());
    if (!narrow)
      return failure();
    Value element = tensor::ExtractOp::create(rewriter, op.getLoc(), narrow,
                                              op.getIndices());
    rewriter.replaceOpWithNewOp<arith::ExtFOp>(op, op.getType(), element);
    return success();
  }
};

struct RaiseProducts : kv::impl::KVRaiseProductsBase<RaiseProducts> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ReadNarrow, ReadNarrowElement, ReadTransposed>(&getContext());
    tensor::populateDecomposeTensorConcatPatterns(patterns);
    math::populateExpansionPatterns(patterns, {"fpowi"});
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
