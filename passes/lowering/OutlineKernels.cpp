//===- OutlineKernels.cpp - Distinct computations become functions --------===//

#include "kv/Passes/Passes.h"

#include "Outlining.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/RegionUtils.h"

namespace kv {
#define GEN_PASS_DEF_KVOUTLINEKERNELS
#include "kv/Passes/Passes.h.inc"
} // namespace kv

using namespace mlir;
using namespace kv;

/// Whether an operation is a computation on buffers.
static bool isComputation(Operation *op) {
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return linalgOp.hasPureBufferSemantics();
  if (isa<AttentionOp, ExpertMatmulOp, StateConvolutionOp, StateScanOp>(op)) {
    KernelAttr kernel = getKernel(op);
    return kernel && kernel.getKind() == KernelKind::Vector &&
           isOnTensors(op) == false;
  }
  auto matmul = dyn_cast<MatmulOp>(op);
  return matmul && !matmul.getOuts().empty();
}

/// "_576x1536_bf16", or "_576x576_192_192_bf16" for several weights.
template <typename Op> static void nameSizes(llvm::raw_ostream &os, Op op) {
  os << '_' << cast<ShapedType>(op.getX().getType()).getShape().back();
  char before = 'x';
  for (size_t i = 0; i < op.getWeights().size(); ++i) {
    os << before << op.getWidth(i);
    before = '_';
  }
  if (std::optional<QuantFormat> format = op.getFormat(0))
    os << '_' << stringifyQuantFormat(*format);
  else
    os << '_' << getElementTypeOrSelf(op.getWeights().front());
}

/// The name that a profile shows: "kernel_matmul_576x1536_bf16_0".
static std::string kernelName(Operation *op, unsigned ordinal) {
  std::string name;
  llvm::raw_string_ostream os(name);
  os << "kernel_" << op->getName().stripDialect();
  if (auto matmul = dyn_cast<MatmulOp>(op))
    nameSizes(os, matmul);
  if (auto matmul = dyn_cast<ExpertMatmulOp>(op))
    nameSizes(os, matmul);
  if (auto cache = dyn_cast<CacheOpInterface>(op)) {
    CollectionType type = cache.getCollectionType();
    os << '_' << type.getHeads() << 'x' << type.getDim() << '_'
       << type.getElementType();
  }
  os << '_' << ordinal;
  return name;
}

/// The text of a function without its name: functions with equal texts compute
/// the same.
static std::string structureOf(func::FuncOp function) {
  std::string key;
  llvm::raw_string_ostream os(key);
  os << function.getFunctionType();
  OpPrintingFlags flags;
  flags.useLocalScope();
  for (Operation &op : function.getBody().front())
    op.print(os, flags);
  return key;
}

namespace {
struct OutlineKernels : kv::impl::KVOutlineKernelsBase<OutlineKernels> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    SmallVector<Operation *> computations;
    module.walk([&](Operation *op) {
      if (isComputation(op) && !op->getParentOfType<func::FuncOp>()->hasAttr(
                                   KVDialect::getKernelAttrName()))
        computations.push_back(op);
    });

    llvm::StringMap<func::FuncOp> kernels;
    for (Operation *op : computations) {
      SmallVector<Value> arguments;
      func::FuncOp kernel = makeKernel(op, arguments);
      auto [it, fresh] = kernels.try_emplace(structureOf(kernel), kernel);
      if (fresh) {
        kernel.setName(kernelName(op, kernels.size() - 1));
        symbols.insert(kernel);
        ++numKernels;
      } else {
        kernel.erase();
      }
      OpBuilder b(op);
      func::CallOp::create(b, op->getLoc(), it->second, arguments);
      op->erase();
      ++numOutlined;
    }
  }

  /// A new function, not yet in the module, with a copy of `op`; to be called
  /// with `arguments`.
  func::FuncOp makeKernel(Operation *op, SmallVector<Value> &arguments) {
    llvm::SetVector<Value> used(op->operand_begin(), op->operand_end());
    getUsedValuesDefinedAbove(op->getRegions(), used);
    Captures captures(used);
    // The layer becomes an argument, so that all layers of a model call one
    // function.
    if (auto cache = dyn_cast<CacheOpInterface>(op))
      captures.pass(cache.getLayerOperand()->get());
    OpBuilder b(&getContext());
    auto kernel = func::FuncOp::create(
        b, op->getLoc(), "kernel",
        b.getFunctionType(ValueRange(captures.values).getTypes(), {}));
    kernel.setPrivate();
    kernel->setAttr(KVDialect::getKernelAttrName(), b.getUnitAttr());
    Block *body = kernel.addEntryBlock();
    b.setInsertionPointToStart(body);
    IRMapping mapping;
    captures.enter(b, body->getArguments(), mapping);
    b.clone(*op, mapping);
    func::ReturnOp::create(b, op->getLoc());
    arguments = std::move(captures.values);
    return kernel;
  }
};
} // namespace
