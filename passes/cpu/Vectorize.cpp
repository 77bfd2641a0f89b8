//===- Vectorize.cpp - Kernels to tiled loops and vector code -------------===//

#include "kv/Passes/Passes.h"

#include "VectorizeRecurrence.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/common/KernelLoops.h"
#include "passes/cpu/attention/VectorizeAttention.h"
#include "passes/cpu/products/VectorizeMatmul.h"
#include "llvm/Support/MathExtras.h"

namespace kv {
#define GEN_PASS_DEF_KVVECTORIZE
#include "kv/Passes/Passes.h.inc"
} // namespace kv

using namespace mlir;
using namespace kv;

/// Turns the outermost loop of a parallel nest into a forall and the others
/// into plain loops. Vectorising those is left to LLVM: they are short.
static void splitParallel(OpBuilder &b, scf::ParallelOp parallel) {
  Location loc = parallel.getLoc();
  b.setInsertionPoint(parallel);
  unsigned rank = parallel.getNumLoops();
  uint64_t work = 4;
  auto multiply = [&](Value bound) {
    work = llvm::SaturatingMultiply<uint64_t>(
        work, getConstantIntValue(bound).value_or(64));
  };
  for (Value bound : parallel.getUpperBound().drop_front())
    multiply(bound);
  parallel.walk([&](scf::ForOp loop) { multiply(loop.getUpperBound()); });

  buildForall(
      b, loc, parallel.getUpperBound()[0], grainOf(work),
      [&](OpBuilder &b, Value first) {
        IRMapping mapping;
        mapping.map(parallel.getInductionVars()[0], first);
        OpBuilder::InsertionGuard guard(b);
        for (unsigned d = 1; d < rank; ++d) {
          auto loop = scf::ForOp::create(b, loc, parallel.getLowerBound()[d],
                                         parallel.getUpperBound()[d],
                                         parallel.getStep()[d]);
          mapping.map(parallel.getInductionVars()[d], loop.getInductionVar());
          b.setInsertionPointToStart(loop.getBody());
        }
        for (Operation &op : parallel.getBody()->without_terminator())
          b.clone(op, mapping);
      });
  parallel.erase();
}

namespace {
struct Vectorize : kv::impl::KVVectorizeBase<Vectorize> {
  using KVVectorizeBase::KVVectorizeBase;

  void runOnOperation() override {
    std::optional<DotKind> kind = symbolizeDotKind(dot);
    if (!kind) {
      emitError(getOperation().getLoc())
          << "kv-vectorize: dot is '" << dot
          << "', expected generic, avx2, avx512, vnni or amx";
      return signalPassFailure();
    }
    dotKind = *kind;
    if (failed(checkSize("rows", rows, 64)) ||
        failed(checkSize("blocks", blocks, 16)))
      return signalPassFailure();
    auto activations = getOperation()->getAttrOfType<TypeAttr>(
        KVDialect::getActivationsAttrName());
    multipliesMatrices =
        matrix && activations && activations.getValue().isBF16();
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function->hasAttr(KVDialect::getKernelAttrName()) &&
          failed(lower(function)))
        return signalPassFailure();
  }

  /// All of a tile is one piece of straight code.
  LogicalResult checkSize(StringRef name, int64_t size, int64_t most) {
    if (size >= 1 && size <= most)
      return success();
    return emitError(getOperation().getLoc())
           << "kv-vectorize: " << name << " is " << size << ", expected 1 to "
           << most;
  }

  LogicalResult lower(func::FuncOp function) {
    IRRewriter rewriter(&getContext());
    for (Operation &op :
         llvm::make_early_inc_range(function.getBody().front())) {
      rewriter.setInsertionPoint(&op);
      if (auto matmul = dyn_cast<MatmulOp>(op)) {
        vectorizeMatmul(rewriter, matmul,
                        {rows, blocks, dotKind, multipliesMatrices});
        rewriter.eraseOp(matmul);
      } else if (auto matmul = dyn_cast<ExpertMatmulOp>(op)) {
        if (!matmul.isPacked())
          return matmul.emitOpError("has the kernel 'vector', which takes "
                                    "packed weights only");
        // Rows of expert products stay where they are, not in tiles of the
        // matrix unit.
        vectorizeExpertMatmul(rewriter, matmul,
                              {rows, blocks, dotKind, /*matrix=*/false});
        rewriter.eraseOp(matmul);
      } else if (auto attention = dyn_cast<AttentionOp>(op)) {
        if (failed(vectorizeAttention(rewriter, attention, wide,
                                      multipliesMatrices)))
          return failure();
      } else if (auto convolution = dyn_cast<StateConvolutionOp>(op)) {
        if (failed(vectorizeConvolution(rewriter, convolution)))
          return failure();
      } else if (auto scan = dyn_cast<StateScanOp>(op)) {
        if (failed(vectorizeScan(rewriter, scan)))
          return failure();
      } else if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
        if (failed(linalg::linalgOpToParallelLoops(rewriter, linalgOp)))
          return op.emitOpError("cannot be lowered to loops");
        rewriter.eraseOp(&op);
      }
    }
    SmallVector<scf::ParallelOp> outermost;
    function.walk<WalkOrder::PreOrder>([&](scf::ParallelOp parallel) {
      outermost.push_back(parallel);
      return WalkResult::skip();
    });
    for (scf::ParallelOp parallel : outermost)
      splitParallel(rewriter, parallel);
    return success();
  }

private:
  DotKind dotKind = DotKind::Generic;
  bool multipliesMatrices = false;
};
} // namespace
