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
