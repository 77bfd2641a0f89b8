//===- SelectKernel.cpp - Who computes attentions and stores --------------===//
//
// A kernel that takes a plan gets it from where the step begins. A layer is a
// function that is called once a layer, so that CSE alone would leave a plan in
// each call: the function gets the plan as an argument instead, and its callers
// make it.
//
//===----------------------------------------------------------------------===//

#include "kv/Passes/Passes.h"

#include "kv/ABI/Context.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Remarks.h"
#include "passes/collections/Bands.h"
#include "passes/common/CacheAccess.h"
#include "passes/common/HostSizes.h"
#include "passes/cpu/VectorizeRecurrence.h"
#include "passes/cpu/attention/AttentionShape.h"
#include "passes/cuda/DeviceKernels.h"
#include "passes/cuda/Launches.h"

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
/// The kernels of a target, and the reason for a remark.
struct Target {
  StringLiteral name;
  KernelKind kernel;
  StringLiteral why;
};

constexpr Target kTargets[] = {
    {"cpu", KernelKind::Vector, "kv-vectorize generates it for its types"},
    {"decomposition", KernelKind::Decomposition,
     "the target has no kernels of its own"},
    {"cuda", KernelKind::Cuda, "the device has a kernel for it"},
};

/// Two plans are equal if their keys are: the cache's values, the row offsets,
/// the mask, and whether there are trees. On a device, products of 8 bits and
/// the queries' rows and heads count as well.
struct PlanKey {
  SmallVector<Value> values; // the row offsets last
  MaskAttr mask;
  bool tree = false, products = false;
  int64_t heads = 0;
  HostSize rows;

  /// All values, that of the number of rows among them.
  SmallVector<Value> anchors() const {
    SmallVector<Value> result = values;
    if (!rows.isConstant())
      result.push_back(rows.value);
    return result;
  }
  bool operator<(const PlanKey &other) const {
    auto order = [](const PlanKey &key) {
      SmallVector<const void *> pointers;
      for (Value value : key.anchors())
        pointers.push_back(value.getAsOpaquePointer());
      pointers.push_back(key.mask.getAsOpaquePointer());
      return std::tuple(pointers, key.tree, key.products, key.heads,
                        key.rows.number);
    };
    return order(*this) < order(other);
  }
};

/// Makes plans, each as early and as seldom as possible.
class Planner {
public:
  Planner(ModuleOp module, KernelKind kernel)
      : module(module), kernel(kernel), users(symbols, module) {}

  Value planOf(AttentionOp op) {
    auto cache = cast<CacheOpInterface>(op.getOperation());
    PlanKey key{llvm::to_vector(cache.getCacheOperands()),
                op.getMaskAttr(),
                static_cast<bool>(op.getAncestors()),
                /*products=*/false,
                /*heads=*/0,
                /*rows=*/{}};
    key.values.push_back(op.getRowOffsets());
    if (kernel == KernelKind::Cuda) {
      key.products = op.getProducts().has_value();
      key.heads = cast<ShapedType>(op.getQ().getType()).getDimSize(1);
      key.rows = traceSize(op.getQ(), 0);
    }
    TypeAttr type = op.getCollectionAttr();
    return plan(key, type, op.getLoc());
  }

  int64_t numPlans = 0;

private:
  Value plan(const PlanKey &key, TypeAttr type, Location loc) {
    if (auto it = plans.find(key); it != plans.end())
      return it->second;
    if (func::FuncOp function = layerOf(key.anchors()))
      return planFromCallers(function, key, type);
    OpBuilder at = afterLast(key.anchors());
    Emitter b(loc, at);
    ++numPlans;
    if (kernel == KernelKind::Cuda)
      return plans[key] = planOnDevice(b, key, type);
    auto made = PlanOp::create(
        b, planType(), ValueRange(key.values).drop_back(), key.values.back(),
        /*out=*/Value(), key.mask, key.tree, type);
    return plans[key] = made.getResult();
  }

  RankedTensorType planType() {
    Builder b(module.getContext());
    if (kernel == KernelKind::Cuda)
      return RankedTensorType::get({ShapedType::kDynamic}, b.getI8Type());
    return RankedTensorType::get({ShapedType::kDynamic, 4}, b.getI32Type());
  }

  /// Makes the plan in a buffer of the size that the runtime gives.
  Value planOnDevice(Emitter &b, const PlanKey &key, TypeAttr type) {
    auto collection = cast<CollectionType>(type.getValue());
    Value blocks =
        inLogicalOrder(b, b.getLoc(), key.values[0], collection.getLayout());
    Value lengths = key.values[1];
    // A plan only needs the number of entries that a row of the table has for a
    // band.
    Value table = sliceBand(b, key.values[2], collection.getGeometry(),
                            /*band=*/b.index(0));
    Value rows = key.rows.materialize(b, b.getLoc());
    Value bytes =
        PlanBytesOp::create(b, b.getIndexType(), blocks, b.dim(lengths, 0),
                            rows, b.getI64IntegerAttr(key.heads));
    Value mask = b.i32(static_cast<int64_t>(key.mask.getKind()) |
                       (key.tree ? KV_MASK_TREE : 0) |
                       (key.products ? KV_MASK_EIGHT_BIT_PRODUCTS : 0));
    Value arguments[] = {blocks,
                         lengths,
                         table,
                         key.values.back(),
                         key.values[3],
                         b.i64(key.heads),
                         b.asI64(rows),
                         mask,
                         b.i64(key.mask.getWindow())};
    Value memory = tensor::EmptyOp::create(b, planType(), bytes);
    return LaunchOp::create(b, RuntimeFunction::plan, arguments, memory)
        .getResult();
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
    unsigned last = function.getNumArguments();
    (void)function.insertArgument(last, planType(), {}, function.getLoc());
    // Known before the callers are visited: a function may call itself.
    Value argument = plans[key] = function.getArgument(last);
    for (Operation *user : users.getUsers(function)) {
      auto call = cast<func::CallOp>(user);
      PlanKey outer = key;
      outer.values.clear();
      if (!key.rows.isConstant())
        outer.rows = traceSize(
            call.getOperand(cast<BlockArgument>(key.rows.value).getArgNumber()),
            key.rows.number);
      for (unsigned index : indices)
        outer.values.push_back(call.getOperand(index));
      Value passed = plan(outer, type, call.getLoc());
      call.getOperandsMutable().append(passed);
    }
    return argument;
  }

  /// A builder after the value that is defined last.
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
  KernelKind kernel;
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
      bool onDevice = chosen->kernel == KernelKind::Cuda;
      if (isa<StoreOp, AttentionOp>(op) ||
          (onDevice ? isa<CopyPagesOp>(op) || isOnRowsOrStates(op)
                    : isa<ExpertMatmulOp, StateConvolutionOp, StateScanOp>(op)))
        work.push_back(op);
    });
    Planner planner(getOperation(), chosen->kernel);
    for (Operation *op : work) {
      if (isOnTensors(op) != true) {
        op->emitOpError(
            "is on buffers: run kv-select-kernel before bufferization");
        return signalPassFailure();
      }
      if (chosen->kernel == KernelKind::Cuda && failed(checkOnDevice(op)))
        return signalPassFailure();
      select(op, *chosen, planner);
      ++numSelected;
    }
    numPlans += planner.numPlans;
  }

  /// Whether the device's kernels do what the operation says.
  static LogicalResult checkOnDevice(Operation *op) {
    auto onCache = dyn_cast<CacheOpInterface>(op);
    if (!onCache)
      return success();
    if (!onCache.isResolved())
      return op->emitOpError("has a handle: run kv-resolve-collections before");
    if (KernelAttr kernel = getKernel(op);
        kernel && kernel.getKind() != KernelKind::Cuda)
      return op->emitOpError()
             << "has the kernel '" << stringifyKernelKind(kernel.getKind())
             << "', which is not the target's";
    if (auto attention = dyn_cast<AttentionOp>(op))
      return checkAttention(attention);
    if (isOnRowsOrStates(op))
      return checkRowsOrStates(op);
    return checkCache(op, onCache.getCollectionType());
  }

  /// The kernel of an operation without one, and why it is that.
  static std::pair<KernelKind, std::string> choose(Operation *op,
                                                   const Target &target) {
    if (target.kernel != KernelKind::Vector)
      return {target.kernel, target.why.str()};
    if (auto matmul = dyn_cast<ExpertMatmulOp>(op);
        matmul && !matmul.isPacked())
      return {KernelKind::Decomposition, "its weights are not packed"};
    else if (matmul)
      return {target.kernel, target.why.str()};
    if (isa<StateConvolutionOp, StateScanOp>(op)) {
      auto convolution = dyn_cast<StateConvolutionOp>(op);
      std::optional<std::string> why =
          convolution ? whyNotVectorized(convolution)
                      : whyNotVectorized(cast<StateScanOp>(op));
      if (why)
        return {KernelKind::Decomposition, *why};
      return {target.kernel, target.why.str()};
    }
    auto attention = dyn_cast<AttentionOp>(op);
    if (!attention)
      return {KernelKind::Reference, "the runtime's function takes every type"};
    if (attention.getProducts())
      return {KernelKind::Decomposition, "its products are of 8 bits"};
    if (std::optional<std::string> why = whyNotVectorized(attention))
      return {KernelKind::Reference, *why};
    return {target.kernel, target.why.str()};
  }

  /// Cross attention: the keys have their own row offsets. A sequence sees as
  /// many cached keys as its key rows exceed its query rows. The longest
  /// sequence is not known here.
  static void countKeys(AttentionOp op) {
    Emitter b(op);
    Value lengths = cast<CacheOpInterface>(*op).getCacheLengths();
    auto grow = [&](Value offsets, int64_t sign) {
      Value number = b.i32(sign);
      lengths = launch(b, RuntimeFunction::growLengths,
                       {lengths, offsets, number}, lengths, b.getI32Type());
    };
    grow(op.getKvRowOffsets(), 1);
    grow(op.getRowOffsets(), -1);
    auto pairs =
        RankedTensorType::get({ShapedType::kDynamic, 2}, b.getI32Type());
    op.getCacheMutable()[1].set(lengths);
    op.getCacheMutable()[3].set(tensor::EmptyOp::create(b, pairs, b.index(0)));
    op.getKvRowOffsetsMutable().clear();
  }

  void select(Operation *op, const Target &chosen, Planner &planner) {
    KernelAttr kernel = getKernel(op);
    std::string why = "it had this kernel";
    if (!kernel) {
      KernelKind kind;
      std::tie(kind, why) = choose(op, chosen);
      kernel = KernelAttr::get(&getContext(), kind);
    }
    std::string name = stringifyKernelKind(kernel.getKind()).str();
    remark::passed(op->getLoc(), remarkOpts("Kernel")) << remark::add(
        "{0} by '{1}': {2}", op->getName().stripDialect().str(), name, why);
    op->setAttr(KVDialect::getKernelAttrName(), kernel);
    auto attention = dyn_cast<AttentionOp>(op);
    if (!attention)
      return;
    if (attention.getKvRowOffsets() && kernel.getKind() == KernelKind::Cuda)
      countKeys(attention);
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
    Value plan = attention.getPlan();
    bool ofBytes = plan && getElementTypeOrSelf(plan).isInteger(8);
    if (!plan || ofBytes != (kernel.getKind() == KernelKind::Cuda))
      attention.getPlanMutable().assign(planner.planOf(attention));
    remark::passed(op->getLoc(), remarkOpts("Plan"))
        << remark::add("what a row sees is found once a step, not in each "
                       "layer");
  }
};
} // namespace
