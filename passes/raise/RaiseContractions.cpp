//===- RaiseContractions.cpp - Products of any spelling -------------------===//
//
// An einsum is one operation with a map for each operand. Products that meet
// rows with rows become batched ones, with a batch for each head, and products
// of rows with something else plain ones: forms that the other passes look for.
//
//===----------------------------------------------------------------------===//

#include "kv/Passes/Raise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/LinalgInterfaces.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "passes/raise/analysis/Graph.h"

namespace kv {
#define GEN_PASS_DEF_KVRAISECONTRACTIONS
#include "kv/Passes/RaisePasses.h.inc"
} // namespace kv

using namespace mlir;
using namespace kv;

namespace {
using Loops = SmallVector<unsigned, 2>;

bool isGrid(Type type) { return rowDims(type).size() > 1; }

/// One contraction that is written anew.
class Rewrite {
public:
  explicit Rewrite(linalg::LinalgOp op)
      : op(op), b(op), loc(op.getLoc()), lhs(op.getDpsInputOperand(0)),
        rhs(op.getDpsInputOperand(1)), out(op.getDpsInitOperand(0)) {}

  /// Nothing where it has another form.
  Value run() {
    FailureOr<linalg::ContractionDimensions> dims =
        linalg::inferContractionDims(op);
    if (failed(dims) || !op.hasPureTensorSemantics() || !startsAtZero())
      return nullptr;
    batch = dims->batch, m = dims->m, n = dims->n, k = dims->k;
    bool meets = isGrid(type(lhs)) || isGrid(type(rhs)) || isGrid(type(out));
    // The left side has the grid, or the rows.
    bool swap = isGrid(type(lhs)) || isGrid(type(rhs))
                    ? !isGrid(type(lhs))
                    : rowDims(type(lhs)).empty();
    if (swap) {
      std::swap(lhs, rhs);
      std::swap(m, n);
    }
    if (meets ? !moveToBatch(m) || !moveToBatch(n) || !isAlone(k)
              : !isAlone(m) || hasRows(n) || hasRows(k))
      return nullptr;
    if (hasRows(batch) || m.empty() || n.empty() || k.empty())
      return nullptr;
    return meets || !isOne(batch) ? batched() : plain();
  }

private:
  static RankedTensorType type(OpOperand *operand) {
    return cast<RankedTensorType>(operand->get().getType());
  }

  bool startsAtZero() const {
    auto fill = out->get().getDefiningOp<linalg::FillOp>();
    return fill && matchPattern(fill.getInputs()[0], m_AnyZeroFloat());
  }

  /// Where a loop is read: an operand and its dimension.
  std::pair<OpOperand *, int64_t> place(unsigned loop) const {
    for (OpOperand *operand : {lhs, rhs, out})
      if (std::optional<unsigned> at =
              op.getMatchingIndexingMap(operand).getResultPosition(
                  getAffineDimExpr(loop, op.getContext())))
        return {operand, *at};
    llvm_unreachable("a loop that nothing reads");
  }
  int64_t size(unsigned loop) const {
    auto [operand, dim] = place(loop);
    return type(operand).getDimSize(dim);
  }
  OpFoldResult mixedSize(unsigned loop) {
    auto [operand, dim] = place(loop);
    return tensor::getMixedSize(b, loc, operand->get(), dim);
  }
  bool hasRows(ArrayRef<unsigned> loops) const {
    return llvm::any_of(
        loops, [&](unsigned l) { return ShapedType::isDynamic(size(l)); });
  }
  bool isOne(ArrayRef<unsigned> loops) const {
    return llvm::all_of(loops, [&](unsigned l) { return size(l) == 1; });
  }
  /// Whether rows, if there are any, are joined with nothing.
  bool isAlone(ArrayRef<unsigned> loops) const {
    return !hasRows(loops) ||
           llvm::count_if(loops, [&](unsigned l) { return size(l) != 1; }) == 1;
  }

  /// Heads that stand next to rows are a batch: the other operand is the same
  /// for each of them.
  bool moveToBatch(Loops &loops) {
    if (!hasRows(loops))
      return true;
    Loops kept;
    for (unsigned loop : loops)
      (size(loop) == 1 || ShapedType::isDynamic(size(loop)) ? kept : batch)
          .push_back(loop);
    loops = kept;
    return isAlone(loops);
  }

  SmallVector<OpFoldResult> mixedSizes(ArrayRef<unsigned> loops) {
    SmallVector<OpFoldResult> sizes;
    for (unsigned loop : loops)
      sizes.push_back(mixedSize(loop));
    return sizes;
  }

  Value empty(ArrayRef<unsigned> loops, Type element) {
    return tensor::EmptyOp::create(b, loc, mixedSizes(loops), element);
  }

  static Loops joined(ArrayRef<Loops> groups) {
    Loops all;
    for (const Loops &group : groups)
      llvm::append_range(all, group);
    return all;
  }

  /// The dimensions of a tensor that has the loops of the groups one after the
  /// other; a group without loops takes none.
  static SmallVector<ReassociationIndices> indices(ArrayRef<Loops> groups) {
    SmallVector<ReassociationIndices> all;
    int64_t next = 0;
    for (const Loops &group : groups)
      if (!group.empty()) {
        all.emplace_back();
        for (size_t i = 0; i < group.size(); ++i)
          all.back().push_back(next++);
      }
    return all;
  }

  /// An operand with one dimension for each group of loops; of a loop that it
  /// does not have all are the same.
  Value grouped(OpOperand *operand, ArrayRef<Loops> groups) {
    Loops wanted = joined(groups), had;
    AffineMap map = op.getMatchingIndexingMap(operand);
    for (AffineExpr expr : map.getResults())
      had.push_back(cast<AffineDimExpr>(expr).getPosition());
    SmallVector<int64_t> order, added;
    Loops present;
    for (auto [i, loop] : llvm::enumerate(wanted)) {
      auto found = llvm::find(had, loop);
      if (found == had.end()) {
        added.push_back(i);
        continue;
      }
      order.push_back(found - had.begin());
      present.push_back(loop);
    }
    Value value = operand->get();
    Type element = type(operand).getElementType();
    if (!llvm::is_sorted(order))
      value = linalg::TransposeOp::create(b, loc, value,
                                          empty(present, element), order)
                  ->getResult(0);
    if (!added.empty())
      value = linalg::BroadcastOp::create(b, loc, value, empty(wanted, element),
                                          added)
                  ->getResult(0);
    SmallVector<ReassociationIndices> groupsOfDims = indices(groups);
    if (groupsOfDims.size() != wanted.size())
      value = tensor::CollapseShapeOp::create(b, loc, value, groupsOfDims);
    return groupsOfDims.size() == groups.size() ? value : withBatch(value);
  }

  /// [M, N] as [1, M, N].
  Value withBatch(Value value) {
    auto from = cast<RankedTensorType>(value.getType());
    SmallVector<OpFoldResult> sizes = {b.getIndexAttr(1)};
    llvm::append_range(sizes, tensor::getMixedSizes(b, loc, value));
    SmallVector<int64_t> shape = {1};
    llvm::append_range(shape, from.getShape());
    return tensor::ExpandShapeOp::create(
        b, loc, RankedTensorType::get(shape, from.getElementType()), value,
        ArrayRef<ReassociationIndices>{{0, 1}, {2}}, sizes);
  }

  /// A value that was computed as [groups], in the operation's order.
  Value asBefore(Value value, ArrayRef<Loops> groups) {
    Loops loops = joined(groups);
    Type element = type(out).getElementType();
    if (static_cast<size_t>(
            cast<RankedTensorType>(value.getType()).getRank()) !=
        indices(groups).size())
      value = tensor::CollapseShapeOp::create(
          b, loc, value, ArrayRef<ReassociationIndices>{{0, 1}, {2}});
    if (loops.size() != indices(groups).size()) {
      SmallVector<int64_t> shape;
      for (unsigned loop : loops)
        shape.push_back(size(loop));
      value = tensor::ExpandShapeOp::create(
          b, loc, RankedTensorType::get(shape, element), value, indices(groups),
          mixedSizes(loops));
    }
    SmallVector<int64_t> order;
    for (AffineExpr expr : op.getMatchingIndexingMap(out).getResults())
      order.push_back(
          llvm::find(loops, cast<AffineDimExpr>(expr).getPosition()) -
          loops.begin());
    if (llvm::is_sorted(order))
      return value;
    Loops wanted;
    for (int64_t at : order)
      wanted.push_back(loops[at]);
    return linalg::TransposeOp::create(b, loc, value, empty(wanted, element),
                                       order)
        ->getResult(0);
  }

  Value zeros(Value left, Value right, unsigned rightDim) {
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, left);
    sizes.back() = tensor::getMixedSize(b, loc, right, rightDim);
    Type element = type(out).getElementType();
    Value to = tensor::EmptyOp::create(b, loc, sizes, element);
    Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(element));
    return linalg::FillOp::create(b, loc, zero, to).getResult(0);
  }

  Value batched() {
    Value left = grouped(lhs, {batch, m, k}),
          right = grouped(rhs, {batch, k, n});
    Value to = zeros(left, right, 2);
    Value product =
        linalg::BatchMatmulOp::create(b, loc, TypeRange(to.getType()),
                                      ValueRange{left, right}, ValueRange(to))
            ->getResult(0);
    return asBefore(product, {batch, m, n});
  }

  /// x * w, or x * transpose(w) where that is how w lies.
  Value plain() {
    llvm::append_range(m, batch);
    Value left = grouped(lhs, {m, k});
    AffineMap map = op.getMatchingIndexingMap(rhs);
    // Dimensions of 1 of the batch that only the right side has may stand
    // anywhere.
    Loops columns = n, reduced = k;
    auto leads = [&](const Loops &first, const Loops &second) {
      SmallVector<int64_t> at;
      for (unsigned loop : joined({first, second}))
        at.push_back(*map.getResultPosition(b.getAffineDimExpr(loop)));
      return llvm::is_sorted(at);
    };
    Loops ones;
    for (unsigned loop : batch)
      if (map.getResultPosition(b.getAffineDimExpr(loop)))
        ones.push_back(loop);
    bool isTransposed = leads(columns, reduced) && !leads(reduced, columns);
    Loops first = ones;
    llvm::append_range(first, isTransposed ? columns : reduced);
    Value right = grouped(rhs, {first, isTransposed ? reduced : columns});
    Value to = zeros(left, right, isTransposed ? 0 : 1);
    auto product =
        isTransposed
            ? createWeightProduct(b, loc, left, right, to)
            : linalg::MatmulOp::create(b, loc, TypeRange(to.getType()),
                                       ValueRange{left, right}, ValueRange(to));
    return asBefore(product->getResult(0), {m, n});
  }

  mutable linalg::LinalgOp op;
  OpBuilder b;
  Location loc;
  OpOperand *lhs, *rhs, *out;
  Loops batch, m, n, k;
};

struct RaiseContractions
    : kv::impl::KVRaiseContractionsBase<RaiseContractions> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      for (Operation &op :
           llvm::make_early_inc_range(function.getBody().getOps())) {
        auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
        if (!linalgOp || isa<linalg::MatmulOp, linalg::BatchMatmulOp>(op) ||
            !linalg::isaContractionOpInterface(linalgOp))
          continue;
        bool hasRows = llvm::any_of(op.getOperandTypes(), [](Type type) {
          return !rowDims(type).empty();
        });
        if (!hasRows)
          continue;
        if (Value value = Rewrite(linalgOp).run()) {
          op.replaceAllUsesWith(ValueRange(value));
          op.erase();
          ++numProducts;
        }
      }
  }
};
} // namespace
