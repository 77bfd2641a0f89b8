//===- KVCacheParams.h - The parameters of one cache ------------*- C++ -*-===//

#ifndef KV_RUNTIME_MANAGER_KVCACHEPARAMS_H
#define KV_RUNTIME_MANAGER_KVCACHEPARAMS_H

#include "kv/Runtime/Manifest.h"

#include <array>
#include <optional>

namespace kv {

/// How draft tokens are made.
enum class SpeculativeMethod { None, Eagle, MTP, DFlash };

/// Where pages go that leave the devices. Null keeps nothing.
enum class KVConnector { None, Null, Host, Tiered };

/// "eagle", "tiered", ...; "none" for None.
std::string_view speculativeMethodName(SpeculativeMethod method);
std::string_view connectorName(KVConnector connector);

/// KV heads of one of `degree` shards: heads / degree, or 1 where `replicate`
/// allows that several shards hold the same head. Error: neither is possible.
Expected<int64_t> shardHeads(int64_t heads, int64_t degree,
                             bool replicate = false);

/// One cache: the geometry that the artifact was compiled for, and how it is
/// spread over devices and backed by other memory. The geometry comes from the
/// manifest, so that graph and manager cannot disagree.
///
/// Devices are replica-major: device = replica * tensor parallel degree +
/// shard. Every device of a replica holds `geometry` for the same pages.
struct KVCacheParams {
  std::string name = "kv";        // of the collection
  CacheGeometry geometry;         // of one device: heads are those of a shard
  int64_t numDevices = 1;         // in all replicas
  int64_t dataParallelDegree = 1; // replicas
  bool enablePrefixCaching = false;
  SpeculativeMethod speculativeMethod = SpeculativeMethod::None;
  int64_t numDraftTokens = 0; // a step; a method may have none
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
  /// The same on all devices of a replica.
  int64_t bytesPerBlock() const {
    return bytesPerPage() * tensorParallelDegree();
  }
  /// Pages of a sequence of `tokens` tokens, in one band.
  int64_t pagesFor(int64_t tokens) const {
    return (tokens + pageSize() - 1) / pageSize();
  }

  /// The blocks of a device, the dimensions in the layout's order. Paged:
  /// [count + 1, 2 or 1, layers of a page, page, heads, dim], the first page
  /// being the null page. Continuous: [count, 2 or 1, layers, max_seq, heads,
  /// dim].
  std::array<int64_t, 6> blockShape(int64_t count) const;
  /// The same for the scales, whose last dimension is dim / group.
  std::array<int64_t, 6> scaleShape(int64_t count) const;

  /// What a collection is expanded to in an entry's signature: blocks,
  /// cache_lengths, lookup_table, max_lengths and, where there are some,
  /// scales, in this order. Names are "<prefix><collection>.<component>".
  /// `layers` replaces the geometry's.
  std::vector<Argument>
  symbolicInputs(std::string_view prefix = {},
                 std::optional<int64_t> layers = std::nullopt) const;
};

/// Several caches for the same sequences. They share lengths and one pool of
/// pages; those with one window share page ids, too (PoolLayout.h).
struct MultiKVCacheParams {
  std::vector<KVCacheParams> params;

  MultiKVCacheParams() = default;
  /// A cache alone, so that what takes several takes one as well.
  MultiKVCacheParams(KVCacheParams one) { params.push_back(std::move(one)); }

  /// Errors: none given; a name that is used twice; parameters that do not
  /// validate; fields that all caches must share and do not: page size,
  /// strategy, devices, data parallel degree, prefix caching, connector, host
  /// swap space, speculative method, draft tokens; more groups of pages than an
  /// engine has; a page of 2^63 bytes on all devices. Both values are named.
  static Expected<MultiKVCacheParams>
  fromParams(std::vector<KVCacheParams> params);

  bool operator==(const MultiKVCacheParams &) const = default;
  Expected<void> validate() const;
  /// The same, and the strategy must be this one.
  Expected<void> validate(CacheStrategy strategy) const;

  int64_t pageSize() const { return params[0].pageSize(); }
  int64_t numDevices() const { return params[0].numDevices; }
  int64_t dataParallelDegree() const { return params[0].dataParallelDegree; }
  int64_t tensorParallelDegree() const {
    return params[0].tensorParallelDegree();
  }
  bool enablePrefixCaching() const { return params[0].enablePrefixCaching; }
  KVConnector connector() const { return params[0].connector; }
  std::optional<double> hostSwapSpaceGB() const {
    return params[0].hostSwapSpaceGB;
  }
  SpeculativeMethod speculativeMethod() const {
    return params[0].speculativeMethod;
  }
  int64_t numDraftTokens() const { return params[0].numDraftTokens; }
  /// Positions that a reservation keeps for drafts beyond the tokens that are
  /// known: those being verified, those that follow, and the one token that a
  /// block of drafts comes with.
  int64_t draftSlots() const;
  /// Whether every cache is the same on all devices of a replica.
  bool replicatesKVAcrossTP() const;

  /// What one page id costs a device, and all devices of a replica: a row in
  /// each array of the pool. Caches with one window have arrays of their own;
  /// those of different windows share arrays whose rows are equally long.
  int64_t bytesPerPage() const;
  int64_t bytesPerBlock() const;
  /// Pages of a sequence of `tokens` tokens, in one band of one window.
  int64_t pagesFor(int64_t tokens) const { return params[0].pagesFor(tokens); }

  /// Cache by cache.
  std::vector<Argument>
  symbolicInputs(std::string_view prefix = {},
                 std::optional<int64_t> layers = std::nullopt) const;
};

} // namespace kv

#endif // KV_RUNTIME_MANAGER_KVCACHEPARAMS_H
