//===- AddTrees.cpp - A module's steps may hold trees of drafts -----------===//
//
// Operations with positions and attentions get the step's trees: an argument of
// every entry, and of the functions through which the trees reach them.
//
//===----------------------------------------------------------------------===//

#include "kv/Passes/Passes.h"

#include "kv/Dialect/KV.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace kv {
#define GEN_PASS_DEF_KVADDTREES
#include "kv/Passes/Passes.h.inc"
} // namespace kv

using namespace mlir;
using namespace kv;

constexpr StringLiteral kTree = "tree";

namespace {
struct AddTrees : kv::impl::KVAddTreesBase<AddTrees> {
  void runOnOperation() override {
    SymbolTableCollection symbols;
    SymbolUserMap users(symbols, getOperation());
    // Functions in which something takes a tree, and their callers.
    llvm::SetVector<func::FuncOp> functions;
    for (auto function : getOperation().getOps<func::FuncOp>())
      function.walk([&](Operation *op) {
        if (takesTree(op))
          functions.insert(function);
      });
    for (size_t i = 0; i < functions.size(); ++i) {
      func::FuncOp function = functions[i];
      for (Operation *user : users.getUsers(function)) {
        auto call = dyn_cast<func::CallOp>(user);
        if (!call) {
          user->emitOpError() << "uses '" << function.getName()
                              << "' other than by a call: kv-add-trees cannot "
                                 "give it the trees of a step";
          return signalPassFailure();
        }
        functions.insert(call->getParentOfType<func::FuncOp>());
      }
    }

    for (func::FuncOp function : functions)
      if (failed(addArgument(function)))
        return signalPassFailure();
    for (func::FuncOp function : functions) {
      Value tree = function.getArguments().back();
      WalkResult walked = function.walk([&](Operation *op) -> WalkResult {
        if (auto call = dyn_cast<func::CallOp>(op)) {
          auto callee = symbols.lookupNearestSymbolFrom<func::FuncOp>(
              call, call.getCalleeAttr());
          if (functions.contains(callee))
            call.getOperandsMutable().append(tree);
          return success();
        }
        return takesTree(op) ? give(op, tree) : success();
      });
      if (walked.wasInterrupted())
        return signalPassFailure();
    }
  }

  /// Keys with rows of their own are none of this step's tokens.
  static bool takesTree(Operation *op) {
    if (auto attention = dyn_cast<AttentionOp>(op))
      return !attention.getKvRowOffsets();
    return isa<PositionsOp>(op);
  }

  static LogicalResult addArgument(func::FuncOp function) {
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (auto name = function.getArgAttrOfType<StringAttr>(
              i, KVDialect::getNameAttrName());
          name && name.getValue() == kTree)
        return function.emitOpError("has an argument 'tree' already");
    Builder b(function.getContext());
    NamedAttrList attributes;
    if (function->hasAttr(KVDialect::getEntryAttrName())) {
      attributes.append(KVDialect::getNameAttrName(), b.getStringAttr(kTree));
      attributes.append(KVDialect::getDimsAttrName(),
                        b.getStrArrayAttr({kTree}));
    }
    auto type = RankedTensorType::get({ShapedType::kDynamic}, b.getI64Type());
    return function.insertArgument(function.getNumArguments(), type,
                                   attributes.getDictionary(b.getContext()),
                                   function.getLoc());
  }

  static LogicalResult give(Operation *op, Value tree) {
    if (isOnTensors(op) != true)
      return op->emitOpError("is on buffers: run kv-add-trees before "
                             "bufferization");
    if (auto positions = dyn_cast<PositionsOp>(op)) {
      positions.getAncestorsMutable().assign(tree);
      return success();
    }
    auto attention = cast<AttentionOp>(op);
    attention.getPlanMutable().clear();
    attention.getAncestorsMutable().assign(tree);
    return success(); // a mask that has no trees is the verifier's
  }
};
} // namespace
