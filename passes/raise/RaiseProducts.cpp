//===- RaiseProducts.cpp - Forms that have kernels ------------------------===//

#include "kv/Passes/Raise.h"

#include "Graph.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

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

struct RaiseProducts : kv::impl::KVRaiseProductsBase<RaiseProducts> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ReadTransposed>(&getContext());
    tensor::populateDecomposeTensorConcatPatterns(patterns);
    math::populateExpansionPatterns(patterns, {"fpowi"});
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
