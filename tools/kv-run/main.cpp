//===- main.cpp - kv-run: an artifact and requests to tokens --------------===//

#include "AnswerWriter.h"
#include "Loading.h"
#include "Peers.h"
#include "Ranks.h"
#include "RequestStream.h"
#include "tools/StandardStreams.h"

#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <iostream>
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

RunFigures figuresOf(const LoadedModel &loaded, const ManagerHost &caches) {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  const KVCacheManager &manager = *caches.manager;
  return {.pagesTotal = manager.totalNumPages(),
          .hostPages = manager.totalNumHostPages(),
          .cache = manager.metrics(),
          .pageSize = loaded.signature.cache.pageSize(),
          .threads = loaded.session.threads(),
          .ranks = loaded.model.manifest().ranks,
          .weightsBytes = static_cast<int64_t>(loaded.model.weightsBytes()),
          .poolBytes = manager.poolBytes(),
          .peakRssBytes = int64_t(usage.ru_maxrss) * 1024,
          .peer = caches.peer ? &caches.peer->peerMetrics() : nullptr};
}

/// Answers what comes, until no more does.
int answer(const Options &options, LoadedModel &loaded, ManagerHost &caches,
           RankedRunner &runner, double loadSeconds) {
  bool dumps = !options.dumpLogits.empty();
  int input = STDIN_FILENO;
  if (!options.requests.empty() &&
      (input = ::open(options.requests.c_str(), O_RDONLY | O_CLOEXEC)) < 0)
    return unusable(concat(options.requests, ": ", std::strerror(errno)));
  RequestStream stream(input, dumps);
  std::unique_ptr<LogitsDump> dump;
  if (dumps) {
    // A dump onto a file that is read would empty or lose it.
    for (const std::string &source :
         {options.artifact, options.weights, options.requests})
      if (std::error_code none;
          std::filesystem::equivalent(options.dumpLogits, source, none))
        return unusable(concat("--dump-logits is ", options.dumpLogits,
                               ", a file that is read"));
    stream.readAll(); // The file's layout needs them all.
    Expected<std::unique_ptr<LogitsDump>> made = LogitsDump::create(
        options.dumpLogits, stream.all(), loaded.signature.vocabSize);
    if (!made)
      return unusable(made.error().message);
    dump = std::move(*made);
  }
  AnswerWriter writer(stdout, options.stream, dump.get());
  stream.setWriter(writer);
  PagedKVCacheManager *paged = caches.paged;
  std::unique_ptr<PeerRequests> prompts;
  if (options.setup.peer.role == ManagerSetup::PeerRole::Prefill)
    prompts = std::make_unique<PeerRequests>(*caches.peer, *paged);
  TextGenerator generator(
      runner, *caches.manager,
      prompts ? *prompts : static_cast<GenerationSink &>(writer),
      {.scheduler = options.steps, .maxSeqLen = loaded.signature.maxSeqLen});
  generator.setDraftModel(std::move(loaded.draft));
  if (paged)
    stream.setIdle(paged->resetDescriptor(), [&] { paged->serveResets(); });
  caches.setServing(&generator.figures());
  GenerationStatistics statistics =
      generator.run(prompts ? *prompts : static_cast<RequestSource &>(stream));
  caches.setServing(nullptr);
  if (Expected<void> told = runner.finish(); !told)
    return unusable(told.error().message);
  statistics.requests += stream.numBad();
  statistics.failedRequests += stream.numBad();
  RunFigures figures = figuresOf(loaded, caches);
  figures.loadSeconds = loadSeconds;
  writer.statistics(statistics, figures);
  if (int error = stream.readError())
    return unusable(
        concat(options.requests.empty() ? "standard input" : options.requests,
               ": ", std::strerror(error)));
  if (!writer.good())
    return unusable("the answers could not be written");
  if (dump && !dump->result())
    return unusable(dump->result().error().message);
  return statistics.failedRequests == 0 ? ExitAnswered : ExitSomeFailed;
}

int serve(const Options &options) {
  auto start = std::chrono::steady_clock::now();
  Expected<LoadedModel> loaded = loadModel(options, ranks);
  if (!loaded)
    return unusable(loaded.error().message);
  if (ranks && ranks->rank() != 0) {
    Expected<void> done =
        followSteps(*loaded->runner, *ranks, loaded->signature.cache,
                    loaded->session.device());
    return done ? ExitAnswered : unusable(done.error().message);
  }
  RankedRunner runner(*loaded->runner, ranks.get(), [](const Error &error) {
    // No rank can compute any more, and the others do not know it yet.
    std::fflush(stdout);
    ranks->abort(unusable(error.message));
  });
  Expected<std::unique_ptr<ManagerHost>> caches =
      openCaches(options, *loaded, runner, ranks != nullptr);
  if (!caches)
    return unusable(caches.error().message);
  std::chrono::duration<double> loading =
      std::chrono::steady_clock::now() - start;
  return answer(options, *loaded, **caches, runner, loading.count());
}

} // namespace

int main(int argc, char **argv) {
  holdStandardStreams();
  reportFileLimits();
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
