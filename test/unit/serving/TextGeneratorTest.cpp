//===- TextGeneratorTest.cpp - Serving with a fake model ------------------===//

#include "kv/Runtime/Serving/TextGenerator.h"
#include "kv/Runtime/Manager/LoadKVCacheManager.h"

#include "test/unit/FakeModel.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <random>

using namespace kv;
using namespace kv::test;

namespace {

struct Answer {
  std::vector<int32_t> tokens;
  std::vector<std::optional<uint64_t>> digests;
  std::vector<int> steps; // in which each token came
  std::map<int64_t, std::vector<float>> promptLogits;
  struct Known {
    TokenLogprob chosen;
    int64_t rank;
    std::vector<TokenLogprob> top;
  };
  std::map<int64_t, Known> logprobs; // by position
  std::string finish;                // "stop", "length" or the error
  GenerationCounts counts;
  int finishes = 0;
};

class Recorder : public GenerationSink {
public:
  explicit Recorder(const FakeModel &model) : model(model) {}

  void token(const GenerationRequest &request, int64_t index, int32_t token,
             std::optional<uint64_t> digest) override {
    Answer &answer = answers[&request];
    EXPECT_EQ(index, static_cast<int64_t>(answer.tokens.size()));
    EXPECT_EQ(answer.finishes, 0);
    answer.tokens.push_back(token);
    answer.digests.push_back(digest);
    answer.steps.push_back(model.steps);
  }
  void finished(const GenerationRequest &request, FinishReason reason,
                const GenerationCounts &counts) override {
    Answer &answer = answers[&request];
    answer.finish = reason == FinishReason::Stop ? "stop" : "length";
    answer.counts = counts;
    ++answer.finishes;
  }
  void failed(const GenerationRequest &request,
              std::string_view message) override {
    answers[&request].finish = message;
    ++answers[&request].finishes;
  }
  void promptLogits(const GenerationRequest &request, int64_t position,
                    std::span<const float> row) override {
    auto [at, fresh] = answers[&request].promptLogits.emplace(
        position, std::vector<float>(row.begin(), row.end()));
    EXPECT_TRUE(fresh) << "position " << position << " came twice";
  }

  void logprobs(const GenerationRequest &request, int64_t position,
                const TokenLogprobs &found) override {
    Answer::Known known = {
        found.chosen, found.rank, {found.top.begin(), found.top.end()}};
    bool fresh =
        answers[&request].logprobs.emplace(position, std::move(known)).second;
    EXPECT_TRUE(fresh) << "position " << position << " came twice";
  }

  const FakeModel &model;
  std::map<const GenerationRequest *, Answer> answers;
};

struct Limits {
  int64_t pageSize = 4;
  int64_t pages = 64;
  int32_t maxBatch = 8;
  int64_t maxBatchTokens = 64;
  int64_t maxSeqLen = 64;
  bool prefixCaching = true;
  int32_t replicas = 1;
  bool continuous = false;
  int32_t draftTokens = 0;
  int32_t ngram = 0;
  int64_t window = 0; // of a collection that the model does not read
  int32_t cachedLogprobs = 0;
};

/// Serves `requests`; the answers are in their order.
struct Served {
  Served(const std::vector<GenerationRequest> &requests, Limits limits = {},
         std::function<void(FakeModel &)> prepare = {}) {
    if (prepare)
      prepare(model);
    PagedKVCacheManager::Options options;
    options.maxBatchSize = limits.maxBatch;
    options.maxSeqLen = limits.maxSeqLen;
    options.numPages = limits.pages;
    options.payloadRanks = limits.cachedLogprobs;
    options.enableRuntimeChecks = true;
    KVCacheParams params = fakeParams(limits.pageSize);
    params.enablePrefixCaching = limits.prefixCaching;
    params.numDraftTokens = limits.draftTokens;
    if (limits.draftTokens)
      params.speculativeMethod = SpeculativeMethod::Eagle;
    params.numDevices = params.dataParallelDegree = limits.replicas;
    if (limits.continuous) {
      params.enablePrefixCaching = false;
      params.geometry.strategy = CacheStrategy::Continuous;
      params.geometry.page = limits.maxSeqLen;
    }
    MultiKVCacheParams caches = {{params}};
    if (limits.window) {
      caches.params.push_back(params);
      caches.params[1].name = "window";
      caches.params[1].geometry.window = limits.window;
      options.maxChunkTokens = limits.maxBatchTokens;
    }
    auto manager = loadKVCacheManager(caches, options);
    Recorder recorder(model);
    TextGenerator generator(
        model, **manager, recorder,
        {.scheduler = {.maxBatch = limits.maxBatch,
                       .maxBatchTokens = limits.maxBatchTokens,
                       .ngram = limits.ngram},
         .maxSeqLen = limits.maxSeqLen});
    statistics = generator.run(requests);
    for (const GenerationRequest &request : requests)
      answers.push_back(recorder.answers[&request]);
    EXPECT_EQ((*manager)->numFreeBlocks(), (*manager)->totalNumPages());
    EXPECT_EQ((*manager)->totalNumPages(),
              limits.continuous
                  ? limits.maxBatch / limits.replicas * limits.replicas
                  : limits.pages * limits.replicas);
    EXPECT_EQ(statistics.requests, static_cast<int64_t>(requests.size()));
    for (const auto &shape : model.shapes) {
      EXPECT_LE(static_cast<int32_t>(shape.size()), limits.maxBatch);
      EXPECT_LE(std::accumulate(shape.begin(), shape.end(), int64_t(0)),
                limits.maxBatchTokens);
    }
    for (size_t i = 0; i < requests.size(); ++i) {
      EXPECT_EQ(answers[i].finishes, 1) << requests[i].id;
      if (answers[i].finish != "stop" && answers[i].finish != "length")
        continue;
      EXPECT_EQ(answers[i].tokens,
                FakeModel::answer(requests[i], limits.maxSeqLen))
          << requests[i].id;
      EXPECT_EQ(answers[i].counts.newTokens,
                static_cast<int64_t>(answers[i].tokens.size()));
      checkLogprobs(requests[i], answers[i]);
    }
  }

  /// They are those of the rows, for all tokens of which they were asked for.
  static void checkLogprobs(const GenerationRequest &request,
                            const Answer &answer) {
    std::vector<int32_t> all = request.tokens;
    all.insert(all.end(), answer.tokens.begin(), answer.tokens.end());
    size_t wanted = request.logprobs < 0 ? 0 : answer.tokens.size();
    if (request.promptLogprobs >= 0)
      wanted += request.tokens.size() - 1;
    EXPECT_EQ(answer.logprobs.size(), wanted) << request.id;
    LogitReader reader;
    for (const auto &[position, known] : answer.logprobs) {
      bool isPrompt = position < std::ssize(request.tokens);
      std::vector<float> row =
          FakeModel::logits(std::span(all).first(position));
      TokenLogprobs right =
          reader.logprobs(row, all[position],
                          isPrompt ? request.promptLogprobs : request.logprobs);
      auto isSame = [](const TokenLogprob &a, const TokenLogprob &b) {
        return a.token == b.token && a.logprob == b.logprob;
      };
      EXPECT_TRUE(isSame(known.chosen, right.chosen) &&
                  known.rank == right.rank &&
                  std::ranges::equal(known.top, right.top, isSame))
          << request.id << ", token " << position;
    }
  }

  FakeModel model;
  GenerationStatistics statistics;
  std::vector<Answer> answers;
};

GenerationRequest request(std::string id, int32_t prompt, int64_t newTokens,
                          int32_t first = 0) {
  GenerationRequest result;
  result.id = std::move(id);
  for (int32_t i = 0; i < prompt; ++i)
    result.tokens.push_back((first + i) % FakeModel::Vocab);
  result.maxNewTokens = newTokens;
  return result;
}

using Shapes = std::vector<std::vector<int64_t>>;

} // namespace

TEST(TextGenerator, OneRequest) {
  Served served({request("a", 5, 7)});
  EXPECT_EQ(served.answers[0].finish, "length");
  EXPECT_EQ(served.answers[0].counts.promptTokens, 5);
  EXPECT_EQ(served.model.shapes, (Shapes{{5}, {1}, {1}, {1}, {1}, {1}, {1}}));
  EXPECT_EQ(served.statistics.steps, 7);
  EXPECT_EQ(served.statistics.prefillTokens, 5);
  EXPECT_EQ(served.statistics.decodeTokens, 6);
  EXPECT_EQ(served.statistics.preemptions, 0);
}

TEST(TextGenerator, DecodesAndPrefillsInOneBatch) {
  GenerationRequest late = request("b", 6, 3, 20);
  late.arrivalStep = 2;
  Served served({request("a", 5, 5), late});
  EXPECT_EQ(served.model.shapes, (Shapes{{5}, {1}, {1, 6}, {1, 1}, {1, 1}}));
  EXPECT_EQ(served.statistics.prefillTokens, 12);
  EXPECT_EQ(served.statistics.decodeTokens, 5);
}

TEST(TextGenerator, LongPromptsAreComputedInChunks) {
  Limits limits;
  limits.maxBatchTokens = 4;
  GenerationRequest late = request("b", 11, 2, 20);
  late.arrivalStep = 1;
  Served served({request("a", 3, 6), late}, limits);
  EXPECT_EQ(served.model.shapes,
            (Shapes{{3}, {1, 3}, {1, 3}, {1, 3}, {1, 2}, {1, 1}}));
}

TEST(TextGenerator, ABatchHasAtMostSoManyRequests) {
  Limits limits;
  limits.maxBatch = 2;
  std::vector<GenerationRequest> requests;
  for (int i = 0; i < 5; ++i)
    requests.push_back(request(std::string(1, 'a' + i), 3, 2 + i, 7 * i));
  Served served(requests, limits);
  EXPECT_EQ(served.answers[4].finish, "length");
}

TEST(TextGenerator, NobodyJoinsBeforeItsArrival) {
  GenerationRequest second = request("b", 3, 2, 9);
  second.arrivalStep = 3;
  GenerationRequest third = request("c", 3, 2, 30);
  third.arrivalStep = 1000000000; // long after everything is idle
  Served served({third, second, request("a", 3, 6)});
  EXPECT_EQ(served.answers[2].steps[0], 1);
  EXPECT_EQ(served.answers[1].steps[0], 4);
  EXPECT_EQ(served.answers[0].steps[0], 7);
  EXPECT_EQ(served.statistics.steps, 8);
}

TEST(TextGenerator, PreemptionLosesAndRepeatsNothing) {
  // Each needs 6 pages in the end, and 8 are there.
  Limits limits;
  limits.pageSize = 2;
  limits.pages = 8;
  std::vector<GenerationRequest> requests = {
      request("a", 3, 9, 0), request("b", 3, 9, 10), request("c", 3, 9, 20)};
  requests[1].sampling = {.temperature = 1, .seed = 5};
  for (bool caching : {true, false}) {
    limits.prefixCaching = caching;
    Served served(requests, limits);
    EXPECT_GT(served.statistics.preemptions, 0);
    // The oldest is never held up.
    EXPECT_EQ(served.answers[0].steps.back(), 9);
    for (const Answer &answer : served.answers) {
      EXPECT_EQ(answer.finish, "length");
      EXPECT_EQ(answer.counts.cachedTokens, 0); // its own pages do not count
    }
    EXPECT_EQ(served.statistics.cachedTokens, 0);
  }
}

TEST(TextGenerator, TheSmallestPriorityBeginsFirst) {
  // One at a time; a preempted request waits in its place.
  Limits limits;
  limits.maxBatch = 1;
  std::vector<GenerationRequest> requests;
  for (int32_t priority : {0, 5, 0, -3, 5}) {
    requests.push_back(request(std::to_string(requests.size()), 3, 2,
                               7 * static_cast<int32_t>(requests.size())));
    requests.back().priority = priority;
  }
  std::vector<int> first;
  Served served(requests, limits);
  for (const Answer &answer : served.answers)
    first.push_back(answer.steps[0]);
  EXPECT_EQ(first, (std::vector<int>{3, 7, 5, 1, 9}));

  limits = {.pageSize = 2, .pages = 8};
  requests = {request("a", 3, 9, 0), request("b", 3, 9, 10),
              request("c", 3, 9, 20), request("d", 3, 2, 30)};
  requests[1].priority = requests[2].priority = 1;
  requests[3].priority = 2;
  Served crowded(requests, limits);
  EXPECT_GT(crowded.statistics.preemptions, 0);
  EXPECT_EQ(crowded.answers[0].steps.back(), 9);
  EXPECT_GT(crowded.answers[3].steps[0], crowded.answers[2].steps[0]);
}

/// The requests' places in the order in which they begin, one at a time.
static std::vector<int>
orderOf(const std::vector<GenerationRequest> &requests) {
  Limits limits;
  limits.maxBatch = 1;
  limits.prefixCaching = false;
  Served served(requests, limits);
  std::map<int, int> order; // by first steps
  std::map<double, int> queued;
  for (int i = 0; i < std::ssize(requests); ++i) {
    order[served.answers[i].steps[0]] = i;
    if (requests[i].arrivalStep == 0)
      queued[served.answers[i].counts.queueSeconds] = i;
  }
  std::vector<int> places, byTime;
  for (auto [step, place] : order)
    places.push_back(place);
  for (auto [seconds, place] : queued)
    byTime.push_back(place);
  std::vector<int> early;
  std::ranges::copy_if(places, std::back_inserter(early), [&](int place) {
    return requests[place].arrivalStep == 0;
  });
  EXPECT_EQ(byTime, early);
  EXPECT_GT(queued.begin()->first, 0);
  return places;
}

TEST(TextGenerator, TenantsTakeTurnsByTokens) {
  auto of = [](std::string tenant, int64_t promptTokens, int32_t first) {
    GenerationRequest one =
        request(concat(tenant, first), promptTokens, 2, first);
    one.tenant = std::move(tenant);
    return one;
  };
  // Four tokens are computed for one of a's requests, eight for one of b's.
  std::vector<GenerationRequest> requests;
  for (int32_t i = 0; i < 6; ++i)
    requests.push_back(of("a", 3, i));
  for (int32_t i = 0; i < 3; ++i)
    requests.push_back(of("b", 7, i));
  EXPECT_EQ(orderOf(requests), (std::vector{0, 6, 1, 2, 7, 3, 4, 8, 5}));

  // Priority goes first.
  requests[8].priority = -1;
  EXPECT_EQ(orderOf(requests), (std::vector{8, 0, 1, 2, 6, 3, 4, 7, 5}));

  // Who comes later is not owed the turns before.
  requests.clear();
  for (int32_t i = 0; i < 4; ++i)
    requests.push_back(of("a", 3, i));
  for (int32_t i = 0; i < 3; ++i) {
    requests.push_back(of("b", 3, i));
    requests.back().arrivalStep = 4;
  }
  EXPECT_EQ(orderOf(requests), (std::vector{0, 1, 2, 4, 3, 5, 6}));

  // Ever new tenants let the one that has waited longest begin.
  requests = {of("a", 3, 0), of("a", 3, 1)};
  for (int32_t i = 0; i < 4; ++i) {
    requests.push_back(of(concat("new ", i, " "), 3, i));
    requests.back().arrivalStep = 1 + 2 * i;
  }
  EXPECT_EQ(orderOf(requests), (std::vector{0, 2, 1, 3, 4, 5}));
}

TEST(TextGenerator, SharedPromptsAreComputedOnce) {
  GenerationRequest again = request("b", 10, 3);
  again.arrivalStep = 1;
  Served served({request("a", 10, 3), again});
  EXPECT_EQ(served.answers[1].counts.cachedTokens, 8);
  EXPECT_EQ(served.answers[0].counts.cachedTokens, 0);
  EXPECT_EQ(served.statistics.cachedTokens, 8);
  EXPECT_EQ(served.statistics.prefixHits, 1);
  EXPECT_EQ(served.model.shapes[1], (std::vector<int64_t>{1, 2}));

  Limits limits;
  limits.prefixCaching = false;
  Served without({request("a", 10, 3), again}, limits);
  EXPECT_EQ(without.statistics.prefixHits, 0);
}

TEST(TextGenerator, AStopTokenEndsAndIsNotInTheAnswer) {
  GenerationRequest open = request("a", 5, 10);
  std::vector<int32_t> all = FakeModel::answer(open, 64);
  GenerationRequest stopped = open;
  stopped.stopTokens = {999, all[4]};
  size_t at = std::ranges::find(all, all[4]) - all.begin();
  Served served({stopped});
  EXPECT_EQ(served.answers[0].finish, "stop");
  EXPECT_EQ(served.answers[0].tokens.size(), at);
}

TEST(TextGenerator, Lengths) {
  Limits limits;
  limits.maxSeqLen = 16;
  GenerationRequest none = request("c", 6, 0);
  none.digests = true;
  Served served(
      {request("a", 12, 100), request("b", 16, 5), none, request("d", 17, 1)},
      limits);
  EXPECT_EQ(served.answers[0].finish, "length");
  EXPECT_EQ(served.answers[0].tokens.size(), 4u);
  EXPECT_EQ(served.answers[1].finish, "length");
  EXPECT_EQ(served.answers[1].tokens.size(), 0u);
  EXPECT_EQ(served.answers[2].finish, "length");
  EXPECT_EQ(served.answers[3].finish,
            "request d: 17 prompt tokens, the model takes at most 16");
  EXPECT_EQ(served.statistics.failedRequests, 1);
}

TEST(TextGenerator, BadRequestsFailAlone) {
  Limits limits;
  limits.pages = 4;
  GenerationRequest outside = request("c", 3, 2);
  outside.tokens[1] = 50;
  GenerationRequest twin = request("a", 2, 2), heir = request("a", 2, 2);
  heir.arrivalStep = 100; // by then the id is free
  Served served({request("a", 3, 2), request("b", 3, 15),
                 request("empty", 0, 1), outside, twin, heir},
                limits);
  EXPECT_EQ(served.answers[0].finish, "length");
  EXPECT_EQ(served.answers[1].finish,
            "request b: 3 prompt tokens and up to 15 new ones need 5 pages of "
            "4 tokens, the cache has 4");
  EXPECT_EQ(served.answers[2].finish,
            "request empty: no prompt tokens, at least one is needed");
  EXPECT_EQ(served.answers[3].finish,
            "request c: tokens[1] is 50, the vocabulary is 0 to 49");
  EXPECT_EQ(served.answers[4].finish,
            "request a: its id is that of a running request");
  EXPECT_EQ(served.answers[5].finish, "length");
  EXPECT_EQ(served.statistics.failedRequests, 4);
}

TEST(TextGenerator, ARequestThatJustFitsIsServed) {
  Limits limits;
  limits.pages = 4;
  Served served({request("a", 3, 14)}, limits); // the last is not stored
  EXPECT_EQ(served.answers[0].finish, "length");
  limits.draftTokens = 1; // which are reserved behind the others
  EXPECT_EQ(Served({request("a", 3, 14)}, limits).answers[0].finish,
            "request a: 3 prompt tokens and up to 14 new ones need 5 pages of "
            "4 tokens, the cache has 4");
}

TEST(TextGenerator, AFailedStepFailsItsRequestsOnly) {
  GenerationRequest late = request("b", 3, 2, 9);
  late.arrivalStep = 5;
  Served served({request("a", 3, 4), late}, {}, [](FakeModel &model) {
    model.sabotage =
        [](int step,
           std::vector<float> &rows) -> Expected<std::span<const float>> {
      if (step == 2)
        return makeError(KV_STATUS_INTERNAL, "no arena left");
      return rows;
    };
  });
  EXPECT_EQ(served.answers[0].finish,
            "request a: its step failed: no arena left");
  EXPECT_EQ(served.answers[0].tokens.size(), 1u);
  EXPECT_EQ(served.answers[1].finish, "length");
}

TEST(TextGenerator, ANaNFailsItsRequestAndIsNotCached) {
  GenerationRequest again = request("c", 9, 2, 0);
  again.arrivalStep = 5;
  Served served({request("a", 9, 2, 0), request("b", 3, 2, 20), again}, {},
                [](FakeModel &model) {
                  model.sabotage = [](int step, std::vector<float> &rows)
                      -> Expected<std::span<const float>> {
                    if (step == 1)
                      rows[7] = NAN; // of the first row: request a's
                    return rows;
                  };
                });
  EXPECT_EQ(served.answers[0].finish,
            "request a: token 0: the logit of token 7 is NaN or infinite");
  EXPECT_EQ(served.answers[1].finish, "length");
  EXPECT_EQ(served.answers[2].finish, "length");
  EXPECT_EQ(served.answers[2].counts.cachedTokens, 0);
}

TEST(TextGenerator, DigestsAreThoseOfTheRows) {
  GenerationRequest asked = request("a", 5, 3);
  asked.digests = true;
  Served served({asked, request("b", 5, 3, 9)});
  std::vector<int32_t> history = asked.tokens;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(served.answers[0].digests[i],
              digestLogits(FakeModel::logits(history)));
    EXPECT_EQ(served.answers[1].digests[i], std::nullopt);
    history.push_back(served.answers[0].tokens[i]);
  }
}

TEST(TextGenerator, PromptLogitsAreCompleteInSpiteOfTheCache) {
  Limits limits;
  limits.pageSize = 2;
  limits.pages = 10;
  limits.maxBatchTokens = 5;
  GenerationRequest dumped = request("b", 9, 4), other = request("a", 9, 8);
  dumped.promptLogits = true;
  dumped.arrivalStep = 3; // when the prompt is cached
  Served served({other, dumped, request("c", 2, 9, 30)}, limits);
  EXPECT_EQ(served.answers[1].finish, "length");
  EXPECT_EQ(served.answers[1].counts.cachedTokens, 0);
  ASSERT_EQ(served.answers[1].promptLogits.size(), 9u);
  for (int64_t i = 0; i < 9; ++i)
    EXPECT_EQ(served.answers[1].promptLogits[i],
              FakeModel::logits(std::span(dumped.tokens).first(i + 1)));
  EXPECT_TRUE(served.answers[0].promptLogits.empty());
}

/// Equal ones, and of what is cached with as many only the last token and what
/// no request finds in a cache is computed again.
TEST(TextGenerator, LogprobsOfPromptsAreCached) {
  Limits limits;
  limits.cachedLogprobs = 3;
  limits.maxBatchTokens = 9;
  std::vector<GenerationRequest> requests;
  auto add = [&](int32_t length, int32_t logprobs, int64_t cached) {
    GenerationRequest &one =
        requests.emplace_back(request(concat("r", requests.size()), length, 1));
    one.arrivalStep = 10 * std::ssize(requests);
    one.promptLogprobs = logprobs;
    return cached;
  };
  std::vector<int64_t> cached = {
      add(30, -1, 0),  // without
      add(18, 1, 0),   // what is cached has none
      add(18, 3, 15),  // four pages; more than the first request asked for
      add(30, 0, 15),  // the other pages have none
      add(30, 2, 27),  // now they have
      add(17, 3, 15),  // the end is a page of its own
      add(16, 3, 11),  // the end is the last token of a page
      add(30, 4, 0),   // more than are cached
      add(30, -1, 28), // of others nothing is computed again
  };
  Served served(requests, limits);
  int64_t computed = 0;
  for (size_t i = 0; i < requests.size(); ++i) {
    EXPECT_EQ(served.answers[i].counts.cachedTokens, cached[i]) << i;
    computed += std::ssize(requests[i].tokens) - cached[i];
  }
  EXPECT_EQ(served.statistics.prefillTokens, computed);
}

/// Of the prompt's tokens but the first, and of the answer's, whatever is
/// cached and however the prompt is cut.
TEST(TextGenerator, LogprobsAreThoseOfTheRows) {
  Limits limits;
  limits.pageSize = 2;
  limits.maxBatchTokens = 5;
  GenerationRequest other = request("a", 9, 4), asked = request("b", 9, 4);
  asked.arrivalStep = 3; // when the prompt is cached
  asked.logprobs = 2;
  GenerationRequest whole = asked;
  whole.id = "c";
  whole.promptLogprobs = 0;
  Served served({other, asked, whole}, limits);
  EXPECT_GT(served.answers[1].counts.cachedTokens, 0);
  EXPECT_EQ(served.answers[2].counts.cachedTokens, 0);
  EXPECT_TRUE(served.answers[0].logprobs.empty());
  EXPECT_EQ(served.answers[1].logprobs.size(), 4u);
  EXPECT_EQ(served.answers[2].logprobs.size(), 8u + 4u);
  std::vector<int32_t> all = asked.tokens;
  all.insert(all.end(), served.answers[1].tokens.begin(),
             served.answers[1].tokens.end());
  LogitReader reader;
  for (const auto &[position, known] : served.answers[2].logprobs) {
    std::vector<float> row = FakeModel::logits(std::span(all).first(position));
    bool isAnswer = position >= 9;
    TokenLogprobs expected =
        reader.logprobs(row, all[position], isAnswer ? 2 : 0);
    EXPECT_EQ(known.chosen.token, all[position]);
    EXPECT_EQ(known.chosen.logprob, expected.chosen.logprob);
    EXPECT_EQ(known.rank, expected.rank);
    EXPECT_EQ(known.top.size(), isAnswer ? 2u : 0u);
    if (isAnswer) {
      EXPECT_EQ(served.answers[1].logprobs[position].chosen.logprob,
                known.chosen.logprob);
      EXPECT_EQ(known.rank, 1); // greedy
    }
  }
}

TEST(TextGenerator, BadRulesAreRefused) {
  auto sentence = [](const std::function<void(GenerationRequest &)> &change) {
    GenerationRequest bad = request("a", 3, 2);
    change(bad);
    return Served({bad}).answers[0].finish;
  };
  EXPECT_EQ(sentence([](auto &r) { r.rules.repetitionPenalty = 0; }),
            "request a: repetition penalty is 0.000000, allowed: above 0");
  EXPECT_EQ(sentence([](auto &r) { r.rules.frequencyPenalty = NAN; }),
            "request a: frequency penalty is nan, allowed: a finite number");
  EXPECT_EQ(sentence([](auto &r) { r.rules.bias = {{50, 1}}; }),
            "request a: a logit bias is of token 50, the vocabulary is 0 to "
            "49");
  EXPECT_EQ(sentence([](auto &r) { r.rules.bias = {{5, INFINITY}}; }),
            "request a: the logit bias of token 5 is inf, allowed: a finite "
            "number");
  EXPECT_EQ(sentence([](auto &r) { r.logprobs = 51; }),
            "request a: log probabilities of 51 tokens, allowed: 0 to 50");
}

/// Lets tokens follow that are larger than the one before; after `last` none.
struct Ascending : TokenMask {
  explicit Ascending(int32_t last) : last(last) {}
  Expected<void> allow(std::span<const int32_t> answer,
                       std::span<uint32_t> allowed) override {
    EXPECT_EQ(answer.size(), calls++);
    for (int32_t t = answer.empty() ? 0 : answer.back() + 1; t <= last; ++t)
      allowed[t / 32] |= 1u << t % 32;
    return {};
  }
  int32_t last;
  size_t calls = 0;
};

TEST(TextGenerator, AMaskIsAskedOnceForEachToken) {
  std::vector<GenerationRequest> requests = {request("a", 5, 40)};
  requests[0].rules.mask = std::make_shared<Ascending>(49);
  FakeModel model;
  Recorder recorder(model);
  auto manager = loadKVCacheManager(
      fakeParams(4), {.maxBatchSize = 2, .maxSeqLen = 64, .numPages = 64});
  TextGenerator generator(model, **manager, recorder,
                          {.scheduler = {.maxBatch = 2}, .maxSeqLen = 64});
  generator.run(requests);
  const Answer &answer = recorder.answers[&requests[0]];
  EXPECT_TRUE(std::ranges::is_sorted(answer.tokens));
  EXPECT_EQ(answer.tokens.back(), 49);
  EXPECT_EQ(answer.finish, "request a: token " +
                               std::to_string(answer.tokens.size()) +
                               ": the mask allows no token");
}

/// Random loads on pools from scarce to ample: every answer is the one that its
/// request gets alone. Served checks the rest, and the manager its invariants.
TEST(TextGenerator, RandomLoads) {
  std::mt19937 random(11);
  auto below = [&](int limit) { return static_cast<int>(random() % limit); };
  int64_t preemptions = 0, hits = 0, served = 0, dumps = 0, elsewhere = 0,
          drafts = 0, accepted = 0, knownHits = 0;
  for (int round = 0; round < 1400; ++round) {
    Limits limits;
    limits.pageSize = 1 + below(5);
    limits.maxSeqLen = 12 + below(30);
    limits.pages = 4 + below(24);
    limits.maxBatch = 1 + below(6);
    limits.maxBatchTokens = 1 + below(24);
    limits.prefixCaching = below(4) != 0;
    limits.replicas = 1 + below(std::min(limits.maxBatch, 3));
    limits.continuous = below(6) == 0;
    limits.ngram = below(3);
    limits.window = limits.continuous || below(4) ? 0 : 1 + below(8);
    limits.cachedLogprobs = below(4);
    std::vector<GenerationRequest> requests;
    for (int i = 0, count = 1 + below(12); i < count; ++i) {
      GenerationRequest added =
          request(concat("r", i), 1 + below(20), 1 + below(20), below(2) * 20);
      if (below(3) == 0)
        added.tokens.push_back(below(FakeModel::Vocab));
      added.arrivalStep = below(15);
      added.priority = below(3);
      added.tenant = std::string(below(3), 't');
      added.digests = below(2);
      added.promptLogits = below(6) == 0;
      if (below(2))
        added.sampling = {.temperature = 0.5 + below(3),
                          .topK = below(2) * below(20),
                          .topP = below(2) ? 1.0 : 0.8,
                          .minP = below(2) ? 0 : 0.1,
                          .seed = static_cast<uint64_t>(below(100))};
      if (below(3) == 0)
        added.stopTokens = {below(FakeModel::Vocab), below(FakeModel::Vocab)};
      if (below(3) == 0)
        added.rules = {.repetitionPenalty = 1 + 0.5 * below(3),
                       .presencePenalty = below(2) - 0.5,
                       .frequencyPenalty = 0.25 * below(3),
                       .bias = {{below(FakeModel::Vocab), 2.0f}},
                       .minNewTokens = below(6)};
      added.logprobs = below(4) - 1;
      added.promptLogprobs = below(3) ? below(4) - 1 : -1;
      if (below(3) == 0) {
        auto guesses = FakeModel::answer(added, limits.maxSeqLen);
        for (int32_t &one : guesses)
          one = below(7) ? one : below(FakeModel::Vocab);
        added.draft = guess(std::move(guesses));
      }
      requests.push_back(std::move(added));
    }
    bool chooses = below(2);
    Served result(requests, limits,
                  [&](FakeModel &model) { model.chooses = chooses; });
    drafts += result.statistics.draftTokens;
    accepted += result.statistics.acceptedTokens;
    preemptions += result.statistics.preemptions;
    elsewhere += result.model.stepsElsewhere;
    hits += result.statistics.prefixHits;
    served += result.statistics.requests - result.statistics.failedRequests;
    for (size_t i = 0; i < requests.size(); ++i) {
      const GenerationCounts &counts = result.answers[i].counts;
      knownHits += requests[i].promptLogprobs >= 0 && counts.cachedTokens > 0;
      if (requests[i].promptLogits && counts.promptTokens && ++dumps)
        EXPECT_EQ(result.answers[i].promptLogits.size(),
                  requests[i].tokens.size());
    }
    ASSERT_FALSE(testing::Test::HasFailure()) << "round " << round;
  }
  EXPECT_GT(preemptions, 100);
  EXPECT_GT(hits, 100);
  EXPECT_GT(knownHits, 100);
  EXPECT_GT(served, 1000);
  EXPECT_GT(dumps, 50);
  EXPECT_GT(elsewhere, 1000);
  EXPECT_GT(accepted, 1000);
  EXPECT_GT(drafts, accepted + 1000);
}
