//===- PackedBlocks.h - Reading blocks of a weight --------------*- C++ -*-===//

#ifndef KV_PASSES_COMMON_PACKEDBLOCKS_H
#define KV_PASSES_COMMON_PACKEDBLOCKS_H

#include "Emitter.h"

namespace kv {

/// The facts of a format (QuantFormats.def) that vector code needs.
struct FormatFacts {
  int64_t elements; // of a row in a sub-block
  int64_t header;   // bytes before the sub-blocks
  int64_t subBytes; // of a sub-block
  int64_t largest;  // magnitude of a value
  bool isSigned;
  int64_t offset; // that stored values are above what they mean
  bool minima;
  bool ownFactors = false; // of each sub-block
};

FormatFacts factsOf(QuantFormat format);

/// The element type of a format that has floats.
mlir::FloatType floatType(mlir::OpBuilder &b, QuantFormat format);

/// Factors of rows, f32: of the values, and what is added, or null.
struct BlockFactors {
  mlir::Value scale, minimum;
};

/// Emits vector code that reads the block `block` of 16 rows of a packed
/// weight, `lanes` of them at a time from `lane` on; `inner` is the block of
/// columns.
class BlockReader {
public:
  BlockReader(QuantFormat format, mlir::Value weight, mlir::Value block,
              int64_t lanes);

  int64_t getGroup() const { return group; }
  int64_t subBlocks() const { return group / facts.elements; }
  /// A vector with `each` elements a lane.
  mlir::VectorType vectorOf(mlir::Type element, int64_t each = 1) const;

  /// The factors of a block.
  BlockFactors header(Emitter &b, mlir::Value inner, int64_t lane) const;
  /// The factors of the sub-block whose bytes begin at `at`.
  BlockFactors factors(Emitter &b, mlir::Value inner, mlir::Value at,
                       int64_t lane, const BlockFactors &header) const;
  /// Calls `use` with each vector of values of the sub-block at `at`, four
  /// bytes a lane, as they are stored, and the place of the first element.
  void forEachPart(
      Emitter &b, mlir::Value inner, mlir::Value at, int64_t lane,
      llvm::function_ref<void(mlir::Value values, int64_t element)> use) const;
  /// Asks for what is read a while after the `bytes` bytes from `at` on: the
  /// blocks of one weight are one stream.
  void ask(Emitter &b, mlir::Value inner, mlir::Value at, int64_t bytes) const;

private:
  mlir::Value load(Emitter &b, mlir::Value inner, mlir::Value at, int64_t lane,
                   int64_t each) const;
  mlir::Value loadHeader(Emitter &b, mlir::Value inner, int64_t at,
                         int64_t lane) const;
  mlir::Value loadFactors(Emitter &b, mlir::Value inner, mlir::Value at,
                          int64_t lane, bool isSigned) const;

  QuantFormat format;
  FormatFacts facts;
  int64_t group; // elements of a row in a block
  mlir::Value weight, block;
  int64_t lanes;
};

} // namespace kv

#endif // KV_PASSES_COMMON_PACKEDBLOCKS_H
