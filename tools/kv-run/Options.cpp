//===- Options.cpp - The command line of kv-run ---------------------------===//

#include "Options.h"

#include "kv/Runtime/Session/InferenceSession.h"
#include "tools/CommandLine.h"

#include <map>

using namespace kv;
using namespace kv::run;

/// CLI11 makes of a larger number the largest that there is.
static constexpr int64_t MostBytes = int64_t(1) << 62;

/// Adds the options of a manager and of a server that have flags.
static void addTables(CLI::App &app, ManagerSetup &setup,
                      Scheduler::Options &steps) {
  std::map<std::string_view, CLI::Option *> options; // by name
  std::vector<std::pair<CLI::Option *, std::string_view>> needs;
  auto keep = [&](std::string_view name, std::string_view needed,
                  CLI::Option *option) {
    options[name] = option;
    if (needed != "nothing")
      needs.emplace_back(option, needed);
  };
  auto number = [&](const char *flag, auto &place, int64_t least, int64_t most,
                    const char *sentence) {
    CLI::Option *option =
        app.add_option(flag, place, sentence)
            ->check(CLI::Range(least, std::min(most, MostBytes)));
    return place ? option->capture_default_str() : option;
  };
#define ADD_NUMBER(name, type, place, standard, least, most, flag, needed,     \
                   sentence)                                                   \
  if (*flag)                                                                   \
    keep(#name, #needed, number("--" flag, setup.place, least, most, sentence));
#define ADD_COUNT ADD_NUMBER
#define ADD_SWITCH(name, place, flag, needed, sentence)                        \
  if (*flag)                                                                   \
    keep(#name, #needed, app.add_flag("--" flag, setup.place, sentence));
#define ADD_TEXT(name, place, flag, needed, sentence)                          \
  if (*flag)                                                                   \
    keep(#name, #needed, app.add_option("--" flag, setup.place, sentence));
#define ADD_CHOICE(name, place, first, second, flag, needed, sentence)         \
  auto set_##name = [&setup](const std::string &given) {                       \
    setup.place = decltype(setup.place)(given == first ? 1 : 2);               \
  };                                                                           \
  keep(#name, #needed,                                                         \
       app.add_option_function<std::string>("--" flag, set_##name, sentence)   \
           ->check(CLI::IsMember({first, second})));
#define ADD_OTHER(...)
#define KV_OPTION(kind, ...) ADD_##kind(__VA_ARGS__)
#include "kv/ABI/ManagerOptions.def"
#define KV_OPTION(kind, name, type, place, standard, least, most, flag,        \
                  needed, sentence)                                            \
  keep(#name, #needed, number("--" flag, steps.place, least, most, sentence));
#include "kv/ABI/ServerOptions.def"
  for (auto [option, needed] : needs)
    option->needs(options.at(needed));
}

/// Adds what is run, and on what.
static void addModel(CLI::App &app, Options &options) {
  app.add_option("model", options.artifact, "artifact of kv-compile (.so)")
      ->required();
  app.add_option("--weights", options.weights, "safetensors file")->required();
  app.add_flag("--map-weights", options.mapWeights,
               "on a CPU: share the weights file's memory with other processes "
               "instead of copying it to huge pages, which are read faster");
  app.add_option("--draft", options.draft,
                 "folder with model.so and weights.safetensors of a smaller "
                 "model with the same vocabulary, whose guesses the model "
                 "verifies");
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
}

std::variant<Options, int> kv::run::parseCommandLine(int argc, char **argv) {
  Options options;
  CLI::App app("Serves generation requests with a compiled model. One JSON "
               "object a line, in and out; token ids only.",
               "kv-run");
  app.footer("Without --pages and --cache-bytes a replica has pages for 4 "
             "requests of the model's length, and all of them at most 1 GiB.");
  app.set_version_flag("--version", "kv-run " KV_VERSION);
  addModel(app, options);
  addTables(app, options.setup, options.steps);
  app.get_option("--cache-bytes")->excludes(app.get_option("--pages"));
  app.get_option("--draft-length")->needs(app.get_option("--draft"));
  app.add_option("--page-size", options.pageSize,
                 "tokens; must equal the artifact's")
      ->check(CLI::Range(1, 1 << 20));
  app.add_option(
         "--replicas", options.replicas,
         "caches of their own, each on its own cpu:N (on a CPU only); a "
         "request goes to the one that has most of its prefix")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app.add_option("--snapshots", options.setup.snapshots,
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
  app.add_option("--dump-logits", options.dumpLogits,
                 "file for the logits of every prompt position: raw f32 rows, "
                 "in request order; those of a failed request are zero");
  std::string encoding = "array";
  app.add_option("--events-encoding", encoding, "array or map")
      ->check(CLI::IsMember({"array", "map"}))
      ->capture_default_str()
      ->needs("--events");
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
  if (encoding == "map")
    options.setup.publisher.encoding = EventPublisher::Encoding::Map;
  return options;
}
