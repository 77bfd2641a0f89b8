//===- FoldCasts.cpp - Casts become part of other launches ----------------===//

#include "FoldCasts.h"

#include "Launches.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/common/HostSizes.h"

using namespace mlir;
using namespace kv;

static bool isCast(Operation *op) {
  auto launch = dyn_cast_or_null<LaunchOp>(op);
  return launch && !launch.getMade().empty() &&
         launch.getCallee() == RuntimeFunction::cast;
}

/// How the launch's function writes its last parameter.
static ParameterKind outOf(LaunchOp op) {
  return rowOf(op.getCallee()).parameters.back();
}

/// Whether the launch's kernel can write elements of this type. The kernel then
/// rounds once, as a cast of its result does.
static bool canWrite(LaunchOp op, Type element) {
  switch (outOf(op)) {
  case ParameterKind::OutAny:
  case ParameterKind::OutAsInput:
    return true;
  case ParameterKind::OutAsWeight:
    return element == getElementTypeOrSelf(op.getArguments()[1]);
  default:
    return false;
  }
}

namespace {
/// Folds four kinds of casts: to the type of the operand, of a cast that only
/// widened, of a view, and of a launch whose result only equal casts use. A
/// cast of a view becomes a view of a cast, and a gather passes its cast to its
/// operand.
struct FoldCast : OpRewritePattern<LaunchOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(LaunchOp op,
                                PatternRewriter &rewriter) const override {
    if (!isCast(op))
      return failure();
    Value x = op.getArguments()[0];
    Type to = getElementTypeOrSelf(op.getResult());
    Operation *maker = x.getDefiningOp();
    if (getElementTypeOrSelf(x) == to) {
      rewriter.replaceOp(op, x);
      return success();
    }
    if (!maker)
      return failure();
    Emitter b(op);
    b.setListener(rewriter.getListener());
    if (isCast(maker)) {
      Value narrow = cast<LaunchOp>(maker).getArguments()[0];
      if (getElementTypeOrSelf(narrow).getIntOrFloatBitWidth() >=
          getElementTypeOrSelf(x).getIntOrFloatBitWidth())
        return failure();
      rewriter.replaceOp(op, castTo(b, narrow, to));
      return success();
    }
    if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(maker)) {
      Value source = castTo(b, maker->getOperand(0), to);
      Operation *view = rewriter.clone(*maker);
      rewriter.modifyOpInPlace(view, [&] {
        view->setOperand(0, source);
        view->getResult(0).setType(op.getResult().getType());
      });
      rewriter.replaceOp(op, view);
      return success();
    }
    auto launch = dyn_cast<LaunchOp>(maker);
    if (!launch || !canWrite(launch, to) ||
        !llvm::all_of(x.getUsers(), [&](Operation *user) {
          return isCast(user) && getElementTypeOrSelf(user->getResult(0)) == to;
        }))
      return failure();
    b.setInsertionPoint(launch);
    SmallVector<Value> arguments(launch.getArguments());
    // Ranks exchange half as many bytes of narrow elements.
    if (outOf(launch) == ParameterKind::OutAsInput)
      arguments[0] = castTo(b, arguments[0], to);
    Value written =
        kv::launch(b, launch.getCallee(), arguments, launch.getOut(), to);
    for (Operation *user : llvm::to_vector(x.getUsers()))
      rewriter.replaceOp(user, written);
    rewriter.eraseOp(launch);
    return success();
  }
};
} // namespace

FailureOr<int64_t> kv::foldCasts(ModuleOp module) {
  MLIRContext *context = module.getContext();
  int64_t left = 0;
  RewritePatternSet patterns(context);
  patterns.add<FoldCast>(context);
  tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, context);
  tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, context);
  tensor::DimOp::getCanonicalizationPatterns(patterns, context);
  if (failed(applyPatternsGreedily(module, std::move(patterns))))
    return module.emitOpError("casts do not settle");
  module.walk([&](LaunchOp op) {
    if (!isCast(op))
      return;
    ++left;
    Value x = op.getArguments()[0];
    if (cast<RankedTensorType>(x.getType()).getRank() == 2)
      return;
    Emitter b(op);
    Value rows = castTo(b, toRows(b, x), getElementTypeOrSelf(op.getResult()));
    op.getResult().replaceAllUsesWith(fromRows(b, rows, x));
    op.erase();
  });
  return left;
}
