//===- BlockTable.cpp - What subscribers know of an engine ----------------===//

#include "BlockTable.h"

#include <algorithm>
#include <cstring>
#include <utility>

using namespace kv;

//===----------------------------------------------------------------------===//
// Frames
//===----------------------------------------------------------------------===//

namespace {

/// Reads what ScopeBytes has framed.
class FrameReader {
public:
  explicit FrameReader(std::span<const std::byte> bytes) : left(bytes) {}

  bool atEnd() const { return left.empty(); }
  template <class T> T number() {
    T value = 0;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }
  std::optional<std::string> field() {
    if (!number<uint8_t>())
      return std::nullopt;
    auto bytes = take(number<uint64_t>());
    return std::string(reinterpret_cast<const char *>(bytes.data()),
                       bytes.size());
  }

private:
  std::span<const std::byte> take(size_t count) {
    std::span<const std::byte> taken = left.first(count);
    left = left.subspan(count);
    return taken;
  }
  std::span<const std::byte> left;
};

/// The hashes of framed images.
std::vector<std::string> hashesOf(std::span<const std::byte> framed) {
  std::vector<std::string> hashes;
  for (FrameReader reader(framed); !reader.atEnd();) {
    reader.number<uint8_t>(); // the letter i
    reader.number<int64_t>(); // begin
    reader.number<int64_t>(); // length
    std::string text;
    for (unsigned char byte : reader.field().value_or("")) {
      constexpr char Digits[] = "0123456789abcdef";
      text += Digits[byte >> 4];
      text += Digits[byte & 15];
    }
    hashes.push_back(std::move(text));
  }
  return hashes;
}

} // namespace

BlockScope BlockScope::of(std::span<const std::byte> fields) {
  FrameReader reader(fields);
  BlockScope scope;
  scope.model = reader.field();
  scope.adapter = reader.field();
  scope.salt = reader.field();
  return scope;
}

//===----------------------------------------------------------------------===//
// Table
//===----------------------------------------------------------------------===//

BlockTable::BlockTable(int32_t pageSize, int32_t numGroups)
    : pageSize(pageSize), counts(numGroups) {}

void BlockTable::apply(const EventRecord &record, const Sink &sink) {
  const StoredPages &pages = record.pages;
  switch (record.kind) {
  case EventRecord::Stored:
    return store(pages, sink);
  case EventRecord::Restored:
  case EventRecord::Removed:
    for (int32_t group = 0; group < static_cast<int32_t>(counts.size());
         ++group) {
      if (!(pages.groups >> group & 1))
        continue;
      bool stored = record.kind == EventRecord::Restored;
      CacheEvent event = {.kind =
                              stored ? CacheEvent::Stored : CacheEvent::Removed,
                          .group = group};
      for (int32_t node : pages.nodes)
        if (stored && add(node, group))
          append(event, node);
        else if (!stored && remove(node, group))
          event.blocks.push_back(wireHash(nodes[node].digest));
      if (!event.blocks.empty())
        sink(std::move(event));
    }
    return;
  case EventRecord::Cleared:
    clear();
    return sink({});
  case EventRecord::Tiers:
    return applyTiers(record, sink);
  case EventRecord::TiersCleared:
    for (auto &[tier, blocks] : tiers)
      if (!blocks.empty())
        sink({.kind = CacheEvent::Removed,
              .blocks = {blocks.begin(), blocks.end()},
              .tier = tier});
    for (auto &[tier, blocks] : tiers)
      blocks.clear();
    return;
  default:
    return;
  }
}

void BlockTable::applyTiers(const EventRecord &record, const Sink &sink) {
  CacheEvent event = {.kind = record.isStored() ? CacheEvent::Stored
                                                : CacheEvent::Removed,
                      .tier = record.tier()};
  std::span<const std::byte> bytes = record.pages.images;
  auto known = tiers.find(event.tier);
  for (uint64_t block; !bytes.empty(); bytes = bytes.subspan(sizeof block)) {
    std::memcpy(&block, bytes.data(), sizeof block);
    // A store that machines share forgets by itself: it is not followed.
    if (known == tiers.end() ||
        (record.isStored() ? known->second.insert(block).second
                           : known->second.erase(block) > 0))
      event.blocks.push_back(block);
  }
  if (!event.blocks.empty())
    sink(std::move(event));
}

void BlockTable::clear() {
  // Nodes of a forgotten epoch are yet to be removed: they have no groups then.
  nodes.clear();
  tokens.clear();
  images.clear();
  for (auto &count : counts)
    count.clear();
  for (auto &[tier, blocks] : tiers)
    blocks.clear();
}

void BlockTable::store(const StoredPages &pages, const Sink &sink) {
  std::vector<CacheEvent> events(counts.size());
  auto give = [&](CacheEvent &event) {
    if (!event.blocks.empty())
      sink(std::exchange(event, {}));
  };
  int32_t parent = pages.parent;
  for (size_t i = 0; i < pages.nodes.size(); ++i) {
    int32_t id = pages.nodes[i];
    if (size_t(id) >= nodes.size()) {
      nodes.resize(std::max<size_t>(id + 1, nodes.size() * 2));
      tokens.resize(nodes.size() * pageSize);
    }
    Node &node = nodes[id];
    // A twin's page is stored already.
    if (node.groups == 0) {
      std::span<const int32_t> own =
          pages.tokens.subspan(i * pageSize, pageSize);
      node.parent = parent;
      if (parent == StoredPages::NoParent) {
        node.scope =
            std::make_shared<const BlockScope>(BlockScope::of(pages.scope));
        node.digest = hasher.block(hasher.root(pages.scope), pages.images, own);
      } else {
        node.scope = nodes[parent].scope;
        node.parentHash = wireHash(nodes[parent].digest);
        node.digest = hasher.block(nodes[parent].digest, pages.images, own);
      }
      std::ranges::copy(own, tokens.begin() + int64_t(id) * pageSize);
      images.erase(id);
      if (!pages.images.empty())
        images[id] = hashesOf(pages.images);
    }
    for (int32_t group = 0; group < static_cast<int32_t>(counts.size());
         ++group) {
      bool isNew = (pages.groups >> group & 1) && add(id, group);
      if (!isNew) { // The next one does not follow the last one told.
        give(events[group]);
        continue;
      }
      events[group].kind = CacheEvent::Stored;
      events[group].group = group;
      append(events[group], id);
    }
    parent = id;
  }
  for (CacheEvent &event : events)
    give(event);
}

bool BlockTable::add(int32_t id, int32_t group) {
  Node &node = nodes[id];
  if (node.groups >> group & 1)
    return false;
  node.groups |= 1u << group;
  return ++counts[group][wireHash(node.digest)] == 1;
}

bool BlockTable::remove(int32_t id, int32_t group) {
  if (size_t(id) >= nodes.size() || !(nodes[id].groups >> group & 1))
    return false;
  Node &node = nodes[id];
  node.groups &= ~(1u << group);
  auto count = counts[group].find(wireHash(node.digest));
  if (--count->second > 0)
    return false;
  counts[group].erase(count);
  return true;
}

void BlockTable::append(CacheEvent &event, int32_t id) const {
  const Node &node = nodes[id];
  if (event.blocks.empty()) {
    if (node.parent != StoredPages::NoParent)
      event.parent = node.parentHash;
    event.scope = node.scope;
    if (auto found = images.find(id); found != images.end())
      event.images = found->second;
  }
  event.blocks.push_back(wireHash(node.digest));
  std::span<const int32_t> own = tokensOf(id);
  event.tokens.insert(event.tokens.end(), own.begin(), own.end());
}

/// Whether the parent is still what it was when the node was stored.
bool BlockTable::hasParent(const Node &node) const {
  return node.parent != StoredPages::NoParent &&
         nodes[node.parent].groups != 0 &&
         wireHash(nodes[node.parent].digest) == node.parentHash;
}

void BlockTable::snapshot(const Sink &sink) const {
  for (int32_t group = 0; group < static_cast<int32_t>(counts.size());
       ++group) {
    auto isThere = [&](int32_t id) { return nodes[id].groups >> group & 1; };
    std::vector<bool> told(nodes.size());
    std::vector<int32_t> path;
    for (int32_t id = 0; id < static_cast<int32_t>(nodes.size()); ++id) {
      if (!isThere(id))
        continue;
      for (int32_t at = id; !told[at]; at = nodes[at].parent) {
        told[at] = true;
        path.push_back(at);
        if (!hasParent(nodes[at]))
          break;
      }
      CacheEvent event;
      auto give = [&] {
        if (!event.blocks.empty())
          sink(std::exchange(event, {}));
      };
      for (; !path.empty(); path.pop_back()) {
        int32_t next = path.back();
        // A block with images is an event of its own, and one that this group
        // lacks ends one.
        if (!isThere(next) || images.contains(next) || !event.images.empty())
          give();
        if (!isThere(next))
          continue;
        event.kind = CacheEvent::Stored;
        event.group = group;
        append(event, next);
      }
      give();
    }
  }
  constexpr size_t Most = 1024; // blocks of an event
  for (const auto &[tier, blocks] : tiers)
    for (auto at = blocks.begin(); at != blocks.end();) {
      CacheEvent event = {.kind = CacheEvent::Stored, .tier = tier};
      for (; at != blocks.end() && event.blocks.size() < Most; ++at)
        event.blocks.push_back(*at);
      sink(std::move(event));
    }
}

int64_t BlockTable::size() const {
  int64_t sum = 0;
  for (const auto &count : counts)
    sum += static_cast<int64_t>(count.size());
  return sum;
}
