//===- BlockHash.h - Names of cached prefixes outside -----------*- C++ -*-===//
//
// A chain of SHA-256 over what makes a prefix what it is, so that equal
// prefixes have the same names in every process, and those of two scopes never
// do:
//
//   root  = SHA-256("kv-root" | model | adapter | salt)
//   block = SHA-256("kv-block" | parent (32 bytes) | page size |
//                   bytes of images | images | tokens)
//
// where `|` joins bytes and numbers are little endian: page size, bytes of
// images and each token of 4 bytes. A field of the scope is a byte 0 if it is
// absent, else a byte 1, its length of 8 bytes, and the field. An image on the
// page is the letter i, two numbers of 8 bytes, a byte 1, the length of its
// hash in 8 bytes, and the hash. The numbers are the token at which the image
// begins, counted from the page's first and maybe negative, and its length in
// tokens.
//
// On the wire a block is the last 8 bytes of its digest, as a big-endian
// number.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_HASH_BLOCKHASH_H
#define KV_RUNTIME_HASH_BLOCKHASH_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>

struct evp_md_ctx_st;
struct evp_md_st;

namespace kv {

using BlockDigest = std::array<std::byte, 32>;

/// One thread at a time.
class BlockHasher {
public:
  BlockHasher();
  ~BlockHasher();
  BlockHasher(const BlockHasher &) = delete;
  BlockHasher &operator=(const BlockHasher &) = delete;

  /// `scope` as ScopeBytes frames its fields.
  BlockDigest root(std::span<const std::byte> scope);
  /// `images` as ScopeBytes frames those on a page.
  BlockDigest block(const BlockDigest &parent,
                    std::span<const std::byte> images,
                    std::span<const int32_t> tokens);

private:
  BlockDigest digest(std::initializer_list<std::span<const std::byte>> parts);

  evp_md_st *algorithm;
  evp_md_ctx_st *context;
};

/// A block's name on the wire.
uint64_t wireHash(const BlockDigest &digest);

} // namespace kv

#endif // KV_RUNTIME_HASH_BLOCKHASH_H
