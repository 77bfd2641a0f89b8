//===- Loading.cpp - The model of a run -----------------------------------===//

#include "Loading.h"
#include "Ranks.h"

#include "kv/Runtime/Manager/PagedSizes.h"

#include <filesystem>
#include <iostream>

using namespace kv;
using namespace kv::run;

/// Usable pages of a replica; 0 if its cache has slots. Errors name the option.
static Expected<int64_t> choosePages(const Options &options,
                                     const ForwardSignature &signature) {
  const MultiKVCacheParams &cache = signature.cache;
  const ManagerSetup &given = options.setup;
  if (options.pageSize && *options.pageSize != cache.pageSize())
    return makeError(KV_STATUS_INVALID_ARGUMENT, "--page-size is ",
                     *options.pageSize, ", the artifact's page size is ",
                     cache.pageSize());
  if (!cache.params[0].geometry.isPaged()) {
    if (given.numPages || given.availableCacheMemory)
      return makeError(KV_STATUS_INVALID_ARGUMENT,
                       given.numPages ? "--pages" : "--cache-bytes",
                       " is given, the artifact's cache has no pages: its "
                       "slots are --max-batch");
    return 0;
  }
  if (given.numPages)
    return given.numPages;
  constexpr int64_t MostBytes = int64_t(1) << 30;
  int64_t bytes =
      given.availableCacheMemory ? given.availableCacheMemory : MostBytes;
  PagedSizes sizes(cache, options.steps.maxBatch / options.replicas,
                   signature.maxSeqLen,
                   {1, options.steps.maxBatchTokens, given.snapshots});
  int64_t pages = sizes.pagesIn(bytes / options.replicas);
  if (!given.availableCacheMemory)
    return std::clamp<int64_t>(pages, 1,
                               4 * sizes.blocksFor(signature.maxSeqLen));
  if (pages < 1)
    return makeError(
        KV_STATUS_INVALID_ARGUMENT, "--cache-bytes is ", bytes,
        ", one page, the null page and the tables ",
        options.replicas == 1
            ? ""
            : concat("of each of ", options.replicas, " replicas "),
        "take ", static_cast<int64_t>(sizes.bytesFor(1)));
  return pages;
}

static Expected<InferenceSession>
openSession(const Options &options,
            const std::shared_ptr<Communicator> &ranks) {
  Expected<Device> device = deviceOfRank(options, ranks.get());
  if (!device)
    return std::unexpected(device.error());
  if (device->kind != Device::Kind::CPU && options.replicas > 1)
    return makeError(KV_STATUS_INVALID_ARGUMENT, "--replicas is ",
                     options.replicas, ", on ", device->str(), " allowed: 1");
  return InferenceSession::create(
      {.device = *device,
       .threads = threadsOfRank(options, ranks.get()),
       .log =
           [isFirst = !ranks || ranks->rank() == 0](std::string_view note) {
             if (isFirst)
               std::cerr << "kv-run: note: " << note << '\n';
           },
       .deterministic = options.deterministic,
       .graphs = options.graphs,
       .weights = options.mapWeights ? FileMemory::Mapped : FileMemory::Copied,
       .ranks = ranks});
}

/// Null without --draft. Errors name the option.
static Expected<std::unique_ptr<DraftModel>>
loadDraft(const Options &options, InferenceSession &session,
          const ForwardSignature &served) {
  if (options.draft.empty())
    return nullptr;
  auto refuse = [&](const Error &error) {
    return makeError(error.code, "--draft ", options.draft, ": ",
                     error.message);
  };
  std::filesystem::path folder = options.draft;
  Expected<Model> model = session.load(folder / "model.so");
  if (!model)
    return refuse(model.error());
  if (Expected<void> bound = model->bindWeights(folder / "weights.safetensors");
      !bound)
    return refuse(bound.error());
  Expected<std::unique_ptr<DraftModel>> draft =
      DraftModel::create(std::move(*model), served, options.steps);
  if (!draft)
    return refuse(draft.error());
  return draft;
}

Expected<LoadedModel>
kv::run::loadModel(const Options &options,
                   const std::shared_ptr<Communicator> &ranks) {
  Expected<InferenceSession> session = openSession(options, ranks);
  if (!session)
    return std::unexpected(session.error());
  Expected<Model> model = session->load(options.artifact);
  if (!model)
    return std::unexpected(model.error());
  auto ofArtifact = [&](const Error &error) {
    return makeError(error.code, options.artifact, ": ", error.message);
  };
  Expected<ForwardSignature> signature =
      ForwardSignature::from(model->manifest());
  if (!signature)
    return ofArtifact(signature.error());
  if (options.replicas > options.steps.maxBatch)
    return makeError(KV_STATUS_INVALID_ARGUMENT, "--replicas is ",
                     options.replicas, ", --max-batch is ",
                     options.steps.maxBatch, ": each replica needs a request");
  if (Expected<void> good = Scheduler::check(options.steps, signature->cache);
      !good)
    return makeError(good.error().code, "--", good.error().message);
  for (KVCacheParams &one : signature->cache.params) {
    one.enablePrefixCaching =
        options.prefixCache && signature->cache.params[0].geometry.isPaged();
    one.numDevices = one.dataParallelDegree = options.replicas;
  }
  Expected<int64_t> pages = choosePages(options, *signature);
  if (!pages)
    return std::unexpected(pages.error());
  if (Expected<void> bound = model->bindWeights(options.weights); !bound)
    return std::unexpected(bound.error());
  Expected<std::unique_ptr<ArtifactRunner>> runner =
      ArtifactRunner::create(*model, *signature);
  if (!runner)
    return ofArtifact(runner.error());
  Expected<std::unique_ptr<DraftModel>> draft =
      loadDraft(options, *session, *signature);
  if (!draft)
    return std::unexpected(draft.error());
  return LoadedModel{std::move(*session),   std::move(*model),
                     std::move(*signature), *pages,
                     std::move(*runner),    std::move(*draft)};
}
