//===- main.cpp - kv-run: an artifact and requests to tokens --------------===//

#include "AnswerWriter.h"
#include "Monitoring.h"
#include "Options.h"
#include "Peers.h"
#include "Ranks.h"
#include "RequestStream.h"
#include "Tiers.h"

#include "kv/Runtime/Manager/LoadKVCacheManager.h"
#include "kv/Runtime/Serving/ArtifactRunner.h"
#include "kv/Runtime/Serving/RankedRunner.h"

#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <iostream>
#include <random>
#include <sys/resource.h>
#include <unistd.h>

using namespace kv;
using namespace kv::run;

namespace {

constexpr int ExitAnswered = 0, ExitSomeFailed = 1, ExitUnusable = 2;

/// Null where this process computes alone. Kept to the end, since it is MPI's.
std::shared_ptr<Communicator> ranks;

int unusable(std::string_view message) {
  // In one piece: all ranks write to the same terminal.
  std::string line = concat(
      "kv-run: error: ", ranks ? concat("rank ", ranks->rank(), ": ") : "",
      message, "\n");
  std::cerr << line << std::flush;
  return ExitUnusable;
}

/// Usable pages of a replica; 0 if its cache has slots. Errors name the option.
Expected<int64_t> choosePages(const Options &options,
                              const ForwardSignature &signature) {
  const MultiKVCacheParams &cache = signature.cache;
  if (options.pageSize && *options.pageSize != cache.pageSize())
    return makeError(KV_STATUS_INVALID_ARGUMENT, "--page-size is ",
                     *options.pageSize, ", the artifact's page size is ",
                     cache.pageSize());
  if (!cache.params[0].geometry.isPaged()) {
    if (options.pages || options.cacheBytes)
      return makeError(KV_STATUS_INVALID_ARGUMENT,
                       options.pages ? "--pages" : "--cache-bytes",
                       " is given, the artifact's cache has no pages: its "
                       "slots are --max-batch");
    return 0;
  }
  if (options.pages)
    return *options.pages;
  constexpr int64_t MostBytes = int64_t(1) << 30;
  int64_t bytes = options.cacheBytes.value_or(MostBytes);
  PagedSizes sizes(cache, options.maxBatch / options.replicas,
                   signature.maxSeqLen,
                   {1, options.maxBatchTokens, options.snapshots});
  int64_t pages = sizes.pagesIn(bytes / options.replicas);
  if (!options.cacheBytes)
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

int64_t peakRssBytes() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return int64_t(usage.ru_maxrss) * 1024;
}

/// What the ranks other than rank 0 do.
int follow(ModelRunner &runner, const MultiKVCacheParams &cache,
           const Device &device) {
  if (Expected<void> done = followSteps(runner, *ranks, cache, device); !done)
    return unusable(done.error().message);
  return ExitAnswered;
}

int serve(const Options &options) {
  auto start = std::chrono::steady_clock::now();
  Expected<Device> device = deviceOfRank(options, ranks.get());
  if (!device)
    return unusable(device.error().message);
  if (device->kind != Device::Kind::CPU && options.replicas > 1)
    return unusable(concat("--replicas is ", options.replicas, ", on ",
                           device->str(), " allowed: 1"));
  Expected<InferenceSession> session = InferenceSession::create(
      {.device = *device,
       .threads = threadsOfRank(options, ranks.get()),
       .log =
           [](std::string_view note) {
             if (!ranks || ranks->rank() == 0)
               std::cerr << "kv-run: note: " << note << '\n';
           },
       .deterministic = options.deterministic,
       .graphs = options.graphs,
       .weights = options.mapWeights ? FileMemory::Mapped : FileMemory::Copied,
       .ranks = ranks});
  if (!session)
    return unusable(session.error().message);
  Expected<Model> model = session->load(options.artifact);
  if (!model)
    return unusable(model.error().message);
  Expected<ForwardSignature> signature =
      ForwardSignature::from(model->manifest());
  if (!signature)
    return unusable(concat(options.artifact, ": ", signature.error().message));
  if (options.replicas > options.maxBatch)
    return unusable(concat("--replicas is ", options.replicas,
                           ", --max-batch is ", options.maxBatch,
                           ": each replica needs a request"));
  for (KVCacheParams &one : signature->cache.params) {
    one.enablePrefixCaching =
        options.prefixCache && signature->cache.params[0].geometry.isPaged();
    one.numDevices = one.dataParallelDegree = options.replicas;
  }
  Expected<int64_t> pages = choosePages(options, *signature);
  if (!pages)
    return unusable(pages.error().message);
  if (Expected<void> bound = model->bindWeights(options.weights); !bound)
    return unusable(bound.error().message);
  Expected<std::unique_ptr<ArtifactRunner>> runner =
      ArtifactRunner::create(*model, *signature);
  if (!runner)
    return unusable(concat(options.artifact, ": ", runner.error().message));
  if (ranks && ranks->rank() != 0)
    return follow(**runner, signature->cache, *device);
  RankedRunner ranked(**runner, ranks.get(), [](const Error &error) {
    // Nobody can compute any more, and the others do not know it yet.
    std::fflush(stdout);
    ranks->abort(unusable(error.message));
  });

  std::random_device entropy;
  PagedKVCacheManager::Options cache;
  cache.maxBatchSize = options.maxBatch;
  if (device->kind != Device::Kind::CPU)
    cache.devices = {*device};
  cache.maxSeqLen = signature->maxSeqLen;
  cache.maxSteps = 1;
  cache.maxChunkTokens = options.maxBatchTokens;
  cache.snapshots = options.snapshots;
  cache.numPages = *pages;
  cache.key = (uint64_t(entropy()) << 32) | entropy();
  cache.resetEndpoint = options.resetEndpoint;
  if (ranks)
    cache.pageOps = [&](int32_t replica, std::span<const PageOp> ops) {
      ranked.addPageOps(replica, ops);
    };
  cache.explainMisses = !options.metrics.empty();
  if (Expected<void> chosen =
          chooseTiers(options, *pages, signature->cache, cache.tiers);
      !chosen)
    return unusable(chosen.error().message);
  PeerConnector *peer = nullptr;
  if (Expected<void> chosen = choosePeer(options, model->manifest(),
                                         signature->cache, cache.tiers, peer);
      !chosen)
    return unusable(chosen.error().message);
  bool isPaged = signature->cache.params[0].geometry.isPaged();
  if (!isPaged && !(options.events.empty() && options.resetEndpoint.empty()))
    return unusable(
        concat(options.events.empty() ? "--reset-endpoint" : "--events",
               " is given, the artifact's cache has no pages: it "
               "caches no prefixes"));
  Expected<Publishers> publishers = openPublishers(options, signature->cache);
  if (!publishers)
    return unusable(publishers.error().message);
  for (const auto &publisher : *publishers)
    cache.events.push_back(publisher.get());
  Expected<std::unique_ptr<KVCacheManager>> manager =
      loadKVCacheManager(signature->cache, cache);
  if (!manager)
    return unusable(manager.error().message);

  RunFigures figures;
  figures.loadSeconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();

  bool dumps = !options.dumpLogits.empty();
  int input = STDIN_FILENO;
  if (!options.requests.empty() &&
      (input = ::open(options.requests.c_str(), O_RDONLY | O_CLOEXEC)) < 0)
    return unusable(concat(options.requests, ": ", std::strerror(errno)));
  RequestStream stream(input, dumps);
  std::unique_ptr<LogitsDump> dump;
  if (dumps) {
    stream.readAll(); // The file's layout needs them all.
    Expected<std::unique_ptr<LogitsDump>> made = LogitsDump::create(
        options.dumpLogits, stream.all(), signature->vocabSize);
    if (!made)
      return unusable(made.error().message);
    dump = std::move(*made);
  }
  AnswerWriter writer(stdout, options.stream, dump.get());
  stream.setWriter(writer);
  auto *paged =
      isPaged ? static_cast<PagedKVCacheManager *>(manager->get()) : nullptr;
  std::unique_ptr<PeerRequests> prompts;
  if (options.role == "prefill")
    prompts = std::make_unique<PeerRequests>(*peer, *paged);
  TextGenerator generator(
      ranked, **manager,
      prompts ? *prompts : static_cast<GenerationSink &>(writer),
      {.scheduler = {.maxBatch = options.maxBatch,
                     .maxBatchTokens = options.maxBatchTokens},
       .maxSeqLen = signature->maxSeqLen});
  if (paged)
    stream.setIdle(paged->resetDescriptor(), [&] { paged->serveResets(); });
  Expected<std::unique_ptr<MetricsServer>> metrics =
      openMetrics(options, paged, generator.figures(), *publishers,
                  peer ? &peer->peerMetrics() : nullptr);
  if (!metrics)
    return unusable(metrics.error().message);
  GenerationStatistics statistics =
      generator.run(prompts ? *prompts : static_cast<RequestSource &>(stream));
  if (Expected<void> told = ranked.finish(); !told)
    return unusable(told.error().message);
  statistics.requests += stream.numBad();
  statistics.failedRequests += stream.numBad();

  figures.pagesTotal = (*manager)->totalNumPages();
  figures.hostPages = (*manager)->totalNumHostPages();
  figures.cache = (*manager)->metrics();
  figures.peer = peer ? &peer->peerMetrics() : nullptr;
  figures.pageSize = signature->cache.pageSize();
  figures.threads = session->threads();
  figures.ranks = model->manifest().ranks;
  figures.weightsBytes = static_cast<int64_t>(model->weightsBytes());
  figures.poolBytes = (*manager)->poolBytes();
  figures.peakRssBytes = peakRssBytes();
  writer.statistics(statistics, figures);
  if (!writer.good())
    return unusable("the answers could not be written");
  if (dump && !dump->result())
    return unusable(dump->result().error().message);
  return statistics.failedRequests == 0 ? ExitAnswered : ExitSomeFailed;
}

} // namespace

int main(int argc, char **argv) {
  std::variant<Options, int> parsed = parseCommandLine(argc, argv);
  if (const int *code = std::get_if<int>(&parsed))
    return *code;
  const Options &options = std::get<Options>(parsed);
  Expected<std::shared_ptr<Communicator>> opened = openRanks(options);
  if (!opened)
    return unusable(opened.error().message);
  ranks = std::move(*opened);
  int code = serve(options);
  // The others may wait for this one.
  if (ranks && code == ExitUnusable)
    ranks->abort(code);
  ranks = nullptr;
  return code;
}
