//===- ResolveSizes.cpp - Sizes are constants or the length ---------------===//
//
// Exporters compute shapes with integers and check them as they go. Afterwards
// every size of the graph is a constant or one value, the length, and nothing
// is left to check.
//
//===----------------------------------------------------------------------===//

#include "kv/Passes/Raise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "passes/raise/analysis/Sizes.h"

namespace kv {
#define GEN_PASS_DEF_KVRAISESIZES
#include "kv/Passes/RaisePasses.h.inc"
} // namespace kv

using namespace mlir;
using namespace kv;

namespace {
/// Part of a reshape: neighbouring dimensions of the source and of the result
/// with equally many elements.
struct SizeGroup {
  ReassociationIndices source, result;
};

struct ResolveSizes : kv::impl::KVRaiseSizesBase<ResolveSizes> {
  void runOnOperation() override {
    FailureOr<Graph> found = Graph::find(getOperation());
    if (failed(found) || failed(resolve(*found)))
      signalPassFailure();
  }

private:
  LogicalResult resolve(const Graph &graph) {
    Sizes sizes(graph);
    OpBuilder b = OpBuilder::atBlockBegin(&graph.body());
    Value length = tensor::DimOp::create(b, graph.function.getLoc(),
                                         graph.tokens, graph.sequenceDim);
    for (Operation &op : llvm::make_early_inc_range(graph.body())) {
      if (auto check = dyn_cast<cf::AssertOp>(op)) {
        if (failed(prove(check, sizes)))
          return failure();
      } else if (auto reshape = dyn_cast<tensor::ReshapeOp>(op)) {
        if (failed(split(reshape, sizes, length)))
          return failure();
      } else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
        if (failed(lookUp(slice, graph, sizes, length)))
          return failure();
      } else {
        if (failed(proveBounds(op)))
          return failure();
        dropBroadcastOfOne(op, sizes);
        replaceScalars(op, sizes, length);
      }
    }
    return success();
  }

  LogicalResult prove(cf::AssertOp check, Sizes &sizes) {
    std::optional<Size> fact = sizes.scalar(check.getArg());
    if (!fact || fact->constant() == 0)
      return check.emitOpError("kv-raise: \"")
             << check.getMsg() << "\" is not true of every length";
    ++numChecks;
    check.erase();
    return success();
  }

  /// Checks inside of a computation are those of ids, by exporters: an id that
  /// its table does not have is the caller's fault in every module.
  LogicalResult proveBounds(Operation &op) {
    SmallVector<cf::AssertOp> checks;
    op.walk([&](cf::AssertOp check) { checks.push_back(check); });
    for (cf::AssertOp check : checks) {
      remark::passed(check.getLoc(), raiseRemark("CheckOfData")) << remark::add(
          "\"{0}\" is left to whoever gives the data", check.getMsg());
      check.erase();
    }
    return success();
  }

  /// The first T rows of a table (learned positions) are a look-up by position.
  LogicalResult lookUp(tensor::ExtractSliceOp slice, const Graph &graph,
                       Sizes &sizes, Value length) {
    RankedTensorType source = slice.getSourceType(), type = slice.getType();
    if (!rowDims(source).empty() || !isRows(type) ||
        source.getRank() != type.getRank())
      return success();
    int64_t row = rowDims(type).front();
    std::optional<Size> size = sizes.dim(slice, row);
    SmallVector<int64_t> offsets(slice.getStaticOffsets());
    if (!size || !size->isLength() ||
        llvm::any_of(offsets, ShapedType::isDynamic) ||
        !llvm::all_of(slice.getStaticStrides(),
                      [](int64_t stride) { return stride == 1; }))
      return success();
    if (offsets[row] + graph.maxLength > source.getDimSize(row))
      return slice.emitOpError("kv-raise: takes a row for each token of a "
                               "table with ")
             << source.getDimSize(row) << ", and max_seq_len is "
             << graph.maxLength;
    OpBuilder b(slice);
    Location loc = slice.getLoc();
    Value to = tensor::EmptyOp::create(b, loc, type.getShape(),
                                       type.getElementType(), length);
    SmallVector<utils::IteratorType> loops(type.getRank(),
                                           utils::IteratorType::parallel);
    auto rows = linalg::GenericOp::create(
        b, loc, type, ValueRange(), to,
        ArrayRef{b.getMultiDimIdentityMap(type.getRank())}, loops,
        [&](OpBuilder &b, Location loc, ValueRange) {
          SmallVector<Value> index;
          for (int64_t d = 0; d < type.getRank(); ++d) {
            index.push_back(linalg::IndexOp::create(b, loc, d));
            if (offsets[d] != 0) {
              Value by = arith::ConstantIndexOp::create(b, loc, offsets[d]);
              index[d] = arith::AddIOp::create(b, loc, index[d], by);
            }
          }
          Value read =
              tensor::ExtractOp::create(b, loc, slice.getSource(), index);
          linalg::YieldOp::create(b, loc, read);
        });
    slice.replaceAllUsesWith(rows.getResult(0));
    slice.erase();
    return success();
  }

  /// Where a size might have been 1 and was to be repeated, exporters read
  /// element 0 of it if T is 1, and the loop's index otherwise. Of a loop below
  /// T these are the same.
  void dropBroadcastOfOne(Operation &op, Sizes &sizes) {
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    if (!linalgOp)
      return;
    SmallVector<unsigned> loops = rowLoops(linalgOp);
    linalgOp->walk([&](arith::SelectOp select) {
      auto compare = select.getCondition().getDefiningOp<arith::CmpIOp>();
      auto index = select.getFalseValue().getDefiningOp<linalg::IndexOp>();
      if (!compare || compare.getPredicate() != arith::CmpIPredicate::eq ||
          !index || !llvm::is_contained(loops, index.getDim()) ||
          !matchPattern(select.getTrueValue(), m_Zero()))
        return;
      std::optional<Size> a = sizes.scalar(compare.getLhs());
      std::optional<Size> b = sizes.scalar(compare.getRhs());
      if (!a || !b ||
          !((a->isLength() && *b == Size(1)) ||
            (b->isLength() && *a == Size(1))))
        return;
      // Only loops that are exactly T long count.
      for (OpOperand &operand : linalgOp->getOpOperands()) {
        AffineMap map = linalgOp.getMatchingIndexingMap(&operand);
        for (int64_t d : rowDims(operand.get().getType())) {
          std::optional<Size> size = sizes.dim(operand.get(), d);
          if (map.getResult(d) ==
                  getAffineDimExpr(index.getDim(), op.getContext()) &&
              (!size || !size->isLength()))
            return;
        }
      }
      select.replaceAllUsesWith(index.getResult());
    });
  }

  void replaceScalars(Operation &op, Sizes &sizes, Value length) {
    OpBuilder b(&op);
    for (Value result : op.getResults()) {
      if (!result.getType().isIntOrIndex() || result == length ||
          op.hasTrait<OpTrait::ConstantLike>())
        continue;
      std::optional<Size> size = sizes.scalar(result);
      if (!size)
        continue;
      if (size->isLength() && result.getType().isIndex()) {
        result.replaceAllUsesWith(length);
      } else if (size->isConstant()) {
        auto attribute = b.getIntegerAttr(result.getType(), size->constant());
        result.replaceAllUsesWith(arith::ConstantOp::create(
            b, op.getLoc(), cast<TypedAttr>(attribute)));
      }
    }
  }

  /// A reshape whose sizes are known is a collapse and an expansion.
  LogicalResult split(tensor::ReshapeOp reshape, Sizes &sizes, Value length) {
    auto source = dyn_cast<RankedTensorType>(reshape.getSource().getType());
    auto result = dyn_cast<RankedTensorType>(reshape.getType());
    if (!source || !result)
      return reshape.emitOpError("kv-raise: its rank is not known");
    auto isWhole = [&](Value tensor, RankedTensorType type) {
      return llvm::all_of(rowDims(type), [&](int64_t d) {
        std::optional<Size> size = sizes.dim(tensor, d);
        return size && size->isLength();
      });
    };
    if (!isWhole(reshape.getSource(), source) ||
        !isWhole(reshape.getResult(), result))
      return reshape.emitOpError("kv-raise: a dynamic size is not the length");
    std::optional<SmallVector<SizeGroup>> groups =
        group(source.getShape(), result.getShape());
    if (!groups)
      return reshape.emitOpError(
          "kv-raise: joins the sequence with other dimensions");
    SmallVector<ReassociationIndices> from, to;
    SmallVector<int64_t> middle;
    for (const SizeGroup &each : *groups) {
      from.push_back(each.source);
      to.push_back(each.result);
      int64_t size = 1;
      for (int64_t d : each.source)
        size = ShapedType::isDynamic(source.getDimSize(d)) ||
                       ShapedType::isDynamic(size)
                   ? ShapedType::kDynamic
                   : size * source.getDimSize(d);
      middle.push_back(size);
    }
    OpBuilder b(reshape);
    Location loc = reshape.getLoc();
    auto flat = RankedTensorType::get(middle, source.getElementType());
    Value value = reshape.getSource();
    if (flat.getRank() != source.getRank())
      value = tensor::CollapseShapeOp::create(b, loc, flat, value, from);
    if (flat.getRank() != result.getRank()) {
      SmallVector<OpFoldResult> shape;
      for (int64_t size : result.getShape())
        shape.push_back(ShapedType::isDynamic(size)
                            ? OpFoldResult(length)
                            : OpFoldResult(b.getIndexAttr(size)));
      value = tensor::ExpandShapeOp::create(b, loc, result, value, to, shape);
    }
    reshape.replaceAllUsesWith(value);
    reshape.erase();
    return success();
  }

  /// Cuts two shapes where equally many elements lie to the left; a group with
  /// the sequence has it on both sides and ones besides.
  static std::optional<SmallVector<SizeGroup>> group(ArrayRef<int64_t> source,
                                                     ArrayRef<int64_t> result) {
    SmallVector<SizeGroup> groups;
    size_t i = 0, j = 0;
    auto isDynamic = ShapedType::isDynamic;
    while (i < source.size() && j < result.size()) {
      SizeGroup next;
      next.source.push_back(i);
      next.result.push_back(j);
      int64_t a = source[i++], b = result[j++];
      while (a != b) {
        // The side with fewer elements takes one more dimension. Ones before
        // the sequence belong to its group.
        bool takeSource = isDynamic(b) ? a == 1 : (!isDynamic(a) && a < b);
        bool takeResult = isDynamic(a) ? b == 1 : (!isDynamic(b) && b < a);
        if (takeSource && i < source.size()) {
          next.source.push_back(i);
          a = isDynamic(source[i]) ? (a == 1 ? source[i] : 0) : a * source[i];
          ++i;
        } else if (takeResult && j < result.size()) {
          next.result.push_back(j);
          b = isDynamic(result[j]) ? (b == 1 ? result[j] : 0) : b * result[j];
          ++j;
        } else {
          return std::nullopt;
        }
        if (a == 0 || b == 0)
          return std::nullopt;
      }
      groups.push_back(next);
    }
    // Only dimensions that are 1 are left.
    if (groups.empty())
      return std::nullopt;
    for (; i < source.size(); ++i) {
      if (source[i] != 1)
        return std::nullopt;
      groups.back().source.push_back(i);
    }
    for (; j < result.size(); ++j) {
      if (result[j] != 1)
        return std::nullopt;
      groups.back().result.push_back(j);
    }
    return groups;
  }
};
} // namespace
