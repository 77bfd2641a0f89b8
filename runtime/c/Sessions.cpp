//===- Sessions.cpp - Sessions and models in C ----------------------------===//

#include "SessionHandles.h"

#include "kv/Runtime/Serving/ModelIdentity.h"

using namespace kv;
using namespace kv::capi;

static Expected<SessionOptions> readOptions(const KvSessionOptions &given) {
  Expected<Device> device = Device::parse(given.device ? given.device : "cpu");
  if (!device)
    return std::unexpected(device.error());
  if (given.threads < 0)
    return makeError(KV_STATUS_INVALID_ARGUMENT,
                     "kvSessionCreate: ", given.threads,
                     " threads, allowed: 0 (one for each core) to ",
                     SessionOptions::MostThreads);
  if (given.arenaBytes < 0)
    return makeError(KV_STATUS_INVALID_ARGUMENT,
                     "kvSessionCreate: an arena of ", given.arenaBytes,
                     " bytes, allowed: 0 (the device's default) or more");
  SessionOptions options;
  options.device = *device;
  options.threads = static_cast<unsigned>(given.threads);
  options.arenaBytes = static_cast<size_t>(given.arenaBytes);
  options.deterministic = given.deterministic != 0;
  options.weights = given.mapWeights ? FileMemory::Mapped : FileMemory::Copied;
  if (given.log)
    options.log = listener(given.log, given.logContext);
  return options;
}

int32_t kvSessionCreate(const KvSessionOptions *options, KvSession **session) {
  return guarded([&] {
    KV_REQUIRE("kvSessionCreate", session);
    Expected<SessionOptions> read =
        readOptions(options ? *options : KvSessionOptions{});
    if (!read)
      return fail(read.error());
    Expected<InferenceSession> made =
        InferenceSession::create(std::move(*read));
    if (!made)
      return fail(made.error());
    *session = new KvSession{std::move(*made)};
    return int32_t(KV_STATUS_OK);
  });
}

void kvSessionDestroy(KvSession *session) { delete session; }

int32_t kvSessionThreads(const KvSession *session) {
  return figure("kvSessionThreads", "session", session,
                [](const KvSession &own) {
                  return static_cast<int32_t>(own.session.threads());
                });
}

int32_t kvSessionLoad(KvSession *session, const char *artifact,
                      KvModel **model) {
  return guarded([&] {
    KV_REQUIRE("kvSessionLoad", session);
    KV_REQUIRE("kvSessionLoad", artifact);
    KV_REQUIRE("kvSessionLoad", model);
    Expected<Model> loaded = session->session.load(artifact);
    if (!loaded)
      return fail(loaded.error());
    *model = new KvModel(std::move(*loaded), artifact);
    return int32_t(KV_STATUS_OK);
  });
}

void kvModelDestroy(KvModel *model) { delete model; }

int32_t kvModelGetManifest(const KvModel *model, const KvManifest **manifest) {
  return guarded([&] {
    KV_REQUIRE("kvModelGetManifest", model);
    KV_REQUIRE("kvModelGetManifest", manifest);
    *manifest = &model->manifest;
    return int32_t(KV_STATUS_OK);
  });
}

int32_t kvModelBindWeights(KvModel *model, const char *file) {
  return guarded([&] {
    KV_REQUIRE("kvModelBindWeights", model);
    KV_REQUIRE("kvModelBindWeights", file);
    Expected<void> bound = model->model.bindWeights(file);
    if (bound)
      model->weights = file;
    return give(bound);
  });
}

int32_t kvModelGetIdentity(KvModel *model, KvModelIdentity *identity) {
  return guarded([&] {
    KV_REQUIRE("kvModelGetIdentity", model);
    KV_REQUIRE("kvModelGetIdentity", identity);
    if (model->weights.empty())
      return invalid("kvModelGetIdentity: the weights are not bound");
    if (model->peersName.empty()) {
      ModelIdentity files(model->artifact, model->weights);
      Expected<std::string> pages = files.ofPages();
      if (!pages)
        return fail(pages.error());
      Expected<std::string> peers = files.ofPeers(model->model.manifest());
      if (!peers)
        return fail(peers.error());
      model->pagesName = std::move(*pages);
      model->peersName = std::move(*peers);
    }
    *identity = {model->pagesName.c_str(), model->peersName.c_str()};
    return int32_t(KV_STATUS_OK);
  });
}

int64_t kvModelWeightsBytes(const KvModel *model) {
  return figure("kvModelWeightsBytes", "model", model, [](const KvModel &own) {
    return static_cast<int64_t>(own.model.weightsBytes());
  });
}

int32_t kvModelCreateManager(const KvModel *model,
                             const KvManagerOptions *options,
                             KvManager **manager) {
  return guarded([&] {
    KV_REQUIRE("kvModelCreateManager", model);
    KV_REQUIRE("kvModelCreateManager", options);
    const Manifest &manifest = model->model.manifest();
    KvCacheSpec spec;
    if (int32_t status = kvManifestGetCacheSpec(&model->manifest, &spec))
      return status;
    spec.enablePrefixCaching =
        std::ranges::all_of(manifest.collections, [](const Collection &one) {
          return one.geometry.strategy != CacheStrategy::Continuous;
        });
    KvManagerOptions completed = *options;
    if (!completed.maxSeqLen)
      completed.maxSeqLen = manifest.maxSeqLen();
    const char *device = model->device.c_str();
    if (completed.numDevices == 0) {
      completed.devices = &device;
      completed.numDevices = 1;
    }
    return kvManagerCreate(&spec, &completed, manager);
  });
}
