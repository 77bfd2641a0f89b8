//===- AttentionState.h - Partial softmaxes of a tile -----------*- C++ -*-===//
//
// include/kv/Definition/Fold.h as vector code: its words, and the same order of
// folds.
//
//===----------------------------------------------------------------------===//

#ifndef KV_PASSES_CPU_ATTENTION_ATTENTIONSTATE_H
#define KV_PASSES_CPU_ATTENTION_ATTENTIONSTATE_H

#include "AttentionShape.h"
#include "passes/cpu/vector/VectorEmitter.h"

namespace kv {

/// Buffers with a partial softmax for each row of a tile: the largest scores,
/// which are logarithms to base 2, the sums of weights, both [paddedRows], and
/// the weighted values [tileRows, paddedValueDim].
struct PartialSoftmax {
  mlir::Value maxima, sums, values;
};

/// The rows of a tile that one KV head computes.
struct QueryRows {
  mlir::Value
      first; // packed row of the step: token * group + head in the group
  mlir::Value count;
  mlir::Value sequence;
  mlir::Value head; // KV head
};

/// Where a row of a tile comes from: indices of q and out.
struct QueryPlace {
  mlir::Value token, head;
};
QueryPlace queryOf(VectorEmitter &b, const AttentionShape &shape,
                   const QueryRows &rows, mlir::Value row);

/// Folds partial softmaxes with scratch memory of its own.
class AttentionFold {
public:
  AttentionFold(VectorEmitter &b, const AttentionShape &shape);

  /// On the stack.
  PartialSoftmax allocate(VectorEmitter &b) const;
  /// Nothing seen yet.
  void clear(VectorEmitter &b, const PartialSoftmax &partial,
             mlir::Value rows) const;
  void fold(VectorEmitter &b, const PartialSoftmax &into,
            const PartialSoftmax &from, mlir::Value rows) const;
  /// Folds each leaf or leaf group that `piece` makes into the running leaf
  /// group, and that, where it ends, into the total. `leafEnd` is the end of
  /// the piece, `last` the end of all.
  void foldPiece(VectorEmitter &b, const PartialSoftmax &total,
                 const PartialSoftmax &group, const PartialSoftmax &piece,
                 mlir::Value leafEnd, mlir::Value last, mlir::Value rows) const;

private:
  const AttentionShape &shape;
  mlir::Value left, right; // weights [paddedRows]
};

/// Ends each row of a tile: the sink, the division and the logarithm. `sinks`
/// and `lse` may be null.
void finishRows(VectorEmitter &b, const AttentionShape &shape,
                const QueryRows &rows, const PartialSoftmax &total,
                mlir::Value sinks, mlir::Value out, mlir::Value lse);

} // namespace kv

#endif // KV_PASSES_CPU_ATTENTION_ATTENTIONSTATE_H
