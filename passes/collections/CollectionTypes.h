//===- CollectionTypes.h - The collections that a module names --*- C++ -*-===//
//
// A part of a collection's type holds for the whole module: the types are
// collected here, a pass decides, and every use is replaced.
//
//===----------------------------------------------------------------------===//

#ifndef KV_PASSES_COLLECTIONS_COLLECTIONTYPES_H
#define KV_PASSES_COLLECTIONS_COLLECTIONTYPES_H

#include "kv/Dialect/KV.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

namespace mlir {
class ModuleOp;
} // namespace mlir

namespace kv {

struct CollectionTypes {
  /// In the order in which the module names them, or a cache of theirs.
  llvm::SetVector<CollectionType> all;
  /// Types whose blocks the module has opened (kv.fetch, kv.unpack, operations
  /// on components): their shape stands in other types too.
  llvm::DenseSet<CollectionType> opened;

  static CollectionTypes of(mlir::ModuleOp module);
};

/// Replaces collections, and the caches of them, in every type and attribute.
void replaceCollectionTypes(
    mlir::ModuleOp module,
    const llvm::DenseMap<CollectionType, CollectionType> &replacements);

/// The type as text.
std::string printType(mlir::Type type);

} // namespace kv

#endif // KV_PASSES_COLLECTIONS_COLLECTIONTYPES_H
