//===- PrefixIndex.h - Exact lookup of computed prefixes --------*- C++ -*-===//
//
// A trie of full pages. A *node* is identified by its parent node and by the
// tokens of its page, so it stands for the whole prefix up to that page's end.
// Nodes are found by open addressing on a keyed 64-bit tag, and then compared
// in full, parent and tokens: tags that collide cost a comparison and can never
// return another prefix's page.
//
// Single writer, no lock; nothing is allocated after construction. Memory a
// node: 32 bytes, a page of tokens, 16 to 32 bytes of table.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_PREFIXINDEX_H
#define KV_RUNTIME_PREFIXINDEX_H

#include "kv/Runtime/PagePool.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace kv {

/// Names a node for as long as it lives: a slot that is used again has another
/// generation, so a stale reference never matches.
struct NodeRef {
  uint32_t id;
  uint32_t generation;

  bool operator==(const NodeRef &) const = default;
};

class PrefixIndex {
public:
  /// The id of the root, which has no page and whose generation is the epoch.
  static constexpr uint32_t RootId = UINT32_MAX;

  /// Maps (key, parent, tokens of a page) to a tag. Equality of nodes never
  /// rests on it.
  using TagFunction = uint64_t (*)(uint64_t key, NodeRef parent,
                                   std::span<const int32_t> tokens);

  /// XXH3-64 with the key and the parent as seed.
  static uint64_t defaultTag(uint64_t key, NodeRef parent,
                             std::span<const int32_t> tokens);

  /// Room for `capacity` nodes of `pageSize` tokens. `key` should be
  /// unpredictable where requests come from strangers.
  PrefixIndex(int32_t capacity, int32_t pageSize, uint64_t key,
              TagFunction tagFunction = defaultTag);

  /// The empty prefix of this epoch.
  NodeRef root() const { return {RootId, epoch}; }
  uint32_t currentEpoch() const { return epoch; }
  int32_t size() const { return numNodes; }

  /// The child of `parent` with exactly these `pageSize` tokens.
  std::optional<NodeRef> find(NodeRef parent,
                              std::span<const int32_t> tokens) const;

  /// Adds a node that find() does not find. `parent` is the root or lives; an
  /// unused node exists (there are never more nodes than pages).
  NodeRef insert(NodeRef parent, std::span<const int32_t> tokens, PageId page);

  /// Removes a node. References to it, its children's among them, go stale.
  void erase(uint32_t id);

  /// Starts a new epoch: no node of an older one is found any more. They stay
  /// until erased, since pages in use have them as content. O(1).
  void reset() { ++epoch; }

  bool isLive(NodeRef node) const;
  /// Whether node `id` was inserted in this epoch.
  bool isCurrent(uint32_t id) const { return nodes[id].epoch == epoch; }
  PageId page(uint32_t id) const { return nodes[id].page; }
  NodeRef parent(uint32_t id) const { return nodes[id].parent; }
  NodeRef ref(uint32_t id) const { return {id, nodes[id].generation}; }
  int32_t numChildren(uint32_t id) const { return nodes[id].children; }

private:
  struct Node {
    uint64_t tag = 0;
    NodeRef parent = {RootId, 0};
    uint32_t generation = 0;
    uint32_t epoch = 0;
    PageId page = NullPage; // NullPage: unused
    int32_t children = 0;
  };
  static_assert(sizeof(Node) == 32, "two nodes a cache line");

  /// The upper half of the tag stands beside the node's id, so that a probe
  /// touches a node only if half of its tag agrees.
  struct Slot {
    uint32_t fragment = 0;
    uint32_t node = EmptySlot;
  };
  static constexpr uint32_t EmptySlot = UINT32_MAX;

  std::span<const int32_t> tokensOf(uint32_t id) const {
    return {tokens.data() + static_cast<size_t>(id) * pageSize, pageSize};
  }
  size_t home(uint32_t fragment) const {
    return static_cast<size_t>((uint64_t(fragment) * slots.size()) >> 32);
  }
  size_t after(size_t slot) const {
    return slot + 1 == slots.size() ? 0 : slot + 1;
  }

  std::vector<Node> nodes;
  std::vector<int32_t> tokens;
  std::vector<Slot> slots; // at most half full
  std::vector<uint32_t> unused;
  size_t pageSize;
  uint64_t key;
  TagFunction tagFunction;
  uint32_t epoch = 0;
  int32_t numNodes = 0;
};

} // namespace kv

#endif // KV_RUNTIME_PREFIXINDEX_H
