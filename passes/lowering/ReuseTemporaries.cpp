//===- ReuseTemporaries.cpp - One buffer for several temporaries ----------===//
//
// A model whose layers are one function would else hold the temporaries of all
// of them until it returns.
//
//===----------------------------------------------------------------------===//

#include "ReuseTemporaries.h"

#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "passes/common/HostSizes.h"

using namespace mlir;
using namespace kv;

/// Whether a result may lead to the memory of an operand: all but numbers may.
static bool mayAlias(OpResult result) {
  Type type = result.getType();
  if (isa<memref::ExtractAlignedPointerAsIndexOp>(result.getOwner()))
    return true;
  return !type.isIntOrIndexOrFloat() && !isa<VectorType>(type);
}

/// The last operation of the block that uses a buffer in any way; null if it
/// leaves the block.
static Operation *lastUse(memref::AllocOp alloc) {
  Block *block = alloc->getBlock();
  Operation *last = alloc;
  SmallVector<Value> open = {alloc.getResult()};
  llvm::SmallDenseSet<Value> seen = {alloc.getResult()};
  while (!open.empty()) {
    Value value = open.pop_back_val();
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      Operation *ancestor = block->findAncestorOpInBlock(*user);
      if (!ancestor || ancestor == block->getTerminator())
        return nullptr;
      if (last->isBeforeInBlock(ancestor))
        last = ancestor;
      auto follow = [&](Value alias) {
        if (seen.insert(alias).second)
          open.push_back(alias);
      };
      for (OpResult result : user->getResults())
        if (mayAlias(result))
          follow(result);
      // Loops and branches hand on what they are given, in or out.
      if (user->getNumRegions() || user->hasTrait<OpTrait::IsTerminator>()) {
        for (Operation *op = user->getNumRegions() ? user : user->getParentOp();
             op != block->getParentOp(); op = op->getParentOp()) {
          for (OpResult result : op->getResults())
            if (mayAlias(result))
              follow(result);
          for (Region &region : op->getRegions())
            for (BlockArgument argument : region.getArguments())
              if (isa<MemRefType>(argument.getType()))
                follow(argument);
          if (op->getBlock() == block)
            break;
        }
      }
    }
  }
  return last;
}

/// A dynamic size of a buffer as the value that it was made with; null if that
/// is not known.
static Value sizeOf(Value buffer, int64_t dim) {
  Operation *op = buffer.getDefiningOp();
  if (auto alloc = dyn_cast_or_null<memref::AllocOp>(op))
    return alloc.getDynamicSizes()[alloc.getType().getDynamicDimIndex(dim)];
  if (auto expand = dyn_cast_or_null<memref::ExpandShapeOp>(op))
    return dyn_cast<Value>(expand.getMixedOutputShape()[dim]);
  auto collapse = dyn_cast_or_null<memref::CollapseShapeOp>(op);
  if (!collapse)
    return {};
  // All of a group but one are 1.
  std::optional<int64_t> only;
  SmallVector<ReassociationIndices> groups = collapse.getReassociationIndices();
  for (int64_t d : groups[dim]) {
    if (collapse.getSrcType().getDimSize(d) == 1)
      continue;
    if (only)
      return {};
    only = d;
  }
  return only ? sizeOf(collapse.getSrc(), *only) : Value();
}

/// Equal sizes become equal values where reshapes alone stand between.
static void shareSizes(func::FuncOp function) {
  function.walk([](memref::DimOp op) {
    std::optional<int64_t> dim = dimensionOf(op);
    auto type = dyn_cast<MemRefType>(op.getSource().getType());
    if (!dim || !type || !type.isDynamicDim(*dim))
      return;
    if (Value size = sizeOf(op.getSource(), *dim)) {
      op.replaceAllUsesWith(size);
      op.erase();
    }
  });
}

unsigned kv::reuseTemporaries(func::FuncOp function) {
  if (function.isExternal())
    return 0;
  shareSizes(function);
  unsigned gone = 0;
  // By the operation after which they are free.
  llvm::DenseMap<Operation *, SmallVector<memref::AllocOp, 2>> ending;
  SmallVector<memref::AllocOp> free;
  for (Operation &op : llvm::make_early_inc_range(function.front())) {
    if (auto alloc = dyn_cast<memref::AllocOp>(op)) {
      auto fits = [&](memref::AllocOp other) {
        return other.getType() == alloc.getType() &&
               other.getDynamicSizes() == alloc.getDynamicSizes() &&
               other.getAlignmentAttr() == alloc.getAlignmentAttr();
      };
      Operation *last = lastUse(alloc);
      // The latest one is the likeliest to be in a cache.
      auto found = llvm::find_if(llvm::reverse(free), fits);
      memref::AllocOp buffer = alloc;
      if (found != free.rend()) {
        buffer = *found;
        free.erase(std::next(found).base());
        alloc.replaceAllUsesWith(buffer.getResult());
        if (last == alloc.getOperation())
          last = nullptr; // never used: nothing would ever give it back
        alloc.erase();
        ++gone;
      }
      if (last && last != buffer.getOperation())
        ending[last].push_back(buffer);
      continue;
    }
    auto dead = ending.find(&op);
    if (dead == ending.end())
      continue;
    llvm::append_range(free, dead->second);
    ending.erase(dead);
  }
  return gone;
}
