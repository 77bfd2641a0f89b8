//===- Tiers.cpp - What is behind kv-run's caches -------------------------===//

#include "Tiers.h"

#include "kv/Runtime/Manager/PagedSizes.h"
#include "kv/Runtime/Serving/ModelIdentity.h"

#include <cmath>
#include <iostream>

using namespace kv;
using namespace kv::run;

/// With --role.
static Expected<void> choosePeer(const Options &options, std::string model,
                                 const MultiKVCacheParams &params,
                                 PagedKVCacheManager::TierOptions &tiers,
                                 PeerConnector *&peer) {
  bool computes = options.role == "prefill";
  if (computes && !(options.requests.empty() && options.dumpLogits.empty()))
    return makeError(KV_STATUS_INVALID_ARGUMENT,
                     "--role is prefill, which answers no requests of its own, "
                     "and ",
                     options.requests.empty() ? "--dump-logits" : "--requests",
                     " is given");
  tiers.open =
      PeerConnector::opener({.role = computes ? PeerConnector::Role::Prefill
                                              : PeerConnector::Role::Decode,
                             .endpoint = options.peer,
                             .cache = params,
                             .model = std::move(model),
                             .note =
                                 [](std::string_view sentence) {
                                   std::cerr << "kv-run: note: " << sentence
                                             << '\n';
                                 }},
                            peer);
  return {};
}

Expected<void> kv::run::chooseTiers(const Options &options, int64_t pages,
                                    const Manifest &manifest,
                                    MultiKVCacheParams &params,
                                    PagedKVCacheManager::TierOptions &tiers,
                                    PeerConnector *&peer) {
  bool hasDisk = !options.diskDirectory.empty();
  bool hasStore = !options.store.empty(), hasRole = !options.role.empty();
  if (!hasDisk && !hasStore && !options.hostPages && !hasRole)
    return {};
  const char *option = hasDisk             ? "--disk-dir"
                       : hasStore          ? "--store"
                       : options.hostPages ? "--host-pages"
                                           : "--role";
  if (!params.params[0].geometry.isPaged())
    return makeError(KV_STATUS_INVALID_ARGUMENT, option,
                     " is given, the artifact's cache has no pages");
  if (!options.prefixCache)
    return makeError(KV_STATUS_INVALID_ARGUMENT, option,
                     " is given, and --no-prefix-cache");
  constexpr int64_t MostBytes = int64_t(512) << 20;
  PagedSizes sizes(params, options.maxBatch / options.replicas, 0,
                   {.snapshots = options.snapshots});
  // What peers may read is in host memory, so all that the devices have is.
  int64_t hostPages = options.hostPages.value_or(sizes.hostPages(
      pages, options.role == "prefill" ? INT64_MAX : MostBytes));
  for (KVCacheParams &one : params.params) {
    one.connector =
        hasDisk || hasStore ? KVConnector::Tiered : KVConnector::Host;
    one.hostSwapSpaceGB = std::ldexp(
        static_cast<double>(hostPages * sizes.layout().recordBytes()), -30);
  }
  tiers.asynchronous = true; // other requests go on
  ModelIdentity identity(options.artifact, options.weights);
  if (hasDisk || hasStore) {
    Expected<std::string> model = identity.ofPages();
    if (!model)
      return std::unexpected(model.error());
    tiers.diskDirectory = options.diskDirectory;
    tiers.diskBytes = options.diskBytes;
    tiers.blockStoreEndpoint = options.store;
    tiers.model = std::move(*model);
  }
  if (!hasRole)
    return {};
  Expected<std::string> model = identity.ofPeers(manifest);
  if (!model)
    return std::unexpected(model.error());
  return choosePeer(options, std::move(*model), params, tiers, peer);
}
