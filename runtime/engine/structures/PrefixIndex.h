//===- PrefixIndex.h - Exact lookup of computed prefixes --------*- C++ -*-===//
//
// A trie of full pages. A *node* is identified by its parent node, the tokens
// of its page and the images on it. So a node stands for the whole prefix up to
// the end of that page; the parent of a first page is its scope, a *root*.
// Nodes are found by a keyed 64-bit tag in a hash table whose buckets are cache
// lines. The node is then compared in full: tags that collide cost a
// comparison, but never return the page of another prefix.
//
// The tag of a prefix is a hash of its parent's tag and its last page, so the
// tags of a whole prompt are computed first. Their buckets are prefetched
// before the first tag is looked up.
//
// A node has one page in each layer group. In an engine with a full group, a
// node lives exactly as long as its pages of full groups: the id of the first
// of these is the node's id, and the node is stored after that page's record,
// in the same cache line. Without a full group, a node lives as long as one of
// its pages or children does, and the index gives it an id and memory.
//
// One thread, no lock; nothing is allocated after create(). A node takes 32
// bytes, 4 for each token, 4 for each group but the first, and 13 in the table.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_ENGINE_STRUCTURES_PREFIXINDEX_H
#define KV_RUNTIME_ENGINE_STRUCTURES_PREFIXINDEX_H

#include "FixedArray.h"
#include "Prefetch.h"
#include "ScopeTable.h"

#include "kv/Runtime/Engine/PageOps.h"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace kv {

/// A reference to a node, or to a root, which stands for a scope. An id that is
/// used again has another generation, so a stale reference never matches.
struct NodeRef {
  static constexpr uint32_t RootBit = 1u << 31;

  uint32_t id = RootBit;
  uint32_t generation = 0;

  bool isRoot() const { return id & RootBit; }
  uint32_t scope() const { return id & ~RootBit; }
  bool operator==(const NodeRef &) const = default;
};

/// Maps (key, parent's tag, tokens of the last page) to the tag of a prefix.
/// Tags only find candidates: nodes are compared in full.
using TagFunction = uint64_t (*)(uint64_t key, uint64_t parent,
                                 std::span<const int32_t> tokens);

class PrefixIndex {
public:
  static constexpr uint32_t NoNode = UINT32_MAX;
  /// In place of an id of images: there are none on the page.
  static constexpr uint32_t NoImages = ScopeTable::None;

  struct Options {
    int32_t capacity = 0; // nodes
    int32_t pageSize = 0; // tokens
    int32_t numGroups = 1;
    uint64_t key = 0;
    TagFunction tagFunction = nullptr; // null: XXH3-64
    /// The address of node 0, if nodes are stored in the caller's memory,
    /// `pitch` bytes apart: the caller then chooses their ids, 1 to `capacity`,
    /// and children are not counted. Null: the index has memory of its own and
    /// chooses the ids.
    std::byte *nodes = nullptr;
    size_t pitch = 0;
  };

  /// Bytes of a node, without those in the table.
  static size_t nodeBytes(int32_t pageSize, int32_t numGroups) {
    return sizeof(Node) + 4 * (size_t(pageSize) + numGroups - 1);
  }

  /// `scopes` outlives the index. False: no memory.
  [[nodiscard]] bool create(const Options &options, ScopeTable &scopes);

  int32_t size() const { return numNodes; }
  int32_t capacity() const { return options.capacity; }
  bool isFull() const { return numNodes == options.capacity; }

  NodeRef root(uint32_t scope) const {
    return {NodeRef::RootBit | scope, scopes->generation(scope)};
  }
  uint64_t tagOf(NodeRef ref) const {
    return ref.isRoot() ? scopes->tag(ref.scope()) : node(ref.id).tag;
  }

  /// The tag of the prefix that is one page longer than that of `parent`.
  uint64_t childTag(uint64_t parent, std::span<const int32_t> page) const;
  /// The parent that replaces `parent` in childTag() if there are images on the
  /// page.
  uint64_t withImages(uint64_t parent, const ScopeBytes &images) const;
  /// The tags of the consecutive pages of `tokens` after `parent`, if there are
  /// images on none of them.
  void childTags(uint64_t parent, std::span<const int32_t> tokens,
                 uint64_t *tags) const;

  /// The child of `parent` with this tag, these images and exactly these
  /// `pageSize` tokens; NoNode if there is none.
  uint32_t find(uint64_t tag, NodeRef parent, uint32_t images,
                const int32_t *tokens) const {
    return search(
        tag, [&](uint32_t id) { return is(id, tag, parent, images, tokens); });
  }

  /// Adds a node without pages, which find() does not find, and a reference to
  /// the id `images`. The index is not full and `parent` is live. `id` is
  /// unused if the caller chooses the ids, otherwise NoNode. Returns the node's
  /// id.
  uint32_t insert(uint64_t tag, NodeRef parent, uint32_t images,
                  const int32_t *tokens, uint32_t id = NoNode) {
    return insertAt(home(static_cast<uint32_t>(tag >> 32)), tag, parent, images,
                    tokens, id);
  }

  /// The id of the node that find() finds, or else `id`, which insert() has
  /// added. Only where the caller chooses the ids.
  uint32_t findOrInsert(uint64_t tag, NodeRef parent, uint32_t images,
                        const int32_t *tokens, uint32_t id) {
    uint32_t fragment = static_cast<uint32_t>(tag >> 32);
    size_t at = home(fragment);
    // Usually half of the tag is in no bucket at all.
    if (buckets[at].passed > 0 ||
        Bucket::equal(buckets[at].fragments, fragment)) [[unlikely]]
      if (uint32_t known = find(tag, parent, images, tokens); known != NoNode)
        return known;
    return insertAt(at, tag, parent, images, tokens, id);
  }

  /// Removes a node. References to it, also those of its children, become
  /// stale.
  void erase(uint32_t id);

  PageId page(uint32_t id, int32_t group = 0) const {
    return group == 0 ? node(id).page : furtherPages(id)[group - 1];
  }
  void setPage(uint32_t id, int32_t group, PageId page) {
    (group == 0 ? node(id).page : furtherPages(id)[group - 1]) = page;
  }

  NodeRef ref(uint32_t id) const { return {id, node(id).generation}; }
  NodeRef parent(uint32_t id) const { return node(id).parent; }
  uint64_t tag(uint32_t id) const { return node(id).tag; }
  uint32_t images(uint32_t id) const { return node(id).images; }
  bool countsChildren() const { return !options.nodes; }
  uint32_t numChildren(uint32_t id) const { return node(id).children; }
  /// All ids of nodes are in [firstId(), numIds()).
  uint32_t firstId() const { return options.nodes ? 1 : 0; }
  uint32_t numIds() const {
    return options.nodes ? uint32_t(options.capacity) + 1 : numMade;
  }
  std::span<const int32_t> tokens(uint32_t id) const {
    return {tokensOf(node(id)), static_cast<size_t>(options.pageSize)};
  }
  bool isUsed(uint32_t id) const { return node(id).children != Unused; }
  bool isLive(NodeRef ref) const {
    return ref.isRoot()
               ? scopes->generation(ref.scope()) == ref.generation &&
                     scopes->isLive(ref.scope())
               : node(ref.id).generation == ref.generation && isUsed(ref.id);
  }

  /// The first node whose tag has the same upper half, which is very likely the
  /// one that find() returns; NoNode: there is none. Usually reads one or two
  /// cache lines, all of the table.
  uint32_t candidate(uint64_t tag) const {
    return search(tag, [](uint32_t) { return true; });
  }
  /// Whether find() would return this candidate.
  bool is(uint32_t id, uint64_t tag, NodeRef parent, uint32_t images,
          const int32_t *tokens) const {
    const Node &checked = node(id);
    return checked.tag == tag && checked.parent == parent &&
           checked.images == images && sameTokens(checked, tokens);
  }
  /// Prefetches a node's first and last cache line: with pages of 16 tokens,
  /// these are all.
  void prefetchNode(uint32_t id) const {
    prefetch(&node(id));
    prefetch(tokensOf(node(id)) + options.pageSize - 1);
  }
  void prefetchBucket(uint64_t tag) const {
    prefetch(&buckets[home(static_cast<uint32_t>(tag >> 32))]);
  }

  size_t bytes() const { return storage.bytes() + buckets.bytes(); }

  /// The first contradiction, or null. For tests: O(nodes).
  const char *check() const;

private:
  struct Node {
    uint64_t tag;
    NodeRef parent; // unused: parent.id is the next unused node
    uint32_t generation;
    uint32_t children;
    uint32_t images;
    PageId page; // of group 0
                 // followed by the tokens, and pages of further groups
  };
  static_assert(sizeof(Node) == 32);
  static constexpr uint32_t Unused = UINT32_MAX;

  /// One cache line of the table. The upper half of each node's tag is stored
  /// with its id, so that a lookup reads a node only if that half agrees.
  struct alignas(64) Bucket {
    static constexpr int32_t Slots = 7;

    uint32_t fragments[Slots];
    uint32_t nodes[Slots]; // NoNode: free
    /// Nodes whose home is this bucket or an earlier one, and which are stored
    /// in a later one because it was full.
    uint32_t passed;

    /// Bit s: the value of slot s is `wanted`. Without branches, since a node's
    /// slot cannot be predicted.
    static uint32_t equal(const uint32_t (&values)[Slots], uint32_t wanted) {
#ifdef __SSE2__
      auto four = [&](int32_t from) {
        __m128i loaded =
            _mm_loadu_si128(reinterpret_cast<const __m128i *>(values + from));
        __m128i same = _mm_cmpeq_epi32(
            loaded, _mm_set1_epi32(static_cast<int32_t>(wanted)));
        return static_cast<uint32_t>(_mm_movemask_ps(_mm_castsi128_ps(same)));
      };
      return four(0) | four(3) << 3;
#else
      uint32_t bits = 0;
      for (int32_t slot = 0; slot < Slots; ++slot)
        bits |= uint32_t(values[slot] == wanted) << slot;
      return bits;
#endif
    }
  };
  static_assert(sizeof(Bucket) == 64, "one cache line");

  /// The first node with the tag's upper half that accept(id) accepts, or
  /// NoNode.
  template <class Accept> uint32_t search(uint64_t tag, Accept &&accept) const {
    uint32_t fragment = static_cast<uint32_t>(tag >> 32);
    size_t first = home(fragment), at = first;
    do {
      const Bucket &bucket = buckets[at];
      for (uint32_t left = Bucket::equal(bucket.fragments, fragment); left;
           left &= left - 1)
        if (uint32_t id = bucket.nodes[std::countr_zero(left)];
            id != NoNode && accept(id))
          return id;
      if (bucket.passed == 0) [[likely]]
        return NoNode;
      at = after(at);
    } while (at != first); // in a small table every bucket may have overflowed
    return NoNode;
  }
  uint64_t hashPage(const int32_t *tokens) const;
  /// insert(), where `at` is the tag's home.
  uint32_t insertAt(size_t at, uint64_t tag, NodeRef parent, uint32_t images,
                    const int32_t *tokens, uint32_t id);

  Node &node(uint32_t id) const {
    detail::countAccess();
    return *reinterpret_cast<Node *>(base + size_t(id) * stride);
  }
  int32_t *tokensOf(const Node &of) const {
    return reinterpret_cast<int32_t *>(const_cast<Node *>(&of) + 1);
  }
  PageId *furtherPages(uint32_t id) const {
    return tokensOf(node(id)) + options.pageSize;
  }
  bool sameTokens(const Node &of, const int32_t *tokens) const {
    const int32_t *own = tokensOf(of);
    if (options.pageSize != 16)
      return std::memcmp(own, tokens, 4 * size_t(options.pageSize)) == 0;
    int32_t differ = 0; // the usual page size, without a call
    for (int32_t i = 0; i < 16; ++i)
      differ |= own[i] ^ tokens[i];
    return differ == 0;
  }
  size_t home(uint32_t fragment) const {
    return static_cast<size_t>((uint64_t(fragment) * numBuckets) >> 32);
  }
  size_t after(size_t bucket) const {
    return bucket + 1 == numBuckets ? 0 : bucket + 1;
  }

  Options options;
  ScopeTable *scopes = nullptr;
  std::array<uint32_t, 16> pad = {}; // derived from the key, and as secret
  FixedArray<std::byte> storage;     // nodes, unless the caller has the memory
  std::byte *base = nullptr;         // node 0; they are `stride` apart
  FixedArray<Bucket> buckets;        // at most two thirds full
  size_t numBuckets = 0;
  size_t stride = 0;
  uint32_t unused = NoNode; // first of the unused nodes, linked by parent.id
  uint32_t numMade = 0;     // nodes that were ever used
  int32_t numNodes = 0;
};

inline uint32_t PrefixIndex::insertAt(size_t at, uint64_t tag, NodeRef parent,
                                      uint32_t images, const int32_t *tokens,
                                      uint32_t id) {
  assert(!isFull() && "no room");
  assert(isLive(parent) && "the parent is gone");
  assert((id != NoNode) == (options.nodes != nullptr) && "who chooses the id?");
  if (!options.nodes) {
    id = unused;
    if (id != NoNode)
      unused = node(id).parent.id;
    else
      id = numMade++;
  }
  Node &added = node(id);
  assert((!options.nodes || added.children == Unused) && "the id is in use");
  added.tag = tag;
  added.parent = parent;
  added.children = 0;
  added.images = images;
  added.page = NullPage;
  if (options.pageSize == 16) // the usual page size, without a call
    std::memcpy(tokensOf(added), tokens, 64);
  else
    std::memcpy(tokensOf(added), tokens, 4 * size_t(options.pageSize));
  for (int32_t group = 1; group < options.numGroups; ++group)
    furtherPages(id)[group - 1] = NullPage;
  if (parent.isRoot())
    scopes->refer(parent.scope());
  else if (countsChildren())
    ++node(parent.id).children;
  if (images != NoImages)
    scopes->refer(images);

  for (;; at = after(at)) {
    Bucket &bucket = buckets[at];
    if (uint32_t free = Bucket::equal(bucket.nodes, NoNode)) [[likely]] {
      int32_t slot = std::countr_zero(free);
      bucket.fragments[slot] = static_cast<uint32_t>(tag >> 32);
      bucket.nodes[slot] = id;
      break;
    }
    ++bucket.passed;
  }
  ++numNodes;
  return id;
}

} // namespace kv

#endif // KV_RUNTIME_ENGINE_STRUCTURES_PREFIXINDEX_H
