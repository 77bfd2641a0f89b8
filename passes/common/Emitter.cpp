//===- Emitter.cpp - Control flow that decompositions emit ----------------===//

#include "Emitter.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace kv;

void kv::forEach(Emitter &b, Value low, Value high,
                 function_ref<void(Emitter &, Value)> body) {
  scf::ForOp::create(b, low, high, b.index(1), ValueRange(),
                     [&](OpBuilder &nested, Location loc, Value i, ValueRange) {
                       Emitter b(loc, nested);
                       body(b, i);
                       scf::YieldOp::create(b);
                     });
}

void kv::when(Emitter &b, Value condition, function_ref<void(Emitter &)> body) {
  scf::IfOp::create(b, condition, [&](OpBuilder &nested, Location loc) {
    Emitter b(loc, nested);
    body(b);
    scf::YieldOp::create(b);
  });
}

StepSequence kv::stepSequence(Emitter &b, Value rowOffsets, Value cacheLengths,
                              Value index) {
  return {index, b.extractIndex(rowOffsets, index),
          b.extractIndex(rowOffsets, b.add(index, b.index(1))),
          b.extractIndex(cacheLengths, index)};
}

SmallVector<Value> kv::forEachRow(
    Emitter &b, const StepSequence &sequence, ValueRange inits,
    function_ref<SmallVector<Value>(Emitter &, const StepRow &)> body) {
  auto rows = scf::ForOp::create(
      b, sequence.first, sequence.end, b.index(1), inits,
      [&](OpBuilder &nested, Location loc, Value row, ValueRange carried) {
        Emitter b(loc, nested);
        Value position = b.add(sequence.cached, b.sub(row, sequence.first));
        scf::YieldOp::create(b, body(b, {sequence, row, position, carried}));
      });
  return llvm::to_vector_of<Value>(rows.getResults());
}

SmallVector<Value> kv::forEachRow(
    Emitter &b, Value rowOffsets, Value cacheLengths, ValueRange inits,
    function_ref<void(Emitter &, const StepSequence &)> enter,
    function_ref<SmallVector<Value>(Emitter &, const StepRow &)> body) {
  auto sequences = scf::ForOp::create(
      b, b.index(0), b.dim(cacheLengths, 0), b.index(1), inits,
      [&](OpBuilder &nested, Location loc, Value index, ValueRange carried) {
        Emitter b(loc, nested);
        StepSequence sequence =
            stepSequence(b, rowOffsets, cacheLengths, index);
        enter(b, sequence);
        scf::YieldOp::create(b, forEachRow(b, sequence, carried, body));
      });
  return llvm::to_vector_of<Value>(sequences.getResults());
}
