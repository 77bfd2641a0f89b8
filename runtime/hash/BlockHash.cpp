//===- BlockHash.cpp - Names of cached prefixes outside -------------------===//

#include "BlockHash.h"

#include <openssl/evp.h>

#include <bit>
#include <string_view>

using namespace kv;

static_assert(std::endian::native == std::endian::little,
              "tokens are hashed as they are in memory");

static std::span<const std::byte> bytesOf(std::string_view text) {
  return std::as_bytes(std::span(text));
}

// Fetched once: to look the algorithm up costs more than a block.
BlockHasher::BlockHasher()
    : algorithm(EVP_MD_fetch(nullptr, "SHA256", nullptr)),
      context(EVP_MD_CTX_new()) {}

BlockHasher::~BlockHasher() {
  EVP_MD_CTX_free(context);
  EVP_MD_free(algorithm);
}

BlockDigest
BlockHasher::digest(std::initializer_list<std::span<const std::byte>> parts) {
  BlockDigest result;
  EVP_DigestInit_ex2(context, algorithm, nullptr);
  for (std::span<const std::byte> part : parts)
    EVP_DigestUpdate(context, part.data(), part.size());
  EVP_DigestFinal_ex(context, reinterpret_cast<unsigned char *>(result.data()),
                     nullptr);
  return result;
}

BlockDigest BlockHasher::root(std::span<const std::byte> scope) {
  return digest({bytesOf("kv-root"), scope});
}

BlockDigest BlockHasher::block(const BlockDigest &parent,
                               std::span<const std::byte> images,
                               std::span<const int32_t> tokens) {
  uint32_t sizes[] = {static_cast<uint32_t>(tokens.size()),
                      static_cast<uint32_t>(images.size())};
  return digest({bytesOf("kv-block"), parent, std::as_bytes(std::span(sizes)),
                 images, std::as_bytes(tokens)});
}

uint64_t kv::wireHash(const BlockDigest &digest) {
  uint64_t hash = 0;
  for (size_t i = 24; i < 32; ++i)
    hash = hash << 8 | std::to_integer<uint64_t>(digest[i]);
  return hash;
}
