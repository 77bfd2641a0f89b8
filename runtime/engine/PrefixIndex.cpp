//===- PrefixIndex.cpp - Exact lookup of computed prefixes ----------------===//

#include "kv/Runtime/PrefixIndex.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cassert>

using namespace kv;

uint64_t PrefixIndex::defaultTag(uint64_t key, NodeRef parent,
                                 std::span<const int32_t> tokens) {
  uint64_t above = (uint64_t(parent.generation) << 32) | parent.id;
  return XXH3_64bits_withSeed(tokens.data(), tokens.size_bytes(),
                              key ^ (above * 0x9E3779B97F4A7C15ull));
}

PrefixIndex::PrefixIndex(int32_t capacity, int32_t pageSize, uint64_t key,
                         TagFunction tagFunction)
    : nodes(capacity), tokens(static_cast<size_t>(capacity) * pageSize),
      slots(std::bit_ceil(2 * static_cast<size_t>(std::max(capacity, 1)))),
      pageSize(pageSize), key(key), tagFunction(tagFunction) {
  unused.reserve(capacity);
  for (int32_t id = capacity - 1; id >= 0; --id)
    unused.push_back(static_cast<uint32_t>(id));
}

std::optional<NodeRef>
PrefixIndex::find(NodeRef parent, std::span<const int32_t> wanted) const {
  assert(wanted.size() == pageSize && "full pages only");
  uint64_t tag = tagFunction(key, parent, wanted);
  uint32_t fragment = static_cast<uint32_t>(tag >> 32);
  for (size_t at = home(fragment); slots[at].node != EmptySlot;
       at = after(at)) {
    if (slots[at].fragment != fragment)
      continue;
    const Node &node = nodes[slots[at].node];
    if (node.tag == tag && node.parent == parent &&
        std::ranges::equal(tokensOf(slots[at].node), wanted))
      return ref(slots[at].node);
  }
  return std::nullopt;
}

NodeRef PrefixIndex::insert(NodeRef parent, std::span<const int32_t> added,
                            PageId page) {
  assert(added.size() == pageSize && "full pages only");
  assert(!unused.empty() && "more nodes than pages");
  assert((parent.id == RootId || isLive(parent)) && "the parent is gone");
  uint32_t id = unused.back();
  unused.pop_back();
  uint64_t tag = tagFunction(key, parent, added);
  std::ranges::copy(added, tokens.begin() + static_cast<size_t>(id) * pageSize);
  Node &node = nodes[id];
  node.tag = tag;
  node.parent = parent;
  node.epoch = epoch;
  node.page = page;
  node.children = 0;
  if (parent.id != RootId)
    ++nodes[parent.id].children;

  uint32_t fragment = static_cast<uint32_t>(tag >> 32);
  size_t at = home(fragment);
  while (slots[at].node != EmptySlot)
    at = after(at);
  slots[at] = {fragment, id};
  ++numNodes;
  return ref(id);
}

void PrefixIndex::erase(uint32_t id) {
  Node &node = nodes[id];
  assert(node.page != NullPage && "erased twice");
  size_t hole = home(static_cast<uint32_t>(node.tag >> 32));
  while (slots[hole].node != id)
    hole = after(hole);
  // Entries behind the hole move up unless that would put one before its home.
  // Distances are taken modulo the table's size, a power of two.
  size_t mask = slots.size() - 1;
  for (size_t at = after(hole); slots[at].node != EmptySlot; at = after(at)) {
    size_t distance = (at - home(slots[at].fragment)) & mask;
    if (distance >= ((at - hole) & mask)) {
      slots[hole] = slots[at];
      hole = at;
    }
  }
  slots[hole] = {};

  if (node.parent.id != RootId && isLive(node.parent))
    --nodes[node.parent.id].children;
  node.page = NullPage;
  ++node.generation;
  unused.push_back(id);
  --numNodes;
}

bool PrefixIndex::isLive(NodeRef node) const {
  return node.id < nodes.size() && nodes[node.id].page != NullPage &&
         nodes[node.id].generation == node.generation;
}
