//===- PrefixHashes.h - What the pages of a prompt are called ---*- C++ -*-===//

#ifndef KV_RUNTIME_ROUTING_PREFIXHASHES_H
#define KV_RUNTIME_ROUTING_PREFIXHASHES_H

#include "runtime/hash/BlockHash.h"

#include "kv/Runtime/Engine/Scope.h"

#include <vector>

namespace kv {

/// Names the pages of prompts as events do. One thread at a time.
class PrefixHashes {
public:
  explicit PrefixHashes(int32_t pageSize) : pageSize(pageSize) {}

  /// Of the full pages of a prompt that a cache may have: the last token is
  /// always computed. Empty if the scope or an image is too long for a name.
  /// Valid until the next call.
  std::span<const uint64_t> of(const Scope &scope, const Prompt &prompt);

private:
  int32_t pageSize;
  BlockHasher hasher;
  std::vector<uint64_t> hashes;
};

} // namespace kv

#endif // KV_RUNTIME_ROUTING_PREFIXHASHES_H
