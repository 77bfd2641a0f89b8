//===- PrefixHashes.cpp - What the pages of a prompt are called -----------===//

#include "PrefixHashes.h"

#include "runtime/engine/structures/ScopeTable.h"

using namespace kv;

std::span<const uint64_t> PrefixHashes::of(const Scope &scope,
                                           const Prompt &prompt) {
  hashes.clear();
  ScopeBytes bytes = ScopeBytes::of(scope, /*epoch=*/0);
  if (bytes.size() > ScopeBytes::Most)
    return {};
  BlockDigest digest = hasher.root(
      std::span(bytes.data(), bytes.size()).subspan(ScopeBytes::ScopeHeader));
  for (int64_t at = 0; at + pageSize < std::ssize(prompt.tokens);
       at += pageSize) {
    ScopeBytes images = ScopeBytes::of(prompt.images, at, at + pageSize);
    if (images.size() > ScopeBytes::Most)
      return {};
    digest = hasher.block(digest, {images.data(), images.size()},
                          prompt.tokens.subspan(static_cast<size_t>(at),
                                                static_cast<size_t>(pageSize)));
    hashes.push_back(wireHash(digest));
  }
  return hashes;
}
