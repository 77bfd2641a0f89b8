//===- KVCacheManager.cpp - What every cache manager does -----------------===//

#include "kv/Runtime/Manager/KVCacheManager.h"

using namespace kv;

KVCacheManager::~KVCacheManager() = default;

std::vector<std::vector<Argument>>
KVCacheManager::symbolicInputs(std::optional<int32_t> devices,
                               std::optional<int64_t> layers) const {
  int64_t shards = params().tensorParallelDegree();
  int64_t count = devices.value_or(static_cast<int32_t>(params().numDevices()));
  std::vector<std::vector<Argument>> result;
  for (int64_t device = 0; device < count; ++device) {
    // Shards of a replica have the same sizes: only their names differ.
    std::string replica = params().numDevices() == 1
                              ? ""
                              : concat("replica_", device / shards, ".");
    result.push_back(params().symbolicInputs(replica, layers));
    if (shards > 1)
      for (Argument &argument : result.back())
        argument.name.insert(replica.size(),
                             concat("shard_", device % shards, "."));
  }
  return result;
}

int64_t KVCacheManager::numFreeBlocks() const {
  int64_t sum = 0;
  for (int32_t replica = 0; replica < numReplicas(); ++replica)
    sum += numFreeBlocks(replica);
  return sum;
}

int64_t KVCacheManager::totalNumPages() const {
  return numPagesPerReplica() * numReplicas();
}

double KVCacheManager::freeBlocksPct() const {
  return static_cast<double>(numFreeBlocks()) /
         static_cast<double>(totalNumPages());
}

double KVCacheManager::usedBlocksPct() const { return 1.0 - freeBlocksPct(); }
