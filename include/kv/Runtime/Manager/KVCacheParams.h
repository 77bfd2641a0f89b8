//===- KVCacheParams.h - The parameters of one cache ------------*- C++ -*-===//

#ifndef KV_RUNTIME_MANAGER_KVCACHEPARAMS_H
#define KV_RUNTIME_MANAGER_KVCACHEPARAMS_H

#include "kv/Runtime/Session/Manifest.h"

#include <array>
#include <optional>

namespace kv {

/// The method that proposes draft tokens for speculative decoding.
enum class SpeculativeMethod { None, Eagle, MTP, DFlash };

/// Where pages are kept that leave the devices. None: there is no connector.
/// Null: a connector that keeps nothing.
enum class KVConnector { None, Null, Host, Tiered };

/// The lower-case spellings: "none", "eagle", "mtp", ... and "none", "null",
/// "host", "tiered".
std::string_view speculativeMethodName(SpeculativeMethod method);
std::string_view connectorName(KVConnector connector);

/// The KV heads that each of `degree` shards holds: heads / degree; or 1, if
/// there are fewer heads than shards and `replicate` allows several shards to
/// hold the same head. Error: `heads` cannot be divided in either way.
Expected<int64_t> shardHeads(int64_t heads, int64_t degree,
                             bool replicate = false);

/// One cache: the geometry that the artifact was compiled for, and how it is
/// spread over devices and backed by other memory. The geometry comes from the
/// manifest, so that graph and manager cannot disagree.
///
/// Devices are replica-major: device = replica * tensor parallel degree +
/// shard. Every device of a replica holds `geometry` for the same pages.
struct KVCacheParams {
  std::string name = "kv";        // the collection's name
  CacheGeometry geometry;         // on one device: `heads` is of one shard
  int64_t numDevices = 1;         // of all replicas together
  int64_t dataParallelDegree = 1; // number of replicas
  bool enablePrefixCaching = false;
  SpeculativeMethod speculativeMethod = SpeculativeMethod::None;
  int64_t numDraftTokens = 0; // that one step verifies; any method may have 0
  KVConnector connector = KVConnector::None;
  std::optional<double> hostSwapSpaceGB = {}; // GiB of host memory for pages

  static KVCacheParams fromCollection(const Collection &collection) {
    return {.name = collection.name, .geometry = collection.geometry};
  }

  bool operator==(const KVCacheParams &) const = default;

  /// Errors name the collection, the field, what it holds and what is allowed.
  Expected<void> validate() const;

  /// Whether the cache arguments of `entry` are what a manager of these
  /// parameters gives one device. Errors name the argument, the field and both
  /// values.
  Expected<void> validate(const Entry &entry) const;

  DType dtype() const { return static_cast<DType>(geometry.dtype); }
  DType scaleDType() const { return static_cast<DType>(geometry.scaleDType); }
  /// Tokens of a page, or of a slot.
  int64_t pageSize() const { return geometry.page; }
  int64_t tensorParallelDegree() const {
    return numDevices / dataParallelDegree;
  }
  /// Whether every shard of a replica holds the same rows: latent caches do.
  bool replicatesKVAcrossTP() const {
    return geometry.isLatent() && tensorParallelDegree() > 1;
  }
  bool quantized() const { return geometry.hasScales(); }
  /// Draft tokens of one model step: all of a DFlash block, one of the others.
  int64_t numDraftTokensPerStep() const;

  /// Keys, values and scales of one page in all of its layers, on one device.
  int64_t bytesPerPage() const { return geometry.bytesPerPage(); }
  /// bytesPerPage() summed over the devices of a replica.
  int64_t bytesPerBlock() const {
    return bytesPerPage() * tensorParallelDegree();
  }
  /// Pages that a sequence of `tokens` tokens has in one band.
  int64_t pagesFor(int64_t tokens) const {
    return (tokens + pageSize() - 1) / pageSize();
  }

  /// The shape of a device's blocks for `count` usable pages or slots. Paged:
  /// [count + 1, planes, layers of a page, page, heads, dim]; the first page is
  /// the null page. Continuous: [count, planes, layers, max_seq, heads, dim].
  /// Recurrent, for `count` usable states: [count + 1, 1, layers, 1, heads,
  /// dim].
  /// The dimensions are given here in logical order, and returned in the order
  /// of the layout.
  std::array<int64_t, 6> blockShape(int64_t count) const;
  /// The shape of the scales: that of the blocks with dim / scaleGroup as the
  /// last logical dimension.
  std::array<int64_t, 6> scaleShape(int64_t count) const;

  /// The arguments that a collection becomes in an entry's signature: blocks,
  /// cache_lengths, lookup_table, max_lengths and, in a cache with scales,
  /// scales, in this order. Names are "<prefix><collection>.<component>".
  /// `layers`, if given, replaces geometry.layers.
  std::vector<Argument>
  symbolicInputs(std::string_view prefix = {},
                 std::optional<int64_t> layers = std::nullopt) const;
};

/// Several caches for the same sequences. All of them share the lengths and one
/// pool of pages; caches with the same window share page ids as well
/// (PoolLayout.h). Recurrent collections have states instead of pages; a
/// manager needs a paged one before them.
struct MultiKVCacheParams {
  std::vector<KVCacheParams> params;

  MultiKVCacheParams() = default;
  /// One cache. Implicit, so that a function that takes several caches takes
  /// one, too.
  MultiKVCacheParams(KVCacheParams one) { params.push_back(std::move(one)); }

  /// Checks the caches together. Errors: no cache is given; two caches have the
  /// same name; a cache does not validate; there are more groups of pages than
  /// an engine has. A page must take less than 2^63 bytes on all devices
  /// together. The caches must agree on page size, strategy, devices, data
  /// parallel degree, prefix caching, connector, host swap space, speculative
  /// method and draft tokens. An error names the field and both values.
  static Expected<MultiKVCacheParams>
  fromParams(std::vector<KVCacheParams> params);

  bool operator==(const MultiKVCacheParams &) const = default;
  /// Errors: those of fromParams().
  Expected<void> validate() const;
  /// Like validate(), and all caches must have `strategy`.
  Expected<void> validate(CacheStrategy strategy) const;

  int64_t pageSize() const { return params[0].pageSize(); }
  int64_t numDevices() const { return params[0].numDevices; }
  int64_t dataParallelDegree() const { return params[0].dataParallelDegree; }
  int64_t tensorParallelDegree() const {
    return params[0].tensorParallelDegree();
  }
  bool enablePrefixCaching() const { return params[0].enablePrefixCaching; }
  KVConnector connector() const { return params[0].connector; }
  /// Whether the connector keeps pages.
  bool hasTiers() const {
    return connector() == KVConnector::Host ||
           connector() == KVConnector::Tiered;
  }
  std::optional<double> hostSwapSpaceGB() const {
    return params[0].hostSwapSpaceGB;
  }
  SpeculativeMethod speculativeMethod() const {
    return params[0].speculativeMethod;
  }
  int64_t numDraftTokens() const { return params[0].numDraftTokens; }
  /// Token positions that a reservation adds for drafts, after the tokens that
  /// are known. These positions are for the drafts that the step verifies and
  /// the drafts that it proposes for the next step. Where a step proposes a
  /// whole block at once, the token that the block begins with is counted too.
  int64_t draftSlots() const;
  /// Whether every cache is the same on all devices of a replica.
  bool replicatesKVAcrossTP() const;

  /// Bytes that one page id takes on one device: a row in every slab of the
  /// pool (PoolLayout.h). bytesPerBlock() sums them over all devices of a
  /// replica.
  int64_t bytesPerPage() const;
  int64_t bytesPerBlock() const;
  /// Pages that a sequence of `tokens` tokens has in one band of one window.
  int64_t pagesFor(int64_t tokens) const { return params[0].pagesFor(tokens); }

  /// KVCacheParams::symbolicInputs() of each cache, one after the other.
  std::vector<Argument>
  symbolicInputs(std::string_view prefix = {},
                 std::optional<int64_t> layers = std::nullopt) const;
};

} // namespace kv

#endif // KV_RUNTIME_MANAGER_KVCACHEPARAMS_H
