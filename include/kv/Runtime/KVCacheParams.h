//===- KVCacheParams.h - The geometry of one cache --------------*- C++ -*-===//

#ifndef KV_RUNTIME_KVCACHEPARAMS_H
#define KV_RUNTIME_KVCACHEPARAMS_H

#include "kv/Runtime/Manifest.h"

#include <array>

namespace kv {

/// The geometry of a paged cache, as the artifact was compiled for it. Built
/// from the manifest, so that graph and manager cannot disagree.
struct KVCacheParams {
  std::string name = "kv"; // of the collection
  std::string strategy = "paged";
  DType dtype = DType::BF16;
  int64_t numLayers = 0;
  int64_t numKVHeads = 0;
  int64_t headDim = 0;
  int64_t pageSize = 0; // tokens
  std::string layout = "nhd";

  static KVCacheParams fromCollection(const Collection &collection);

  bool operator==(const KVCacheParams &) const = default;

  /// Errors name the field, what it holds and what is allowed.
  Expected<void> validate() const;

  /// Whether the cache arguments of `entry` are what a manager of these
  /// parameters gives. Errors name the argument, the field and both values.
  Expected<void> validate(const Entry &entry) const;

  /// Keys and values of one page in every layer.
  int64_t bytesPerPage() const;
  /// Pages that `bytes` hold, the null page not counted.
  int64_t pagesIn(int64_t bytes) const;
  /// Pages of a sequence of `tokens` tokens.
  int64_t pagesFor(int64_t tokens) const;

  /// [pages + 1, 2, layers, page, heads, dim]: the first page is the null page;
  /// keys, then values.
  std::array<int64_t, 6> blockShape(int64_t pages) const;

  /// What a collection is expanded to in an entry's signature: blocks,
  /// cache_lengths, lookup_table, max_lengths, in this order.
  std::vector<Argument> symbolicInputs() const;
};

} // namespace kv

#endif // KV_RUNTIME_KVCACHEPARAMS_H
