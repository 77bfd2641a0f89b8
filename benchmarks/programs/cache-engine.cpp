//===- cache-engine.cpp - What the cache engine costs ---------------------===//
//
// cache-engine costs PAGES     one figure a line: name and nanoseconds
// cache-engine count OPERATION [events]
//                              the operation a few times, in the function
//                              `counted`, for an instruction counter; prints
//                              how many pages, or decode steps, it was; with
//                              events, a publisher listens to the engine
//
// Pages of 16 tokens in random physical order, a full cache, prompts of 512
// pages. Beside it, in alternation: a plain cache of standard containers with
// SHA-256 keys, and the latency of random reads of as much memory.
//
//===----------------------------------------------------------------------===//

#include "plain-cache.h"
#include "runtime/engine/CacheEngineImpl.h"
#include "runtime/engine/structures/LookupTable.h"

#include "kv/Runtime/Events/EventPublisher.h"
#include "kv/Runtime/Manager/PagedKVCacheManager.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <unistd.h>

using namespace kv;
using namespace kv::benchmark;

namespace {

constexpr int32_t PromptPages = 512;
constexpr int64_t PromptTokens = int64_t(PageSize) * PromptPages;

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) {
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

double median(std::vector<double> values) {
  auto middle = values.begin() + values.size() / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

Tokens promptOf(uint64_t id) {
  std::mt19937_64 random(id);
  Tokens tokens(PromptTokens);
  for (int32_t &token : tokens)
    token = static_cast<int32_t>(random() % 128000);
  return tokens;
}

template <class T> T must(Expected<T> value) {
  if (!value) {
    std::fprintf(stderr, "cache-engine: %s\n", value.error().message.c_str());
    std::exit(1);
  }
  return std::move(*value);
}
void must(const Expected<void> &done) {
  if (!done) {
    std::fprintf(stderr, "cache-engine: %s\n", done.error().message.c_str());
    std::exit(1);
  }
}

//===----------------------------------------------------------------------===//
// The engine, full
//===----------------------------------------------------------------------===//

/// Listens to the engines made after it is opened; null: nobody does.
std::unique_ptr<EventPublisher> publisher;

void openPublisher() {
  // All that the operations tell fits into the queue.
  publisher = must(EventPublisher::open(
      {.endpoint = "ipc:///tmp/cache-engine-" + std::to_string(::getpid()),
       .pageSize = PageSize,
       .replayBatches = 0,
       .queueBytes = 64 << 20}));
}

struct FullCache {
  std::unique_ptr<CacheEngineImpl> engine;
  std::deque<Tokens> prompts; // that are cached, the next to be evicted first
  uint64_t nextPrompt = 1;
  std::mt19937 random{7};

  explicit FullCache(int32_t numPages) {
    int32_t count = numPages / PromptPages;
    engine = must(CacheEngineImpl::create({.numPages = count * PromptPages,
                                           .pageSize = PageSize,
                                           .maxSequences = count + 1,
                                           .maxTokens = PromptTokens,
                                           .key = 12345,
                                           .events = publisher.get()}));
    // Sequences grow page by page in random alternation and end in random
    // order: after the third time nothing is beside what it was beside before.
    for (int round = 0; round < 3; ++round) {
      prompts.clear();
      std::vector<Sequence> sequences;
      std::vector<int32_t> turns;
      for (int32_t i = 0; i < count; ++i) {
        prompts.push_back(promptOf(nextPrompt++));
        sequences.push_back(must(engine->open()));
        turns.insert(turns.end(), PromptPages, i);
      }
      std::shuffle(turns.begin(), turns.end(), random);
      for (int32_t turn : turns) {
        Sequence &sequence = sequences[turn];
        int64_t length = sequence.processedTokens() + PageSize;
        engine->reserve(sequence, prompts[turn],
                        {.length = length, .reuse = false});
        must(engine->commit(sequence, prompts[turn], length));
      }
      std::vector<int32_t> order(count);
      std::iota(order.begin(), order.end(), 0);
      std::shuffle(order.begin(), order.end(), random);
      std::deque<Tokens> released;
      for (int32_t i : order) {
        sequences[i].release();
        released.push_back(std::move(prompts[i]));
      }
      prompts = std::move(released);
    }
  }

  /// As many cached prompts, none of those that are evicted next, and their
  /// places.
  std::vector<size_t> choose(size_t count) {
    size_t first = prompts.size() / 2;
    std::vector<size_t> places(prompts.size() - first);
    std::iota(places.begin(), places.end(), first);
    std::shuffle(places.begin(), places.end(), random);
    places.resize(std::min(count, places.size()));
    return places;
  }
  /// A prompt has come in the place of the oldest.
  void replace(Tokens prompt) {
    prompts.pop_front();
    prompts.push_back(std::move(prompt));
  }
  Tokens newPrompt() { return promptOf(nextPrompt++); }
};

//===----------------------------------------------------------------------===//
// Random reads
//===----------------------------------------------------------------------===//

/// A chain through all cache lines of a buffer in random order.
struct RandomReads {
  struct alignas(64) Line {
    uint32_t next;
  };
  FixedArray<Line> lines;
  uint32_t at = 0;

  explicit RandomReads(size_t bytes) {
    size_t count = bytes / sizeof(Line);
    if (!lines.create(count))
      std::exit(1);
    std::vector<uint32_t> order(count);
    for (uint32_t i = 0; i < count; ++i)
      order[i] = i;
    std::shuffle(order.begin(), order.end(), std::mt19937(5));
    for (size_t i = 0; i < count; ++i)
      lines[order[i]].next = order[(i + 1) % count];
  }
  /// Short, so that few are interrupted; the clock costs a tenth of a read.
  void measure(std::vector<double> &samples) {
    constexpr int Reads = 256;
    for (int sample = 0; sample < 64; ++sample) {
      auto start = Clock::now();
      for (int i = 0; i < Reads; ++i)
        at = lines[at].next;
      samples.push_back(since(start) / Reads);
      if (at == UINT32_MAX)
        std::abort();
    }
  }
};

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

using Samples = std::map<std::string, std::vector<double>>;

void measureEngine(FullCache &cache, Samples &samples) {
  CacheEngineImpl &engine = *cache.engine;
  auto timed = [&](const char *name, double pages, auto &&work) {
    auto start = Clock::now();
    work();
    samples[name].push_back(since(start) / pages);
  };
  constexpr int Held = 16;

  std::vector<size_t> places = cache.choose(2 * Held);
  size_t half = places.size() / 2;
  for (size_t i = 0; i < half; ++i) {
    Sequence sequence = must(engine.open());
    CacheEngine::Plan plan;
    timed("lookup", PromptPages - 1, [&] {
      plan = engine.plan(sequence, cache.prompts[places[i]],
                         {.length = PromptTokens});
    });
    if (plan.hitPages != PromptPages - 1)
      std::abort();
  }
  // Others, which have not been looked at: the hit alone, without a new page.
  std::vector<std::pair<size_t, Sequence>> held;
  for (size_t i = half; i < places.size(); ++i) {
    held.emplace_back(places[i], must(engine.open()));
    timed("lookup and touch", PromptPages - 1, [&] {
      engine.reserve(held.back().second, cache.prompts[places[i]],
                     {.length = PromptTokens - PageSize});
    });
  }
  std::shuffle(held.begin(), held.end(), cache.random);
  for (auto &[place, sequence] : held)
    timed("free", PromptPages - 1, [&] { sequence.release(); });
  // They are the most recent now, but for the last page of each.
  std::vector<Tokens> touched;
  for (auto &[place, sequence] : held)
    touched.push_back(cache.prompts[place]);
  std::ranges::sort(held, std::greater(),
                    [](const auto &entry) { return entry.first; });
  for (auto &[place, sequence] : held)
    cache.prompts.erase(cache.prompts.begin() + place);
  for (Tokens &prompt : touched)
    cache.prompts.push_back(std::move(prompt));

  for (int i = 0; i < Held; ++i) {
    Tokens prompt = cache.newPrompt();
    Sequence sequence = must(engine.open());
    timed("allocate and evict", PromptPages, [&] {
      engine.reserve(sequence, prompt,
                     {.length = PromptTokens, .reuse = false});
    });
    timed("commit, hashing included", PromptPages,
          [&] { must(engine.commit(sequence, prompt, PromptTokens)); });
    cache.replace(std::move(prompt));
  }
  for (int i = 0; i < Held; ++i) {
    Tokens prompt = cache.newPrompt();
    Sequence sequence = must(engine.open());
    // Looks the prompt up, and so hashes it.
    timed("miss, allocate and evict", PromptPages,
          [&] { engine.reserve(sequence, prompt, {.length = PromptTokens}); });
    timed("commit", PromptPages,
          [&] { must(engine.commit(sequence, prompt, PromptTokens)); });
    cache.replace(std::move(prompt));
  }
  for (int i = 0; i < Held / 4; ++i) {
    Tokens prompt = cache.newPrompt();
    Sequence sequence = must(engine.open());
    for (int64_t length = 64 * PageSize; length <= PromptTokens;
         length += 64 * PageSize) {
      timed("evict 64 pages", 1, [&] {
        engine.reserve(sequence, prompt, {.length = length, .reuse = false});
      });
      must(engine.commit(sequence, prompt, length));
    }
    cache.replace(std::move(prompt));
  }
}

void measurePlain(PlainCache &cache,
                  std::deque<std::vector<PlainCache::Key>> &keys,
                  uint64_t &nextPrompt, Samples &samples,
                  std::mt19937 &random) {
  auto timed = [&](const char *name, auto &&work) {
    auto start = Clock::now();
    work();
    samples[name].push_back(since(start) / PromptPages);
  };
  for (int i = 0; i < 4; ++i) {
    Tokens prompt = promptOf(nextPrompt++);
    std::vector<PlainCache::Key> hashed;
    timed("plain hash", [&] { hashed = PlainCache::hash(prompt); });
    const auto &known =
        keys[keys.size() / 2 + random() % (keys.size() - keys.size() / 2)];
    std::vector<int32_t> found, taken;
    timed("plain find", [&] { found = cache.lookup(known); });
    timed("plain touch", [&] { cache.touch(found); });
    timed("plain free", [&] { cache.release(found); });
    timed("plain allocate", [&] { taken = cache.allocate(PromptPages); });
    timed("plain commit", [&] { cache.commit(taken, hashed); });
    cache.release(taken);
    keys.push_back(std::move(hashed));
    keys.pop_front();
  }
}

/// One step: reservation, runtime inputs, commit.
double decodeStep(CacheEngineImpl &engine, std::vector<Sequence> &sequences,
                  std::vector<Tokens> &prompts, LookupTable &table,
                  std::vector<int32_t> &lengths) {
  auto start = Clock::now();
  for (size_t i = 0; i < sequences.size(); ++i)
    engine.reserve(sequences[i], prompts[i],
                   {.length = static_cast<int64_t>(prompts[i].size())});
  CacheEngine::Step step = must(engine.beginStep());
  for (size_t i = 0; i < sequences.size(); ++i) {
    must(engine.join(sequences[i], step.ticket));
    table.update(static_cast<int64_t>(i), sequences[i]);
    lengths[i] = static_cast<int32_t>(sequences[i].processedTokens());
  }
  for (size_t i = 0; i < sequences.size(); ++i)
    must(engine.commit(sequences[i], prompts[i],
                       static_cast<int64_t>(prompts[i].size())));
  must(engine.completeStep(step.ticket));
  double took = since(start);
  for (Tokens &prompt : prompts)
    prompt.push_back(static_cast<int32_t>(prompt.size()) % 1000);
  return took;
}

void measureDecode(int32_t numPages, int64_t context, const char *name,
                   Samples &samples) {
  constexpr int32_t Batch = 256, Steps = 200;
  auto engine =
      must(CacheEngineImpl::create({.numPages = numPages,
                                    .pageSize = PageSize,
                                    .maxSequences = Batch,
                                    .maxTokens = context + Steps + 16}));
  std::vector<Sequence> sequences;
  std::vector<Tokens> prompts;
  int64_t pitch = engine->maxTokens() / PageSize + 1;
  std::vector<PageId> entries(Batch * pitch);
  LookupTable table;
  if (!table.create(entries.data(), Batch, pitch))
    std::exit(1);
  std::mt19937 random(9);
  for (int32_t i = 0; i < Batch; ++i) {
    // Page boundaries are spread over the steps.
    Tokens prompt(context - random() % PageSize);
    for (int32_t &token : prompt)
      token = static_cast<int32_t>(random() % 128000);
    prompt.reserve(context + Steps + 16);
    prompts.push_back(std::move(prompt));
    sequences.push_back(must(engine->open()));
    int64_t length = static_cast<int64_t>(prompts[i].size());
    engine->reserve(sequences[i], prompts[i], {.length = length});
    must(engine->commit(sequences[i], prompts[i], length));
    prompts[i].push_back(1);
  }
  std::vector<int32_t> lengths(Batch);
  for (int32_t step = 0; step < Steps; ++step)
    samples[name].push_back(
        decodeStep(*engine, sequences, prompts, table, lengths) / 1000);
}

constexpr int32_t ManagerSteps = 200;

/// Decode steps of 256 requests through the manager: calls run(step, work) for
/// the two halves of each step's work, alloc with runtimeInputs and then step.
/// Step 0 has the prompts.
template <class Run>
void decodeThroughManager(int32_t numPages, int64_t context, int32_t numSteps,
                          Run &&run) {
  constexpr int32_t Batch = 256;
  KVCacheParams params = {.geometry = {.dtype = KV_DTYPE_F16,
                                       .layers = 1,
                                       .heads = 1,
                                       .dim = 1,
                                       .page = PageSize},
                          .enablePrefixCaching = true};
  PagedKVCacheManager::Options options = {.maxBatchSize = Batch,
                                          .maxSeqLen = context + numSteps,
                                          .numPages = numPages};
  if (publisher)
    options.events = {publisher.get()};
  auto manager = must(PagedKVCacheManager::create(params, options));
  std::vector<Tokens> prompts(Batch);
  std::vector<TextGenerationContext> contexts;
  std::vector<const TextGenerationContext *> batch;
  contexts.reserve(Batch);
  std::mt19937 random(9);
  auto alloc = [&](TextGenerationContext &request) {
    if (auto taken = manager->alloc(request); !taken) [[unlikely]]
      must(Expected<void>(std::unexpected(taken.error().error)));
  };
  for (int32_t i = 0; i < Batch; ++i) {
    prompts[i].reserve(context + numSteps);
    prompts[i].resize(context - random() % PageSize);
    for (int32_t &token : prompts[i])
      token = static_cast<int32_t>(random() % 128000);
    contexts.emplace_back(i, prompts[i]);
    batch.push_back(&contexts.back());
    must(manager->claim(i));
    alloc(contexts.back());
  }
  for (int32_t step = 0; step < numSteps; ++step) {
    run(step, [&] {
      if (step > 0)
        for (TextGenerationContext &request : contexts)
          alloc(request);
      must(manager->runtimeInputs(batch));
    });
    for (int32_t i = 0; i < Batch; ++i) {
      contexts[i].advance();
      prompts[i].push_back(step);
      contexts[i].extend(prompts[i]);
    }
    run(step, [&] { must(manager->step(batch)); });
  }
}

void measureManager(int32_t numPages, int64_t context, const char *name,
                    Samples &samples) {
  std::vector<double> took(ManagerSteps);
  decodeThroughManager(numPages, context, ManagerSteps,
                       [&](int32_t step, auto &&work) {
                         auto start = Clock::now();
                         work();
                         took[step] += since(start);
                       });
  for (int32_t step = 1; step < ManagerSteps; ++step)
    samples[name].push_back(took[step] / 1000);
}

int costs(int32_t numPages) {
  Samples samples;
  FullCache cache(numPages);
  RandomReads reads(cache.engine->poolBytes());
  PlainCache plain(cache.engine->pool().numTotal());
  std::deque<std::vector<PlainCache::Key>> keys;
  uint64_t nextPlain = 1u << 30;
  for (int32_t i = 0; i < numPages / PromptPages; ++i) {
    keys.push_back(PlainCache::hash(promptOf(nextPlain++)));
    std::vector<int32_t> taken = plain.allocate(PromptPages);
    plain.commit(taken, keys.back());
    plain.release(taken);
  }
  std::mt19937 random(11);
  for (int round = 0; round < 30; ++round) {
    reads.measure(samples["random read"]);
    measureEngine(cache, samples);
    measurePlain(plain, keys, nextPlain, samples, random);
  }
  if (std::string fault = cache.engine->check(); !fault.empty()) {
    std::fprintf(stderr, "cache-engine: %s\n", fault.c_str());
    return 1;
  }
  for (int64_t context : {1024, 16384})
    if (context / PageSize * 256 + 256 * 16 < numPages) {
      measureDecode(numPages, context,
                    context == 1024 ? "decode step at 1024 tokens"
                                    : "decode step at 16384 tokens",
                    samples);
      measureManager(numPages, context,
                     context == 1024 ? "decode step of the manager at 1024"
                                     : "decode step of the manager at 16384",
                     samples);
    }
  if (numPages >= 256 * 200)
    measureDecode(numPages, numPages / 256 * PageSize - 320,
                  "decode step, pool full", samples);
  for (const auto &[name, values] : samples)
    std::printf("%s\t%.3f\n", name.c_str(), median(values));
  std::printf("bytes a page\t%.1f\n", double(cache.engine->poolBytes()) /
                                          cache.engine->pool().numTotal());
  return 0;
}

//===----------------------------------------------------------------------===//
// Counting instructions
//===----------------------------------------------------------------------===//

/// What an instruction counter looks at.
[[gnu::noinline]] void counted(const std::function<void()> &work) {
  work();
  asm volatile("" ::: "memory"); // not a tail call
}

int count(std::string_view operation) {
  if (operation == "decode") {
    decodeThroughManager(1 << 15, 1024, 33, [](int32_t step, auto &&work) {
      step > 0 ? counted(work) : work();
    });
    std::printf("%d\n", 32);
    return 0;
  }
  FullCache cache(16 * PromptPages);
  CacheEngineImpl &engine = *cache.engine;
  constexpr int Times = 8;
  for (int i = 0; i < Times; ++i) {
    Tokens known = cache.prompts[8 + i % 8], fresh = cache.newPrompt();
    Sequence sequence = must(engine.open());
    auto run = [&](std::string_view name, const std::function<void()> &work) {
      name == operation ? counted(work) : work();
    };
    if (operation.starts_with("lookup") || operation == "free") {
      run("lookup",
          [&] { engine.plan(sequence, known, {.length = PromptTokens}); });
      run("lookup and touch", [&] {
        engine.reserve(sequence, known, {.length = PromptTokens - PageSize});
      });
      run("free", [&] { sequence.release(); });
    } else {
      // A commit finds the tags that the reservation has left.
      run("evict", [&] {
        engine.reserve(
            sequence, fresh,
            {.length = PromptTokens, .reuse = operation == "commit"});
      });
      run("commit",
          [&] { must(engine.commit(sequence, fresh, PromptTokens)); });
    }
  }
  std::printf("%d\n", Times * PromptPages);
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  if (argc == 3 && std::string_view(argv[1]) == "costs")
    return costs(std::atoi(argv[2]));
  bool listens = argc == 4 && std::string_view(argv[3]) == "events";
  if ((argc == 3 || listens) && std::string_view(argv[1]) == "count") {
    if (listens)
      openPublisher();
    return count(argv[2]);
  }
  std::fprintf(stderr, "usage: cache-engine costs PAGES | count OPERATION "
                       "[events]\n");
  return 2;
}
