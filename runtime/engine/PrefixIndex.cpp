//===- PrefixIndex.cpp - Exact lookup of computed prefixes ----------------===//

#include "kv/Runtime/Engine/PrefixIndex.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>

using namespace kv;

//===----------------------------------------------------------------------===//
// Tags
//===----------------------------------------------------------------------===//

/// Short, since each page waits for the one before it; the pages themselves are
/// hashed independently of each other.
static uint64_t chain(uint64_t key, uint64_t parent, uint64_t page) {
  uint64_t mixed = (parent ^ key) * 0x9E3779B97F4A7C15ull + page;
  return mixed ^ mixed >> 32;
}

static uint64_t hashPage(uint64_t key, const int32_t *tokens, size_t count) {
  return XXH3_64bits_withSeed(tokens, 4 * count, key);
}

uint64_t PrefixIndex::childTag(uint64_t parent,
                               std::span<const int32_t> page) const {
  if (options.tagFunction)
    return options.tagFunction(options.key, parent, page);
  return chain(options.key, parent,
               hashPage(options.key, page.data(), page.size()));
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
    const int32_t *page = tokens.data() + i * pageSize;
    // A length known at compile time halves the cost of the usual size.
    uint64_t hash = pageSize == 16 ? hashPage(options.key, page, 16)
                                   : hashPage(options.key, page, pageSize);
    tags[i] = parent = chain(options.key, parent, hash);
  }
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

bool PrefixIndex::create(const Options &wanted, ScopeTable &table) {
  options = wanted;
  scopes = &table;
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

uint32_t PrefixIndex::insert(uint64_t tag, NodeRef parent, uint32_t images,
                             const int32_t *tokens, uint32_t id) {
  assert(!isFull() && "no room");
  assert(isLive(parent) && "the parent is gone");
  assert((id != NoNode) == (options.nodes != nullptr) && "whose number?");
  if (!options.nodes) {
    id = unused;
    if (id != NoNode)
      unused = node(id).parent.id;
    else
      id = numMade++;
  }
  Node &added = node(id);
  assert((!options.nodes || added.children == Unused) && "the number is taken");
  added.tag = tag;
  added.parent = parent;
  added.children = 0;
  added.images = images;
  added.page = NullPage;
  if (options.pageSize == 16) // the usual size, without a call
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

  uint32_t fragment = static_cast<uint32_t>(tag >> 32);
  for (size_t at = home(fragment);; at = after(at)) {
    Bucket &bucket = buckets[at];
    if (uint32_t free = Bucket::equal(bucket.nodes, NoNode)) {
      int32_t slot = std::countr_zero(free);
      bucket.fragments[slot] = fragment;
      bucket.nodes[slot] = id;
      break;
    }
    ++bucket.passed;
  }
  ++numNodes;
  return id;
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
