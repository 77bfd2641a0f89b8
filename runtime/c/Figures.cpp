//===- Figures.cpp - What cache managers say of themselves, in C ----------===//

#include "Handles.h"

using namespace kv;
using namespace kv::capi;

int32_t kvManagerNumReplicas(const KvManager *manager) {
  return figure("kvManagerNumReplicas", "manager", manager,
                [](const KvManager &own) { return own->numReplicas(); });
}
int64_t kvManagerMaxSeqLen(const KvManager *manager) {
  return figure("kvManagerMaxSeqLen", "manager", manager,
                [](const KvManager &own) { return own->maxSeqLen(); });
}
int64_t kvManagerPayloadBytesPerToken(const KvManager *manager) {
  return figure(
      "kvManagerPayloadBytesPerToken", "manager", manager,
      [](const KvManager &own) { return own->payloadBytesPerToken(); });
}

int32_t kvManagerNumDevices(const KvManager *manager) {
  return figure("kvManagerNumDevices", "manager", manager,
                [](const KvManager &own) {
                  return static_cast<int32_t>(own.state->devices.size());
                });
}

int32_t kvManagerGetDevice(const KvManager *manager, int32_t index,
                           const char **device) {
  return guarded([&] {
    KV_REQUIRE("kvManagerGetDevice", manager);
    KV_REQUIRE("kvManagerGetDevice", device);
    const std::vector<std::string> &devices = manager->state->devices;
    if (index < 0 || index >= static_cast<int64_t>(devices.size()))
      return invalid("kvManagerGetDevice: device ", index, ", allowed: 0 to ",
                     devices.size() - 1);
    *device = devices[index].c_str();
    return int32_t(KV_STATUS_OK);
  });
}

int32_t kvManagerBlocksFor(const KvManager *manager, int64_t tokens,
                           int64_t *pages) {
  return guarded([&] {
    KV_REQUIRE("kvManagerBlocksFor", manager);
    KV_REQUIRE("kvManagerBlocksFor", pages);
    if (tokens < 0 || tokens > INT32_MAX)
      return invalid("kvManagerBlocksFor: ", tokens, " tokens, allowed: 0 to ",
                     INT32_MAX);
    *pages = (*manager)->blocksFor(tokens);
    return int32_t(KV_STATUS_OK);
  });
}

int32_t kvManagerNumFreeBlocks(const KvManager *manager, int32_t replica,
                               int64_t *pages) {
  return guarded([&] {
    KV_REQUIRE("kvManagerNumFreeBlocks", manager);
    KV_REQUIRE("kvManagerNumFreeBlocks", pages);
    if (replica >= (*manager)->numReplicas())
      return invalid("kvManagerNumFreeBlocks: replica ", replica,
                     ", allowed: 0 to ", (*manager)->numReplicas() - 1,
                     ", or less for all");
    *pages = replica < 0 ? (*manager)->numFreeBlocks()
                         : (*manager)->numFreeBlocks(replica);
    return int32_t(KV_STATUS_OK);
  });
}

int64_t kvManagerTotalNumPages(const KvManager *manager) {
  return figure("kvManagerTotalNumPages", "manager", manager,
                [](const KvManager &own) { return own->totalNumPages(); });
}
int64_t kvManagerNumPagesPerReplica(const KvManager *manager) {
  return figure("kvManagerNumPagesPerReplica", "manager", manager,
                [](const KvManager &own) { return own->numPagesPerReplica(); });
}
double kvManagerFreeBlocksPct(const KvManager *manager) {
  return figure("kvManagerFreeBlocksPct", "manager", manager,
                [](const KvManager &own) { return own->freeBlocksPct(); });
}
int32_t kvManagerMetricsPort(const KvManager *manager) {
  return figure("kvManagerMetricsPort", "manager", manager,
                [](const KvManager &own) {
                  const auto &metrics = own.state->metrics;
                  return metrics ? metrics->port() : 0;
                });
}
double kvManagerUsedBlocksPct(const KvManager *manager) {
  return figure("kvManagerUsedBlocksPct", "manager", manager,
                [](const KvManager &own) { return own->usedBlocksPct(); });
}
int64_t kvManagerTotalNumHostPages(const KvManager *manager) {
  return figure("kvManagerTotalNumHostPages", "manager", manager,
                [](const KvManager &own) { return own->totalNumHostPages(); });
}
double kvManagerHostCommittedBlockPct(const KvManager *manager) {
  return figure(
      "kvManagerHostCommittedBlockPct", "manager", manager,
      [](const KvManager &own) { return own->hostCommittedBlockPct(); });
}
int64_t kvManagerPoolBytes(const KvManager *manager) {
  return figure("kvManagerPoolBytes", "manager", manager,
                [](const KvManager &own) { return own->poolBytes(); });
}
int64_t kvManagerHostBytes(const KvManager *manager) {
  return figure("kvManagerHostBytes", "manager", manager,
                [](const KvManager &own) { return own->hostBytes(); });
}

int32_t kvManagerGetMetrics(const KvManager *manager, KvMetrics *metrics) {
  return guarded([&] {
    KV_REQUIRE("kvManagerGetMetrics", manager);
    KV_REQUIRE("kvManagerGetMetrics", metrics);
    KVCacheMetrics made = (*manager)->metrics();
    *metrics = {
        made.inputTokens,      made.cachedTokens,     made.evictedPages,
        made.refusals,         made.peakUsedPages,    made.promptTokens(),
        made.cacheHitRate(),   made.loadedPages,      made.storedPages,
        made.diskPagesRead,    made.diskPagesWritten, made.storePagesRead,
        made.storePagesWritten};
    return int32_t(KV_STATUS_OK);
  });
}

int32_t kvManagerResetMetrics(KvManager *manager) {
  return guarded([&] {
    KV_REQUIRE("kvManagerResetMetrics", manager);
    (*manager)->resetMetrics();
    return int32_t(KV_STATUS_OK);
  });
}

int32_t kvManagerResetPrefixCache(KvManager *manager) {
  return guarded([&] {
    KV_REQUIRE("kvManagerResetPrefixCache", manager);
    (*manager)->resetPrefixCache();
    return int32_t(KV_STATUS_OK);
  });
}

int32_t kvManagerCheck(const KvManager *manager) {
  return guarded([&] {
    KV_REQUIRE("kvManagerCheck", manager);
    return give((*manager)->check());
  });
}
