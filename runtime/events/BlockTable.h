//===- BlockTable.h - What subscribers know of an engine --------*- C++ -*-===//
//
// Turns the engine's records, which name nodes, into events, which name blocks
// by hashes. The table remembers what has been told, for snapshots, and so that
// nothing is told twice. Two nodes may have the same prefix, if a page before
// one of them is gone. Then only the first is told, and the block is removed
// with the last.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_EVENTS_BLOCKTABLE_H
#define KV_RUNTIME_EVENTS_BLOCKTABLE_H

#include "EventQueue.h"
#include "runtime/hash/BlockHash.h"

#include "kv/Runtime/Engine/Groups.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>

namespace kv {

/// The fields that keep blocks of one scope apart from others, as text.
struct BlockScope {
  std::optional<std::string> model, adapter, salt;

  /// The scope of framed fields.
  static BlockScope of(std::span<const std::byte> fields);
};

struct CacheEvent {
  enum Kind { Stored, Removed, Cleared };
  Kind kind = Cleared;
  std::vector<uint64_t> blocks = {}; // each the child of the one before it
  std::optional<uint64_t> parent = {};
  std::vector<int32_t> tokens = {}; // of all blocks
  std::shared_ptr<const BlockScope> scope = {};
  /// The hashes of the images on the block, in hexadecimal; there is one block
  /// then.
  std::vector<std::string> images = {};
  int32_t group = 0;
  Tier tier = Tier::Device; // else blocks without tokens and parent
};

/// One thread at a time.
class BlockTable {
public:
  using Sink = std::function<void(CacheEvent)>;

  BlockTable(int32_t pageSize, int32_t numGroups);

  /// Gives `sink` the events of a record.
  void apply(const EventRecord &record, const Sink &sink);
  /// Forgets everything, without an event.
  void clear();
  /// Stored events of all blocks, parents first, without an AllBlocksCleared.
  void snapshot(const Sink &sink) const;

  /// Blocks that are stored, each counted in every group.
  int64_t size() const;

private:
  struct Node {
    BlockDigest digest;
    int32_t parent = StoredPages::NoParent;
    uint32_t groups = 0;
    uint64_t parentHash = 0; // with a parent
    std::shared_ptr<const BlockScope> scope = {};
  };

  void applyTiers(const EventRecord &record, const Sink &sink);
  void store(const StoredPages &pages, const Sink &sink);
  /// Adds a page of a node in a group. True if no other node had the block.
  bool add(int32_t node, int32_t group);
  bool remove(int32_t node, int32_t group);
  bool hasParent(const Node &node) const;
  std::span<const int32_t> tokensOf(int32_t node) const {
    return std::span(tokens).subspan(size_t(node) * pageSize, pageSize);
  }
  /// Appends to an event, which it begins if it has no block.
  void append(CacheEvent &event, int32_t node) const;

  size_t pageSize;
  BlockHasher hasher;
  std::vector<Node> nodes;     // by id
  std::vector<int32_t> tokens; // by id
  std::map<int32_t, std::vector<std::string>> images;
  /// By group: how many nodes have a page of this block.
  std::vector<std::unordered_map<uint64_t, int32_t>> counts;
  /// Blocks of the tiers that know when they lose one.
  std::map<Tier, std::unordered_set<uint64_t>> tiers = {{Tier::Host, {}},
                                                        {Tier::Disk, {}}};
};

} // namespace kv

#endif // KV_RUNTIME_EVENTS_BLOCKTABLE_H
