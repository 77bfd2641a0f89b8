//===- PackWeights.cpp - The layout n16k for weights ----------------------===//
//
// Computes the set of function arguments that may hold a packed weight as a
// greatest fixed point: an argument is removed if a use cannot take the packed
// form, or if a caller or callee that it is passed by or to has been removed.
//
//===----------------------------------------------------------------------===//

#include "kv/Passes/Passes.h"

#include "WeightProduct.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/SetVector.h"

namespace kv {
#define GEN_PASS_DEF_KVPACKWEIGHTS
#include "kv/Passes/Passes.h.inc"
} // namespace kv

using namespace mlir;
using namespace kv;

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

static func::FuncOp functionOf(BlockArgument argument) {
  return cast<func::FuncOp>(argument.getOwner()->getParentOp());
}

namespace {
/// Packs the weights of one module.
class Packer {
public:
  explicit Packer(ModuleOp module) : module(module) {}

  /// Returns how many weights of entries were packed.
  int64_t run() {
    collectCandidates();
    pruneCandidates();
    for (BlockArgument argument : findMultiplied())
      pack(argument);
    for (auto function : module.getOps<func::FuncOp>())
      if (!function.isExternal())
        function.setType(FunctionType::get(
            function.getContext(), function.getBody().getArgumentTypes(),
            function.getResultTypes()));
    return numPacked;
  }

private:
  StringAttr weightName(BlockArgument argument) {
    return functionOf(argument).getArgAttrOfType<StringAttr>(
        argument.getArgNumber(), KVDialect::getWeightAttrName());
  }

  /// Emits a remark why a weight of an entry is not packed.
  void remarkLeft(BlockArgument argument, const Twine &why) {
    if (StringAttr name = weightName(argument))
      remark::missed(
          argument.getLoc(),
          remark::RemarkOpts::name("RowMajor").category("kv-pack-weights"))
          << remark::add("{0} stays row-major: {1}", name.getValue().str(),
                         why.str());
  }

  /// Collects the weights of entries, and the arguments of private functions
  /// whose types weights may have.
  void collectCandidates() {
    for (auto function : module.getOps<func::FuncOp>()) {
      if (function.isExternal())
        continue;
      for (BlockArgument argument : function.getArguments()) {
        bool weight = weightName(argument) &&
                      !function.getArgAttr(argument.getArgNumber(),
                                           KVDialect::getLayoutAttrName());
        if (!weight && !function.isPrivate())
          continue;
        if (isPackableType(argument.getType()))
          candidates.insert(argument);
        else if (auto type = dyn_cast<RankedTensorType>(argument.getType());
                 type && type.getRank() == 2)
          remarkLeft(argument, "its rows are no multiple of 16, or its type is "
                               "neither f32 nor bf16");
      }
    }
  }

  /// The argument of the callee that a call passes `use` as; null if the callee
  /// has no body.
  BlockArgument calleeArgument(OpOperand &use) {
    auto call = dyn_cast<func::CallOp>(use.getOwner());
    auto callee = call ? symbols.lookupNearestSymbolFrom<func::FuncOp>(
                             call, call.getCalleeAttr())
                       : func::FuncOp();
    if (!callee || callee.isExternal())
      return {};
    return callee.getArgument(use.getOperandNumber());
  }

  bool canPack(OpOperand &use) {
    if (auto matmul = dyn_cast<linalg::MatmulOp>(use.getOwner()))
      return isWeightProduct(matmul, use);
    if (auto matmul = dyn_cast<ExpertMatmulOp>(use.getOwner())) {
      unsigned first = matmul.getWeights().getBeginOperandIndex();
      return use.getOperandNumber() - first < matmul.getWeights().size();
    }
    if (isa<tensor::ExtractOp>(use.getOwner()))
      return true;
    BlockArgument argument = calleeArgument(use);
    return argument && candidates.contains(argument);
  }

  /// Whether the function is an entry, or every caller passes a candidate.
  bool callersCanPack(BlockArgument argument, const SymbolUserMap &users) {
    func::FuncOp function = functionOf(argument);
    return !function.isPrivate() ||
           llvm::all_of(users.getUsers(function), [&](Operation *user) {
             auto call = dyn_cast<func::CallOp>(user);
             auto passed = call ? dyn_cast<BlockArgument>(
                                      call.getOperand(argument.getArgNumber()))
                                : BlockArgument();
             return passed && candidates.contains(passed);
           });
  }

  /// Removes candidates until all uses and all callers of each take the packed
  /// form.
  void pruneCandidates() {
    SymbolUserMap users(symbols, module);
    for (bool changed = true; changed;) {
      changed = false;
      SmallVector<BlockArgument> current(candidates.begin(), candidates.end());
      for (BlockArgument argument : current) {
        auto obstacle = llvm::find_if(
            argument.getUses(), [&](OpOperand &use) { return !canPack(use); });
        if (obstacle == argument.getUses().end() &&
            callersCanPack(argument, users))
          continue;
        if (obstacle != argument.getUses().end())
          remarkLeft(argument,
                     "used by '" +
                         obstacle->getOwner()->getName().getStringRef() +
                         "', which cannot take the packed form");
        candidates.remove(argument);
        changed = true;
      }
    }
  }

  /// The candidates that are worth packing: those that are multiplied, and
  /// those that are connected to them by calls, since caller and callee must
  /// agree on the type.
  SmallVector<BlockArgument> findMultiplied() {
    llvm::EquivalenceClasses<void *> connected;
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
    llvm::DenseSet<void *> leaders;
    for (BlockArgument argument : candidates)
      if (llvm::any_of(argument.getUses(), [](OpOperand &use) {
            return isa<linalg::MatmulOp, ExpertMatmulOp>(use.getOwner());
          }))
        leaders.insert(leader(argument));
    SmallVector<BlockArgument> multiplied;
    for (BlockArgument argument : candidates) {
      if (leaders.contains(leader(argument)))
        multiplied.push_back(argument);
      else
        remarkLeft(argument, "it is only gathered");
    }
    return multiplied;
  }

  void pack(BlockArgument argument) {
    auto logical = cast<RankedTensorType>(argument.getType());
    if (StringAttr name = weightName(argument)) {
      functionOf(argument).setArgAttr(
          argument.getArgNumber(), KVDialect::getLayoutAttrName(),
          StringAttr::get(module.getContext(), "n16k"));
      remark::passed(
          argument.getLoc(),
          remark::RemarkOpts::name("Packed").category("kv-pack-weights"))
          << remark::add("{0} is packed as n16k: it is multiplied with",
                         name.getValue().str());
      ++numPacked;
    }
    // A kv.expert_matmul takes either form as it is.
    argument.setType(packedType(logical));
    for (OpOperand &use : llvm::make_early_inc_range(argument.getUses())) {
      OpBuilder b(use.getOwner());
      Location loc = use.getOwner()->getLoc();
      if (auto matmul = dyn_cast<linalg::MatmulOp>(use.getOwner())) {
        auto packed =
            MatmulOp::create(b, loc, matmul.getResultTypes(),
                             matmul.getInputs()[0], argument, ValueRange(),
                             /*formats=*/ArrayAttr());
        matmul.getResult(0).replaceAllUsesWith(packed.getProducts()[0]);
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

  ModuleOp module;
  SymbolTableCollection symbols;
  llvm::SetVector<BlockArgument> candidates;
  int64_t numPacked = 0;
};

struct PackWeights : kv::impl::KVPackWeightsBase<PackWeights> {
  void runOnOperation() override { numPacked += Packer(getOperation()).run(); }
};
} // namespace
