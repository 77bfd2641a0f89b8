//===- StatePieces.h - Columns of states as items of a loop -----*- C++ -*-===//
//
// Code that convolutions and scans share. A piece is some neighbouring columns
// of one sequence's state, a matrix whose rows follow each other. Nothing of a
// piece depends on another one, so threads take pieces, and each goes through
// all rows of its sequence with the piece in memory of its own.
//
//===----------------------------------------------------------------------===//

#ifndef KV_PASSES_CPU_STATEPIECES_H
#define KV_PASSES_CPU_STATEPIECES_H

#include "passes/cpu/vector/VectorEmitter.h"

namespace kv {

/// A piece of the state of a sequence.
struct StatePiece {
  mlir::Value sequence;
  mlir::Value matrix;     // of the state, of those it has
  mlir::Value column;     // the first one
  int64_t width;          // columns
  mlir::Value memory;     // f32 [rows, most columns]
  mlir::Value first, end; // the sequence's rows of the step

  /// Calls `body` with each column that begins a vector, and its lanes.
  void forVectors(
      llvm::function_ref<void(int64_t column, int64_t lanes)> body) const;
};

/// How the states of one operation on buffers are cut.
class StatePieces {
public:
  /// A state has `matrices` matrices of `rows` rows and `columns` columns; a
  /// piece at most `most` columns, a multiple of the lanes.
  StatePieces(CacheOpInterface op, mlir::Value rowOffsets, int64_t matrices,
              int64_t rows, int64_t columns, int64_t most);

  /// A parallel loop over the pieces: each is read, goes through `body`, and is
  /// written where its sequence's state goes. `operations`: scalar operations
  /// of a piece for a row of the step.
  void
  build(VectorEmitter &b, uint64_t operations,
        llvm::function_ref<void(VectorEmitter &, const StatePiece &)> body);

private:
  void
  compute(VectorEmitter &b, const StatePiece &piece, mlir::Value layer,
          llvm::function_ref<void(VectorEmitter &, const StatePiece &)> body);
  void forNumbers(VectorEmitter &b, const StatePiece &piece, mlir::Value state,
                  mlir::Value layer,
                  llvm::function_ref<void(VectorEmitter &, mlir::ValueRange,
                                          mlir::ValueRange, int64_t)>
                      body);

  CacheOpInterface op;
  mlir::Value rowOffsets;
  int64_t matrices, rows, columns, most;
};

} // namespace kv

#endif // KV_PASSES_CPU_STATEPIECES_H
