//===- Options.cpp - The command line of kv-run ---------------------------===//

#include "Options.h"

#include "kv/Runtime/Session/InferenceSession.h"
#include "tools/CommandLine.h"

using namespace kv::run;

/// CLI11 makes of a larger number the largest that there is.
static constexpr int64_t MostBytes = int64_t(1) << 62;

std::variant<Options, int> kv::run::parseCommandLine(int argc, char **argv) {
  Options options;
  CLI::App app("Serves generation requests with a compiled model. One JSON "
               "object a line, in and out; token ids only.",
               "kv-run");
  app.set_version_flag("--version", "kv-run " KV_VERSION);
  app.add_option("model", options.artifact, "artifact of kv-compile (.so)")
      ->required();
  app.add_option("--weights", options.weights, "safetensors file")->required();
  app.add_flag("--map-weights", options.mapWeights,
               "on a CPU: share the weights file's memory with other processes "
               "instead of copying it to huge pages, which are read faster");
  app.add_option("--requests", options.requests,
                 "JSON lines (default: standard input)");
  app.add_option("--threads", options.threads, "default: one a core")
      ->check(CLI::Range(1u, SessionOptions::MostThreads));
  CLI::Option *device = app.add_option(
      "--device", options.device,
      "cpu, cuda or cuda:N: what the artifact was compiled for (default: cpu)");
  app.add_option("--devices", options.devices,
                 "under mpirun: a GPU for each rank of this machine, such as "
                 "cuda:0,cuda:1")
      ->delimiter(',')
      ->excludes(device);
  app.add_flag("--deterministic", options.deterministic,
               "on a GPU: a token's bits do not depend on the tokens beside "
               "it (on a CPU they never do)");
  app.add_flag("!--no-graphs", options.graphs,
               "on a GPU: call the entry for every step, also where an equal "
               "one is kept as a CUDA graph");
  CLI::Option *pages =
      app.add_option("--pages", options.pages,
                     "usable pages of a replica's cache")
          ->check(CLI::Range(int64_t(1), int64_t(INT32_MAX - 1)));
  app.add_option("--cache-bytes", options.cacheBytes,
                 "bytes of all caches together (default: 4 requests of the "
                 "model's length a replica, at most 1 GiB)")
      ->check(CLI::Range(int64_t(1), MostBytes))
      ->excludes(pages);
  app.add_option("--page-size", options.pageSize,
                 "tokens; must equal the artifact's")
      ->check(CLI::Range(1, 1 << 20));
  app.add_option(
         "--replicas", options.replicas,
         "caches of their own, each on its own cpu:N (on a CPU only); a "
         "request goes to the one that has most of its prefix")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app.add_option("--max-batch", options.maxBatch, "requests a step")
      ->check(CLI::Range(1, (1 << 20) - 1)) // the engine takes one more
      ->capture_default_str();
  app.add_option("--max-batch-tokens", options.maxBatchTokens,
                 "tokens a step; longer prompts are prefilled in chunks")
      ->check(CLI::Range(int64_t(1), int64_t(1) << 24))
      ->capture_default_str();
  app.add_option("--snapshots", options.snapshots,
                 "states of recurrent layers that a replica keeps for later "
                 "requests (default: two a request of --max-batch)")
      ->check(CLI::Range(int64_t(0), int64_t(1) << 20));
  bool noPrefixCache = false, noStream = false;
  app.add_flag("--no-prefix-cache", noPrefixCache,
               "compute every prompt in full");
  app.add_option("--host-pages", options.hostPages,
                 "pages of host memory that back all caches (default: none; "
                 "with --disk-dir, --store or --role as many as the caches "
                 "have, but for --role prefill at most 512 MiB)")
      ->check(CLI::Range(int64_t(1), int64_t(INT32_MAX - 1)));
  CLI::Option *disk =
      app.add_option("--disk-dir", options.diskDirectory,
                     "folder in which computed pages are kept, also for the "
                     "next kv-run of this model");
  app.add_option("--disk-bytes", options.diskBytes, "of pages in --disk-dir")
      ->check(CLI::Range(int64_t(1), MostBytes))
      ->capture_default_str()
      ->needs(disk);
  app.add_option("--store", options.store,
                 "Redis or Valkey server in which machines that run this model "
                 "share computed pages: redis://host:port/db or unix:///path");
  CLI::Option *role =
      app.add_option("--role", options.role,
                     "prefill: computes prompts for others and lets them read "
                     "the pages, until it is told to end (SIGTERM, SIGINT); "
                     "decode: reads the pages of prompts from such a kv-run")
          ->check(CLI::IsMember({"prefill", "decode"}));
  role->needs(
      app.add_option("--peer", options.peer,
                     "ZeroMQ endpoint between the two: prefill binds it, "
                     "decode connects to it")
          ->needs(role));
  app.add_option("--dump-logits", options.dumpLogits,
                 "file for the logits of every prompt position: raw f32 rows, "
                 "in request order; those of a failed request are zero");
  CLI::Option *events =
      app.add_option("--events", options.events,
                     "ZeroMQ endpoint on which cached prefixes are published, "
                     "in vLLM's format: bound with *, :: or ipc, else "
                     "connected to; replica r has port + r");
  app.add_option("--events-replay", options.eventsReplay,
                 "endpoint, bound, for replay, status and snapshot")
      ->needs(events);
  app.add_option("--events-topic", options.eventsTopic,
                 "first frame of each message (default: empty)")
      ->needs(events);
  std::string encoding = "array";
  app.add_option("--events-encoding", encoding, "array or map")
      ->check(CLI::IsMember({"array", "map"}))
      ->capture_default_str()
      ->needs(events);
  app.add_flag("--events-tiers", options.eventsTiers,
               "also tell of pages in host memory, on the disk and in the "
               "store")
      ->needs(events);
  CLI::Option *metrics =
      app.add_option("--metrics", options.metrics,
                     "HOST:PORT for Prometheus, which asks for /metrics");
  app.add_option("--metrics-vllm", options.metricsVllm,
                 "model name: figures also under vLLM's names")
      ->needs(metrics);
  app.add_option("--reset-endpoint", options.resetEndpoint,
                 "ZeroMQ endpoint, bound, for requests to forget all cached "
                 "prefixes");
  app.add_option(
         "--rank-timeout", options.rankTimeout,
         "under mpirun: seconds after which a rank that does not answer "
         "another one is an error")
      ->check(CLI::Range(0.1, 86400.0))
      ->check(refuseNaN)
      ->capture_default_str();
  app.add_flag("--no-stream", noStream, "tokens only with the finish line");
  // A topic may be empty.
  for (CLI::Option *option : app.get_options())
    if (option->get_expected_min() > 0 &&
        option->get_name() != "--events-topic")
      option->check(refuseEmpty);
  if (std::optional<int> status = parseOptions(app, argc, argv))
    return *status;
  options.prefixCache = !noPrefixCache;
  options.stream = !noStream;
  options.eventsAsMaps = encoding == "map";
  return options;
}
