//===- Caches.cpp - The cache manager of a run ----------------------------===//

#include "Loading.h"

#include "kv/Runtime/Manager/PagedSizes.h"
#include "kv/Runtime/Serving/ModelIdentity.h"

#include <cmath>
#include <iostream>
#include <random>

using namespace kv;
using namespace kv::run;

const char *Options::tierFlag() const {
  return !setup.tiers.diskDirectory.empty()                ? "--disk-dir"
         : !setup.tiers.blockStoreEndpoint.empty()         ? "--store"
         : hostPages                                       ? "--host-pages"
         : setup.peer.role != ManagerSetup::PeerRole::None ? "--role"
                                                           : nullptr;
}

/// Sets the connector of `params`, and completes a setup with its pages, as
/// --host-pages, --disk-dir, --store and --role ask for. Errors name the
/// option, or the file that cannot be read.
static Expected<void> chooseTiers(const Options &options,
                                  const Manifest &manifest,
                                  MultiKVCacheParams &params,
                                  ManagerSetup &setup) {
  PagedKVCacheManager::TierOptions &tiers = setup.tiers;
  using enum ManagerSetup::PeerRole;
  bool hasDisk = !tiers.diskDirectory.empty();
  bool hasStore = !tiers.blockStoreEndpoint.empty();
  const char *flag = options.tierFlag();
  if (!flag)
    return {};
  if (!params.params[0].geometry.isPaged())
    return makeError(KV_STATUS_INVALID_ARGUMENT, flag,
                     " is given, the artifact's cache has no pages");
  if (!options.prefixCache)
    return makeError(KV_STATUS_INVALID_ARGUMENT, flag,
                     " is given, and --no-prefix-cache");
  constexpr int64_t MostBytes = int64_t(512) << 20;
  PagedSizes sizes(params, options.steps.maxBatch / options.replicas, 0,
                   {.snapshots = setup.snapshots});
  // Peers read from host memory, so it has room for all pages of the devices.
  int64_t hostPages = options.hostPages.value_or(sizes.hostPages(
      setup.numPages, setup.peer.role == Prefill ? INT64_MAX : MostBytes));
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
    tiers.model = std::move(*model);
  }
  if (setup.peer.role == None)
    return {};
  if (setup.peer.role == Prefill &&
      !(options.requests.empty() && options.dumpLogits.empty()))
    return makeError(KV_STATUS_INVALID_ARGUMENT,
                     "--role is prefill, which answers no requests of its own, "
                     "and ",
                     options.requests.empty() ? "--dump-logits" : "--requests",
                     " is given");
  Expected<std::string> model = identity.ofPeers(manifest);
  if (!model)
    return std::unexpected(model.error());
  setup.peer.model = std::move(*model);
  return {};
}

Expected<std::unique_ptr<ManagerHost>>
kv::run::openCaches(const Options &options, LoadedModel &loaded,
                    RankedRunner &ranked, bool hasRanks) {
  MultiKVCacheParams &params = loaded.signature.cache;
  const Device &device = loaded.session.device();
  std::random_device entropy;
  ManagerSetup wanted = options.setup;
  wanted.maxBatchSize = options.steps.maxBatch;
  if (device.kind != Device::Kind::CPU)
    wanted.devices = {device};
  wanted.maxSeqLen = loaded.signature.maxSeqLen;
  wanted.maxSteps = 1;
  wanted.maxChunkTokens = options.steps.maxBatchTokens;
  wanted.numPages = loaded.pages;
  wanted.availableCacheMemory = 0; // of which the pages were computed
  wanted.key = (uint64_t(entropy()) << 32) | entropy();
  if (hasRanks)
    wanted.pageOps = [&](int32_t replica, std::span<const PageOp> ops) {
      ranked.addPageOps(replica, ops);
    };
  if (Expected<void> chosen =
          chooseTiers(options, loaded.model.manifest(), params, wanted);
      !chosen)
    return std::unexpected(chosen.error());
  auto caches = std::make_unique<ManagerHost>();
  auto note = [](std::string_view sentence) {
    std::cerr << "kv-run: note: " << sentence << '\n';
  };
  if (Expected<void> opened = caches->open(params, std::move(wanted), note);
      !opened)
    return std::unexpected(opened.error());
  return caches;
}
