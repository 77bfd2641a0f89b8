//===- KernelLoops.cpp - Loops of generated kernels -----------------------===//

#include "KernelLoops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
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

void kv::buildStepLoop(Emitter &b, const StepItems &items,
                       function_ref<Value(Emitter &)> memory,
                       function_ref<void(Emitter &, Value, Value)> build) {
  Location loc = b.getLoc();
  auto most = [&](Value a, Value other) -> Value {
    return arith::MaxUIOp::create(b, a, other);
  };
  auto divideUp = [&](Value a, Value by) {
    return b.div(b.add(a, b.sub(by, b.index(1))), by);
  };
  // The number of rows that is worth a thread, and the items that have it
  // together.
  Value one = b.index(1), wanted = b.index(grainOf(items.operations));
  Value each = divideUp(most(items.rows, one), most(items.sequences, one));
  Value chunk = divideUp(wanted, each);
  buildForall(b, loc, divideUp(items.count, chunk), /*grain=*/1,
              [&](OpBuilder &nested, Value number) {
                Emitter b(loc, nested);
                Value own = memory(b), first = b.mul(number, chunk);
                Value end = b.minimum(b.add(first, chunk), items.count);
                forEach(b, first, end,
                        [&](Emitter &b, Value item) { build(b, item, own); });
              });
}

void kv::prefetch(OpBuilder &b, Location loc, Value buffer, ValueRange at,
                  int64_t ahead, int64_t bytes) {
  constexpr int64_t line = 64;
  int64_t size =
      cast<MemRefType>(buffer.getType()).getElementTypeBitWidth() / 8;
  SmallVector<Value> place(at);
  for (int64_t offset = 0; offset < bytes; offset += line) {
    Value elements =
        arith::ConstantIndexOp::create(b, loc, (ahead + offset) / size);
    place.back() = b.createOrFold<arith::AddIOp>(loc, at.back(), elements);
    memref::PrefetchOp::create(b, loc, buffer, place, /*isWrite=*/false,
                               /*localityHint=*/3, /*isDataCache=*/true);
  }
}
