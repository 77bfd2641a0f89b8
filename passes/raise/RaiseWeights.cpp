//===- RaiseWeights.cpp - Weights as products want them -------------------===//
//
// Kernels read a weight as [N, K]. Exporters have it as they like: [K, N], or
// with heads as a dimension of their own. The graph's changes of a weight are
// done once, when the file is read, instead of at every step.
//
//===----------------------------------------------------------------------===//

#include "kv/Passes/Raise.h"

#include "kv/Dialect/KV.h"
#include "kv/Dialect/StoredWeight.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/raise/analysis/Graph.h"

namespace kv {
#define GEN_PASS_DEF_KVRAISEWEIGHTS
#include "kv/Passes/RaisePasses.h.inc"
} // namespace kv

using namespace mlir;
using namespace kv;

namespace {
/// Dimensions of a tensor, each as those of the weight that it joins, the first
/// one outermost.
using Dims = SmallVector<SmallVector<int64_t, 2>, 2>;

/// A product with what is made of a weight, and the weight's dimensions in the
/// order [N..., K...].
struct Use {
  Operation *product; // linalg.matmul or kv.expert_matmul
  SmallVector<int64_t> order;
  unsigned columns; // how many of them are N
};

/// The permutation of an operation that does nothing else.
std::optional<SmallVector<int64_t>> permutation(Operation *op) {
  if (auto transpose = dyn_cast<linalg::TransposeOp>(op))
    return llvm::to_vector(transpose.getPermutation());
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic || generic.getNumDpsInputs() != 1 ||
      generic.getNumDpsInits() != 1 || generic.getNumReductionLoops())
    return std::nullopt;
  auto yield = cast<linalg::YieldOp>(generic.getBlock()->getTerminator());
  AffineMap in = generic.getIndexingMapsArray()[0],
            out = generic.getIndexingMapsArray()[1];
  if (yield.getOperand(0) != generic.getBlock()->getArgument(0) ||
      !in.isPermutation() || !out.isIdentity())
    return std::nullopt;
  SmallVector<int64_t> result(in.getNumResults());
  for (auto [i, expr] : llvm::enumerate(in.getResults()))
    result[cast<AffineDimExpr>(expr).getPosition()] = i;
  return result;
}

/// Which dimension of its right side a product sums over; nothing for maps that
/// are neither those of x * w nor of x * transpose(w).
std::optional<unsigned> summedDim(linalg::MatmulOp op) {
  AffineExpr m, n, k;
  bindDims(op.getContext(), m, n, k);
  auto map = [&](AffineExpr a, AffineExpr b) {
    return AffineMap::get(3, 0, {a, b}, op.getContext());
  };
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  if (maps[0] != map(m, k) || maps[2] != map(m, n))
    return std::nullopt;
  if (maps[1] == map(k, n))
    return 0;
  return maps[1] == map(n, k) ? std::optional(1u) : std::nullopt;
}

struct RaiseWeights : kv::impl::KVRaiseWeightsBase<RaiseWeights> {
  using KVRaiseWeightsBase::KVRaiseWeightsBase;

  void runOnOperation() override {
    if (dtypeName != "f32" && dtypeName != "bf16") {
      getOperation().emitError("kv-raise: weights is '")
          << dtypeName << "', expected f32 or bf16";
      return signalPassFailure();
    }
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal())
        continue;
      for (BlockArgument argument : function.getArguments())
        if (function.getArgAttr(argument.getArgNumber(),
                                KVDialect::getWeightAttrName()) &&
            isa<RankedTensorType>(argument.getType())) {
          restore(function, argument);
          if (dtypeName == "bf16")
            narrow(argument);
        }
      function.setType(FunctionType::get(&getContext(),
                                         function.getBody().getArgumentTypes(),
                                         function.getResultTypes()));
    }
  }

private:
  /// Follows a weight to the products that read it; false if anything else
  /// does.
  static bool follow(Value value, const Dims &dims,
                     SmallVectorImpl<Use> &uses) {
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      if (auto product = dyn_cast<linalg::MatmulOp>(user)) {
        std::optional<unsigned> summed = summedDim(product);
        if (!summed || use.getOperandNumber() != 1)
          return false;
        Use found{product, {}, 0};
        llvm::append_range(found.order, dims[1 - *summed]);
        found.columns = found.order.size();
        llvm::append_range(found.order, dims[*summed]);
        uses.push_back(found);
        continue;
      }
      if (auto experts = dyn_cast<ExpertMatmulOp>(user)) {
        if (use.get() != experts.getWeights()[0])
          return false;
        Use found{user, {}, 0};
        llvm::append_range(found.order, dims[0]);
        found.columns = found.order.size();
        llvm::append_range(found.order, dims[1]);
        uses.push_back(found);
        continue;
      }
      Dims next;
      if (auto order = permutation(user);
          order && use.getOperandNumber() == 0) {
        for (int64_t from : *order)
          next.push_back(dims[from]);
      } else if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(user)) {
        for (const ReassociationIndices &group :
             collapse.getReassociationIndices()) {
          next.emplace_back();
          for (int64_t d : group)
            llvm::append_range(next.back(), dims[d]);
        }
      } else {
        return false;
      }
      if (!follow(user->getResult(0), next, uses))
        return false;
    }
    return true;
  }

  /// A weight that products alone read, and all alike, becomes [N, K].
  void restore(func::FuncOp function, BlockArgument argument) {
    auto type = cast<RankedTensorType>(argument.getType());
    Dims dims;
    for (int64_t d = 0; d < type.getRank(); ++d)
      dims.push_back({d});
    SmallVector<Use> uses;
    if (!type.hasStaticShape() || !follow(argument, dims, uses) ||
        uses.empty() || llvm::any_of(uses, [&](const Use &use) {
          return use.order != uses[0].order || use.columns != uses[0].columns;
        }))
      return;
    int64_t sizes[] = {1, 1};
    for (auto [i, d] : llvm::enumerate(uses[0].order))
      sizes[i >= uses[0].columns] *= type.getDimSize(d);
    // Others are not packed, and better off as they are.
    if (sizes[0] % kPackedRows != 0)
      return;
    auto restored = RankedTensorType::get(sizes, type.getElementType());
    if (restored != type || !llvm::is_sorted(uses[0].order)) {
      Builder b(&getContext());
      function.setArgAttr(
          argument.getArgNumber(), kStoredAttrName,
          b.getDictionaryAttr(
              {b.getNamedAttr("shape", b.getI64ArrayAttr(type.getShape())),
               b.getNamedAttr("order", b.getI64ArrayAttr(uses[0].order))}));
      ++numRestored;
    }
    argument.setType(restored);
    for (const Use &use : uses)
      readDirectly(use.product, argument);
    // The operations that the weight went through have no users any more.
    SmallVector<Operation *> dead;
    for (Operation *user : argument.getUsers())
      if (!isa<linalg::MatmulOp, ExpertMatmulOp>(user))
        dead.push_back(user);
    for (Operation *op : dead)
      eraseUnused(op);
  }

  static void eraseUnused(Operation *op) {
    for (Operation *user : llvm::make_early_inc_range(op->getUsers()))
      eraseUnused(user);
    op->erase();
  }

  static void readDirectly(Operation *op, Value weight) {
    if (auto experts = dyn_cast<ExpertMatmulOp>(op)) {
      experts.getWeightsMutable()[0].assign(weight);
      return;
    }
    auto product = cast<linalg::MatmulOp>(op);
    OpBuilder b(product);
    Value x = product.getInputs()[0], init = product.getOutputs()[0];
    product.getResult(0).replaceAllUsesWith(
        createWeightProduct(b, product.getLoc(), x, weight, init).getResult(0));
    product.erase();
  }

  /// A matrix that is multiplied, or looked up, is bf16.
  void narrow(BlockArgument argument) {
    auto type = cast<RankedTensorType>(argument.getType());
    bool fits = llvm::all_of(argument.getUses(), [](OpOperand &use) {
      auto product = dyn_cast<linalg::MatmulOp>(use.getOwner());
      return (product && use.getOperandNumber() == 1 &&
              summedDim(product) == 1u) ||
             isa<tensor::ExtractOp, ExpertMatmulOp>(use.getOwner());
    });
    if (!fits || type.getRank() != 2 || !type.getElementType().isF32())
      return;
    argument.setType(RankedTensorType::get(type.getShape(),
                                           BFloat16Type::get(&getContext())));
    for (Operation *user : llvm::make_early_inc_range(argument.getUsers())) {
      if (isa<linalg::MatmulOp, ExpertMatmulOp>(user)) {
        readDirectly(user, argument);
        continue;
      }
      auto extract = cast<tensor::ExtractOp>(user);
      OpBuilder b(extract);
      Value narrow = tensor::ExtractOp::create(b, extract.getLoc(), argument,
                                               extract.getIndices());
      extract.replaceAllUsesWith(
          arith::ExtFOp::create(b, extract.getLoc(), b.getF32Type(), narrow)
              .getResult());
      extract.erase();
    }
    ++numNarrowed;
  }
};
} // namespace
