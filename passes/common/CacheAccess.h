//===- CacheAccess.h - Where decompositions find a cache's rows -*- C++ -*-===//
//
// One place knows strategy, layout and scales: pages through a table or slots,
// dimensions in any order, 8-bit elements with their scales. Decompositions
// speak of sequences, positions, heads and f32 numbers.
//
//===----------------------------------------------------------------------===//

#ifndef KV_PASSES_COMMON_CACHEACCESS_H
#define KV_PASSES_COMMON_CACHEACCESS_H

#include "Emitter.h"

namespace kv {

/// Where the row of a position lies; both indices.
struct CachePlace {
  mlir::Value page, slot;
};

/// The layer of a collection, or the last one where it is too large: that is
/// recorded as an error at this point.
mlir::Value checkedLayer(Emitter &b, mlir::Value layer, CollectionType type);

/// A resolved cache of one operation.
class CacheAccess {
public:
  /// Emits what does not depend on a row.
  CacheAccess(Emitter &b, CacheOpInterface op);

  CollectionType getType() const { return type; }
  mlir::Value numSequences(Emitter &b) const { return b.dim(lengths, 0); }
  mlir::Value numHeads(Emitter &b) const { return b.index(type.getHeads()); }

  mlir::Value checkLayer(Emitter &b, mlir::Value layer) const {
    return checkedLayer(b, layer, type);
  }

  /// Checks the plane of kv.load and kv.update in the same way.
  mlir::Value checkPlane(Emitter &b, mlir::Value plane) const;

  /// Where a row is read: some row of the cache even if the table says no page
  /// or ends before, so that the read is safe.
  CachePlace readPlace(Emitter &b, mlir::Value sequence,
                       mlir::Value position) const;

  /// Runs `body` where a row may be written; not for the null page, nor a page
  /// that does not exist.
  void whenWritable(
      Emitter &b, mlir::Value sequence, mlir::Value position,
      llvm::function_ref<void(Emitter &, const CachePlace &)> body) const;

  /// Where a row of a paged cache is written, and whether it may be written at
  /// all: what whenWritable() asks, for code without branches.
  std::pair<mlir::Value, CachePlace>
  writePlace(Emitter &b, mlir::Value sequence, mlir::Value position) const;

  /// An element as f32.
  mlir::Value load(Emitter &b, const CachePlace &place, mlir::Value plane,
                   mlir::Value layer, mlir::Value head,
                   mlir::Value element) const;

  /// Writes a head's row; `element` gives the f32 number of an index, and is
  /// called more than once where the row is scaled.
  void storeRow(
      Emitter &b, const CachePlace &place, mlir::Value plane, mlir::Value layer,
      mlir::Value head,
      llvm::function_ref<mlir::Value(Emitter &, mlir::Value)> element) const;

private:
  mlir::Value scaleOf(Emitter &b, mlir::Value largest) const;
  mlir::Value encode(Emitter &b, mlir::Value value) const;

  CollectionType type;
  CacheGeometry geometry;
  mlir::Value blocks, scales; // in logical order
  mlir::Value lengths, table;
  mlir::Value lastPage, lastEntry; // no lastEntry in a continuous cache
};

/// The buffer with its dimensions in logical order: a view. Blocks and scales
/// have the order of `layout` in memory.
mlir::Value inLogicalOrder(mlir::OpBuilder &b, mlir::Location loc,
                           mlir::Value buffer, Layout layout);

} // namespace kv

#endif // KV_PASSES_COMMON_CACHEACCESS_H
