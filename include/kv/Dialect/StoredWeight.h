//===- StoredWeight.h - How a file holds a weight ---------------*- C++ -*-===//

#ifndef KV_DIALECT_STOREDWEIGHT_H
#define KV_DIALECT_STOREDWEIGHT_H

#include "llvm/ADT/StringRef.h"

namespace kv {

/// Dictionary attribute of a weight argument that the weights file holds in
/// another form, two arrays of integers: the file's tensor has `shape`, and the
/// argument is that tensor with its dimensions in the order `order`, read as
/// the argument's shape.
inline constexpr llvm::StringLiteral kStoredAttrName = "kv.stored";

/// Array attribute of a weight argument [rows, columns] that no exporter has
/// written: an expression for the columns with even numbers and one for those
/// with odd ones. An expression is an array: ["position"], the number of the
/// row; ["number", TYPE, [one for all columns, or one for each]]; ["weight",
/// NAME, expressions of the indices...]; [OPERATION, TYPE, expressions...].
inline constexpr llvm::StringLiteral kComputedAttrName = "kv.computed";

} // namespace kv

#endif // KV_DIALECT_STOREDWEIGHT_H
