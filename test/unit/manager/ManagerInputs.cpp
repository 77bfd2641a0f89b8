//===- ManagerInputs.cpp - What managers say that they give ---------------===//

#include "ManagerInputs.h"

#include "kv/Runtime/Manager/KVCacheParams.h"
#include "kv/Runtime/Manager/NullKVCacheManager.h"

using namespace kv;
using namespace kv::test;

static std::vector<Input> plain(const std::vector<Argument> &arguments) {
  std::vector<Input> inputs;
  for (const Argument &argument : arguments) {
    Input input{argument.name,
                std::string(argumentKindName(argument.kind)),
                static_cast<KvDType>(argument.dtype),
                argument.host,
                {}};
    for (const Dimension &dimension : argument.shape)
      input.shape.push_back({dimension.symbol, dimension.size});
    inputs.push_back(std::move(input));
  }
  return inputs;
}

std::vector<Input> test::inputsOfParams(const NamedCache &cache,
                                        std::string &problem) {
  KVCacheParams params;
  params.name = cache.name;
  params.geometry = cache.geometry;
  if (Expected<void> valid = params.validate(); !valid) {
    problem = valid.error().message;
    return {};
  }
  return plain(params.symbolicInputs());
}

std::vector<std::vector<Input>>
test::inputsOfManager(const std::vector<NamedCache> &caches, int replicas,
                      int shards, std::string &problem) {
  std::vector<KVCacheParams> all;
  for (const NamedCache &cache : caches) {
    KVCacheParams &params = all.emplace_back();
    params.name = cache.name;
    params.geometry = cache.geometry;
    params.numDevices = replicas * shards;
    params.dataParallelDegree = replicas;
  }
  auto params = MultiKVCacheParams::fromParams(all);
  if (!params) {
    problem = params.error().message;
    return {};
  }
  NullKVCacheManager::Options options;
  for (int i = 0; i < replicas * shards; ++i)
    options.devices.push_back({Device::Kind::Virtual, i, "any"});
  auto manager = NullKVCacheManager::create(*params, options);
  if (!manager) {
    problem = manager.error().message;
    return {};
  }
  std::vector<std::vector<Input>> inputs;
  for (const std::vector<Argument> &device : (*manager)->symbolicInputs())
    inputs.push_back(plain(device));
  return inputs;
}
