//===- InlineHelpers.cpp - Calls of small functions become their bodies ---===//

#include "kv/Passes/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

namespace kv {
#define GEN_PASS_DEF_KVINLINEHELPERS
#include "kv/Passes/Passes.h.inc"
} // namespace kv

using namespace mlir;
using namespace kv;

/// Whether a function is private and its body is short straight-line arithmetic
/// on tensors. Calls and operations on a cache have memory effects, or unknown
/// ones.
static bool isHelper(func::FuncOp function, int64_t maxOperations) {
  if (!function.isPrivate() || function.isExternal() ||
      !function.getBody().hasOneBlock())
    return false;
  auto body = function.getBody().front().without_terminator();
  if (std::distance(body.begin(), body.end()) > maxOperations)
    return false;
  return llvm::all_of(body, [](Operation &op) {
    return !isa<RegionBranchOpInterface, CacheOpInterface>(op) &&
           isMemoryEffectFree(&op);
  });
}

namespace {
struct InlineHelpers : kv::impl::KVInlineHelpersBase<InlineHelpers> {
  using KVInlineHelpersBase::KVInlineHelpersBase;

  void runOnOperation() override {
    llvm::StringMap<func::FuncOp> helpers;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (isHelper(function, maxOperations))
        helpers[function.getName()] = function;
    SmallVector<func::CallOp> calls;
    getOperation().walk([&](func::CallOp call) {
      if (helpers.contains(call.getCallee()))
        calls.push_back(call);
    });
    for (func::CallOp call : calls) {
      inlineCall(call, helpers[call.getCallee()]);
      ++numInlined;
    }
  }

  static void inlineCall(func::CallOp call, func::FuncOp helper) {
    OpBuilder b(call);
    Block &body = helper.getBody().front();
    IRMapping mapping;
    mapping.map(body.getArguments(), call.getOperands());
    for (Operation &op : body.without_terminator())
      b.clone(op, mapping);
    for (auto [result, returned] : llvm::zip_equal(
             call.getResults(), body.getTerminator()->getOperands()))
      result.replaceAllUsesWith(mapping.lookupOrDefault(returned));
    call.erase();
  }
};
} // namespace
