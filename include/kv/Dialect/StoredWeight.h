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

} // namespace kv

#endif // KV_DIALECT_STOREDWEIGHT_H
