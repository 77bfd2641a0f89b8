//===- TextGenerator.cpp - Requests in, tokens out ------------------------===//

#include "kv/Runtime/Serving/TextGenerator.h"
#include "kv/Runtime/Serving/PromptLookup.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <numeric>
#include <utility>

using namespace kv;

uint64_t kv::digestLogits(std::span<const float> row) {
  return XXH3_64bits(row.data(), row.size_bytes());
}

namespace {

class Stopwatch {
public:
  double seconds() const {
    return std::chrono::duration<double>(Clock::now() - start).count();
  }

private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start = Clock::now();
};

} // namespace

TextGenerator::TextGenerator(ModelRunner &runner, KVCacheManager &manager,
                             GenerationSink &sink, const Options &options)
    : runner(runner), manager(manager), sink(sink), options(options),
      scheduler(manager, options.scheduler),
      kept(manager.payloadBytesPerToken()),
      canDraft(Scheduler::canDraft(manager.params())) {
  tokens.reserve(options.scheduler.maxBatchTokens);
  rowOffsets.reserve(options.scheduler.maxBatch + 1);
  contexts.reserve(options.scheduler.maxBatch);
  current.reserve(options.scheduler.maxBatch);
  advanced.reserve(options.scheduler.maxBatch);
}

GenerationStatistics
TextGenerator::run(std::span<const GenerationRequest> requests) {
  struct KnownRequest : RequestSource {
    std::span<const GenerationRequest> left;
    void poll(bool, std::vector<const GenerationRequest *> &arrived) override {
      for (const GenerationRequest &request : std::exchange(left, {}))
        arrived.push_back(&request);
    }
  } source;
  source.left = requests;
  return run(source);
}

GenerationStatistics TextGenerator::run(RequestSource &source) {
  Stopwatch watch;
  statistics = {};
  int64_t preemptions = scheduler.numPreemptions();
  std::vector<const GenerationRequest *> polled;
  std::multimap<int64_t, const GenerationRequest *> pending; // by arrival step
  for (int64_t now = 0;; ++now) {
    bool nothingToDo = scheduler.idle() && pending.empty();
    polled.clear();
    source.poll(/*wait=*/nothingToDo, polled);
    if (nothingToDo && polled.empty())
      break;
    for (const GenerationRequest *request : polled)
      pending.emplace(request->arrivalStep, request);
    if (scheduler.idle()) // skips the steps before the next arrival
      now = std::max(now, pending.begin()->first);
    while (!pending.empty() && pending.begin()->first <= now) {
      const GenerationRequest &request = *pending.begin()->second;
      if (Expected<void> added = add(request); !added)
        sink.failed(request, added.error().message);
      pending.erase(pending.begin());
    }
    runStep();
  }
  statistics.preemptions = scheduler.numPreemptions() - preemptions;
  statistics.seconds = watch.seconds();
  return statistics;
}

bool TextGenerator::runStep() {
  if (keepsTime)
    (void)manager.setTime(
        std::chrono::nanoseconds(
            std::chrono::steady_clock::now().time_since_epoch())
            .count());
  if (!scheduler.idle()) {
    step();
    if (scheduler.idle())
      runner.rest();
  }
  counted.preemptions += scheduler.numPreemptions() - counted.preemptions;
  countQueues();
  sink.stepDone();
  return !scheduler.idle();
}

void TextGenerator::countQueues() {
  counted.running = static_cast<int32_t>(scheduler.numRunning());
  counted.waiting = static_cast<int32_t>(scheduler.numWaiting());
}

Expected<void> TextGenerator::add(const GenerationRequest &request) {
  ++statistics.requests;
  ++counted.requests;
  Expected<void> admitted = admit(request);
  if (admitted)
    return admitted;
  ++statistics.failedRequests;
  ++counted.failed;
  return makeError(admitted.error().code, "request ", request.id, ": ",
                   admitted.error().message);
}

/// Messages are sentences without their subject, the request.
Expected<void> TextGenerator::admit(const GenerationRequest &request) {
  auto refuse = [](const auto &...parts) {
    return makeError(KV_STATUS_INVALID_ARGUMENT, parts...);
  };
  if (runningIds.contains(request.id))
    return refuse("its id is that of a running request");
  if (request.tokens.empty())
    return refuse("no prompt tokens, at least one is needed");
  for (size_t i = 0; i < request.tokens.size(); ++i)
    if (int32_t token = request.tokens[i];
        token < 0 || token >= runner.vocabSize())
      return refuse("tokens[", i, "] is ", token, ", the vocabulary is 0 to ",
                    runner.vocabSize() - 1);
  if (request.salt && request.salt->size() > request.MostSaltBytes)
    return refuse("a salt of ", request.salt->size(),
                  " bytes, allowed: ", request.MostSaltBytes);
  int64_t prompt = static_cast<int64_t>(request.tokens.size());
  if (prompt > options.maxSeqLen)
    return refuse(prompt, " prompt tokens, the model takes at most ",
                  options.maxSeqLen);
  if (Expected<void> good = request.rules.validate(runner.vocabSize()); !good)
    return good;
  for (auto [name, count] :
       {std::pair("log probabilities of ", request.logprobs),
        std::pair("prompt log probabilities of ", request.promptLogprobs)})
    if (count < -1 || count > runner.vocabSize())
      return refuse(name, count, " tokens, allowed: 0 to ", runner.vocabSize());
  if (request.embedding != Embedding::None && runner.hiddenSize() == 0)
    return refuse("its model gives no hidden states, allowed: one that "
                  "kv-import has written with --embeddings");
  keepsTime |= request.retention.duration > 0;
  int64_t room =
      request.embedding == Embedding::None ? options.maxSeqLen - prompt : 0;
  auto added = std::make_unique<ActiveRequest>(
      request, nextId++, prompt + std::min(request.maxNewTokens, room));
  if (Expected<void> fits = scheduler.canEverFit(*added); !fits)
    return fits;
  if (request.promptLogprobs >= 0) {
    added->setPayload(request.tokens.size() * kept.bytesPerToken());
    added->context.setReusesPrefix(!request.needsWholePrompt() &&
                                   request.promptLogprobs <= kept.ranks());
  }
  scheduler.add(*added);
  runningIds.insert(request.id);
  active.push_back(std::move(added));
  return {};
}

std::vector<TextGenerator::Answer>::const_iterator
TextGenerator::find(std::string_view id) const {
  return std::ranges::find_if(
      active, [&](const Answer &answer) { return answer->request->id == id; });
}

/// Nothing is cached of a request that no step has had.
static GenerationCounts countsOf(const ActiveRequest &request) {
  return {.promptTokens = request.promptTokens(),
          .cachedTokens = std::max<int64_t>(request.cachedTokens, 0),
          .newTokens = request.newTokens(),
          .queueSeconds = request.queueSeconds()};
}

std::optional<GenerationCounts>
TextGenerator::counts(std::string_view id) const {
  auto at = find(id);
  if (at == active.end())
    return std::nullopt;
  return countsOf(**at);
}

bool TextGenerator::abort(std::string_view id) {
  auto at = find(id);
  if (at == active.end())
    return false;
  ++counted.aborted;
  ActiveRequest &request = **at;
  scheduler.finish(request);
  forget(request);
  countQueues(); // there may be no more steps
  return true;
}

void TextGenerator::propose() {
  for (size_t i = 0; i < active.size();) {
    ActiveRequest &request = *active[i];
    request.proposed.clear();
    Expected<void> proposed = propose(request);
    if (proposed)
      ++i;
    else
      fail(request, proposed.error().message); // it is no longer there
  }
  if (!draftModel)
    return;
  undrafted.clear();
  for (const Answer &one : active)
    if (one->proposed.empty() && one->decodes())
      undrafted.push_back(one.get());
  draftModel->propose(undrafted);
}

/// The request's own guesses, or else a prompt lookup's.
Expected<void> TextGenerator::propose(ActiveRequest &request) {
  const GenerationRequest &asked = *request.request;
  // The last token of an answer is drawn behind the last draft.
  int64_t room = request.maxTokens - request.knownTokens() - 1;
  if (room < 1 || !request.decodes())
    return {};
  std::vector<int32_t> &proposed = request.proposed;
  if (asked.draft) {
    proposed.resize(std::min(room, request.MostDrafts));
    int64_t count = asked.draft(
        std::span(request.tokens).subspan(request.promptTokens()), proposed);
    if (count < 0 || count > std::ssize(proposed))
      return makeError(KV_STATUS_INVALID_ARGUMENT, "its drafts returned ",
                       count, ", allowed: 0 to ", std::ssize(proposed));
    proposed.resize(count);
    for (int32_t token : proposed)
      if (token < 0 || token >= runner.vocabSize())
        return makeError(KV_STATUS_INVALID_ARGUMENT,
                         "its drafts have the token ", token,
                         ", the vocabulary is 0 to ", runner.vocabSize() - 1);
  }
  if (int64_t ngram = options.scheduler.ngram; ngram > 0 && proposed.empty())
    lookUpDrafts(request.tokens, std::min({room, request.trust, ngram}),
                 proposed);
  return {};
}

void TextGenerator::step() {
  Stopwatch watch;
  if (canDraft)
    propose();
  std::span<ActiveRequest *const> batch = scheduler.schedule();
  for (const Scheduler::Failure &failure : scheduler.failures()) {
    fail(*failure.request->request, failure.message);
    forget(*failure.request);
  }
  if (batch.empty()) {
    // The wait is short, because other requests may arrive meanwhile.
    constexpr int64_t Moment = 5'000'000; // nanoseconds
    if (scheduler.isLoading())
      (void)manager.waitForLoads(Moment);
    return;
  }
  current.assign(batch.begin(), batch.end());

  bool prefill = std::ranges::any_of(current, [](ActiveRequest *request) {
    const TextGenerationContext &context = request->context;
    return context.processed() < request->promptTokens() ||
           context.active() - request->drafts > 1;
  });
  contexts.clear();
  int64_t computed = rejected = 0;
  for (ActiveRequest *request : current) {
    contexts.push_back(&request->context);
    computed += request->context.active();
  }
  advanced.clear();
  auto failAll = [&](std::span<ActiveRequest *const> requests,
                     const Error &error) {
    for (ActiveRequest *request : requests)
      fail(*request, concat("its step failed: ", error.message));
  };
  Expected<std::span<RaggedKVCacheInputs>> inputs =
      manager.runtimeInputs(contexts);
  if (!inputs)
    return failAll(current, inputs.error());
  size_t share = inputs->size() / manager.numReplicas();
  for (auto first = current.begin(); first != current.end();) {
    int32_t replica = (*first)->replica;
    auto last = std::find_if(first, current.end(), [&](ActiveRequest *request) {
      return request->replica != replica;
    });
    stepReplica(replica, {first, last},
                inputs->subspan(replica * share, share));
    first = last;
  }
  if (advanced.empty())
    return;

  contexts.clear();
  for (ActiveRequest *request : advanced)
    contexts.push_back(&request->context);
  if (Expected<void> committed = manager.step(contexts); !committed)
    failAll(advanced, committed.error());
  else
    for (ActiveRequest *request : advanced) {
      if (request->stopped)
        finish(*request, FinishReason::Stop);
      else if (!wantsToken(*request) &&
               request->context.processed() >= request->promptTokens())
        finish(*request, FinishReason::Length);
    }

  ++statistics.steps;
  computed -= rejected;
  (prefill ? statistics.prefillTokens : statistics.decodeTokens) += computed;
  (prefill ? counted.prefillTokens : counted.decodeTokens) += computed;
  double seconds = watch.seconds();
  (prefill ? statistics.prefillSeconds : statistics.decodeSeconds) += seconds;
  int64_t microseconds = static_cast<int64_t>(seconds * 1e6);
  counted.stepMicroseconds += microseconds;
  counted.stepDurations.add(static_cast<uint64_t>(microseconds));
}

void TextGenerator::stepReplica(int32_t replica,
                                std::span<ActiveRequest *const> part,
                                std::span<const RaggedKVCacheInputs> inputs) {
  rowOffsets.assign(1, 0);
  tokens.clear();
  logitRows.clear();
  hiddenRows.clear();
  for (ActiveRequest *request : part) {
    const TextGenerationContext &context = request->context;
    int64_t first = static_cast<int64_t>(tokens.size());
    std::span<const int32_t> added = context.activeTokens();
    tokens.insert(tokens.end(), added.begin(), added.end());
    rowOffsets.push_back(static_cast<int32_t>(tokens.size()));
    int64_t end = context.processed() + context.active();
    for (int64_t at = context.processed(); at < end; ++at) {
      bool dumped = request->request->needsPromptRows() &&
                    at >= request->promptLogits && at < request->promptTokens();
      bool sampled = at + 1 >= request->knownTokens() && wantsToken(*request);
      auto row = static_cast<int32_t>(first + at - context.processed());
      if (dumped || sampled)
        logitRows.push_back(row);
      if (needsHidden(*request, at))
        hiddenRows.push_back(row);
    }
  }
  Expected<StepResults> results = execute({.tokens = tokens,
                                           .rowOffsets = rowOffsets,
                                           .logitRows = logitRows,
                                           .hiddenRows = hiddenRows,
                                           .kv = inputs,
                                           .replica = replica},
                                          part);
  if (!results) {
    for (ActiveRequest *request : part)
      fail(*request, concat("its step failed: ", results.error().message));
    return;
  }
  // Requests that fail here must not commit what they computed.
  size_t row = 0, hiddenRow = 0;
  int64_t width = runner.hiddenSize();
  for (size_t i = 0; i < part.size(); ++i) {
    for (; hiddenRow < hiddenRows.size() &&
           hiddenRows[hiddenRow] < rowOffsets[i + 1];
         ++hiddenRow)
      addHidden(*part[i], runner.hidden().subspan(hiddenRow * width, width));
    size_t firstRow = row;
    while (row < logitRows.size() && logitRows[row] < rowOffsets[i + 1])
      ++row;
    std::span<const int32_t> rows =
        std::span(logitRows).subspan(firstRow, row - firstRow);
    StepResults own;
    if (results->tokens.empty())
      own.logits = results->logits.subspan(firstRow * runner.vocabSize(),
                                           rows.size() * runner.vocabSize());
    else
      own.tokens = results->tokens.subspan(firstRow, rows.size());
    if (consume(*part[i], rows, rowOffsets[i], own))
      advanced.push_back(part[i]);
  }
}

/// If no request asks for logits, they need not leave the device: then a token
/// is chosen from every wanted row.
Expected<TextGenerator::StepResults>
TextGenerator::execute(const ModelStep &step,
                       std::span<ActiveRequest *const> part) {
  StepResults results;
  bool chooses = runner.canChoose() && !step.logitRows.empty() &&
                 std::ranges::none_of(part, [](const ActiveRequest *request) {
                   return request->request->needsRows();
                 });
  if (!chooses) {
    Expected<std::span<const float>> logits = runner.run(step);
    if (!logits)
      return std::unexpected(logits.error());
    results.logits = *logits;
    return results;
  }
  choices.clear();
  auto request = part.begin();
  for (int32_t row : step.logitRows) {
    while (row >= step.rowOffsets[request - part.begin() + 1])
      ++request;
    // The last rows are those of the last known token and of the drafts.
    int64_t last = step.rowOffsets[request - part.begin() + 1] - 1;
    int64_t index = (*request)->newTokens() + (*request)->drafts - (last - row);
    choices.push_back(choiceOf((*request)->request->sampling, index));
  }
  Expected<std::span<const int32_t>> chosen = runner.choose(step, choices);
  if (!chosen)
    return std::unexpected(chosen.error());
  results.tokens = *chosen;
  return results;
}

Expected<int32_t> TextGenerator::draw(const ActiveRequest &request,
                                      std::span<const float> row) {
  const GenerationRequest &asked = *request.request;
  Expected<std::span<const float>> ruled =
      reader.apply(asked.rules, row, request.tokens, request.promptTokens(),
                   asked.stopTokens);
  if (!ruled)
    return std::unexpected(ruled.error());
  return sampler.sample(*ruled, asked.sampling, request.newTokens());
}

/// A token is drawn after each draft that was drawn itself, by its own index:
/// so the answer has the tokens that it would have without drafts.
bool TextGenerator::consume(ActiveRequest &request,
                            std::span<const int32_t> rows, int32_t firstToken,
                            const StepResults &results) {
  int64_t known = request.knownTokens(), accepted = 0;
  guesses.assign(request.tokens.begin() + known, request.tokens.end());
  request.tokens.resize(known);
  request.drafts = 0;
  bool draws = wantsToken(request);
  passPayload(request);
  for (size_t i = 0; i < rows.size(); ++i) {
    std::span<const float> row;
    if (!results.logits.empty())
      row = results.logits.subspan(i * runner.vocabSize(), runner.vocabSize());
    int64_t position = request.context.processed() + rows[i] - firstToken;
    if (request.request->needsPromptRows() &&
        position >= request.promptLogits && position < request.promptTokens()) {
      passPromptRow(request, position, row);
      request.promptLogits = position + 1;
    }
    if (position + 1 < known || !draws)
      continue;
    Expected<int32_t> token = results.tokens.empty()
                                  ? draw(request, row)
                                  : checkToken(results.tokens[i]);
    if (!token) {
      fail(request,
           concat("token ", request.newTokens(), ": ", token.error().message));
      return false;
    }
    give(request, *token, row);
    draws = !request.stopped && accepted < std::ssize(guesses) &&
            *token == guesses[accepted];
    accepted += draws;
  }
  if (Expected<void> advanced = advance(request, accepted); !advanced) {
    fail(request, concat("its step failed: ", advanced.error().message));
    return false;
  }
  return true;
}

void TextGenerator::give(ActiveRequest &request, int32_t token,
                         std::span<const float> row) {
  const GenerationRequest &asked = *request.request;
  request.stopped =
      std::ranges::find(asked.stopTokens, token) != asked.stopTokens.end();
  if (request.stopped)
    return;
  ++counted.generatedTokens;
  if (asked.logprobs >= 0)
    sink.logprobs(asked, request.knownTokens(),
                  reader.logprobs(row, token, asked.logprobs));
  sink.token(asked, request.newTokens(), token,
             asked.digests ? std::optional(digestLogits(row)) : std::nullopt);
  request.tokens.push_back(token);
}

Expected<void> TextGenerator::advance(ActiveRequest &request,
                                      int64_t accepted) {
  TextGenerationContext &context = request.context;
  int64_t drafted = std::ssize(guesses);
  if (drafted == 0) {
    context.update(request.tokens);
    return {};
  }
  rejected += drafted - accepted;
  request.trust = accepted == drafted
                      ? std::min(2 * drafted, request.MostDrafts)
                      : std::max<int64_t>(accepted, 1);
  ++counted.drafts;
  counted.draftTokens += drafted;
  counted.acceptedTokens += accepted;
  statistics.draftTokens += drafted;
  statistics.acceptedTokens += accepted;
  int64_t kept = context.active() - drafted + accepted;
  path.resize(kept);
  std::iota(path.begin(), path.end(), 0);
  if (Expected<void> moved = manager.acceptPath(context, path); !moved)
    return moved;
  context.accept(kept, request.tokens);
  return {};
}

void TextGenerator::finish(ActiveRequest &request, FinishReason reason) {
  scheduler.finish(request);
  GenerationCounts counts = countsOf(request);
  statistics.cachedTokens += counts.cachedTokens;
  statistics.prefixHits += counts.cachedTokens > 0;
  ++(reason == FinishReason::Stop ? counted.stopped : counted.reachedEnd);
  if (request.request->embedding != Embedding::None)
    passEmbedding(request);
  sink.finished(*request.request, reason, counts);
  forget(request);
}

void TextGenerator::fail(ActiveRequest &request, std::string_view message) {
  scheduler.finish(request);
  fail(*request.request, message);
  forget(request);
}

void TextGenerator::fail(const GenerationRequest &request,
                         std::string_view message) {
  ++statistics.failedRequests;
  ++counted.failed;
  sink.failed(request, concat("request ", request.id, ": ", message));
}

void TextGenerator::forget(ActiveRequest &request) {
  runningIds.erase(request.request->id);
  if (draftModel)
    draftModel->forget(request.context.id());
  auto at = std::ranges::lower_bound(
      active, request.context.id(), {},
      [](const Answer &answer) { return answer->context.id(); });
  active.erase(at);
}
