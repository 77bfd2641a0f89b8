//===- DraftsTest.cpp - Drafts that steps verify --------------------------===//

#include "kv/Runtime/Manager/LoadKVCacheManager.h"
#include "kv/Runtime/Serving/PromptLookup.h"
#include "kv/Runtime/Serving/TextGenerator.h"

#include "test/unit/FakeModel.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

using namespace kv;
using namespace kv::test;

namespace {

using Shapes = std::vector<std::vector<int64_t>>;

/// Requests, and the answer to the first.
struct Served : GenerationSink {
  explicit Served(const GenerationRequest &request, int64_t pages = 64,
                  Scheduler::Options options = {.maxBatch = 2})
      : Served(std::span(&request, 1), pages, options) {}
  explicit Served(std::span<const GenerationRequest> requests, int64_t pages,
                  Scheduler::Options options = {.maxBatch = 2},
                  std::unique_ptr<DraftModel> draftModel = nullptr,
                  int64_t window = 0) {
    MultiKVCacheParams caches = fakeParams(4);
    if (window) { // of a collection that the model does not read
      caches.params.push_back(caches.params[0]);
      caches.params[1].name = "window";
      caches.params[1].geometry.window = window;
    }
    auto manager =
        loadKVCacheManager(caches, {.maxBatchSize = options.maxBatch,
                                    .maxSeqLen = 64,
                                    .numPages = pages,
                                    .maxChunkTokens = options.maxBatchTokens,
                                    .enableRuntimeChecks = true});
    TextGenerator generator(model, **manager, *this,
                            {.scheduler = options, .maxSeqLen = 64});
    generator.setDraftModel(std::move(draftModel));
    statistics = generator.run(requests);
    EXPECT_EQ((*manager)->numFreeBlocks(), pages);
    EXPECT_EQ(generator.figures().draftTokens, statistics.draftTokens);
    EXPECT_EQ(generator.figures().acceptedTokens, statistics.acceptedTokens);
  }

  void token(const GenerationRequest &request, int64_t, int32_t token,
             std::optional<uint64_t> digest) override {
    answers[request.id].push_back(token);
    if (request.id != "a")
      return;
    tokens.push_back(token);
    digests.push_back(digest);
  }
  void finished(const GenerationRequest &, FinishReason reason,
                const GenerationCounts &) override {
    finish = reason == FinishReason::Stop ? "stop" : "length";
  }
  void failed(const GenerationRequest &, std::string_view message) override {
    finish = message;
  }

  FakeModel model;
  GenerationStatistics statistics;
  std::map<std::string, std::vector<int32_t>> answers;
  std::vector<int32_t> tokens; // of request a
  std::vector<std::optional<uint64_t>> digests;
  std::string finish;
};

GenerationRequest request(int64_t newTokens) {
  GenerationRequest result;
  result.id = "a";
  result.tokens = {1, 2, 3, 4, 5};
  result.maxNewTokens = newTokens;
  return result;
}

/// The same model, whose every `wrong`-th step computes something else, with a
/// cache of `pages` pages. Every `failing`-th step fails; 0: none. `notes`:
/// what it has said.
std::unique_ptr<DraftModel> draftModel(int wrong, int64_t pages, bool chooses,
                                       const Scheduler::Options &options,
                                       int failing = 0,
                                       std::vector<std::string> *notes = {}) {
  auto model = std::make_unique<FakeModel>();
  model->chooses = chooses;
  model->sabotage =
      [=](int step,
          std::vector<float> &rows) -> Expected<std::span<const float>> {
    if (failing && step % failing == 0)
      return makeError(KV_STATUS_INTERNAL, "out of luck");
    if (step % wrong == 0)
      std::ranges::reverse(rows);
    return Expected<std::span<const float>>(rows);
  };
  auto manager = PagedKVCacheManager::create(fakeParams(4),
                                             {.maxBatchSize = options.maxBatch,
                                              .maxSeqLen = 64,
                                              .numPages = pages,
                                              .enableRuntimeChecks = true});
  return std::make_unique<DraftModel>(
      std::move(model), std::move(*manager), options,
      [=](std::string_view note) { notes->emplace_back(note); });
}

std::vector<int32_t> lookUp(std::vector<int32_t> tokens, int64_t most) {
  std::vector<int32_t> drafts;
  lookUpDrafts(tokens, most, drafts);
  return drafts;
}

} // namespace

TEST(Drafts, RightOnesTakeOneStep) {
  for (double temperature : {0.0, 1.0}) {
    GenerationRequest asked = request(9);
    asked.sampling = {.temperature = temperature, .seed = 3};
    asked.digests = true;
    std::vector<int32_t> truth = FakeModel::answer(asked, 64);
    asked.draft = guess(truth);
    Served served(asked);
    EXPECT_EQ(served.tokens, truth);
    EXPECT_EQ(served.finish, "length");
    // The last token is nobody's draft: it is drawn after the last one.
    EXPECT_EQ(served.model.shapes, (Shapes{{5}, {8}}));
    EXPECT_EQ(served.statistics.draftTokens, 7);
    EXPECT_EQ(served.statistics.acceptedTokens, 7);
    EXPECT_EQ(served.statistics.prefillTokens, 5);
    EXPECT_EQ(served.statistics.decodeTokens, 8);
    std::vector<int32_t> history = asked.tokens;
    for (size_t i = 0; i < truth.size(); ++i) {
      EXPECT_EQ(served.digests[i], digestLogits(FakeModel::logits(history)));
      history.push_back(truth[i]);
    }
  }
}

TEST(Drafts, AWrongOneEndsTheChain) {
  GenerationRequest asked = request(9);
  std::vector<int32_t> truth = FakeModel::answer(asked, 64), wrong = truth;
  wrong[3] = (wrong[3] + 1) % FakeModel::Vocab;
  asked.draft = guess(wrong);
  Served served(asked);
  EXPECT_EQ(served.tokens, truth);
  // Of drafts 1 to 7 two are right; then those of 4 to 7 are, behind truth[3].
  EXPECT_EQ(served.model.shapes, (Shapes{{5}, {8}, {5}}));
  EXPECT_EQ(served.statistics.draftTokens, 7 + 4);
  EXPECT_EQ(served.statistics.acceptedTokens, 2 + 4);
  EXPECT_EQ(served.statistics.decodeTokens, 3 + 5);
}

TEST(Drafts, AStopTokenEndsTheChain) {
  GenerationRequest asked = request(9);
  std::vector<int32_t> truth = FakeModel::answer(asked, 64);
  asked.stopTokens = {truth[5]};
  asked.draft = guess(truth);
  Served served(asked);
  EXPECT_EQ(served.tokens, FakeModel::answer(asked, 64));
  EXPECT_EQ(served.finish, "stop");
  EXPECT_EQ(served.statistics.steps, 2);
}

TEST(Drafts, TakeTheRoomThatIsLeft) {
  GenerationRequest asked = request(9);
  asked.draft = guess(FakeModel::answer(asked, 64));
  // Half of a step of 6 tokens; then 3 pages, which the answer alone fills.
  EXPECT_EQ(
      Served(asked, 64, {.maxBatch = 2, .maxBatchTokens = 6}).model.shapes,
      (Shapes{{5}, {4}, {4}}));
  asked.maxNewTokens = 8;
  EXPECT_EQ(Served(asked, 3).model.shapes, (Shapes{{5}, {7}}));
}

TEST(Drafts, PreemptNobody) {
  std::vector<GenerationRequest> requests = {request(20), request(20)};
  requests[1].id = "b";
  std::vector<int32_t> truth = FakeModel::answer(requests[0], 64);
  for (GenerationRequest &one : requests) {
    one.stopTokens = {truth[2]};
    one.draft = guess(std::vector<int32_t>(11, truth[0]));
  }
  // Each takes two pages, one of which they share, and with drafts four.
  Served served(requests, 6);
  EXPECT_EQ(served.tokens, FakeModel::answer(requests[0], 64));
  EXPECT_GT(served.statistics.draftTokens, 0);
  EXPECT_EQ(served.statistics.preemptions, 0);
}

/// With windows a prompt reserves its pages chunk by chunk, and can preempt a
/// newer request that has its drafts for the step already.
TEST(Drafts, OfARequestThatIsPreemptedAreGone) {
  std::vector<GenerationRequest> requests(4, request(40));
  requests[0].tokens.assign(47, 3);
  requests[0].maxNewTokens = 1;
  for (int i = 1; i < 4; ++i) {
    requests[i].id = std::string(1, static_cast<char>('a' + i));
    requests[i].tokens = {i};
    requests[i].arrivalStep = 1;
  }
  int64_t preemptions = 0;
  for (int64_t pages = 26; pages < 46; ++pages)
    for (size_t wrong = 0; wrong < 40; wrong += 5) {
      for (GenerationRequest &one : requests) {
        std::vector<int32_t> guesses = FakeModel::answer(one, 64);
        if (wrong < guesses.size())
          guesses[wrong] = (guesses[wrong] + 1) % FakeModel::Vocab;
        one.draft = guess(guesses);
      }
      Served served(requests, pages, {.maxBatch = 4, .maxBatchTokens = 16},
                    nullptr, /*window=*/60);
      for (const GenerationRequest &one : requests)
        ASSERT_EQ(served.answers[one.id], FakeModel::answer(one, 64))
            << one.id << ", " << pages << " pages, " << served.finish;
      preemptions += served.statistics.preemptions;
    }
  EXPECT_GT(preemptions, 0);
}

TEST(Drafts, LeaveWithTheirRequest) {
  auto manager = loadKVCacheManager(
      fakeParams(4), {.maxBatchSize = 1, .maxSeqLen = 64, .numPages = 16});
  Scheduler scheduler(**manager, {.maxBatch = 1});
  GenerationRequest asked = request(9);
  ActiveRequest active(asked, /*id=*/0, /*maxTokens=*/14);
  scheduler.add(active);
  const TextGenerationContext *contexts[] = {&active.context};
  ASSERT_EQ(scheduler.schedule().size(), 1u);
  ASSERT_TRUE((*manager)->runtimeInputs(contexts));
  active.tokens.push_back(6); // the first of the answer
  active.context.update(active.tokens);
  ASSERT_TRUE((*manager)->step(contexts));
  active.proposed = {7, 8, 9};
  ASSERT_EQ(scheduler.schedule().size(), 1u);
  ASSERT_EQ(active.drafts, 3);
  scheduler.finish(active);
  EXPECT_EQ(active.drafts, 0);
  EXPECT_EQ(active.tokens, (std::vector<int32_t>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(active.context.length(), 6);
}

TEST(Drafts, BadOnesFailTheRequest) {
  GenerationRequest asked = request(9);
  asked.draft = [](auto, auto) { return 8; };
  EXPECT_EQ(Served(asked).finish,
            "request a: its drafts returned 8, allowed: 0 to 7");
  asked.draft = guess({0, FakeModel::Vocab});
  EXPECT_EQ(Served(asked).finish, "request a: its drafts have the token 50, "
                                  "the vocabulary is 0 to 49");
}

TEST(Drafts, ALookUpContinuesTheLongestLatestMatch) {
  EXPECT_EQ(lookUp({1, 2, 3, 9, 2, 3, 8, 1, 2, 3}, 2),
            (std::vector<int32_t>{9, 2})); // three tokens match, not two
  EXPECT_EQ(lookUp({2, 3, 9, 2, 3, 8, 2, 3}, 1), (std::vector<int32_t>{8}));
  EXPECT_EQ(lookUp({5, 6, 5, 6}, 5), (std::vector<int32_t>{5, 6, 5, 6, 5}));
  EXPECT_EQ(lookUp({7, 7, 7}, 3), (std::vector<int32_t>{7, 7, 7}));
  EXPECT_EQ(lookUp({3, 1, 2, 3}, 3),
            (std::vector<int32_t>{})); // one is not enough
  EXPECT_EQ(lookUp({4}, 3), (std::vector<int32_t>{}));
}

/// A prompt that repeats itself draws few rows that are not accepted once the
/// model does not.
TEST(Drafts, ALookUpThatFailsIsTrustedLess) {
  GenerationRequest asked = request(30);
  asked.tokens = {1, 2, 1, 2, 1, 2, 1, 2};
  asked.rules.bias = {{1, 3.0f}, {2, 3.0f}};
  Served served(asked, 64, {.maxBatch = 2, .ngram = 8});
  EXPECT_EQ(served.tokens, FakeModel::answer(asked, 64));
  EXPECT_GT(served.statistics.acceptedTokens, 3);
  EXPECT_LT(served.statistics.draftTokens, 60);
}

TEST(Drafts, AModelGuessesInStepsOfItsOwn) {
  Scheduler::Options options = {.maxBatch = 2, .draftLength = 3};
  GenerationRequest asked = request(9);
  Served served(std::span(&asked, 1), 64, options,
                draftModel(/*wrong=*/1000, 64, false, options));
  EXPECT_EQ(served.tokens, FakeModel::answer(asked, 64));
  // The first token comes with the prompt, then four with each step.
  EXPECT_EQ(served.model.shapes, (Shapes{{5}, {4}, {4}}));
  EXPECT_EQ(served.statistics.acceptedTokens, 6);
}

TEST(Drafts, AModelThatFailsGuessesNoMore) {
  Scheduler::Options options = {.maxBatch = 2, .draftLength = 3};
  std::vector<GenerationRequest> requests = {request(20), request(20)};
  requests[1].id = "b";
  requests[1].arrivalStep = 4;
  std::vector<std::string> notes;
  Served served(
      requests, 64, options,
      draftModel(/*wrong=*/1000, 64, false, options, /*failing=*/4, &notes));
  for (const GenerationRequest &one : requests)
    EXPECT_EQ(served.answers[one.id], FakeModel::answer(one, 64));
  EXPECT_EQ(served.finish, "length");
  EXPECT_GE(served.statistics.acceptedTokens, 6); // before its fourth step
  EXPECT_LT(served.statistics.draftTokens, 20);
  EXPECT_EQ(notes, std::vector<std::string>{
                       "a step of the draft model has failed, and its requests "
                       "go on without guesses: out of luck"});
}

/// However right the model is, however small its cache, and whatever fails.
TEST(Drafts, OfAModelChangeNoToken) {
  std::mt19937 random(5);
  auto below = [&](int limit) { return static_cast<int>(random() % limit); };
  int64_t drafts = 0, accepted = 0, preemptions = 0;
  std::vector<std::string> notes;
  for (int round = 0; round < 300; ++round) {
    Scheduler::Options options = {.maxBatch = 1 + below(4),
                                  .maxBatchTokens = 2 + below(20),
                                  .ngram = below(2),
                                  .draftLength = 1 + below(5)};
    std::vector<GenerationRequest> requests;
    for (int i = 0; i < 1 + below(6); ++i) {
      requests.push_back(request(1 + below(25)));
      requests.back().id = std::to_string(i);
      requests.back().arrivalStep = below(12);
      for (int more = below(20); more > 0; --more)
        requests.back().tokens.push_back(below(FakeModel::Vocab));
      if (below(2))
        requests.back().sampling = {.temperature = 0.5, .seed = 7};
      if (below(4) == 0)
        requests.back().stopTokens = {below(FakeModel::Vocab)};
    }
    int64_t window = below(2) ? 0 : 1 + below(8);
    Served served(requests, (window ? 26 : 13) + below(8), options,
                  draftModel(1 + below(8), 3 + below(40), below(2), options,
                             below(4) ? 0 : 1 + below(20), &notes),
                  window);
    for (const GenerationRequest &one : requests)
      EXPECT_EQ(served.answers[one.id], FakeModel::answer(one, 64))
          << one.id << ", " << served.finish;
    ASSERT_FALSE(HasFailure()) << "round " << round;
    drafts += served.statistics.draftTokens;
    accepted += served.statistics.acceptedTokens;
    preemptions += served.statistics.preemptions;
  }
  EXPECT_GT(accepted, 1000);
  EXPECT_GT(drafts, accepted + 1000);
  EXPECT_GT(preemptions, 10);
  EXPECT_GT(notes.size(), 10u);
}
