//===- Sequence.h - The pages of one request --------------------*- C++ -*-===//

#ifndef KV_RUNTIME_SEQUENCE_H
#define KV_RUNTIME_SEQUENCE_H

#include "kv/Runtime/PrefixIndex.h"

#include <vector>

namespace kv {

/// What one request holds. Page i holds the tokens [i * pageSize, (i + 1) *
/// pageSize). The first `committed` pages are full, computed and in the prefix
/// index; pages behind the processed tokens are reserved and hold nothing yet.
/// Only a CacheEngine changes it; it must be released there before it ends.
class Sequence {
public:
  Sequence() = default;
  Sequence(Sequence &&) = default;
  Sequence &operator=(Sequence &&) = default;

  const std::vector<PageId> &pages() const { return held; }
  /// Tokens whose keys and values stand in the pages.
  int64_t processedTokens() const { return processed; }
  /// Full pages that other sequences can share.
  int32_t committedPages() const { return committed; }

private:
  friend class CacheEngine;

  std::vector<PageId> held;
  NodeRef tip = {PrefixIndex::RootId, 0}; // node of the last committed page
  int64_t processed = 0;
  int32_t committed = 0;
  uint32_t epoch = 0;
};

} // namespace kv

#endif // KV_RUNTIME_SEQUENCE_H
