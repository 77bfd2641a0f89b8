//===- RaisePositions.cpp - Row numbers become positions ------------------===//
//
// Row t of a graph without a cache is the token at position t. In a step the
// rows are those of all sequences, and where a computation uses the number of a
// row as a number it wants the token's position.
//
//===----------------------------------------------------------------------===//

#include "kv/Passes/Raise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/raise/analysis/Graph.h"

namespace kv {
#define GEN_PASS_DEF_KVRAISEPOSITIONS
#include "kv/Passes/RaisePasses.h.inc"
} // namespace kv

using namespace mlir;
using namespace kv;

namespace {
struct RaisePositions : kv::impl::KVRaisePositionsBase<RaisePositions> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      raise(function);
  }

private:
  void raise(func::FuncOp function) {
    // Made by kv-raise-attention.
    Value collection, rowOffsets;
    for (BlockArgument argument : function.getArguments()) {
      StringAttr name = argumentAttr(argument, KVDialect::getNameAttrName());
      if (name && name == "row_offsets")
        rowOffsets = argument;
      else if (!collection && isa<CollectionType>(argument.getType()))
        collection = argument;
    }
    if (!collection || !rowOffsets)
      return;
    SmallVector<linalg::IndexOp> indices;
    function.walk([&](linalg::IndexOp index) {
      auto op = cast<linalg::LinalgOp>(index->getParentOp());
      if (llvm::is_contained(rowLoops(op), index.getDim()))
        indices.push_back(index);
    });
    OpBuilder top = OpBuilder::atBlockBegin(&function.getBody().front());
    Value positions;
    for (linalg::IndexOp index : indices) {
      SmallVector<OpOperand *> uses;
      for (OpOperand &use : index.getResult().getUses())
        if (!namesRow(use))
          uses.push_back(&use);
      if (uses.empty())
        continue;
      if (!positions) {
        auto type =
            RankedTensorType::get({ShapedType::kDynamic}, top.getI32Type());
        OperationState state(function.getLoc(),
                             PositionsOp::getOperationName());
        PositionsOp::build(top, state, type, collection, rowOffsets,
                           /*out=*/Value(), /*ancestors=*/Value(),
                           /*collection=*/TypeAttr());
        positions = top.create(state)->getResult(0);
      }
      OpBuilder b(index->getContext());
      b.setInsertionPointAfter(index);
      Value position = tensor::ExtractOp::create(b, index.getLoc(), positions,
                                                 index.getResult());
      Value cast = arith::IndexCastOp::create(b, index.getLoc(),
                                              b.getIndexType(), position);
      for (OpOperand *use : uses)
        use->set(cast);
      ++numPositions;
      remark::passed(index->getParentOp()->getLoc(), raiseRemark("Positions"))
          << remark::add("the number of a row is the token's position");
    }
  }
};
} // namespace
