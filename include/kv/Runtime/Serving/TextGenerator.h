//===- TextGenerator.h - Requests in, tokens out ----------------*- C++ -*-===//

#ifndef KV_RUNTIME_SERVING_TEXTGENERATOR_H
#define KV_RUNTIME_SERVING_TEXTGENERATOR_H

#include "kv/Runtime/Serving/DraftModel.h"
#include "kv/Runtime/Serving/LogprobPayload.h"
#include "kv/Runtime/Serving/ModelRunner.h"
#include "kv/Runtime/Serving/Scheduler.h"
#include "kv/Runtime/Serving/ServingMetrics.h"

#include <unordered_set>

namespace kv {

/// XXH3-64 of the bytes of a row of logits.
uint64_t digestLogits(std::span<const float> row);

/// Where requests come from while earlier ones run.
class RequestSource {
public:
  virtual ~RequestSource() = default;

  /// Appends the requests that have arrived since the last call; they must stay
  /// where they are until the generator is done. With `wait`, blocks until one
  /// arrives or no more will come, in which case nothing is appended.
  virtual void poll(bool wait,
                    std::vector<const GenerationRequest *> &arrived) = 0;
};

/// Serves requests step by step: schedules a batch, executes it, samples
/// tokens, commits them to the cache manager and passes them to the sink.
class TextGenerator {
public:
  struct Options {
    Scheduler::Options scheduler = {};
    int64_t maxSeqLen = 0; // tokens of one request that the model takes
  };

  /// All three must outlive the generator.
  TextGenerator(ModelRunner &runner, KVCacheManager &manager,
                GenerationSink &sink, const Options &options);

  /// A model that guesses tokens where nobody else does. Before the first
  /// request.
  void setDraftModel(std::unique_ptr<DraftModel> model) {
    draftModel = std::move(model);
  }

  /// Serves until the source has no more requests and all are answered.
  /// Requests are admitted in the order of their arrival steps, those of one
  /// step in the source's order. Errors are answers: failed() is called for
  /// each request that an error concerns.
  GenerationStatistics run(RequestSource &source);
  /// Answers requests that are all known in advance.
  GenerationStatistics run(std::span<const GenerationRequest> requests);

  /// Answers requests step by step, for callers with a loop of their own. A
  /// request that is added must stay where it is until the sink's last call for
  /// it, or abort(). Error: it cannot be answered, and the sink is not called.
  Expected<void> add(const GenerationRequest &request);
  /// Executes one step, if there is a request; whether any is left after it.
  bool runStep();
  /// Gives up a request that has not been answered, between steps: its pages
  /// are free, and the sink is not called. False if there is none of this id.
  bool abort(std::string_view id);
  /// The counts so far of a request that has not been answered. None if there
  /// is no request of this id.
  std::optional<GenerationCounts> counts(std::string_view id) const;

  /// The figures of all runs; any thread may read them while one runs.
  const ServingFigures &figures() const { return counted; }

private:
  using Answer = std::unique_ptr<ActiveRequest>;

  Expected<void> admit(const GenerationRequest &request);
  std::vector<Answer>::const_iterator find(std::string_view id) const;
  void step();
  /// Fills the `proposed` tokens of all requests that decode.
  void propose();
  Expected<void> propose(ActiveRequest &request);
  /// Executes one replica's part of the step and samples. Requests that go on
  /// are appended to `advanced`, the others have failed.
  void stepReplica(int32_t replica, std::span<ActiveRequest *const> part,
                   std::span<const RaggedKVCacheInputs> inputs);
  /// The results of a step's wanted rows: logits, or tokens that the runner has
  /// chosen. The other list is empty.
  struct StepResults {
    std::span<const float> logits;
    std::span<const int32_t> tokens;
  };
  Expected<StepResults> execute(const ModelStep &step,
                                std::span<ActiveRequest *const> part);
  void passPromptRow(ActiveRequest &request, int64_t position,
                     std::span<const float> row);
  /// Passes on what cached pages have said of the prompt. After the prompt the
  /// payload is not kept.
  void passPayload(ActiveRequest &request);
  static bool needsHidden(const ActiveRequest &request, int64_t position);
  void addHidden(ActiveRequest &request, std::span<const float> row);
  void passEmbedding(const ActiveRequest &request);
  Expected<int32_t> draw(const ActiveRequest &request,
                         std::span<const float> row);
  /// Samples from, and gives out, what became of one request's `rows` of the
  /// step's tokens, of which the first is `firstToken`. False if it failed.
  bool consume(ActiveRequest &request, std::span<const int32_t> rows,
               int32_t firstToken, const StepResults &results);
  /// Gives a drawn token out, unless it ends the answer. `row`: what it was
  /// drawn from, if that is in host memory.
  void give(ActiveRequest &request, int32_t token, std::span<const float> row);
  /// Makes the computed tokens processed ones: all but the drafts, of which
  /// `accepted` were right.
  Expected<void> advance(ActiveRequest &request, int64_t accepted);
  void fail(ActiveRequest &request, std::string_view message);
  void fail(const GenerationRequest &request, std::string_view message);
  void finish(ActiveRequest &request, FinishReason reason);
  void forget(ActiveRequest &request);
  void countQueues();
  bool wantsToken(const ActiveRequest &request) const {
    return request.knownTokens() < request.maxTokens;
  }

  ModelRunner &runner;
  KVCacheManager &manager;
  GenerationSink &sink;
  Options options;
  Scheduler scheduler;
  std::unique_ptr<DraftModel> draftModel;
  LogitReader reader;
  LogprobPayload kept;
  std::vector<TokenLogprob> top; // scratch of passPayload()
  Sampler sampler;
  GenerationStatistics statistics;
  ServingFigures counted;
  std::vector<Answer> active; // by arrival
  std::unordered_set<std::string_view> runningIds;
  RequestId nextId = 0;
  bool keepsTime = false; // whether some request's priority ends
  bool canDraft;
  int64_t rejected = 0; // drafts of the step that were not accepted

  // The step's inputs; kept to be filled again.
  std::vector<int32_t> tokens, rowOffsets, logitRows, hiddenRows, guesses, path;
  std::vector<sampling::Choice> choices;
  std::vector<const TextGenerationContext *> contexts;
  std::vector<ActiveRequest *> current, advanced, undrafted;
};

} // namespace kv

#endif // KV_RUNTIME_SERVING_TEXTGENERATOR_H
