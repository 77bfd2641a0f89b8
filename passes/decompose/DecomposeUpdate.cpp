//===- DecomposeUpdate.cpp - The plain meaning of kv.update ---------------===//
//
// Loops over this step's rows, where they may be written (CacheAccess.h), in
// parallel over sequences and heads. A head is read into a buffer of f32,
// changed there, and written back: its scales, if it has any, are those of the
// whole new row.
//
//===----------------------------------------------------------------------===//

#include "Decompositions.h"
#include "passes/common/CacheAccess.h"
#include "passes/common/KernelLoops.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace kv;

namespace {
/// Numbers of a head in f32.
struct HeadBuffer {
  Value load(Emitter &b, Value d) const {
    return memref::LoadOp::create(b, memory, d);
  }
  void store(Emitter &b, Value number, Value d) const {
    memref::StoreOp::create(b, number, memory, d);
  }

  Value memory;
};
} // namespace

/// Rotates a head like kv.rope.
static void rotate(Emitter &b, UpdateOp op, HeadBuffer head, Value position) {
  int64_t width = cast<ShapedType>(op.getOperand().getType()).getDimSize(1);
  Value half = b.index(width / 2), one = b.index(1), two = b.index(2);
  // Stays inside the table whatever the lengths say.
  position = b.minimum(position, b.sub(b.dim(op.getOperand(), 0), one));
  forEach(b, b.index(0), half, [&](Emitter &b, Value i) {
    Value column = b.mul(i, two);
    Value first = op.getInterleaved() ? column : i;
    Value second = op.getInterleaved() ? b.add(column, one) : b.add(i, half);
    auto frequency = [&](Value at) -> Value {
      return tensor::ExtractOp::create(b, op.getOperand(),
                                       ValueRange{position, at});
    };
    Value cos = frequency(column), sin = frequency(b.add(column, one));
    Value x = head.load(b, first), y = head.load(b, second);
    // One after the other: the order of arguments is the compiler's.
    Value xCos = arith::MulFOp::create(b, x, cos);
    Value ySin = arith::MulFOp::create(b, y, sin);
    Value yCos = arith::MulFOp::create(b, y, cos);
    Value xSin = arith::MulFOp::create(b, x, sin);
    head.store(b, arith::SubFOp::create(b, xCos, ySin), first);
    head.store(b, arith::AddFOp::create(b, yCos, xSin), second);
  });
}

static void normalise(Emitter &b, UpdateOp op, HeadBuffer head) {
  int64_t width = cast<ShapedType>(op.getOperand().getType()).getDimSize(0);
  Type f32 = b.getF32Type();
  Value zero = b.index(0), end = b.index(width);
  auto loop = scf::ForOp::create(
      b, zero, end, b.index(1), b.constant(f32, 0),
      [&](OpBuilder &nested, Location loc, Value d, ValueRange sum) {
        Emitter b(loc, nested);
        Value x = head.load(b, d);
        Value square = arith::MulFOp::create(b, x, x);
        Value next = arith::AddFOp::create(b, sum.front(), square);
        scf::YieldOp::create(b, next);
      });
  Value mean =
      arith::DivFOp::create(b, loop.getResult(0), b.constant(f32, width));
  Value eps = b.constant(f32, op.getEps()->convertToDouble());
  Value scale = math::RsqrtOp::create(b, arith::AddFOp::create(b, mean, eps));
  forEach(b, zero, end, [&](Emitter &b, Value d) {
    Value weight = tensor::ExtractOp::create(b, op.getOperand(), d);
    Value scaled = arith::MulFOp::create(b, head.load(b, d), scale);
    head.store(b, arith::MulFOp::create(b, scaled, weight), d);
  });
}

static void add(Emitter &b, UpdateOp op, HeadBuffer head, Value row, Value h,
                int64_t dim) {
  forEach(b, b.index(0), b.index(dim), [&](Emitter &b, Value d) {
    Value other = b.toF32(
        tensor::ExtractOp::create(b, op.getOperand(), ValueRange{row, h, d}));
    Value sum = arith::AddFOp::create(b, head.load(b, d), other);
    head.store(b, sum, d);
  });
}

/// for each sequence and head, in parallel: for t: the row of t becomes ...
static SmallVector<Value> decompose(Emitter &b, UpdateOp op) {
  CacheAccess cache(b, op);
  int64_t dim = cache.getType().getDim();
  Value zero = b.index(0), heads = cache.numHeads(b);
  Value offsets = op.getRowOffsets();
  Value lengths = cast<CacheOpInterface>(*op).getCacheLengths();
  Value layer = cache.checkLayer(b, op.getPlace()[0]);
  Value plane = cache.checkPlane(b, op.getPlace()[1]);
  auto updateHead = [&](Emitter &b, const CachePlace &place, Value h,
                        const StepRow &row, HeadBuffer head) {
    forEach(b, zero, b.index(dim), [&](Emitter &b, Value d) {
      head.store(b, cache.load(b, place, plane, layer, h, d), d);
    });
    switch (op.getKind()) {
    case UpdateKind::Rope:
      rotate(b, op, head, row.position);
      break;
    case UpdateKind::RmsNorm:
      normalise(b, op, head);
      break;
    case UpdateKind::Add:
      add(b, op, head, row.index, h, dim);
      break;
    }
    cache.storeRow(b, place, plane, layer, h,
                   [&](Emitter &b, Value d) { return head.load(b, d); });
  };
  Value sequences = b.dim(lengths, 0),
        last = b.sub(b.dim(offsets, 0), b.index(1));
  StepItems items{b.mul(sequences, heads), 8 * static_cast<uint64_t>(dim),
                  b.extractIndex(offsets, last), sequences};
  buildStepLoop(
      b, items,
      [&](Emitter &b) -> Value {
        return memref::AllocaOp::create(b,
                                        MemRefType::get({dim}, b.getF32Type()));
      },
      [&](Emitter &b, Value item, Value memory) {
        Value h = b.rem(item, heads);
        StepSequence sequence =
            stepSequence(b, offsets, lengths, b.div(item, heads));
        forEachRow(b, sequence, ValueRange(),
                   [&](Emitter &b, const StepRow &row) -> SmallVector<Value> {
                     cache.whenWritable(
                         b, sequence.index, row.position,
                         [&](Emitter &b, const CachePlace &place) {
                           updateHead(b, place, h, row, {memory});
                         });
                     return {};
                   });
      });
  return {};
}

void kv::attachUpdateDecomposition(MLIRContext *context) {
  UpdateOp::attachInterface<Decomposition<UpdateOp, decompose>>(*context);
}
