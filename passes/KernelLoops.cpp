//===- KernelLoops.cpp - Loops of generated kernels -----------------------===//

#include "KernelLoops.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

/// Scalar operations worth handing to another thread: about 5 us.
constexpr uint64_t kGrainOperations = 16384;

int64_t kv::grainOf(uint64_t operations) {
  return std::max<int64_t>(1, kGrainOperations /
                                  std::max<uint64_t>(1, operations));
}

void kv::buildForall(OpBuilder &b, Location loc, Value count, int64_t grain,
                     llvm::function_ref<void(OpBuilder &, Value)> build) {
  auto forall = scf::ForallOp::create(
      b, loc, ArrayRef<OpFoldResult>{count}, ValueRange(), std::nullopt,
      [&](OpBuilder &b, Location loc, ValueRange arguments) {
        build(b, arguments.front());
        scf::InParallelOp::create(b, loc);
      });
  forall->setAttr("kv.grain", b.getI64IntegerAttr(grain));
}
