//===- CacheEvents.h - What enters and leaves the prefix index --*- C++ -*-===//
//
// An engine tells a sink which pages become findable, which cease to be, and
// when all of them do. A sink that applies these calls in order knows at every
// moment what the index holds. Unlike the command log, events are an output: no
// engine can be rebuilt from them.
//
// An event names a page by its *node*, the engine's number for a prefix: it is
// used again only for a prefix that is stored after this one was removed.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_ENGINE_CACHEEVENTS_H
#define KV_RUNTIME_ENGINE_CACHEEVENTS_H

#include <cstddef>
#include <cstdint>
#include <span>

namespace kv {

/// Consecutive pages of one prefix, each the child of the one before it; some
/// may be stored already. All pointers are valid during the call only.
struct StoredPages {
  static constexpr int32_t NoParent = -1;

  std::span<const int32_t> nodes = {};
  std::span<const int32_t> tokens = {}; // nodes.size() pages of them
  /// The node before the first one; NoParent: the prefix begins here.
  int32_t parent = NoParent;
  /// Bit g: the nodes have a page in layer group g; with recurrent layers the
  /// next bit: a snapshot of the state. 0: none has; such a node only links its
  /// children to what is before it.
  uint32_t groups = 0;
  /// Without a parent: the scope, as ScopeBytes frames it, without its epoch.
  std::span<const std::byte> scope = {};
  /// The images on the page, framed by ScopeBytes, if there are any; there is
  /// one node then.
  std::span<const std::byte> images = {};
};

/// Where a page is: in the memory that a model computes from, or in another
/// tier (PageConnector.h).
enum class Tier : uint8_t { Device, Host, Disk, Store };

/// A record of a page is found in a tier from now on, or is no more.
struct TierChange {
  uint64_t block = 0; // the hash that events give its prefix
  Tier tier = Tier::Host;
  bool isStored = false;
};

/// Called by the engine's thread, in the middle of its calls: must return soon,
/// and not call the engine.
class CacheEventSink {
public:
  virtual ~CacheEventSink() = default;

  virtual void stored(const StoredPages &pages) = 0;
  /// A node that had lost its page in these groups has one again.
  virtual void restored(int32_t node, uint32_t groups) = 0;
  /// The nodes have lost their pages in these groups.
  virtual void removed(std::span<const int32_t> nodes, uint32_t groups) = 0;
  /// No prefix that was stored so far is found any more. The nodes may yet be
  /// removed.
  virtual void cleared() = 0;

  /// Asked when a step begins: whether the sink has lost events and wants to
  /// hear of the whole index. If so, beginAll() follows, stored() for all that
  /// is findable, parents first, and endAll().
  virtual bool wantsAll() const = 0;
  virtual void beginAll() = 0;
  virtual void endAll() = 0;

  /// Whether the sink is told of tiers: of nothing, of what changes, or, since
  /// it knows nothing of them or has lost something, of all that they have.
  enum class TierInterest : uint8_t { None, Changes, All };
  virtual TierInterest tierInterest() const { return TierInterest::None; }
  /// `all`: the whole content instead of changes. Prefixes that cleared() has
  /// ended are no longer found in tiers, or are told again.
  virtual void tiersChanged(std::span<const TierChange> changes, bool all) {}
};

} // namespace kv

#endif // KV_RUNTIME_ENGINE_CACHEEVENTS_H
