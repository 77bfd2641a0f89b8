//===- Caches.cpp - The cache manager of a run ----------------------------===//

#include "Caches.h"
#include "Tiers.h"

#include "kv/Runtime/Manager/LoadKVCacheManager.h"

#include <random>

using namespace kv;
using namespace kv::run;

Expected<std::unique_ptr<Caches>> kv::run::openCaches(const Options &options,
                                                      LoadedModel &loaded,
                                                      RankedRunner &ranked,
                                                      bool hasRanks) {
  auto caches = std::make_unique<Caches>();
  MultiKVCacheParams &params = loaded.signature.cache;
  const Device &device = loaded.session.device();
  std::random_device entropy;
  PagedKVCacheManager::Options wanted;
  wanted.maxBatchSize = options.maxBatch;
  if (device.kind != Device::Kind::CPU)
    wanted.devices = {device};
  wanted.maxSeqLen = loaded.signature.maxSeqLen;
  wanted.maxSteps = 1;
  wanted.maxChunkTokens = options.maxBatchTokens;
  wanted.snapshots = options.snapshots;
  wanted.numPages = loaded.pages;
  wanted.key = (uint64_t(entropy()) << 32) | entropy();
  wanted.resetEndpoint = options.resetEndpoint;
  if (hasRanks)
    wanted.pageOps = [&](int32_t replica, std::span<const PageOp> ops) {
      ranked.addPageOps(replica, ops);
    };
  wanted.explainMisses = !options.metrics.empty();
  if (Expected<void> chosen =
          chooseTiers(options, loaded.pages, loaded.model.manifest(), params,
                      wanted.tiers, caches->peer);
      !chosen)
    return std::unexpected(chosen.error());
  bool isPaged = params.params[0].geometry.isPaged();
  if (!isPaged && !(options.events.empty() && options.resetEndpoint.empty()))
    return makeError(KV_STATUS_INVALID_ARGUMENT,
                     options.events.empty() ? "--reset-endpoint" : "--events",
                     " is given, the artifact's cache has no pages: it "
                     "caches no prefixes");
  Expected<Publishers> publishers = openPublishers(options, params);
  if (!publishers)
    return std::unexpected(publishers.error());
  caches->publishers = std::move(*publishers);
  for (const auto &publisher : caches->publishers)
    wanted.events.push_back(publisher.get());
  Expected<std::unique_ptr<KVCacheManager>> manager =
      loadKVCacheManager(params, wanted);
  if (!manager)
    return std::unexpected(manager.error());
  caches->manager = std::move(*manager);
  if (isPaged)
    caches->paged = static_cast<PagedKVCacheManager *>(caches->manager.get());
  return caches;
}
