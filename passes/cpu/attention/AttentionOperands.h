//===- AttentionOperands.h - What tiles of an attention share ---*- C++ -*-===//

#ifndef KV_PASSES_CPU_ATTENTION_ATTENTIONOPERANDS_H
#define KV_PASSES_CPU_ATTENTION_ATTENTIONOPERANDS_H

#include "passes/cpu/vector/VectorEmitter.h"

namespace kv {

/// Blocks or scales as one long row of elements; the strides are those of the
/// logical dimensions. Null for scales that there are not.
struct FlatBlocks {
  FlatBlocks() = default;
  FlatBlocks(VectorEmitter &b, mlir::Value buffer, Layout layout);

  mlir::Value elements;
  std::array<mlir::Value, 6> strides;
};

/// The operands of an attention on buffers, in a form that the tiles share.
struct AttentionOperands {
  /// Emits what does not depend on a tile.
  AttentionOperands(VectorEmitter &b, AttentionOp op);

  mlir::Value q, out, lse, sinks, rowOffsets, cacheLengths, table;
  mlir::Value ancestors; // null where there is no tree
  MaskAttr mask;
  mlir::Value plan; // that of kv.plan, or one that is made here
  mlir::Value layer, lastPage, lastEntry; // no lastEntry in a continuous cache
  FlatBlocks blocks, scales;
  double scale;
  std::optional<double> softcap;
};

} // namespace kv

#endif // KV_PASSES_CPU_ATTENTION_ATTENTIONOPERANDS_H
