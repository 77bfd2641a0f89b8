//===- ExpandMath.cpp - Math functions become arithmetic ------------------===//

#include "kv/Passes/Passes.h"

#include "ExpandFloat8.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace kv {
#define GEN_PASS_DEF_KVEXPANDMATH
#include "kv/Passes/Passes.h.inc"
} // namespace kv

using namespace mlir;

namespace {
struct ExpandMath : kv::impl::KVExpandMathBase<ExpandMath> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateMathPolynomialApproximationPatterns(patterns, [](StringRef name) {
      return llvm::is_contained({"math.exp", "math.log", "math.tanh",
                                 "math.sin", "math.cos", "math.erf",
                                 "math.log1p"},
                                name);
    });
    // Raised graphs (kv-raise) have these functions as well.
    math::populateExpansionPatterns(patterns, {"fpowi", "powf", "ceilf"});
    // x86-64 has no conversion to bf16 that keeps subnormals, so LLVM would
    // call a function of the compiler's runtime library.
    arith::populateExpandBFloat16Patterns(patterns);
    kv::populateExpandFloat8Patterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
