//===- Graph.h - The graph that is raised -----------------------*- C++ -*-===//
//
// Answers of a graph to the passes of kv-raise: which argument has the tokens,
// and which dimensions of a tensor are the sequence.
//
//===----------------------------------------------------------------------===//

#ifndef KV_PASSES_RAISE_ANALYSIS_GRAPH_H
#define KV_PASSES_RAISE_ANALYSIS_GRAPH_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Remarks.h"

namespace kv {

/// The function `forward` of a module without a cache.
struct Graph {
  // An operation is a pointer: asking it anything is not const.
  mutable mlir::func::FuncOp function;
  mlir::BlockArgument tokens; // integers [1, T] or [T]
  int64_t sequenceDim;        // the dimension of `tokens` that is T
  int64_t maxLength;          // the most that T can be

  /// Finds it in a module, or says in one sentence why there is none.
  static llvm::FailureOr<Graph> find(mlir::ModuleOp module);

  mlir::Block &body() const { return function.getBody().front(); }
  mlir::func::ReturnOp terminator() const {
    return mlir::cast<mlir::func::ReturnOp>(body().getTerminator());
  }
};

/// An attribute of a function's argument; null of another value.
mlir::StringAttr argumentAttr(mlir::Value value, llvm::StringRef name);

/// The dimensions of a tensor that are the sequence. All dynamic dimensions
/// are, which `checkTokens` has proven; empty for what is no tensor.
llvm::SmallVector<int64_t> rowDims(mlir::Type type);

/// A tensor with exactly one dimension that is the sequence.
bool isRows(mlir::Type type);

/// The loops of an operation that run over the sequence.
llvm::SmallVector<unsigned> rowLoops(mlir::linalg::LinalgOp op);

/// Proves that every operation but attention computes each row from that row
/// alone. On failure, emits an error that names the operation.
llvm::LogicalResult checkTokens(const Graph &graph);

/// tm_tensor.attention on [heads, T, dim], whose dialect is not registered; and
/// its operations that combine, or order, what is along one dimension.
bool isAttention(mlir::Operation *op);
bool isScan(mlir::Operation *op);
bool isSort(mlir::Operation *op);

/// The operands of an attention. There may be no mask; f32 [heads] of sinks
/// come from kv-raise-softmax alone.
struct AttentionForm {
  explicit AttentionForm(mlir::Operation *op);

  mlir::Value q, k, v, mask, init, sinks;
};

/// The changes of an attention's scores before its mask.
struct ScoreFactors {
  double scale;
  double softcap = 0; // 0: none
};

/// An attribute of an operation whose dialect is not registered: it may be
/// among its properties.
mlir::Attribute attributeOf(mlir::Operation *op, llvm::StringRef name);

/// The factors of an attention, or an error for unknown attributes. The dialect
/// is not registered, so that properties are a dictionary.
llvm::FailureOr<ScoreFactors> scoreFactors(mlir::Operation *op);

/// The attribute of an attention that kv-raise-softmax has found.
inline constexpr llvm::StringLiteral kSoftcapAttrName = "kv.softcap";

/// Whether this use of a `linalg.index` over rows says which row of a tensor of
/// rows is read. Every other use is arithmetic with the position.
bool namesRow(mlir::OpOperand &use);

/// x * transpose(w) + init, the form that weights have kernels in.
mlir::linalg::MatmulOp createWeightProduct(mlir::OpBuilder &b,
                                           mlir::Location loc, mlir::Value x,
                                           mlir::Value w, mlir::Value init);

inline mlir::remark::RemarkOpts raiseRemark(llvm::StringRef name) {
  return mlir::remark::RemarkOpts::name(name).category("kv-raise");
}

} // namespace kv

#endif // KV_PASSES_RAISE_ANALYSIS_GRAPH_H
