//===- PrefixIndex.cpp - Exact lookup of computed prefixes ----------------===//

#include "PrefixIndex.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>

using namespace kv;

//===----------------------------------------------------------------------===//
// Tags
//===----------------------------------------------------------------------===//

/// Few instructions, since each page's tag waits for that of the page before
/// it. The hashes of the pages, `page`, do not wait for each other.
static uint64_t chain(uint64_t key, uint64_t parent, uint64_t page) {
  uint64_t mixed = (parent ^ key) * 0x9E3779B97F4A7C15ull + page;
  return mixed ^ mixed >> 32;
}

/// The hash of 16 tokens, the usual page size: NH, as in UMAC (RFC 4418), over
/// a secret pad. For an attacker who does not know the pad, the hashes of any
/// two different pages are equal with a probability of at most 2^-32.
static uint64_t hashSixteen(const std::array<uint32_t, 16> &pad,
                            const int32_t *tokens) {
  uint64_t sum = 0;
#ifdef __SSE2__
  auto load = [](const void *from) {
    return _mm_loadu_si128(static_cast<const __m128i *>(from));
  };
  __m128i sums = _mm_setzero_si128();
  for (int i = 0; i < 16; i += 4) {
    __m128i four = _mm_add_epi32(load(&tokens[i]), load(&pad[i]));
    sums = _mm_add_epi64(sums, _mm_mul_epu32(four, _mm_srli_epi64(four, 32)));
  }
  sums = _mm_add_epi64(sums, _mm_unpackhi_epi64(sums, sums));
  _mm_storel_epi64(reinterpret_cast<__m128i *>(&sum), sums);
#else
  for (int i = 0; i < 16; i += 2)
    sum += uint64_t(uint32_t(tokens[i]) + pad[i]) *
           (uint32_t(tokens[i + 1]) + pad[i + 1]);
#endif
  sum *= 0x9E3779B97F4A7C15ull; // mixes into the upper bits, the bucket's
  return sum ^ sum >> 32;
}

uint64_t PrefixIndex::hashPage(const int32_t *tokens) const {
  return options.pageSize == 16
             ? hashSixteen(pad, tokens)
             : XXH3_64bits_withSeed(tokens, 4 * size_t(options.pageSize),
                                    options.key);
}

uint64_t PrefixIndex::childTag(uint64_t parent,
                               std::span<const int32_t> page) const {
  if (options.tagFunction)
    return options.tagFunction(options.key, parent, page);
  return chain(options.key, parent, hashPage(page.data()));
}

uint64_t PrefixIndex::withImages(uint64_t parent,
                                 const ScopeBytes &images) const {
  return chain(options.key, parent, scopes->tagOf(images));
}

void PrefixIndex::childTags(uint64_t parent, std::span<const int32_t> tokens,
                            uint64_t *tags) const {
  size_t pageSize = options.pageSize, count = tokens.size() / pageSize;
  if (options.tagFunction) {
    for (size_t i = 0; i < count; ++i)
      tags[i] = parent = options.tagFunction(
          options.key, parent, tokens.subspan(i * pageSize, pageSize));
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    uint64_t hash = hashPage(tokens.data() + i * pageSize);
    tags[i] = parent = chain(options.key, parent, hash);
  }
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

bool PrefixIndex::create(const Options &wanted, ScopeTable &table) {
  options = wanted;
  scopes = &table;
  for (uint32_t i = 0; i < pad.size(); ++i)
    pad[i] =
        static_cast<uint32_t>(XXH3_64bits_withSeed(&i, sizeof(i), options.key));
  size_t capacity = options.capacity;
  numBuckets = capacity * 3 / (2 * Bucket::Slots) + 1;
  if (!buckets.create(numBuckets))
    return false;
  for (Bucket &bucket : buckets)
    std::ranges::fill(bucket.nodes, NoNode);
  if (options.nodes) {
    base = options.nodes;
    stride = options.pitch;
  } else {
    stride = (nodeBytes(options.pageSize, options.numGroups) + 7) / 8 * 8;
    if (!storage.create(capacity * stride, FixedArray<std::byte>::Untouched))
      return false;
    base = storage.begin();
  }
  for (uint32_t id = options.nodes ? 1 : 0, end = id + options.capacity;
       id < end; ++id) {
    node(id).generation = 0;
    node(id).children = Unused;
  }
  return true;
}

void PrefixIndex::erase(uint32_t id) {
  Node &gone = node(id);
  assert(gone.children != Unused && "erased twice");
  for (size_t at = home(static_cast<uint32_t>(gone.tag >> 32));;
       at = after(at)) {
    Bucket &bucket = buckets[at];
    if (uint32_t own = Bucket::equal(bucket.nodes, id)) {
      bucket.nodes[std::countr_zero(own)] = NoNode;
      break;
    }
    --bucket.passed;
  }

  if (gone.parent.isRoot())
    scopes->release(gone.parent.scope());
  else if (countsChildren() && isLive(gone.parent))
    --node(gone.parent.id).children;
  if (gone.images != NoImages)
    scopes->release(gone.images);
  gone.children = Unused;
  ++gone.generation;
  if (!options.nodes) {
    gone.parent.id = unused;
    unused = id;
  }
  --numNodes;
}

const char *PrefixIndex::check() const {
  int32_t live = 0;
  for (uint32_t id = options.nodes ? 1 : 0; id < numIds(); ++id) {
    if (!isUsed(id))
      continue;
    ++live;
    const Node &checked = node(id);
    if (find(checked.tag, checked.parent, checked.images, tokensOf(checked)) !=
        id)
      return "a node is not found, or another is";
    if (checked.parent.isRoot() && !isLive(checked.parent))
      return "a node's scope is gone";
  }
  if (live != numNodes)
    return "the count of nodes is wrong";
  size_t filled = 0;
  for (const Bucket &bucket : buckets)
    for (uint32_t id : bucket.nodes)
      filled += id != NoNode;
  return filled == size_t(numNodes) ? nullptr : "the table has other nodes";
}
