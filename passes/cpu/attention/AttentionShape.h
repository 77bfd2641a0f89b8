//===- AttentionShape.h - An attention's sizes and tiles --------*- C++ -*-===//
//
// Vocabulary of include/kv/Definition/Plan.h: A packed row is a new token with
// one of the query heads of a KV head. A tile is some packed rows of one
// sequence. A leaf is 256 keys at absolute positions. A leaf group is 8 leaves.
//
//===----------------------------------------------------------------------===//

#ifndef KV_PASSES_CPU_ATTENTION_ATTENTIONSHAPE_H
#define KV_PASSES_CPU_ATTENTION_ATTENTIONSHAPE_H

#include "kv/Dialect/KV.h"

namespace kv {

/// The sums that the innermost loops keep in registers.
struct RegisterTile {
  int64_t rows;
  int64_t keys;   // keys whose scores are summed together; divides the lanes
  int64_t values; // vectors of values at a time
};

/// The facts of an attention that are known before it runs, and its tiles.
struct AttentionShape {
  /// `wide` is for machines with 32 vector registers of 512 bits; otherwise
  /// there are 16 of 256 bits. `matrix` is for machines that multiply matrices
  /// of bf16, where queries may be rounded to such numbers.
  AttentionShape(AttentionOp op, bool wide, bool matrix);

  CollectionType type;
  CacheGeometry geometry;
  int64_t heads; // KV heads
  int64_t group; // query heads of a KV head
  int64_t dim, valueDim;
  int64_t paddedDim, paddedValueDim; // multiples of the lanes
  int64_t tileRows;                  // most packed rows of a tile
  int64_t paddedRows;
  /// From the most rows to one.
  llvm::SmallVector<RegisterTile, 3> registerTiles;
  /// Lanes of a register: the number of lanes for which scores are summed
  /// together.
  int64_t registerLanes;
  /// Whether scores and sums of values are products of a matrix unit.
  bool usesMatrixUnit;

  /// Whether keys and values are widened to f32 before tiles of many rows use
  /// them.
  bool widens() const {
    return geometry.dtype != KV_DTYPE_F32 &&
           tileRows > registerTiles.front().rows;
  }
};

/// Why kv-vectorize has no kernel for an attention; nothing if it has one.
std::optional<std::string> whyNotVectorized(AttentionOp op);

} // namespace kv

#endif // KV_PASSES_CPU_ATTENTION_ATTENTIONSHAPE_H
