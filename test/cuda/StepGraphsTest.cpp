//===- StepGraphsTest.cpp - Steps that are queued as graphs ---------------===//

#include "runtime/cuda/StepGraphs.h"
#include "SessionFixture.h"

using namespace kv;
using namespace kv::test;

namespace {

/// What a step cost, by the fake driver.
struct Cost {
  int64_t launches, products, allocations, synchronizations, copies, heuristics,
      pageableCopies, graphLaunches, graphsMade;
};

class StepGraphs : public CudaSession {
protected:
  /// Greedy answers of two requests, and each step's cost.
  struct Run {
    std::vector<std::vector<int32_t>> tokens;
    std::vector<std::vector<Row>> logits; // of each step
    std::vector<Cost> costs;
  };

  Run serve(InferenceSession &own, int steps) {
    auto model = own.load(KV_CUDA_ARTIFACT);
    EXPECT_TRUE(model) << model.error().message;
    TemporaryFile file(weights.file(/*packed=*/false));
    EXPECT_TRUE(model->bindWeights(file.path()));
    Serving serving(*model);
    Run run;
    run.tokens = {{5, 80, 3, 3, 41, 7, 22, 60, 90, 1, 2}, {17}};
    std::vector<std::unique_ptr<TextGenerationContext>> contexts;
    std::vector<TextGenerationContext *> batch;
    for (size_t i = 0; i < run.tokens.size(); ++i) {
      contexts.push_back(
          std::make_unique<TextGenerationContext>(RequestId(i), run.tokens[i]));
      batch.push_back(contexts.back().get());
      EXPECT_TRUE(serving.manager->claim(RequestId(i)));
    }
    for (int step = 0; step < steps; ++step) {
      for (TextGenerationContext *context : batch)
        EXPECT_TRUE(serving.manager->alloc(*context));
      fake::Counters before = fake::counters();
      run.logits.push_back(serving.step(batch));
      fake::Counters after = fake::counters();
      run.costs.push_back(
          {after.launches - before.launches, after.products - before.products,
           after.allocations - before.allocations,
           after.synchronizations - before.synchronizations,
           after.copies - before.copies, after.heuristics - before.heuristics,
           after.pageableCopies - before.pageableCopies,
           after.graphLaunches - before.graphLaunches,
           after.graphsMade - before.graphsMade});
      for (size_t i = 0; i < batch.size(); ++i) {
        run.tokens[i].push_back(best(run.logits.back()[i]));
        contexts[i]->update(run.tokens[i]);
      }
      std::vector<const TextGenerationContext *> done(batch.begin(),
                                                      batch.end());
      EXPECT_TRUE(serving.manager->step(done));
    }
    return run;
  }

  InferenceSession make(bool graphs) {
    return *InferenceSession::create(
        {.device = device,
         .threads = 1,
         .log = [this](std::string_view note) { notes.emplace_back(note); },
         .graphs = graphs});
  }

  static bool sameBits(const Run &a, const Run &b) {
    return a.logits == b.logits && a.tokens == b.tokens;
  }
};

constexpr int Steps = 24;

} // namespace

TEST_F(StepGraphs, AStepReplayedQueuesNothingElse) {
  InferenceSession with = make(true), without = make(false);
  Run plain = serve(without, Steps), run = serve(with, Steps);
  EXPECT_TRUE(sameBits(plain, run));
  int replayed = 0;
  for (int i = 0; i < Steps; ++i) {
    EXPECT_EQ(plain.costs[i].graphLaunches, 0);
    const Cost &cost = run.costs[i];
    if (!cost.graphLaunches || cost.graphsMade)
      continue;
    ++replayed;
    EXPECT_EQ(cost.graphLaunches, 1);
    EXPECT_EQ(cost.launches + cost.products + cost.heuristics, 0);
    EXPECT_EQ(cost.allocations, 0);
    EXPECT_EQ(cost.pageableCopies, 0);
    // Tables and lengths; tokens, offsets and rows; logits.
    EXPECT_EQ(cost.copies, 4);
    // As without graphs: for the staging of the last step, which is over, and
    // for the logits.
    EXPECT_EQ(cost.synchronizations, plain.costs[i].synchronizations);
  }
  // The prompts' step, and two of each of the two sets of inputs, are called.
  EXPECT_EQ(replayed, Steps - 5);
}

TEST_F(StepGraphs, BothKindsOfStepsInTurns) {
  // The second run's prompts have the shapes of the first's: their graph is
  // captured then. Its decode steps are replayed from the beginning, or begin
  // anew where its manager's memory lies elsewhere; no bit says so.
  InferenceSession with = make(true), without = make(false);
  for (int round = 0; round < 3; ++round)
    EXPECT_TRUE(sameBits(serve(without, 6), serve(with, 6))) << round;
}

TEST_F(StepGraphs, WhatCannotBeCapturedIsCalled) {
  fake::refuseCaptures(true);
  InferenceSession with = make(true), without = make(false);
  Run plain = serve(without, 8), run = serve(with, 8);
  fake::refuseCaptures(false);
  EXPECT_TRUE(sameBits(plain, run));
  EXPECT_EQ(notes, std::vector<std::string>{
                       "steps are not kept as CUDA graphs, but queued call by "
                       "call: cuStreamEndCapture: operation not permitted when "
                       "stream is capturing (900)"});
  for (const Cost &cost : run.costs)
    EXPECT_EQ(cost.graphLaunches, 0);
}

TEST_F(StepGraphs, AStepErrorIsHeardOfAndForgotten) {
  Serving serving(load());
  std::vector<int32_t> prompt = {1, 2, 4, 3};
  TextGenerationContext context(1, prompt);
  ASSERT_TRUE(serving.manager->claim(1));
  ASSERT_TRUE(serving.manager->alloc(context));
  const TextGenerationContext *batch[] = {&context};
  std::vector<int32_t> offsets = {0, 4}, rows = {3};
  int64_t before = fake::counters().graphLaunches;
  for (int i = 0; i < 10; ++i) {
    prompt[2] = i % 3 ? 5 : Vocab;
    auto inputs = serving.manager->runtimeInputs(batch);
    ASSERT_TRUE(inputs);
    auto logits = serving.runner->run({.tokens = prompt,
                                       .rowOffsets = offsets,
                                       .logitRows = rows,
                                       .kv = *inputs});
    EXPECT_EQ(bool(logits), i % 3 != 0) << i;
    if (logits) {
      expectNear(Row(logits->begin(), logits->begin() + Vocab),
                 reference(weights, prompt).back());
    }
  }
  EXPECT_GT(fake::counters().graphLaunches, before);
}

// Steps of equal sizes need the prefill kernel or not: the host sees that in
// max_lengths alone.
TEST_F(StepGraphs, WhatTheHostReadsIsPartOfACall) {
  Serving serving(load());
  RequestId next = 0;
  int64_t before = fake::counters().graphLaunches;
  for (auto [first, second] :
       {std::pair(8, 8), {8, 8}, {8, 8}, {8, 8}, {8, 8}, {15, 1}, {15, 1}}) {
    std::vector<std::vector<int32_t>> prompts;
    for (int length : {first, second})
      for (prompts.emplace_back(); int(prompts.back().size()) < length;)
        prompts.back().push_back(int32_t(prompts.back().size() * 7 + length) %
                                 Vocab);
    TextGenerationContext a(next, prompts[0]), b(next + 1, prompts[1]);
    TextGenerationContext *batch[] = {&a, &b};
    for (TextGenerationContext *context : batch) {
      ASSERT_TRUE(serving.manager->claim(context->id()));
      ASSERT_TRUE(serving.manager->alloc(*context));
    }
    std::vector<Row> logits = serving.step(batch);
    for (int i = 0; i < 2; ++i) {
      expectNear(logits[i], reference(weights, prompts[i]).back());
      batch[i]->advance();
    }
    const TextGenerationContext *done[] = {&a, &b};
    ASSERT_TRUE(serving.manager->step(done));
    for (const TextGenerationContext *context : done)
      ASSERT_TRUE(serving.manager->release(context->id()));
    next += 2;
  }
  EXPECT_GT(fake::counters().graphLaunches, before);
}

TEST_F(StepGraphs, TheOldestGo) {
  auto own = kv::cuda::Backend::open(0);
  int64_t before = fake::graphsInUse();
  {
    kv::cuda::StepGraphs graphs(**own, /*log=*/{});
    // The work of a call is a fill that the graph repeats.
    Tensor<int32_t> target(device, DType::I32, {1});
    auto call = [&](uint64_t word) {
      std::vector<uint64_t> words{1, word};
      bool isReplayed = graphs.start(words);
      if (!isReplayed) {
        (*own)->zero(target.data(), 4);
        EXPECT_TRUE(graphs.finish(true));
      }
      return isReplayed;
    };
    constexpr uint64_t Most = kv::cuda::StepGraphs::MostGraphs;
    for (uint64_t i = 0; i < Most; ++i) {
      EXPECT_FALSE(call(i));
      EXPECT_FALSE(call(i));
    }
    EXPECT_EQ(fake::graphsInUse() - before, int64_t(Most));
    EXPECT_TRUE(call(0));
    EXPECT_FALSE(call(Most)); // takes the place of 1
    EXPECT_EQ(fake::graphsInUse() - before, int64_t(Most) - 1);
    EXPECT_TRUE(call(0));
    EXPECT_TRUE(call(2));
    EXPECT_FALSE(call(1)); // takes the place of 3
    EXPECT_TRUE(call(4));
    EXPECT_FALSE(call(3));
    target.fill({7});
    ASSERT_TRUE(backend.synchronize());
    EXPECT_TRUE(call(2));
    ASSERT_TRUE((*own)->synchronize());
    EXPECT_EQ(target.read(), std::vector<int32_t>{0});
  }
  EXPECT_EQ(fake::graphsInUse(), before);
}
