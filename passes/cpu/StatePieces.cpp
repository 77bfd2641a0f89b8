//===- StatePieces.cpp - Columns of states as items of a loop -------------===//

#include "StatePieces.h"

#include "passes/common/CacheAccess.h"
#include "passes/common/KernelLoops.h"
#include "passes/common/States.h"

using namespace mlir;
using namespace kv;

void StatePiece::forVectors(function_ref<void(int64_t, int64_t)> body) const {
  for (int64_t at = 0; at < width; at += kLanes)
    body(at, std::min(kLanes, width - at));
}

StatePieces::StatePieces(CacheOpInterface op, Value rowOffsets,
                         int64_t matrices, int64_t rows, int64_t columns,
                         int64_t most)
    : op(op), rowOffsets(rowOffsets), matrices(matrices), rows(rows),
      columns(columns),
      most(std::min<int64_t>(most, llvm::alignTo(columns, kLanes))) {}

void StatePieces::build(
    VectorEmitter &b, uint64_t operations,
    function_ref<void(VectorEmitter &, const StatePiece &)> body) {
  Location loc = op.getLoc();
  Value layer =
      checkedLayer(b, op.getLayerOperand()->get(), op.getCollectionType());
  int64_t whole = columns / most, rest = columns % most;
  int64_t cuts = whole + (rest != 0);
  Value sequences = b.extent(op.getLookupTable(), 0);
  Value last = b.add(b.extent(rowOffsets, 0), -1);
  StepItems items{b.mul(sequences, b.index(matrices * cuts)), operations,
                  b.loadIndex(rowOffsets, last), sequences};
  auto memory = [&](Emitter &b) {
    return VectorEmitter(loc, b).stack({rows, most}, b.getF32Type());
  };
  buildStepLoop(b, items, memory, [&](Emitter &plain, Value item, Value own) {
    VectorEmitter b(loc, plain);
    Value cut = b.rem(item, b.index(cuts));
    Value matrix = b.div(item, b.index(cuts));
    Value sequence = b.div(matrix, b.index(matrices));
    auto some = [&](VectorEmitter &b, int64_t width) {
      StatePiece piece{sequence,
                       b.rem(matrix, b.index(matrices)),
                       b.mul(cut, b.index(most)),
                       width,
                       own,
                       b.loadIndex(rowOffsets, sequence),
                       b.loadIndex(rowOffsets, b.add(sequence, 1))};
      compute(b, piece, layer, body);
    };
    if (cuts == 1) {
      some(b, whole ? most : rest);
      return;
    }
    Value isWhole = b.less(cut, b.index(whole));
    b.when(isWhole, [&](VectorEmitter &b) { some(b, most); });
    if (rest)
      b.when(b.lessOrEqual(b.index(whole), cut),
             [&](VectorEmitter &b) { some(b, rest); });
  });
}

/// Calls `body` with the places of all vectors of a piece: in its memory, in
/// the blocks, and their lanes.
void StatePieces::forNumbers(
    VectorEmitter &b, const StatePiece &piece, Value state, Value layer,
    function_ref<void(VectorEmitter &, ValueRange, ValueRange, int64_t)> body) {
  Value zero = b.index(0);
  // The state is [heads, dim]: its heads are the matrices, or else the rows of
  // the only one.
  bool byMatrix = op.getCollectionType().getHeads() == matrices;
  b.forEach(zero, b.index(rows), 1, [&](VectorEmitter &b, Value row) {
    Value head = byMatrix ? piece.matrix : row;
    Value begin = piece.column;
    if (byMatrix)
      begin = b.add(begin, b.mul(row, b.index(columns)));
    piece.forVectors([&](int64_t at, int64_t lanes) {
      body(b, {row, b.index(at)},
           {state, zero, layer, zero, head, b.add(begin, at)}, lanes);
    });
  });
}

void StatePieces::compute(
    VectorEmitter &b, const StatePiece &piece, Value layer,
    function_ref<void(VectorEmitter &, const StatePiece &)> body) {
  Value zero = b.index(0), blocks = op.getBlocks(), table = op.getLookupTable();
  Value from = b.loadIndex(table, {piece.sequence, zero});
  Value exists = isState(b, from, blocks);
  // The null state is there to be read.
  from = b.select(exists, from, zero);
  forNumbers(
      b, piece, from, layer,
      [&](VectorEmitter &b, ValueRange in, ValueRange at, int64_t lanes) {
        Value number = b.loadLanes(blocks, at, lanes);
        number = b.select(exists, number, b.zeros(kLanes));
        b.storeLanes(number, piece.memory, in);
      });
  body(b, piece);
  Value to = b.loadIndex(table, {piece.sequence, b.index(1)});
  b.when(isState(b, to, blocks), [&](VectorEmitter &b) {
    forNumbers(
        b, piece, to, layer,
        [&](VectorEmitter &b, ValueRange in, ValueRange at, int64_t lanes) {
          b.storeLanes(b.loadLanes(piece.memory, in), blocks, at, lanes);
        });
  });
}
