//===- RecordFormat.cpp - A record on a disk ------------------------------===//

#include "RecordFormat.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cstring>

using namespace kv;

static_assert(std::endian::native == std::endian::little,
              "records are written as they are in memory");

namespace {

struct Fixed {
  char magic[8];
  uint32_t version, pageSize, imageBytes, headerBytes;
  uint64_t dataBytes;
  PrefixName name, parent, scope;
  uint64_t generation;
  XXH128_canonical_t checksum;
};
static_assert(sizeof(Fixed) == 152);

constexpr char Magic[8] = {'k', 'v', 'r', 'e', 'c', 'o', 'r', 'd'};
constexpr uint32_t Version = 1;

/// Everything of a header but its checksum, whose place holds zeros.
void fill(std::span<std::byte> header, const PrefixPage &page, size_t dataBytes,
          uint64_t generation) {
  Fixed fixed = {.magic = {},
                 .version = Version,
                 .pageSize = static_cast<uint32_t>(page.tokens.size()),
                 .imageBytes = static_cast<uint32_t>(page.images.size()),
                 .headerBytes = static_cast<uint32_t>(header.size()),
                 .dataBytes = dataBytes,
                 .name = page.name,
                 .parent = page.parent,
                 .scope = page.scope,
                 .generation = generation,
                 .checksum = {}};
  std::ranges::copy(Magic, fixed.magic);
  std::ranges::fill(header, std::byte());
  std::memcpy(header.data(), &fixed, sizeof fixed);
  std::byte *at = header.data() + sizeof fixed;
  std::memcpy(at, page.tokens.data(), page.tokens.size_bytes());
  if (!page.images.empty())
    std::memcpy(at + page.tokens.size_bytes(), page.images.data(),
                page.images.size());
}

} // namespace

bool OwnedPage::is(const PrefixPage &page) const {
  return name == page.name && parent == page.parent && scope == page.scope &&
         std::ranges::equal(tokens, page.tokens) &&
         std::ranges::equal(images, page.images);
}

size_t kv::recordHeaderBytes(int32_t pageSize) {
  size_t bytes = sizeof(Fixed) + 4 * size_t(pageSize) + MostImageBytes;
  return (bytes + 63) / 64 * 64;
}

struct RecordHeader::Sum {
  XXH3_state_t state;
};

RecordHeader::RecordHeader(size_t bytes)
    : header(bytes), sum(std::make_unique<Sum>()) {}

RecordHeader::~RecordHeader() = default;

void RecordHeader::begin(const PrefixPage &page, size_t dataBytes,
                         uint64_t generation) {
  fill(header, page, dataBytes, generation);
  XXH3_128bits_reset(&sum->state);
  add(header);
}

void RecordHeader::add(std::span<const std::byte> part) {
  XXH3_128bits_update(&sum->state, part.data(), part.size());
}

std::span<std::byte> RecordHeader::finish() {
  XXH128_canonical_t all;
  XXH128_canonicalFromHash(&all, XXH3_128bits_digest(&sum->state));
  std::memcpy(header.data() + offsetof(Fixed, checksum), &all, sizeof all);
  return header;
}
