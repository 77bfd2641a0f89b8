//===- Serving.cpp - Requests in, tokens out ------------------------------===//

#include "Buffers.h"
#include "Managers.h"
#include "Sessions.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>
#include <span>
#include <unordered_map>

using namespace kv::python;

namespace {

/// Finds strings by what the runtime gives, without a copy.
struct Hash : std::hash<std::string_view> {
  using is_transparent = void;
};

/// Functions of a request, which say which tokens may and which will come next.
struct Functions {
  std::optional<nb::callable> mask, drafts;
  std::string failure; // what one of them raised
};

struct Server {
  template <class T>
  using ById = std::unordered_map<std::string, T, Hash, std::equal_to<>>;

  Server(std::shared_ptr<SessionState> state, KvServer *server)
      : own(std::move(state), server) {}

  nb::object model, manager;
  ById<nb::list> lists; // where tokens of requests go
  ById<std::unique_ptr<Functions>> functions;
  void forget(const std::string &id) {
    lists.erase(id);
    functions.erase(id);
  }
  /// Ends before the manager, whose command log it may write.
  SessionHandle<KvServer, kvServerDestroy> own;
};

void makeServer(Server *own, nb::object model, nb::object manager,
                const nb::kwargs &fields) {
  const Model &given = nb::cast<const Model &>(model);
  const Manager &caches = nb::cast<const Manager &>(manager);
  KvServerOptions options = {};
#define CAST_NUMBER castTo
#define CAST_COUNT castToCount
#define KV_OPTION(kind, name, type, ...)                                       \
  {#name, [](KvServerOptions &own, nb::handle value, const char *keyword) {    \
     own.name = CAST_##kind<type>(value, keyword);                             \
   }},
  setFields<KvServerOptions>(options, fields, "a server",
                             {
#include "kv/ABI/ServerOptions.def"
                             });
  KvServer *server = nullptr;
  unlocked(given.state->mutex, [&] {
    return kvServerCreate(given.handle, caches.handle, &options, &server);
  });
  new (own) Server(given.state, server);
  own->model = std::move(model);
  own->manager = std::move(manager);
}

void setDraft(Server &server, const Model &draft) {
  unlocked(server.own.state->mutex,
           [&] { return kvServerSetDraft(server.own.handle, draft.handle); });
}

/// An array of NumPy, valid during the call that it is for.
template <class T>
nb::object arrayOf(T *values, int64_t count, const nb::callable &owner) {
  return nb::cast(
      nb::ndarray<nb::numpy, T, nb::ndim<1>>(values, {size_t(count)}, owner));
}

/// What `call` returns; -1, and the failure is known, if it raises.
template <class Call> int64_t guard(Functions &functions, Call call) {
  nb::gil_scoped_acquire lock;
  try {
    return call();
  } catch (nb::python_error &error) {
    functions.failure = nb::str(error.value()).c_str();
  } catch (std::exception &error) {
    functions.failure = error.what();
  }
  return -1;
}

/// KvTokenMask of Functions.
int32_t callMask(void *data, const int32_t *answer, int64_t numTokens,
                 uint32_t *allowed, int64_t numWords) {
  auto &functions = *static_cast<Functions *>(data);
  return guard(functions, [&] {
           const nb::callable &mask = *functions.mask;
           mask(arrayOf(answer, numTokens, mask),
                arrayOf(allowed, numWords, mask));
           return 0;
         }) != 0;
}

/// KvDraftTokens of Functions.
int64_t callDrafts(void *data, const int32_t *answer, int64_t numTokens,
                   int32_t *drafts, int64_t most) {
  auto &functions = *static_cast<Functions *>(data);
  return guard(functions, [&]() -> int64_t {
    const nb::callable &function = *functions.drafts;
    nb::object found = function(arrayOf(answer, numTokens, function));
    Tokens tokens(found);
    int64_t count = std::min(tokens.size(), most);
    std::copy_n(tokens.data(), count, drafts);
    return count;
  });
}

void setNumbers(KvGenerationRequest &request, const nb::kwargs &numbers) {
#define KV_NUMBER(name)                                                        \
  {                                                                            \
    #name, [](KvGenerationRequest &own, nb::handle value, const char *key) {   \
      own.name = castTo<decltype(own.name)>(value, key);                       \
    }                                                                          \
  }
  setFields<KvGenerationRequest>(
      request, numbers, "a request",
      {KV_NUMBER(maxNewTokens), KV_NUMBER(temperature), KV_NUMBER(topK),
       KV_NUMBER(topP), KV_NUMBER(minP), KV_NUMBER(seed),
       KV_NUMBER(repetitionPenalty), KV_NUMBER(presencePenalty),
       KV_NUMBER(frequencyPenalty), KV_NUMBER(minNewTokens),
       KV_NUMBER(numLogprobs), KV_NUMBER(numPromptLogprobs),
       KV_NUMBER(priority), KV_NUMBER(embedding)});
#undef KV_NUMBER
}

/// biases: pairs of a token and what is added to its logit. mask, drafts:
/// kvmlir.Server says what they are. list: where tokens go, if they need no
/// events. The numbers are fields of KvGenerationRequest.
void add(Server &server, nb::handle givenId, nb::handle tokens,
         nb::handle stopTokens, nb::handle givenSalt, nb::handle givenTenant,
         nb::handle givenBiases, std::optional<nb::callable> mask,
         std::optional<nb::callable> drafts, std::optional<nb::list> list,
         const nb::kwargs &numbers) {
  std::string id = castTo<std::string>(givenId, "id");
  std::string tenant = castTo<std::string>(givenTenant, "tenant");
  std::optional<std::string> salt;
  if (!givenSalt.is_none())
    salt = castTo<std::string>(givenSalt, "salt");
  Tokens prompt(tokens), stops(stopTokens);
  std::vector<KvLogitBias> biases;
  for (auto [token, value] : castTo<std::vector<std::pair<int32_t, float>>>(
           givenBiases, "logit_bias"))
    biases.push_back({token, value});
  std::unique_ptr<Functions> functions;
  KvGenerationRequest request = {};
  request.id = cString(id, "id");
  request.tokens = prompt.data();
  request.numTokens = prompt.size();
  request.stopTokens = stops.data();
  request.numStopTokens = stops.size();
  request.salt = salt ? cString(*salt, "salt") : nullptr;
  request.tenant = cString(tenant, "tenant");
  request.logitBias = biases.data();
  request.numLogitBias = static_cast<int64_t>(biases.size());
  if (mask || drafts) {
    functions = std::make_unique<Functions>(std::move(mask), std::move(drafts));
    request.maskData = request.draftsData = functions.get();
    request.mask = functions->mask ? callMask : nullptr;
    request.drafts = functions->drafts ? callDrafts : nullptr;
  }
  setNumbers(request, numbers);
  unlocked(server.own.state->mutex,
           [&] { return kvServerAdd(server.own.handle, &request); });
  if (list)
    server.lists.insert_or_assign(id, std::move(*list));
  if (functions)
    server.functions.insert_or_assign(id, std::move(functions));
}

/// What an event says beyond its token.
nb::object detailOf(const Server &server, const KvServerEvent &event) {
  switch (event.kind) {
  case KV_SERVER_TOKEN:
  case KV_SERVER_PROMPT_TOKEN: {
    if (!event.rank)
      return nb::none();
    nb::list top;
    for (const KvTokenLogprob &one : std::span(event.top, event.numTop))
      top.append(nb::make_tuple(one.token, one.logprob));
    return nb::make_tuple(event.logprob, event.rank, top);
  }
  case KV_SERVER_EMBEDDING:
    return nb::cast(std::vector(event.values, event.values + event.numValues));
  case KV_SERVER_FAILED: {
    auto at = server.functions.find(std::string_view(event.id));
    std::string message = event.message;
    if (at != server.functions.end() && !at->second->failure.empty())
      message += ": " + at->second->failure;
    return nb::str(message.c_str());
  }
  default:
    return nb::make_tuple(event.promptTokens, event.cachedTokens,
                          event.queueSeconds);
  }
}

/// (whether requests are left, events). Tokens go to the lists that add() was
/// given; who was given none gets them as events. An event is a tuple of the
/// request's id, the kind, the token, and a detail: of a last event counts() or
/// the message; of a token with log probabilities (its own, its rank, pairs of
/// the most likely tokens and theirs); an embedding's numbers. The caller sees
/// to it that nobody else calls the server meanwhile: that is how long the
/// runtime keeps the events.
nb::tuple step(Server &server) {
  int32_t more = 0;
  const KvServerEvent *events = nullptr;
  int64_t count = 0;
  unlocked(server.own.state->mutex, [&] {
    int32_t status = kvServerStep(server.own.handle, &more);
    return status ? status
                  : kvServerGetEvents(server.own.handle, &events, &count);
  });
  nb::list result;
  for (const KvServerEvent &event : std::span(events, count)) {
    if (event.kind == KV_SERVER_TOKEN) {
      auto at = server.lists.find(std::string_view(event.id));
      if (at != server.lists.end()) {
        at->second.append(event.token);
        continue;
      }
    }
    result.append(nb::make_tuple(event.id, event.kind, event.token,
                                 detailOf(server, event)));
    if (event.kind == KV_SERVER_STOPPED || event.kind == KV_SERVER_LENGTH ||
        event.kind == KV_SERVER_FAILED)
      server.forget(event.id);
  }
  return nb::make_tuple(more != 0, result);
}

void giveUp(Server &server, const std::string &id) {
  unlocked(server.own.state->mutex,
           [&] { return kvServerAbort(server.own.handle, id.c_str()); });
  server.forget(id);
}

/// (prompt tokens, cached tokens, seconds in the queue) of a request that goes
/// on.
nb::tuple counts(Server &server, const std::string &id) {
  KvGenerationCounts found = {};
  unlocked(server.own.state->mutex, [&] {
    return kvServerGetCounts(server.own.handle, id.c_str(), &found);
  });
  return nb::make_tuple(found.promptTokens, found.cachedTokens,
                        found.queueSeconds);
}

nb::dict figures(Server &server) {
  KvServerFigures counted = {};
  KvMetrics cache = {};
  double used = 0;
  unlocked(server.own.state->mutex, [&] {
    const KvManager *manager = nb::inst_ptr<Manager>(server.manager)->handle;
    used = kvManagerUsedBlocksPct(manager);
    int32_t status = kvManagerGetMetrics(manager, &cache);
    return status ? status : kvServerGetFigures(server.own.handle, &counted);
  });
  nb::dict result;
  result["requests"] = counted.requests;
  result["stopped"] = counted.stopped;
  result["reached_end"] = counted.reachedEnd;
  result["failed"] = counted.failed;
  result["aborted"] = counted.aborted;
  result["running"] = counted.running;
  result["waiting"] = counted.waiting;
  result["preemptions"] = counted.preemptions;
  result["prefill_tokens"] = counted.prefillTokens;
  result["decode_tokens"] = counted.decodeTokens;
  result["generated_tokens"] = counted.generatedTokens;
  result["draft_tokens"] = counted.draftTokens;
  result["accepted_tokens"] = counted.acceptedTokens;
  result["step_seconds"] = counted.stepSeconds;
  result["used_blocks_pct"] = used;
  result["cache"] = nb::cast(cache);
  return result;
}

} // namespace

void kv::python::bindServing(nb::module_ &module) {
  nb::class_<Server>(module, "RequestServer",
                     "Continuous batching, step by step: kvmlir.Server.")
      .def("__init__", &makeServer, nb::arg("model"), nb::arg("manager"),
           nb::arg("options"),
           nb::sig("def __init__(self, model: LoadedModel, manager: Manager, "
                   "**options: typing.Any) -> None"))
      .def("set_draft", &setDraft, nb::arg("draft"))
      .def("add", &add, nb::arg("id").none(), nb::arg("tokens").none(),
           nb::arg("stop_tokens").none() = nb::tuple(),
           nb::arg("salt").none() = nb::none(), nb::arg("tenant") = "",
           nb::arg("logit_bias") = nb::list(), nb::arg("mask") = nb::none(),
           nb::arg("drafts") = nb::none(), nb::arg("list") = nb::none(),
           nb::arg("numbers"))
      .def("abort", &giveUp, nb::arg("id"))
      .def("counts", &counts, nb::arg("id"))
      .def("step", &step)
      .def("prompt_descriptor",
           [](Server &server) {
             return get<int32_t>([&](auto *out) {
               return kvServerGetPromptDescriptor(server.own.handle, out);
             });
           })
      .def("figures", &figures);
}
