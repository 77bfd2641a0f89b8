//===- DraftModel.cpp - Drafts of a smaller model -------------------------===//

#include "kv/Runtime/Serving/DraftModel.h"
#include "kv/Runtime/Serving/ArtifactRunner.h"

#include <algorithm>
#include <utility>

using namespace kv;

DraftModel::DraftModel(std::unique_ptr<ModelRunner> runner,
                       std::unique_ptr<PagedKVCacheManager> manager,
                       const Scheduler::Options &options,
                       std::function<void(std::string_view)> log)
    : runner(std::move(runner)), manager(std::move(manager)), options(options),
      log(std::move(log)) {}

Expected<std::unique_ptr<DraftModel>>
DraftModel::create(Model model, const ForwardSignature &served,
                   const Scheduler::Options &options) {
  Expected<ForwardSignature> signature =
      ForwardSignature::from(model.manifest());
  if (!signature)
    return std::unexpected(signature.error());
  MultiKVCacheParams &params = signature->cache;
  for (auto [cache, whose] : {std::pair(&served.cache, "the served model's"),
                              std::pair(&std::as_const(params), "its")})
    if (!Scheduler::canDraft(*cache))
      return makeError(KV_STATUS_UNSUPPORTED, whose,
                       " recurrent states cannot go back to the accepted "
                       "drafts");
  if (signature->vocabSize != served.vocabSize)
    return makeError(KV_STATUS_INVALID_ARGUMENT, "its vocabulary has ",
                     signature->vocabSize, " tokens, the served model's ",
                     served.vocabSize);
  if (!params.params[0].geometry.isPaged() || model.manifest().ranks != 1)
    return makeError(KV_STATUS_UNSUPPORTED,
                     "it needs a cache with pages, and one rank");
  for (KVCacheParams &one : params.params)
    one.enablePrefixCaching = true;
  PagedSizes sizes(params, options.maxBatch, signature->maxSeqLen,
                   {1, options.maxBatchTokens});
  constexpr int64_t MostBytes = int64_t(1) << 30;
  auto pages = static_cast<int64_t>(
      std::min<__int128>(sizes.pagesIn(MostBytes), sizes.blocksForAll()));
  PagedOptions wanted = {.maxBatchSize = options.maxBatch,
                         .maxSeqLen = signature->maxSeqLen,
                         .numPages = std::max<int64_t>(pages, 1),
                         .maxSteps = 1,
                         .maxChunkTokens = options.maxBatchTokens};
  if (model.device().kind != Device::Kind::CPU)
    wanted.devices = {model.device()};
  Expected<std::unique_ptr<PagedKVCacheManager>> manager =
      PagedKVCacheManager::create(params, wanted);
  if (!manager)
    return std::unexpected(manager.error());
  std::function<void(std::string_view)> log = model.log();
  Expected<std::unique_ptr<ArtifactRunner>> runner =
      ArtifactRunner::create(std::move(model), *signature);
  if (!runner)
    return std::unexpected(runner.error());
  return std::make_unique<DraftModel>(std::move(*runner), std::move(*manager),
                                      options, std::move(log));
}

void DraftModel::forget(RequestId id) {
  if (texts.erase(id))
    (void)manager->release(id);
}

/// Brings the text to the request's tokens: of the guesses those are kept
/// that were right. Null: the request gets no guess.
DraftModel::Guessed *DraftModel::prepare(ActiveRequest &request) {
  RequestId id = request.context.id();
  int64_t known = request.knownTokens();
  int64_t wanted = std::min<int64_t>({options.draftLength, request.trust,
                                      request.maxTokens - known - 1,
                                      manager->maxSeqLen() - known});
  if (wanted < 1)
    return nullptr;
  std::span<const int32_t> all = std::span(request.tokens).first(known);
  int64_t same = 0;
  if (auto at = texts.find(id); at != texts.end()) {
    if (!at->second)
      return nullptr;
    const Guessed &own = *at->second;
    auto computed = std::span(own.tokens).first(own.context.processed());
    // The last token is computed again: its row is the first guess.
    same = std::min<int64_t>(std::ranges::mismatch(computed, all).in1 -
                                 computed.begin(),
                             std::ssize(all) - 1);
    // Pages that a window has passed do not come back.
    if (same < std::ssize(computed) && !manager->truncate(id, same)) {
      forget(id);
      same = 0;
    }
  }
  std::unique_ptr<Guessed> &own = texts[id];
  if (!own) {
    own = std::make_unique<Guessed>(Guessed{{}, TextGenerationContext(id, {})});
    own->tokens.reserve(request.maxTokens);
    if (!manager->claim(id)) {
      texts.erase(id);
      return nullptr;
    }
  }
  own->tokens.assign(all.begin(), all.end());
  own->context = TextGenerationContext(id, own->tokens);
  own->context.setScope({.salt = request.request->salt});
  if (same > 0)
    own->context.skip(same);
  own->request = &request;
  own->wanted = wanted;
  return own.get();
}

void DraftModel::propose(std::span<ActiveRequest *const> requests) {
  batch.clear();
  for (ActiveRequest *request : requests)
    if (Guessed *own = prepare(*request))
      batch.push_back(own);
  while (!batch.empty())
    if (Expected<void> done = step(); !done)
      giveUp(done.error());
}

void DraftModel::giveUp(const Error &error) {
  for (const TextGenerationContext *context : contexts) {
    RequestId id = context->id();
    (void)manager->release(id);
    texts[id].reset();
  }
  batch.clear();
  if (log && !std::exchange(hasFailed, true))
    log(concat("a step of the draft model has failed, and its requests go on "
               "without guesses: ",
               error.message));
}

/// One step for all of the batch. Those that need no other one leave it.
Expected<void> DraftModel::step() {
  contexts.clear();
  tokens.clear();
  rowOffsets.assign(1, 0);
  logitRows.clear();
  std::erase_if(batch, [&](Guessed *own) {
    TextGenerationContext &context = own->context;
    int64_t budget = options.maxBatchTokens - std::ssize(tokens);
    if (budget < 1)
      return true;
    context.limitActive(budget);
    if (!manager->alloc(context)) {
      forget(context.id());
      return true;
    }
    std::span<const int32_t> active = context.activeTokens();
    tokens.insert(tokens.end(), active.begin(), active.end());
    rowOffsets.push_back(static_cast<int32_t>(tokens.size()));
    logitRows.push_back(rowOffsets.back() - 1);
    contexts.push_back(&context);
    return false;
  });
  if (batch.empty())
    return {};
  Expected<std::span<RaggedKVCacheInputs>> inputs =
      manager->runtimeInputs(contexts);
  if (!inputs)
    return std::unexpected(inputs.error());
  Expected<std::span<const int32_t>> guesses = choose({.tokens = tokens,
                                                       .rowOffsets = rowOffsets,
                                                       .logitRows = logitRows,
                                                       .kv = *inputs});
  if (!guesses)
    return std::unexpected(guesses.error());
  size_t row = 0;
  std::vector<Guessed *> goOn;
  for (Guessed *own : batch) {
    int32_t guess = (*guesses)[row++];
    own->context.advance();
    // The rest of a long prompt is for the next call.
    if (own->context.processed() < own->context.length() || guess < 0)
      continue;
    own->request->proposed.push_back(guess);
    if (std::ssize(own->request->proposed) == own->wanted)
      continue;
    own->tokens.push_back(guess);
    own->context.extend(own->tokens);
    goOn.push_back(own);
  }
  batch = std::move(goOn);
  return manager->step(contexts);
}

Expected<std::span<const int32_t>> DraftModel::choose(const ModelStep &step) {
  sampling::Choice likeliest = choiceOf({}, /*index=*/0);
  if (runner->canChoose())
    return runner->choose(step, std::vector(step.logitRows.size(), likeliest));
  Expected<std::span<const float>> logits = runner->run(step);
  if (!logits)
    return std::unexpected(logits.error());
  chosen.clear();
  int64_t vocab = runner->vocabSize();
  for (size_t row = 0; row < step.logitRows.size(); ++row)
    chosen.push_back(
        sampler.sample(logits->subspan(row * vocab, vocab), likeliest));
  return std::span<const int32_t>(chosen);
}
