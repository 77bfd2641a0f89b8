//===- Fuse.cpp - Multiplications that share their input ------------------===//
//
// The projections q, k and v of an attention, or gate and up of a feed-forward
// network, are multiplications of the same rows. As one kv.matmul they are one
// parallel region: threads synchronise once instead of once for each weight.
//
//===----------------------------------------------------------------------===//

#include "kv/Passes/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/MapVector.h"

namespace kv {
#define GEN_PASS_DEF_KVFUSE
#include "kv/Passes/Passes.h.inc"
} // namespace kv

using namespace mlir;
using namespace kv;

static remark::RemarkOpts remarkOpts(StringRef name) {
  return remark::RemarkOpts::name(name).category("kv-fuse");
}

/// The widths of the products of multiplications, such as "576, 192, 192".
static std::string widthsOf(ArrayRef<MatmulOp> group) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(group, os, [&](MatmulOp op) {
    llvm::interleaveComma(op.getProducts().getTypes(), os, [&](Type type) {
      os << cast<ShapedType>(type).getDimSize(1);
    });
  });
  return text;
}

/// Whether all weights of `op` are defined before `first`, which is in the same
/// block.
static bool hasWeightsAt(MatmulOp op, MatmulOp first) {
  return llvm::all_of(op.getWeights(), [&](Value weight) {
    Operation *definition = weight.getDefiningOp();
    if (!definition)
      return true;
    // A definition in an enclosing block dominates this block.
    return definition->getBlock() != first->getBlock() ||
           definition->isBeforeInBlock(first);
  });
}

namespace {
struct Fuse : kv::impl::KVFuseBase<Fuse> {
  using KVFuseBase::KVFuseBase;

  void runOnOperation() override {
    // Grouped by input, in program order.
    llvm::MapVector<Value, SmallVector<MatmulOp>> byInput;
    getOperation().walk([&](MatmulOp op) {
      if (op.getOuts().empty())
        byInput[op.getX()].push_back(op);
    });
    for (auto &entry : byInput)
      fuseInput(entry.second);
  }

  /// Fuses the multiplications of one input, block by block.
  void fuseInput(ArrayRef<MatmulOp> all) {
    if (all.size() == 1)
      return;
    llvm::MapVector<Block *, SmallVector<MatmulOp>> byBlock;
    for (MatmulOp op : all)
      byBlock[op->getBlock()].push_back(op);
    for (auto &entry : byBlock) {
      SmallVector<MatmulOp> &members = entry.second;
      if (members.size() == 1)
        remarkLeft(members.front(),
                   "the others of its input stand in other blocks");
      else
        fuseBlock(members);
    }
  }

  void fuseBlock(ArrayRef<MatmulOp> members) {
    SmallVector<MatmulOp> group;
    int64_t weights = 0;
    auto flush = [&] {
      if (group.size() > 1)
        fuse(group);
      group.clear();
      weights = 0;
    };
    for (MatmulOp op : members) {
      if (!group.empty() && !hasWeightsAt(op, group.front())) {
        remarkLeft(op, "its weight is made after the first of its input");
        continue;
      }
      auto more = static_cast<int64_t>(op.getWeights().size());
      if (!group.empty() && weights + more > maxWeights) {
        remarkLeft(op, "the ones before have " + Twine(weights) +
                           " weights, and max-weights is " + Twine(maxWeights));
        flush();
      }
      group.push_back(op);
      weights += more;
    }
    flush();
  }

  static void remarkLeft(MatmulOp op, const Twine &why) {
    remark::missed(op.getLoc(), remarkOpts("NotFused"))
        << remark::add("the multiplication to {0} columns stays alone: {1}",
                       widthsOf(op), why.str());
  }

  void fuse(ArrayRef<MatmulOp> group) {
    MatmulOp first = group.front();
    SmallVector<Value> weights;
    SmallVector<Type> products;
    SmallVector<Location> locations;
    SmallVector<Attribute> formats;
    bool quantised = false;
    OpBuilder b(first);
    for (MatmulOp op : group) {
      for (size_t i = 0; i < op.getWeights().size(); ++i) {
        std::optional<QuantFormat> format = op.getFormat(i);
        quantised |= format.has_value();
        formats.push_back(
            format ? Attribute(QuantFormatAttr::get(b.getContext(), *format))
                   : b.getUnitAttr());
      }
      llvm::append_range(weights, op.getWeights());
      llvm::append_range(products, op.getProducts().getTypes());
      locations.push_back(op.getLoc());
    }
    remark::passed(first.getLoc(), remarkOpts("Fused"))
        << remark::add("the multiplications of one input to {0} columns are "
                       "one parallel region instead of {1}",
                       widthsOf(group), std::to_string(group.size()));
    auto fused = MatmulOp::create(
        b, b.getFusedLoc(locations), products, first.getX(), weights,
        ValueRange(), quantised ? b.getArrayAttr(formats) : ArrayAttr());
    auto next = fused.getProducts().begin();
    for (MatmulOp op : group) {
      for (Value product : op.getProducts())
        product.replaceAllUsesWith(*next++);
      op.erase();
    }
    numFused += group.size();
    ++numGroups;
  }
};
} // namespace
