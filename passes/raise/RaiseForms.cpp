//===- RaiseForms.cpp - Rows without dimensions of one --------------------===//

#include "kv/Passes/Raise.h"

#include "kv/Dialect/KV.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"
#include "passes/raise/analysis/Graph.h"

namespace kv {
#define GEN_PASS_DEF_KVRAISEFORMS
#include "kv/Passes/RaisePasses.h.inc"
} // namespace kv

using namespace mlir;
using namespace kv;
using linalg::GenericOp;

namespace {
/// A number that is rounded is one.
struct RoundConstant : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    APFloat value(0.0);
    auto type = dyn_cast<FloatType>(op.getType());
    if (!type || !matchPattern(op.getIn(), m_ConstantFloat(&value)))
      return failure();
    bool loses;
    value.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                  &loses);
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(
        op, rewriter.getFloatAttr(type, value));
    return success();
  }
};

/// An element of an expanded tensor is one of the tensor, where dimensions of
/// one were added.
struct ReadExpanded : OpRewritePattern<tensor::ExtractOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ExtractOp op,
                                PatternRewriter &rewriter) const override {
    auto expand = op.getTensor().getDefiningOp<tensor::ExpandShapeOp>();
    if (!expand)
      return failure();
    SmallVector<Value> index;
    for (const ReassociationIndices &group : expand.getReassociationIndices()) {
      auto large = llvm::make_filter_range(group, [&](int64_t d) {
        return expand.getResultType().getDimSize(d) != 1;
      });
      if (llvm::range_size(large) > 1)
        return failure();
      index.push_back(
          op.getIndices()[large.empty() ? group.front() : *large.begin()]);
    }
    rewriter.replaceOpWithNewOp<tensor::ExtractOp>(op, expand.getSrc(), index);
    return success();
  }
};

/// An element at the loop's own indices is an operand.
struct ReadOperand : OpRewritePattern<GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(GenericOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics())
      return failure();
    for (auto extract : op.getBody()->getOps<tensor::ExtractOp>()) {
      std::optional<AffineMap> map = mapOf(op, extract);
      // Loops have the sizes of operands: a table's would be another.
      if (!map || !hasSizes(op, extract.getTensor(), *map))
        continue;
      SmallVector<Value> inputs = llvm::to_vector(op.getInputs());
      SmallVector<AffineMap> maps = op.getIndexingMapsArray();
      maps.insert(maps.begin() + inputs.size(), *map);
      inputs.push_back(extract.getTensor());
      auto made =
          GenericOp::create(rewriter, op.getLoc(), op.getResultTypes(), inputs,
                            op.getOutputs(), maps, op.getIteratorTypesArray());
      rewriter.inlineRegionBefore(op.getRegion(), made.getRegion(),
                                  made.getRegion().begin());
      Value element = made.getBody()->insertArgument(
          inputs.size() - 1, extract.getType(), extract.getLoc());
      rewriter.replaceOp(extract, element);
      rewriter.replaceOp(op, made);
      return success();
    }
    return failure();
  }

private:
  static std::optional<AffineMap> mapOf(GenericOp op,
                                        tensor::ExtractOp extract) {
    SmallVector<AffineExpr> at;
    for (Value each : extract.getIndices()) {
      auto loop = each.getDefiningOp<linalg::IndexOp>();
      std::optional<int64_t> number = getConstantIntValue(each);
      if (!loop && number != 0)
        return std::nullopt;
      at.push_back(loop ? getAffineDimExpr(loop.getDim(), op.getContext())
                        : getAffineConstantExpr(0, op.getContext()));
    }
    return AffineMap::get(op.getNumLoops(), 0, at, op.getContext());
  }

  static bool hasSizes(GenericOp op, Value tensor, AffineMap map) {
    SmallVector<int64_t> loops = op.getStaticLoopRanges();
    auto type = cast<RankedTensorType>(tensor.getType());
    for (auto [expr, size] : llvm::zip(map.getResults(), type.getShape())) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (size != (dim ? loops[dim.getPosition()] : 1))
        return false;
    }
    return true;
  }
};

/// A token's id is inside of the table that it is looked up in: what only wraps
/// and clamps it does nothing.
struct ReadToken : OpRewritePattern<tensor::ExtractOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ExtractOp op,
                                PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getTensor().getType());
    if (type.getRank() == 0 || type.isDynamicDim(0))
      return failure();
    Value index = op.getIndices()[0], id;
    auto cast = index.getDefiningOp<arith::IndexCastOp>();
    if (cast && isa<BlockArgument>(cast.getIn()))
      return failure();
    for (int64_t at = 0; at < type.getDimSize(0); ++at)
      if (evaluate(index, at, id) != at)
        return failure();
    if (!id)
      return failure();
    rewriter.modifyOpInPlace(op, [&] {
      op.getIndicesMutable()[0].set(arith::IndexCastOp::create(
          rewriter, op.getLoc(), rewriter.getIndexType(), id));
    });
    return success();
  }

private:
  static bool isToken(BlockArgument argument) {
    auto op = dyn_cast<GenericOp>(argument.getOwner()->getParentOp());
    if (!op || argument.getArgNumber() >= op.getNumDpsInputs())
      return false;
    StringAttr name = argumentAttr(op.getInputs()[argument.getArgNumber()],
                                   KVDialect::getNameAttrName());
    return name && name == "tokens";
  }

  /// An integer where the token, which becomes `id`, is `token`.
  static std::optional<int64_t> evaluate(Value value, int64_t token,
                                         Value &id) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (!isToken(argument) || (id && id != value))
        return std::nullopt;
      id = value;
      return token;
    }
    if (std::optional<int64_t> number = getConstantIntValue(value))
      return number;
    Operation *op = value.getDefiningOp();
    SmallVector<int64_t> in;
    for (Value operand : op->getOperands()) {
      std::optional<int64_t> each = evaluate(operand, token, id);
      if (!each)
        return std::nullopt;
      in.push_back(*each);
    }
    if (isa<arith::IndexCastOp, arith::ExtSIOp>(op))
      return in[0];
    if (isa<arith::AddIOp>(op) && std::abs(in[0] + in[1]) < (int64_t(1) << 31))
      return in[0] + in[1];
    if (isa<arith::MaxSIOp>(op))
      return std::max(in[0], in[1]);
    if (isa<arith::MinSIOp>(op))
      return std::min(in[0], in[1]);
    if (isa<arith::SelectOp>(op))
      return in[0] ? in[1] : in[2];
    if (auto compare = dyn_cast<arith::CmpIOp>(op))
      return arith::applyCmpPredicate(compare.getPredicate(),
                                      APInt(64, in[0], true),
                                      APInt(64, in[1], true));
    return std::nullopt;
  }
};

bool isCopy(Operation *op) {
  auto generic = dyn_cast_or_null<GenericOp>(op);
  return generic && llvm::hasSingleElement(*generic.getBody());
}

/// Whether it does nothing but multiply two numbers.
bool isProduct(GenericOp op) {
  return llvm::hasNItems(*op.getBody(), 2) &&
         isa<arith::MulFOp>(op.getBody()->front());
}

/// Conversions of integers, copies, which only move elements, and what is
/// computed for one reader: squares for their sum, a norm's quotients for its
/// weights.
bool isJoined(OpOperand *operand) {
  auto maker = operand->get().getDefiningOp<GenericOp>();
  auto reader = dyn_cast<GenericOp>(operand->getOwner());
  if (!maker || !reader)
    return false;
  bool isScaled = isProduct(maker) && isProduct(reader) &&
                  !llvm::all_of(maker.getIndexingMapsArray(),
                                [](AffineMap map) { return map.isIdentity(); });
  return isCopy(maker) || getElementTypeOrSelf(operand->get()).isIntOrIndex() ||
         ((isScaled || isCopy(reader) || reader.getNumReductionLoops()) &&
          operand->get().hasOneUse());
}

struct RaiseForms : kv::impl::KVRaiseFormsBase<RaiseForms> {
  void runOnOperation() override {
    generalize();
    foldUnits();
    RewritePatternSet patterns(&getContext());
    patterns.add<RoundConstant, ReadExpanded, ReadOperand, ReadToken>(
        &getContext());
    linalg::populateElementwiseOpsFusionPatterns(patterns, isJoined);
    linalg::populateFoldReshapeOpsByExpansionPatterns(
        patterns, [](OpOperand *operand) {
          return isCopy(operand->get().getDefiningOp()) ||
                 isCopy(operand->getOwner());
        });
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
  }

private:
  void generalize() {
    SmallVector<linalg::TransposeOp> moves;
    getOperation().walk([&](linalg::TransposeOp op) { moves.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (linalg::TransposeOp op : moves) {
      rewriter.setInsertionPoint(op);
      (void)linalg::generalizeNamedOp(rewriter, op);
    }
  }

  void foldUnits() {
    linalg::ControlDropUnitDims options;
    {
      RewritePatternSet patterns(&getContext());
      linalg::populateFoldUnitExtentDimsPatterns(patterns, options);
      walkAndApplyPatterns(getOperation(), std::move(patterns));
    }
    RewritePatternSet patterns(&getContext());
    linalg::populateFoldUnitExtentDimsCanonicalizationPatterns(patterns,
                                                               options);
    (void)applyPatternsGreedily(getOperation(), std::move(patterns));
  }
};
} // namespace
