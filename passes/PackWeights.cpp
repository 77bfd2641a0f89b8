//===- PackWeights.cpp - The layout n16k for weights ----------------------===//
//
// Works on the set of function arguments that may hold a packed weight, as a
// greatest fixed point: an argument leaves the set when a use cannot take the
// packed form, or when a caller or callee on its way has left it.
//
//===----------------------------------------------------------------------===//

#include "kv/Passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/SetVector.h"

namespace kv {
#define GEN_PASS_DEF_KVPACKWEIGHTS
#include "kv/Passes/Passes.h.inc"
} // namespace kv

using namespace mlir;
using namespace kv;

/// Whether `op` is x . w^T + 0 with `use` as w.
static bool isWeightMatmul(linalg::MatmulOp op, OpOperand &use) {
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

static bool isPackableType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() == 2 && tensor.hasStaticShape() &&
         tensor.getDimSize(0) % kPackedRows == 0 &&
         (tensor.getElementType().isF32() || tensor.getElementType().isBF16());
}

static RankedTensorType packedType(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return RankedTensorType::get(
      {tensor.getDimSize(0) / kPackedRows, tensor.getDimSize(1), kPackedRows},
      tensor.getElementType());
}

namespace {
struct PackWeights : kv::impl::KVPackWeightsBase<PackWeights> {
  using Candidates = llvm::SetVector<BlockArgument>;

  /// The callee's argument that a call operand becomes, if its body is known.
  BlockArgument calleeArgument(OpOperand &use) {
    auto call = dyn_cast<func::CallOp>(use.getOwner());
    auto callee =
        call ? getOperation().lookupSymbol<func::FuncOp>(call.getCallee())
             : func::FuncOp();
    if (!callee || callee.isExternal())
      return {};
    return callee.getArgument(use.getOperandNumber());
  }

  bool canPack(OpOperand &use, const Candidates &candidates) {
    if (auto matmul = dyn_cast<linalg::MatmulOp>(use.getOwner()))
      return isWeightMatmul(matmul, use);
    if (isa<tensor::ExtractOp>(use.getOwner()))
      return true;
    BlockArgument argument = calleeArgument(use);
    return argument && candidates.contains(argument);
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTableCollection symbols;
    SymbolUserMap users(symbols, module);

    Candidates candidates;
    for (auto function : module.getOps<func::FuncOp>()) {
      if (function.isExternal())
        continue;
      for (BlockArgument argument : function.getArguments()) {
        bool weight = function.getArgAttr(argument.getArgNumber(),
                                          KVDialect::getWeightAttrName()) &&
                      !function.getArgAttr(argument.getArgNumber(),
                                           KVDialect::getLayoutAttrName());
        if (isPackableType(argument.getType()) &&
            (weight || function.isPrivate()))
          candidates.insert(argument);
      }
    }

    bool changed = true;
    while (changed) {
      changed = false;
      SmallVector<BlockArgument> current = candidates.takeVector();
      Candidates kept(current.begin(), current.end());
      for (BlockArgument argument : current) {
        bool ok = llvm::all_of(argument.getUses(), [&](OpOperand &use) {
          return canPack(use, kept);
        });
        auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
        if (function.isPrivate())
          for (Operation *user : users.getUsers(function)) {
            auto call = dyn_cast<func::CallOp>(user);
            auto passed = call ? dyn_cast<BlockArgument>(
                                     call.getOperand(argument.getArgNumber()))
                               : BlockArgument();
            ok &= passed && kept.contains(passed);
          }
        if (!ok) {
          kept.remove(argument);
          changed = true;
        }
      }
      candidates = std::move(kept);
    }

    // A weight that is only gathered gains nothing. Caller and callee share a
    // type, so one multiplication packs all that are connected by calls.
    llvm::EquivalenceClasses<void *> connected;
    llvm::DenseSet<void *> multiplied;
    for (BlockArgument argument : candidates) {
      connected.insert(argument.getAsOpaquePointer());
      for (OpOperand &use : argument.getUses())
        if (BlockArgument next = calleeArgument(use))
          connected.unionSets(argument.getAsOpaquePointer(),
                              next.getAsOpaquePointer());
    }
    auto leader = [&](BlockArgument argument) {
      return connected.getLeaderValue(argument.getAsOpaquePointer());
    };
    for (BlockArgument argument : candidates)
      if (llvm::any_of(argument.getUses(), [](OpOperand &use) {
            return isa<linalg::MatmulOp>(use.getOwner());
          }))
        multiplied.insert(leader(argument));
    for (BlockArgument argument : candidates)
      if (multiplied.contains(leader(argument)))
        pack(argument);
    for (auto function : module.getOps<func::FuncOp>())
      if (!function.isExternal())
        function.setType(FunctionType::get(
            &getContext(), function.getBody().getArgumentTypes(),
            function.getResultTypes()));
  }

  void pack(BlockArgument argument) {
    auto logical = cast<RankedTensorType>(argument.getType());
    auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
    unsigned number = argument.getArgNumber();
    if (function.getArgAttr(number, KVDialect::getWeightAttrName())) {
      function.setArgAttr(number, KVDialect::getLayoutAttrName(),
                          StringAttr::get(&getContext(), "n16k"));
      ++numPacked;
    }
    argument.setType(packedType(logical));
    for (OpOperand &use : llvm::make_early_inc_range(argument.getUses())) {
      OpBuilder b(use.getOwner());
      Location loc = use.getOwner()->getLoc();
      if (auto matmul = dyn_cast<linalg::MatmulOp>(use.getOwner())) {
        auto packed =
            MatmulOp::create(b, loc, matmul.getResultTypes().front(),
                             matmul.getInputs()[0], argument, Value());
        matmul.getResult(0).replaceAllUsesWith(packed.getResult());
        matmul.erase();
      } else if (auto extract = dyn_cast<tensor::ExtractOp>(use.getOwner())) {
        Value width = arith::ConstantIndexOp::create(b, loc, kPackedRows);
        Value row = extract.getIndices()[0];
        Value block = arith::DivUIOp::create(b, loc, row, width);
        Value lane = arith::RemUIOp::create(b, loc, row, width);
        Value element = tensor::ExtractOp::create(
            b, loc, argument, ValueRange{block, extract.getIndices()[1], lane});
        extract.replaceAllUsesWith(element);
        extract.erase();
      }
    }
  }
};
} // namespace
