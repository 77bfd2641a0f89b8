//===- events_driver.cpp - A manager for tests in Python ------------------===//
//
// A paged manager with everything that others can listen to. Options are
// arguments NAME=VALUE; commands are lines, each of which is answered by one:
//
//   work COUNT SEED   serves so many requests          done
//   idle              serves resets, and begins a step  done
//   index             the prefixes that are cached       [[salt, adapter,
//                                                          tokens], …]
//   why               lookups by reason                  [hit, never seen, …]
//
//===----------------------------------------------------------------------===//

#include "kv/Runtime/Manager/ManagerEvents.h"
#include "kv/Runtime/Manager/ManagerMetrics.h"
#include "kv/Runtime/Metrics/MetricsServer.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <random>
#include <set>
#include <sstream>

using namespace kv;

namespace {

constexpr int32_t PageSize = 4;
using Tokens = std::vector<int32_t>;

template <class T> T must(Expected<T> result) {
  if (!result) {
    std::cout << "error: " << result.error().message << std::endl;
    std::exit(1);
  }
  if constexpr (!std::is_void_v<T>)
    return std::move(*result);
}

struct Prompt {
  std::string salt, adapter; // empty: none
  Tokens tokens;
  auto operator<=>(const Prompt &) const = default;

  Scope scope() const {
    Scope scope;
    if (!salt.empty())
      scope.salt = salt;
    if (!adapter.empty())
      scope.adapter = adapter;
    return scope;
  }
};

class Driver {
public:
  explicit Driver(std::map<std::string, std::string> options) {
    auto number = [&](const char *name, int64_t otherwise) {
      return options.contains(name) ? std::stoll(options[name]) : otherwise;
    };
    KVCacheParams full = {.geometry = {.dtype = KV_DTYPE_F16,
                                       .layers = 1,
                                       .heads = 1,
                                       .dim = 1,
                                       .page = PageSize},
                          .enablePrefixCaching = number("caching", 1) != 0};
    MultiKVCacheParams params;
    params.params = {full};
    if (options.contains("window")) {
      full.name = "windowed";
      full.geometry.window = number("window", 0);
      params.params.push_back(full);
    }
    if (options.contains("events"))
      publishers = must(openEventPublishers(
          params,
          {.endpoint = options["events"],
           .replayEndpoint = options["replay"],
           .topic = options["topic"],
           .encoding = options["encoding"] == "map"
                           ? EventPublisher::Encoding::Map
                           : EventPublisher::Encoding::Array,
           .replayBatches = static_cast<int32_t>(number("batches", 10'000)),
           .queueBytes = number("queue", 1 << 20),
           .interval = std::chrono::milliseconds(number("interval", 1))}));
    PagedKVCacheManager::Options cache = {.maxBatchSize = 4,
                                          .maxSeqLen = 256,
                                          .numPages = number("pages", 100),
                                          .zmqEndpointBase = options["base"],
                                          .resetEndpoint = options["reset"],
                                          .explainMisses = true};
    for (const auto &publisher : publishers)
      cache.events.push_back(publisher.get());
    manager = must(PagedKVCacheManager::create(params, cache));
    if (options.contains("metrics"))
      metrics = must(MetricsServer::open(options["metrics"], [this] {
        MetricFamilies families;
        collectMetrics(*manager, families);
        for (const auto &publisher : publishers)
          collectMetrics(*publisher, 0, families);
        collectVllmMetrics(*manager, "tiny", families);
        return families;
      }));
    std::cout << "ready " << (metrics ? metrics->port() : 0) << std::endl;
  }

  void work(int64_t count, uint32_t seed) {
    std::mt19937 random(seed);
    for (int64_t i = 0; i < count; ++i) {
      Prompt prompt = {.salt = std::array{"", "a", "b"}[random() % 3],
                       .adapter = random() % 4 ? "" : "x",
                       .tokens = {}};
      // Prompts share their beginnings.
      int32_t family = static_cast<int32_t>(random() % 8);
      prompt.tokens.resize(5 + random() % 60);
      for (size_t at = 0; at < prompt.tokens.size(); ++at)
        prompt.tokens[at] = family * 100 + static_cast<int32_t>(at);
      prompt.tokens.back() = static_cast<int32_t>(random() % 1000);
      serve(prompt);
      seen.insert(prompt);
    }
  }

  void idle() {
    manager->serveResets();
    (void)must(manager->runtimeInputs({}));
    must(manager->step({}));
  }

  std::string index() {
    std::set<Prompt> cached;
    for (const Prompt &prompt : seen) {
      Prompt longer = prompt;
      longer.tokens.push_back(0); // the last token is always computed
      TextGenerationContext request(1, longer.tokens);
      request.setScope(longer.scope());
      must(manager->claim(1));
      int64_t hit = must(manager->probe(request)).cachedTokens;
      must(manager->release(1));
      for (int64_t end = PageSize; end <= hit; end += PageSize)
        cached.insert({prompt.salt,
                       prompt.adapter,
                       {longer.tokens.begin(), longer.tokens.begin() + end}});
    }
    std::string text = "[";
    auto quoted = [](const std::string &name) {
      return name.empty() ? std::string("null") : concat('"', name, '"');
    };
    for (const Prompt &prefix : cached) {
      text += concat(text.size() > 1 ? ", [" : "[", quoted(prefix.salt), ", ",
                     quoted(prefix.adapter), ", [");
      for (size_t i = 0; i < prefix.tokens.size(); ++i)
        text += concat(i ? "," : "", prefix.tokens[i]);
      text += "]]";
    }
    return text + "]";
  }

  std::string why() const {
    std::string text = "[";
    for (const Counter &count : manager->engineMetrics(0).lookedUp)
      text += concat(text.size() > 1 ? "," : "", int64_t(count));
    return text + "]";
  }

private:
  void serve(Prompt prompt) {
    TextGenerationContext request(1, prompt.tokens);
    request.setScope(prompt.scope());
    must(manager->claim(1));
    for (int step = 0; step < 3; ++step) {
      if (auto taken = manager->alloc(request); !taken)
        must(Expected<void>(std::unexpected(taken.error().error)));
      const TextGenerationContext *batch[] = {&request};
      (void)must(manager->runtimeInputs(batch));
      request.advance();
      prompt.tokens.push_back(step);
      request.extend(prompt.tokens);
      must(manager->step(batch));
    }
    must(manager->release(1));
    prompt.tokens.resize(request.processed());
    seen.insert(prompt);
  }

  std::vector<std::unique_ptr<EventPublisher>> publishers;
  std::unique_ptr<PagedKVCacheManager> manager;
  std::unique_ptr<MetricsServer> metrics;
  std::set<Prompt> seen;
};

} // namespace

int main(int argc, char **argv) {
  std::map<std::string, std::string> options;
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    size_t equals = argument.find('=');
    options[argument.substr(0, equals)] = argument.substr(equals + 1);
  }
  Driver driver(options);
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string command, answer = "done";
    int64_t count = 0;
    uint32_t seed = 0;
    words >> command >> count >> seed;
    if (command == "work")
      driver.work(count, seed);
    else if (command == "idle")
      driver.idle();
    else if (command == "index")
      answer = driver.index();
    else if (command == "why")
      answer = driver.why();
    else
      answer = "error: " + line;
    std::cout << answer << std::endl;
  }
}
