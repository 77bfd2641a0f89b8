//===- FormLaunches.cpp - Computations become launches --------------------===//

#include "kv/Passes/Passes.h"

#include "DeviceKernels.h"
#include "FoldCasts.h"
#include "LaunchFormer.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/common/EachOperation.h"
#include "passes/common/HostSizes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

namespace kv {
#define GEN_PASS_DEF_KVFORMLAUNCHES
#include "kv/Passes/Passes.h.inc"
} // namespace kv

using namespace mlir;
using namespace kv;

namespace {
/// Calls toLaunch() of an operation that has one.
struct ToLaunch {
  LaunchFormer &former;
  template <class Op>
  auto operator()(Op op) const -> decltype(former.toLaunch(op)) {
    if (failed(checkKernel(op)))
      return failure();
    return former.toLaunch(op);
  }

  /// Who works on the contents of a cache, kv-select-kernel says.
  static LogicalResult checkKernel(Operation *op) {
    auto cache = dyn_cast<CacheOpInterface>(op);
    bool selected = cache ? cache.readsCache() || cache.writesCache()
                          : isa<CopyPagesOp>(op);
    KernelAttr kernel = getKernel(op);
    if (!selected || (kernel && kernel.getKind() == KernelKind::Cuda))
      return success();
    return op->emitOpError("is not by the kernel 'cuda': run "
                           "kv-select-kernel{target=cuda} before");
  }
};

struct FormLaunches : kv::impl::KVFormLaunchesBase<FormLaunches> {
  using KVFormLaunchesBase::KVFormLaunchesBase;

  void runOnOperation() override {
    LaunchFormer former(getOperation());
    if (failed(checkChips()) || failed(formLaunches(former)) ||
        failed(former.formElementwise()))
      return signalPassFailure();
    FailureOr<int64_t> casts = foldCasts(getOperation());
    if (failed(casts) || failed(checkRest(former)))
      return signalPassFailure();
    numLaunches += former.launches();
    numCasts += *casts;
    noteDeviceCode(former.attentionCode());
  }

private:
  LogicalResult checkChips() {
    llvm::StringSet<> known;
    for (StringRef chip : chips) {
      StringRef number = chip;
      unsigned capability = 0;
      if (!number.consume_front("sm_") ||
          number.consumeInteger(10, capability) || capability < 80 ||
          !(number.empty() || number == "a" || number == "f"))
        return emitError(getOperation().getLoc())
               << "chip '" << chip
               << "': expected sm_80 or later, such as sm_80 or sm_90a";
      if (!known.insert(chip).second)
        return emitError(getOperation().getLoc())
               << "chip '" << chip << "' is given twice: expected each once";
    }
    return success();
  }

  LogicalResult formLaunches(LaunchFormer &former) {
    foldSizes(getOperation());
    SmallVector<Operation *> gathers, positions, others;
    WalkResult walked = getOperation().walk([&](Operation *op) -> WalkResult {
      if (isOnBuffers(op))
        return op->emitOpError("is on buffers: kv-form-launches takes tensors");
      if (isa<GatherOp>(op))
        gathers.push_back(op);
      else if (isa<PositionsOp>(op))
        positions.push_back(op);
      else
        others.push_back(op);
      return WalkResult::advance();
    });
    if (walked.wasInterrupted())
      return failure();
    // Sizes are traced through launches. Ropes tell how many positions there
    // are. Others in order: what stands before is a launch already, and is not
    // looked into.
    for (Operation *op : llvm::concat<Operation *>(gathers, positions, others))
      if (failed(toLaunch(former, op)))
        return failure();
    return success();
  }

  static LogicalResult toLaunch(LaunchFormer &former, Operation *op) {
    if (auto linalg = dyn_cast<linalg::LinalgOp>(op))
      return former.toLaunch(linalg);
    return visitOperation(op, ToLaunch{former}).value_or(success());
  }

  static bool isOnBuffers(Operation *op) {
    if (auto linalg = dyn_cast<linalg::LinalgOp>(op))
      return !linalg.hasPureTensorSemantics();
    return isa<TwoFormOpInterface>(op) && isOnTensors(op) == false;
  }

  /// Sizes, views, scalars, calls, loops, and what is launched.
  static bool isHostCode(Operation *op) {
    if (isa<func::FuncOp, func::CallOp, func::ReturnOp, tensor::EmptyOp,
            tensor::DimOp, tensor::CastOp, tensor::ExpandShapeOp,
            tensor::CollapseShapeOp, tensor::ExtractSliceOp,
            tensor::InsertSliceOp, memref::DimOp, memref::CastOp,
            memref::TransposeOp, scf::ForOp, scf::IfOp, scf::YieldOp, LaunchOp,
            TextOp, PlanBytesOp, AssertOp, CheckStepOp, RankOp>(op))
      return true;
    return isa<arith::ArithDialect>(op->getDialect()) &&
           llvm::none_of(op->getResultTypes(), llvm::IsaPred<ShapedType>);
  }

  /// The operations that are left must be host code.
  LogicalResult checkRest(LaunchFormer &former) {
    bool failed = false;
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (op == getOperation() || isHostCode(op))
        return WalkResult::advance();
      failed = true;
      former.noKernel(op)
          << ": kv-cuda has kernels for products with a weight [N, K], "
             "x / sqrt(mean(x * x) + epsilon) * weight, elementwise arithmetic "
             "on one or two tensors (one may be a row for all), rows of a "
             "table, casts, argmax, "
          << llvm::join(visitedNames<ToLaunch>(), ", ")
          << " (quantised weights with kv.activations = i8)";
      return WalkResult::skip();
    });
    return failure(failed);
  }

  void noteDeviceCode(std::set<std::string> images) {
    Builder b(&getContext());
    images.emplace(kernels::MoversImage);
    SmallVector<StringRef> imageNames(images.begin(), images.end());
    SmallVector<StringRef> chipNames(chips.begin(), chips.end());
    getOperation()->setAttr(
        KVDialect::getDeviceCodeAttrName(),
        b.getDictionaryAttr(
            {b.getNamedAttr("chips", b.getStrArrayAttr(chipNames)),
             b.getNamedAttr("images", b.getStrArrayAttr(imageNames))}));
  }
};
} // namespace
