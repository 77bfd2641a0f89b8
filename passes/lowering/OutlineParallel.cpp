//===- OutlineParallel.cpp - Bodies of scf.forall as functions ------------===//

#include "kv/Passes/Passes.h"

#include "ContextArgument.h"
#include "Outlining.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/RegionUtils.h"

namespace kv {
#define GEN_PASS_DEF_KVOUTLINEPARALLEL
#include "kv/Passes/Passes.h.inc"
} // namespace kv

using namespace mlir;
using namespace kv;

namespace {
struct OutlineParallel : kv::impl::KVOutlineParallelBase<OutlineParallel> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    SmallVector<scf::ForallOp> loops;
    module.walk([&](scf::ForallOp loop) { loops.push_back(loop); });
    for (scf::ForallOp loop : loops)
      if (failed(outline(loop, symbols)))
        return signalPassFailure();
  }

  LogicalResult outline(scf::ForallOp loop, SymbolTable &symbols) {
    if (loop.getRank() != 1 || loop.getNumResults() != 0 ||
        !loop.isNormalized())
      return loop.emitOpError(
          "is not a normalised loop of one dimension on buffers");
    Value context = getContextArgument(loop);
    if (!context)
      return failure();
    auto parent = loop->getParentOfType<func::FuncOp>();
    Location loc = loop.getLoc();
    OpBuilder b(&getContext());

    llvm::SetVector<Value> used;
    getUsedValuesDefinedAbove(loop->getRegions(), used);
    Captures captures(used);

    auto pointer = LLVM::LLVMPointerType::get(&getContext());
    Type i64 = b.getI64Type();
    auto body = func::FuncOp::create(
        b, loc, (parent.getName() + "_body").str(),
        b.getFunctionType({pointer, pointer, i64, i64}, {}));
    body.setPrivate();
    symbols.insert(body);
    Block *block = body.addEntryBlock();
    b.setInsertionPointToStart(block);
    auto opened = CapturesOp::create(
        b, loc, ValueRange(captures.values).getTypes(), block->getArgument(1));
    IRMapping mapping;
    captures.enter(b, opened.getValues(), mapping);
    Type index = b.getIndexType();
    Value low =
        arith::IndexCastOp::create(b, loc, index, block->getArgument(2));
    Value high =
        arith::IndexCastOp::create(b, loc, index, block->getArgument(3));
    Value one = arith::ConstantIndexOp::create(b, loc, 1);
    auto serial = scf::ForOp::create(b, loc, low, high, one);
    func::ReturnOp::create(b, loc);
    mapping.map(loop.getInductionVars()[0], serial.getInductionVar());
    b.setInsertionPointToStart(serial.getBody());
    for (Operation &op : loop.getBody()->without_terminator()) {
      Operation *copy = b.clone(op, mapping);
      // Once for all iterations: a stack shrinks only where a function ends.
      if (isa<memref::AllocaOp>(copy) && copy->getNumOperands() == 0)
        copy->moveBefore(serial);
    }

    b.setInsertionPoint(loop);
    Value count = getValueOrCreateConstantIndexOp(
        b, loc, loop.getMixedUpperBound().front());
    auto grain = loop->getAttrOfType<IntegerAttr>("kv.grain");
    ParallelForOp::create(b, loc, body.getName(), context, count,
                          grain ? grain.getInt() : 1, captures.values);
    loop.erase();
    return success();
  }
};
} // namespace
