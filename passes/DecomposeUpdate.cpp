//===- DecomposeUpdate.cpp - The plain meaning of kv.update ---------------===//
//
// Loops over this step's rows. A row that lies outside of the table, or on no
// page of the blocks, or on the null page, is passed over.
//
//===----------------------------------------------------------------------===//

#include "Emitter.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace kv;

namespace {
/// One head of one row in the blocks.
struct Head {
  Value element(Emitter &b, Value d) const {
    SmallVector<Value> at(place);
    at.push_back(d);
    return memref::LoadOp::create(b, blocks, at);
  }
  Value load(Emitter &b, Value d) const { return b.toF32(element(b, d)); }
  void store(Emitter &b, Value value, Value d) const {
    SmallVector<Value> at(place);
    at.push_back(d);
    Type type = cast<MemRefType>(blocks.getType()).getElementType();
    memref::StoreOp::create(b, b.fromF32(value, type), blocks, at);
  }

  Value blocks;
  SmallVector<Value> place; // page, part, layer, slot, head
};
} // namespace

/// As kv.rope, pair by pair: both elements are read before one is written.
static void rotate(Emitter &b, UpdateOp op, const Head &head, Value position) {
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

static void normalise(Emitter &b, UpdateOp op, const Head &head) {
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

static void add(Emitter &b, UpdateOp op, const Head &head, Value row, Value h,
                int64_t dim) {
  forEach(b, b.index(0), b.index(dim), [&](Emitter &b, Value d) {
    Value other =
        tensor::ExtractOp::create(b, op.getOperand(), ValueRange{row, h, d});
    head.store(b, arith::AddFOp::create(b, head.load(b, d), b.toF32(other)), d);
  });
}

/// for b: for t in sequence b: for each head: the row of t becomes ...
void kv::decompose(UpdateOp op) {
  Emitter b(op);
  auto cache = cast<CacheOpInterface>(*op);
  CollectionType type = cache.getCollectionType();
  Value offsets = op.getRowOffsets(), table = cache.getLookupTable();
  Value zero = b.index(0), one = b.index(1), page = b.index(type.getPage());
  Value pitch = b.dim(table, 1);
  Value numPages = memref::DimOp::create(b, cache.getBlocks(), 0);
  Value numRows;
  if (op.getKind() == UpdateKind::Add)
    numRows = b.dim(op.getOperand(), 0);

  auto updateRow = [&](Emitter &b, Value pageId, Value position, Value t) {
    Value slot = b.rem(position, page);
    forEach(b, zero, b.index(type.getHeads()), [&](Emitter &b, Value h) {
      Head head{cache.getBlocks(),
                {pageId, op.getPlace()[1], op.getPlace()[0], slot, h}};
      switch (op.getKind()) {
      case UpdateKind::Rope:
        return rotate(b, op, head, position);
      case UpdateKind::RmsNorm:
        return normalise(b, op, head);
      case UpdateKind::Add:
        return add(b, op, head, t, h, type.getDim());
      }
    });
  };
  forEach(b, zero, b.dim(cache.getCacheLengths(), 0),
          [&](Emitter &b, Value sequence) {
            Value first = b.extractIndex(offsets, sequence);
            Value end = b.extractIndex(offsets, b.add(sequence, one));
            Value cached = b.extractIndex(cache.getCacheLengths(), sequence);
            if (numRows)
              end = b.minimum(end, numRows);
            forEach(b, first, end, [&](Emitter &b, Value t) {
              Value position = b.add(cached, b.sub(t, first));
              Value entry = b.div(position, page);
              when(b, b.less(entry, pitch), [&](Emitter &b) {
                Value pageId =
                    b.extractIndex(table, ValueRange{sequence, entry});
                Value real = b.less(zero, pageId);
                Value owned = b.both(real, b.less(pageId, numPages));
                when(b, owned,
                     [&](Emitter &b) { updateRow(b, pageId, position, t); });
              });
            });
          });
  op.erase();
}
