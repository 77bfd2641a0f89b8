//===- Serving.cpp - Serving in C -----------------------------------------===//

#include "SessionHandles.h"

#include "kv/Runtime/C/Serving.h"
#include "kv/Runtime/Serving/ArtifactRunner.h"
#include "kv/Runtime/Serving/PeerPrompts.h"
#include "kv/Runtime/Serving/TextGenerator.h"

#include <unordered_map>
#include <utility>

using namespace kv;
using namespace kv::capi;

namespace {

/// Keeps what happens during a step, but what happens to prompts of peers.
class EventList : public GenerationSink {
public:
  explicit EventList(PeerPrompts *prompts) : prompts(prompts) {}

  void token(const GenerationRequest &request, int64_t index, int32_t token,
             std::optional<uint64_t>) override {
    KvServerEvent &event = add(request, KV_SERVER_TOKEN);
    event.index = index;
    event.token = token;
    setLogprobs(event, std::exchange(ofNext, {}));
  }
  void logprobs(const GenerationRequest &request, int64_t position,
                const TokenLogprobs &found) override {
    std::vector<KvTokenLogprob> &top = tops.emplace_back();
    for (const TokenLogprob &one : found.top)
      top.push_back({one.token, one.logprob});
    Logprobs known = {found.rank, found.chosen.logprob, top};
    if (position >= static_cast<int64_t>(request.tokens.size())) {
      ofNext = known;
      return;
    }
    KvServerEvent &event = add(request, KV_SERVER_PROMPT_TOKEN);
    event.index = position;
    event.token = found.chosen.token;
    setLogprobs(event, known);
  }
  void embedding(const GenerationRequest &request,
                 std::span<const float> values) override {
    std::vector<float> &kept =
        embeddings.emplace_back(values.begin(), values.end());
    KvServerEvent &event = add(request, KV_SERVER_EMBEDDING);
    event.values = kept.data();
    event.numValues = std::ssize(kept);
  }
  void finished(const GenerationRequest &request, FinishReason reason,
                const GenerationCounts &counts) override {
    if (isPrompt(request))
      return;
    KvServerEvent &event =
        add(request, reason == FinishReason::Stop ? KV_SERVER_STOPPED
                                                  : KV_SERVER_LENGTH);
    event.promptTokens = counts.promptTokens;
    event.cachedTokens = counts.cachedTokens;
    event.newTokens = counts.newTokens;
    event.queueSeconds = counts.queueSeconds;
    ended.push_back(request.id);
  }
  void failed(const GenerationRequest &request,
              std::string_view message) override {
    if (isPrompt(request))
      return;
    messages.emplace_back(message);
    add(request, KV_SERVER_FAILED).message = messages.back().c_str();
    ended.push_back(request.id);
  }
  void stepDone() override {
    if (prompts)
      prompts->stepDone();
  }

  void clear() {
    events.clear();
    messages.clear();
    tops.clear();
    embeddings.clear();
    ended.clear();
  }

  std::vector<KvServerEvent> events;
  std::vector<std::string> ended; // ids of requests that had their last event

private:
  struct Logprobs {
    int64_t rank = 0;
    float logprob = 0;
    std::span<const KvTokenLogprob> top = {};
  };
  static void setLogprobs(KvServerEvent &event, const Logprobs &known) {
    event.rank = known.rank;
    event.logprob = known.logprob;
    event.top = known.top.data();
    event.numTop = static_cast<int64_t>(known.top.size());
  }
  /// Whether a request that has ended is a peer's prompt, which is then over.
  bool isPrompt(const GenerationRequest &request) {
    if (!prompts || !prompts->owns(request))
      return false;
    prompts->over(request);
    return true;
  }
  KvServerEvent &add(const GenerationRequest &request, int32_t kind) {
    KvServerEvent &event = events.emplace_back();
    event.id = request.id.c_str();
    event.kind = kind;
    return event;
  }

  PeerPrompts *prompts;
  std::deque<std::string> messages; // never moved
  std::deque<std::vector<KvTokenLogprob>> tops;
  std::deque<std::vector<float>> embeddings;
  Logprobs ofNext; // of the token that comes next
};

} // namespace

struct KvServer {
  KvServer(Model model, std::shared_ptr<KvManager::State> state,
           std::unique_ptr<ArtifactRunner> given,
           const TextGenerator::Options &options)
      : model(std::move(model)), state(std::move(state)),
        runner(std::move(given)), prompts(promptsOf(*this->state)),
        events(prompts.get()), steps(options.scheduler),
        generator(*runner, *this->state->manager, events, options) {
    this->state->setServing(&generator.figures());
  }
  ~KvServer() {
    state->resetServing(&generator.figures());
    for (auto &[id, request] : requests)
      generator.abort(id);
    if (!prompts)
      return;
    for (const GenerationRequest *prompt : prompts->all()) {
      generator.abort(prompt->id);
      prompts->over(*prompt);
    }
    prompts->stepDone();
  }

  /// Null where no peers want any.
  static std::unique_ptr<PeerPrompts> promptsOf(const KvManager::State &state) {
    if (!state.peer || state.peer->promptDescriptor() < 0)
      return nullptr;
    return std::make_unique<PeerPrompts>(*state.peer, *state.paged);
  }

  void takePrompts() {
    if (!prompts)
      return;
    arrived.clear();
    prompts->take(arrived);
    for (const GenerationRequest *prompt : arrived)
      if (!generator.add(*prompt))
        prompts->over(*prompt); // the peer that asked computes it
  }

  /// Forgets the requests whose last events the caller has had time to read.
  void forgetEnded() {
    for (const std::string &id : events.ended)
      requests.erase(id);
    events.clear();
  }

  Model model;
  std::shared_ptr<KvManager::State> state;
  std::unique_ptr<ArtifactRunner> runner;
  std::unique_ptr<PeerPrompts> prompts;
  std::vector<const GenerationRequest *> arrived; // kept to be filled again
  EventList events;
  Scheduler::Options steps;
  TextGenerator generator;
  std::unordered_map<std::string, std::unique_ptr<GenerationRequest>> requests;
};

/// Whether the manager's memory is where the model runs, and its caches are the
/// entry's.
static Expected<void> checkManager(const Model &model, const Entry &entry,
                                   const KVCacheManager &manager,
                                   size_t collections) {
  auto refuse = [](const auto &...parts) {
    return makeError(KV_STATUS_INVALID_ARGUMENT, "kvServerCreate: ", parts...);
  };
  const MultiKVCacheParams &params = manager.params();
  if (params.tensorParallelDegree() != 1)
    return refuse("a replica of the manager has ",
                  params.tensorParallelDegree(), " devices, allowed: 1");
  const Device &own = model.device();
  for (const Device &device : manager.devices())
    if (device.kind != own.kind ||
        (own.kind != Device::Kind::CPU && device.index != own.index))
      return refuse("the manager has memory of ", device.str(),
                    ", the session runs on ", own.str());
  if (params.params.size() != collections)
    return refuse("the manager has ", params.params.size(),
                  " collections, the model ", collections);
  for (const KVCacheParams &one : params.params)
    if (Expected<void> fits = one.validate(entry); !fits)
      return fits;
  return {};
}

int32_t kvServerCreate(const KvModel *model, const KvManager *manager,
                       const KvServerOptions *options, KvServer **server) {
  return guarded([&] {
    KV_REQUIRE("kvServerCreate", model);
    KV_REQUIRE("kvServerCreate", manager);
    KV_REQUIRE("kvServerCreate", server);
    KvServerOptions given = options ? *options : KvServerOptions{};
    TextGenerator::Options limits;
#define KV_OPTION(kind, name, type, place, standard, least, most, ...)         \
  if (given.name) {                                                            \
    if (given.name < (least) || given.name > (most))                           \
      return invalid("kvServerCreate: " #name " is ", given.name,              \
                     ", allowed: ", least, " to ", most);                      \
    limits.scheduler.place = given.name;                                       \
  }
#include "kv/ABI/ServerOptions.def"
    const Manifest &manifest = model->model.manifest();
    Expected<ForwardSignature> signature = ForwardSignature::from(manifest);
    if (!signature)
      return fail(signature.error());
    if (Expected<void> fits =
            checkManager(model->model, *manifest.findEntry("forward"),
                         *manager->state->manager, manifest.collections.size());
        !fits)
      return fail(fits.error());
    Expected<std::unique_ptr<ArtifactRunner>> runner =
        ArtifactRunner::create(model->model, *signature);
    if (!runner)
      return fail(runner.error());
    if (Expected<void> good =
            Scheduler::check(limits.scheduler, signature->cache);
        !good)
      return fail(good.error());
    limits.maxSeqLen =
        std::min(signature->maxSeqLen, manager->state->manager->maxSeqLen());
    *server =
        new KvServer(model->model, manager->state, std::move(*runner), limits);
    return int32_t(KV_STATUS_OK);
  });
}

int32_t kvServerSetDraft(KvServer *server, const KvModel *draft) {
  return guarded([&] {
    KV_REQUIRE("kvServerSetDraft", server);
    KV_REQUIRE("kvServerSetDraft", draft);
    if (!server->requests.empty())
      return invalid("kvServerSetDraft: the server has requests, allowed: "
                     "before the first");
    Expected<ForwardSignature> served =
        ForwardSignature::from(server->model.manifest());
    if (!served)
      return fail(served.error());
    Expected<std::unique_ptr<DraftModel>> made =
        DraftModel::create(draft->model, *served, server->steps);
    if (!made)
      return invalid("the draft model cannot guess: ", made.error().message);
    server->generator.setDraftModel(std::move(*made));
    return int32_t(KV_STATUS_OK);
  });
}

void kvServerDestroy(KvServer *server) { delete server; }

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

namespace {

/// A function of the caller's.
class CallerMask : public TokenMask {
public:
  CallerMask(KvTokenMask mask, void *data) : mask(mask), data(data) {}

  Expected<void> allow(std::span<const int32_t> answer,
                       std::span<uint32_t> allowed) override {
    if (int32_t status =
            mask(data, answer.data(), static_cast<int64_t>(answer.size()),
                 allowed.data(), static_cast<int64_t>(allowed.size())))
      return makeError(KV_STATUS_INVALID_ARGUMENT, "its mask returned ",
                       status);
    return {};
  }

private:
  KvTokenMask mask;
  void *data;
};

} // namespace

static LogitRules readRules(const KvGenerationRequest &given) {
  LogitRules rules = {.repetitionPenalty =
                          given.repetitionPenalty ? given.repetitionPenalty : 1,
                      .presencePenalty = given.presencePenalty,
                      .frequencyPenalty = given.frequencyPenalty,
                      .minNewTokens = given.minNewTokens};
  for (const KvLogitBias &one : std::span(given.logitBias, given.numLogitBias))
    rules.bias.push_back({one.token, one.value});
  if (given.mask)
    rules.mask = std::make_shared<CallerMask>(given.mask, given.maskData);
  return rules;
}

static Expected<std::unique_ptr<GenerationRequest>>
readRequest(const KvGenerationRequest &given) {
  auto refuse = [&](const auto &...parts) {
    return makeError(KV_STATUS_INVALID_ARGUMENT, "request ", given.id, ": ",
                     parts...);
  };
  for (auto [name, list, count] :
       {std::tuple("tokens", static_cast<const void *>(given.tokens),
                   given.numTokens),
        std::tuple("stop tokens", static_cast<const void *>(given.stopTokens),
                   given.numStopTokens),
        std::tuple("logit biases", static_cast<const void *>(given.logitBias),
                   given.numLogitBias)})
    if (count < 0 || (count > 0 && !list))
      return refuse(count, " ", name,
                    count < 0 ? ", allowed: 0 or more" : " at null");
  if (given.maxNewTokens < 0)
    return refuse("maxNewTokens is ", given.maxNewTokens,
                  ", allowed: 0 (as many as the model takes) or more");
  if (!(given.temperature >= 0) || given.temperature > 1e30)
    return refuse("temperature is ", given.temperature,
                  ", allowed: 0 (greedy) or more");
  if (given.topK < 0)
    return refuse("topK is ", given.topK, ", allowed: 0 (all) or more");
  if (!(given.topP >= 0 && given.topP <= 1))
    return refuse("topP is ", given.topP, ", allowed: above 0, at most 1");
  if (!(given.minP >= 0 && given.minP <= 1))
    return refuse("minP is ", given.minP, ", allowed: 0 (all) to 1");
  auto request = std::make_unique<GenerationRequest>();
  request->id = given.id;
  request->tokens.assign(given.tokens, given.tokens + given.numTokens);
  request->maxNewTokens = given.maxNewTokens ? given.maxNewTokens : INT32_MAX;
  request->sampling = {.temperature = given.temperature,
                       .topK = given.topK,
                       .topP = given.topP > 0 ? given.topP : 1,
                       .minP = given.minP,
                       .seed = given.seed};
  request->stopTokens.assign(given.stopTokens,
                             given.stopTokens + given.numStopTokens);
  if (given.salt)
    request->salt = given.salt;
  for (auto [name, count] :
       {std::pair("numLogprobs", given.numLogprobs),
        std::pair("numPromptLogprobs", given.numPromptLogprobs)})
    if (count < 0)
      return refuse(name, " is ", count, ", allowed: 0 (none) or more");
  if (given.embedding < KV_EMBEDDING_NONE ||
      given.embedding > KV_EMBEDDING_MEAN)
    return refuse("embedding is ", given.embedding, ", allowed: 0 to ",
                  int32_t(KV_EMBEDDING_MEAN));
  request->embedding = static_cast<Embedding>(given.embedding);
  request->rules = readRules(given);
  if (given.drafts)
    request->draft = [drafts = given.drafts,
                      data = given.draftsData](std::span<const int32_t> answer,
                                               std::span<int32_t> places) {
      return drafts(data, answer.data(), std::ssize(answer), places.data(),
                    std::ssize(places));
    };
  request->logprobs = given.numLogprobs - 1;
  request->promptLogprobs = given.numPromptLogprobs - 1;
  request->priority = given.priority;
  if (given.tenant)
    request->tenant = given.tenant;
  return request;
}

int32_t kvServerAdd(KvServer *server, const KvGenerationRequest *request) {
  return guarded([&] {
    KV_REQUIRE("kvServerAdd", server);
    KV_REQUIRE("kvServerAdd", request);
    const char *id = request->id;
    KV_REQUIRE("kvServerAdd", id);
    Expected<std::unique_ptr<GenerationRequest>> read = readRequest(*request);
    if (!read)
      return fail(read.error());
    server->forgetEnded();
    if (Expected<void> added = server->generator.add(**read); !added)
      return fail(added.error());
    server->requests[(*read)->id] = std::move(*read);
    return int32_t(KV_STATUS_OK);
  });
}

int32_t kvServerAbort(KvServer *server, const char *id) {
  return guarded([&] {
    KV_REQUIRE("kvServerAbort", server);
    KV_REQUIRE("kvServerAbort", id);
    server->forgetEnded();
    if (!server->generator.abort(id))
      return invalid("kvServerAbort: the server has no request ", id);
    server->requests.erase(id);
    return int32_t(KV_STATUS_OK);
  });
}

int32_t kvServerGetCounts(const KvServer *server, const char *id,
                          KvGenerationCounts *counts) {
  return guarded([&] {
    KV_REQUIRE("kvServerGetCounts", server);
    KV_REQUIRE("kvServerGetCounts", id);
    KV_REQUIRE("kvServerGetCounts", counts);
    std::optional<GenerationCounts> found = server->generator.counts(id);
    if (!found)
      return invalid("kvServerGetCounts: the server has no request ", id);
    *counts = {.promptTokens = found->promptTokens,
               .cachedTokens = found->cachedTokens,
               .newTokens = found->newTokens,
               .queueSeconds = found->queueSeconds};
    return int32_t(KV_STATUS_OK);
  });
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

int32_t kvServerStep(KvServer *server, int32_t *more) {
  return guarded([&] {
    KV_REQUIRE("kvServerStep", server);
    KV_REQUIRE("kvServerStep", more);
    server->forgetEnded();
    server->takePrompts();
    *more = server->generator.runStep();
    return int32_t(KV_STATUS_OK);
  });
}

int32_t kvServerGetPromptDescriptor(const KvServer *server,
                                    int32_t *descriptor) {
  return guarded([&] {
    KV_REQUIRE("kvServerGetPromptDescriptor", server);
    KV_REQUIRE("kvServerGetPromptDescriptor", descriptor);
    *descriptor =
        server->prompts ? server->state->peer->promptDescriptor() : -1;
    return int32_t(KV_STATUS_OK);
  });
}

int32_t kvServerGetEvents(const KvServer *server, const KvServerEvent **events,
                          int64_t *count) {
  return guarded([&] {
    KV_REQUIRE("kvServerGetEvents", server);
    KV_REQUIRE("kvServerGetEvents", events);
    KV_REQUIRE("kvServerGetEvents", count);
    *events = server->events.events.data();
    *count = static_cast<int64_t>(server->events.events.size());
    return int32_t(KV_STATUS_OK);
  });
}

int32_t kvServerGetFigures(const KvServer *server, KvServerFigures *figures) {
  return guarded([&] {
    KV_REQUIRE("kvServerGetFigures", server);
    KV_REQUIRE("kvServerGetFigures", figures);
    const ServingFigures &own = server->generator.figures();
    *figures = {.requests = own.requests,
                .stopped = own.stopped,
                .reachedEnd = own.reachedEnd,
                .failed = own.failed,
                .aborted = own.aborted,
                .running = own.running,
                .waiting = own.waiting,
                .preemptions = own.preemptions,
                .prefillTokens = own.prefillTokens,
                .decodeTokens = own.decodeTokens,
                .generatedTokens = own.generatedTokens,
                .draftTokens = own.draftTokens,
                .acceptedTokens = own.acceptedTokens,
                .stepSeconds =
                    static_cast<double>(own.stepMicroseconds) * 1e-6};
    return int32_t(KV_STATUS_OK);
  });
}
