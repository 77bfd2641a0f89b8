//===- SelectKernel.cpp - Who computes attentions and stores --------------===//
//
// A kernel that takes a plan gets it from where the step begins. A layer is a
// function that is called once a layer, so that CSE alone would leave a plan in
// each call: the function gets the plan as an argument instead, and its callers
// make it.
//
//===----------------------------------------------------------------------===//

#include "kv/Passes/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Remarks.h"

#include <map>

namespace kv {
#define GEN_PASS_DEF_KVSELECTKERNEL
#include "kv/Passes/Passes.h.inc"
} // namespace kv

using namespace mlir;
using namespace kv;

static remark::RemarkOpts remarkOpts(StringRef name) {
  return remark::RemarkOpts::name(name).category("kv-select-kernel");
}

namespace {
/// What a target computes everything with, and why.
struct Target {
  StringLiteral name;
  KernelKind kernel;
  StringLiteral why;
};

constexpr Target kTargets[] = {
    {"cpu", KernelKind::Reference,
     "the runtime's function takes every type, mask and number of heads"},
    {"decomposition", KernelKind::Decomposition,
     "the target has no kernels of its own"},
};

/// What makes two plans the same: the cache's values, the row offsets, the
/// mask.
struct PlanKey {
  SmallVector<Value> values;
  MaskAttr mask;
  bool operator<(const PlanKey &other) const {
    auto order = [](const PlanKey &key) {
      SmallVector<const void *> result;
      for (Value value : key.values)
        result.push_back(value.getAsOpaquePointer());
      result.push_back(key.mask.getAsOpaquePointer());
      return result;
    };
    return order(*this) < order(other);
  }
};

/// Makes plans, each as early and as seldom as possible.
class Planner {
public:
  explicit Planner(ModuleOp module) : module(module), users(symbols, module) {}

  Value planOf(AttentionOp op) {
    auto cache = cast<CacheOpInterface>(op.getOperation());
    PlanKey key{llvm::to_vector(cache.getCacheOperands()), op.getMaskAttr()};
    key.values.push_back(op.getRowOffsets());
    TypeAttr type = op.getCollectionAttr();
    return plan(key, type, op.getLoc());
  }

  int64_t numPlans = 0;

private:
  Value plan(const PlanKey &key, TypeAttr type, Location loc) {
    if (auto it = plans.find(key); it != plans.end())
      return it->second;
    if (func::FuncOp function = layerOf(key.values))
      return planFromCallers(function, key, type);
    OpBuilder b = afterLast(key.values);
    auto resultType =
        RankedTensorType::get({ShapedType::kDynamic, 4}, b.getI32Type());
    auto made =
        PlanOp::create(b, loc, resultType, ValueRange(key.values).drop_back(),
                       key.values.back(), /*out=*/Value(), key.mask, type);
    ++numPlans;
    return plans[key] = made.getResult();
  }

  /// The private function whose arguments all values are, if nothing but calls
  /// uses it.
  func::FuncOp layerOf(ArrayRef<Value> values) {
    func::FuncOp function;
    for (Value value : values) {
      auto argument = dyn_cast<BlockArgument>(value);
      auto owner =
          argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp())
                   : func::FuncOp();
      if (!owner || !argument.getOwner()->isEntryBlock())
        return {};
      function = owner;
    }
    if (!function.isPrivate() ||
        !llvm::all_of(users.getUsers(function), llvm::IsaPred<func::CallOp>))
      return {};
    return function;
  }

  /// One more argument, which every call fills with a plan of its own operands.
  Value planFromCallers(func::FuncOp function, const PlanKey &key,
                        TypeAttr type) {
    SmallVector<unsigned> indices;
    for (Value value : key.values)
      indices.push_back(cast<BlockArgument>(value).getArgNumber());
    OpBuilder b(function.getContext());
    auto planType =
        RankedTensorType::get({ShapedType::kDynamic, 4}, b.getI32Type());
    unsigned last = function.getNumArguments();
    (void)function.insertArgument(last, planType, {}, function.getLoc());
    // Known before the callers are visited: a function may call itself.
    Value argument = plans[key] = function.getArgument(last);
    for (Operation *user : users.getUsers(function)) {
      auto call = cast<func::CallOp>(user);
      PlanKey outer{{}, key.mask};
      for (unsigned index : indices)
        outer.values.push_back(call.getOperand(index));
      Value passed = plan(outer, type, call.getLoc());
      call.getOperandsMutable().append(passed);
    }
    return argument;
  }

  /// Right behind the value that is defined last.
  OpBuilder afterLast(ArrayRef<Value> values) {
    Value last = values.front();
    for (Value value : values.drop_front()) {
      Operation *definition = value.getDefiningOp();
      Block *block = value.getParentBlock();
      bool later =
          block == last.getParentBlock()
              ? definition &&
                    (!last.getDefiningOp() ||
                     last.getDefiningOp()->isBeforeInBlock(definition))
              : dominance.properlyDominates(last.getParentBlock(), block);
      if (later)
        last = value;
    }
    OpBuilder b(module.getContext());
    b.setInsertionPointAfterValue(last);
    return b;
  }

  ModuleOp module;
  SymbolTableCollection symbols;
  SymbolUserMap users;
  DominanceInfo dominance;
  std::map<PlanKey, Value> plans;
};

struct SelectKernel : kv::impl::KVSelectKernelBase<SelectKernel> {
  using KVSelectKernelBase::KVSelectKernelBase;

  void runOnOperation() override {
    const Target *chosen = llvm::find_if(
        kTargets, [&](const Target &each) { return each.name == target; });
    if (chosen == std::end(kTargets)) {
      auto diagnostic = emitError(getOperation().getLoc())
                        << "kv-select-kernel: no target '" << target
                        << "', only ";
      llvm::interleaveComma(kTargets, diagnostic, [&](const Target &each) {
        diagnostic << each.name;
      });
      return signalPassFailure();
    }
    SmallVector<Operation *> work;
    getOperation().walk([&](Operation *op) {
      if (isa<StoreOp, AttentionOp>(op))
        work.push_back(op);
    });
    Planner planner(getOperation());
    for (Operation *op : work) {
      if (isOnTensors(op) != true) {
        op->emitOpError(
            "is on buffers: run kv-select-kernel before bufferization");
        return signalPassFailure();
      }
      select(op, *chosen, planner);
      ++numSelected;
    }
    numPlans += planner.numPlans;
  }

  void select(Operation *op, const Target &chosen, Planner &planner) {
    KernelAttr kernel = getKernel(op);
    StringRef why = kernel ? "it had this kernel" : StringRef(chosen.why);
    if (!kernel)
      kernel = KernelAttr::get(&getContext(), chosen.kernel);
    std::string name = stringifyKernelKind(kernel.getKind()).str();
    remark::passed(op->getLoc(), remarkOpts("Kernel"))
        << remark::add("{0} by '{1}': {2}", op->getName().stripDialect().str(),
                       name, why.str());
    op->setAttr(KVDialect::getKernelAttrName(), kernel);
    auto attention = dyn_cast<AttentionOp>(op);
    if (!attention)
      return;
    if (attention.getKvRowOffsets()) {
      remark::missed(op->getLoc(), remarkOpts("NoPlan"))
          << remark::add("keys with rows of their own: a plan has those of the "
                         "queries");
      return;
    }
    if (!takesPlan(kernel.getKind())) {
      attention.getPlanMutable().clear();
      remark::missed(op->getLoc(), remarkOpts("NoPlan"))
          << remark::add("'{0}' takes no plan: it finds out in each layer what "
                         "a row sees",
                         name);
      return;
    }
    if (!attention.getPlan())
      attention.getPlanMutable().assign(planner.planOf(attention));
    remark::passed(op->getLoc(), remarkOpts("Plan"))
        << remark::add("what a row sees is found once a step, not in each "
                       "layer");
  }
};
} // namespace
