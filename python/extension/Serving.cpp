//===- Serving.cpp - Requests in, tokens out ------------------------------===//

#include "Buffers.h"
#include "Managers.h"
#include "Sessions.h"

#include <span>
#include <unordered_map>

using namespace kv::python;

namespace {

/// Finds strings by what the runtime gives, without a copy.
struct Hash : std::hash<std::string_view> {
  using is_transparent = void;
};

struct Server {
  Server(std::shared_ptr<SessionState> state, KvServer *server)
      : own(std::move(state), server) {}

  nb::object model, manager;
  /// Of requests by their ids: where their tokens go.
  std::unordered_map<std::string, nb::list, Hash, std::equal_to<>> lists;
  /// Ends before the manager, whose command log it may write.
  SessionHandle<KvServer, kvServerDestroy> own;
};

void makeServer(Server *own, nb::object model, nb::object manager,
                const nb::kwargs &fields) {
  const Model &given = nb::cast<const Model &>(model);
  const Manager &caches = nb::cast<const Manager &>(manager);
  KvServerOptions options = {};
#define KV_OPTION(kind, name, type, ...)                                       \
  {#name, [](KvServerOptions &own, nb::handle value, const char *keyword) {    \
     own.name = castToCount<type>(value, keyword);                             \
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

void add(Server &server, nb::handle givenId, nb::handle tokens,
         nb::handle maxNewTokens, nb::handle temperature, nb::handle topK,
         nb::handle topP, nb::handle minP, nb::handle seed,
         nb::handle stopTokens, nb::handle givenSalt,
         std::optional<nb::list> list) {
  std::string id = castTo<std::string>(givenId, "id");
  std::optional<std::string> salt;
  if (!givenSalt.is_none())
    salt = castTo<std::string>(givenSalt, "salt");
  Tokens prompt(tokens), stops(stopTokens);
  KvGenerationRequest request = {};
  request.id = cString(id, "id");
  request.tokens = prompt.data();
  request.numTokens = prompt.size();
  request.maxNewTokens = castTo<int64_t>(maxNewTokens, "max_new_tokens");
  request.temperature = castTo<double>(temperature, "temperature");
  request.topK = castTo<int64_t>(topK, "top_k");
  request.topP = castTo<double>(topP, "top_p");
  request.minP = castTo<double>(minP, "min_p");
  request.seed = castTo<uint64_t>(seed, "seed");
  request.stopTokens = stops.data();
  request.numStopTokens = stops.size();
  request.salt = salt ? cString(*salt, "salt") : nullptr;
  unlocked(server.own.state->mutex,
           [&] { return kvServerAdd(server.own.handle, &request); });
  if (list)
    server.lists.insert_or_assign(id, std::move(*list));
}

/// (whether requests are left, events). Tokens go to the lists that add() was
/// given; who was given none gets them as events. An event is a tuple of the
/// request's id, the kind, the token, and of a last event (prompt, cached, new
/// tokens) or the message. The caller sees to it that nobody else calls the
/// server meanwhile: that is how long the runtime keeps the events.
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
    auto at = server.lists.find(std::string_view(event.id));
    bool listed = at != server.lists.end();
    if (event.kind == KV_SERVER_TOKEN && listed) {
      at->second.append(event.token);
      continue;
    }
    nb::object detail = nb::none();
    if (event.kind == KV_SERVER_FAILED)
      detail = nb::str(event.message);
    else if (event.kind != KV_SERVER_TOKEN)
      detail = nb::make_tuple(event.promptTokens, event.cachedTokens,
                              event.newTokens);
    result.append(nb::make_tuple(event.id, event.kind, event.token, detail));
    if (event.kind != KV_SERVER_TOKEN && listed)
      server.lists.erase(at);
  }
  return nb::make_tuple(more != 0, result);
}

void giveUp(Server &server, const std::string &id) {
  unlocked(server.own.state->mutex,
           [&] { return kvServerAbort(server.own.handle, id.c_str()); });
  server.lists.erase(id);
}

/// (prompt, cached, new tokens) of a request that goes on.
nb::tuple counts(Server &server, const std::string &id) {
  KvGenerationCounts found = {};
  unlocked(server.own.state->mutex, [&] {
    return kvServerGetCounts(server.own.handle, id.c_str(), &found);
  });
  return nb::make_tuple(found.promptTokens, found.cachedTokens,
                        found.newTokens);
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
      .def("add", &add, nb::arg("id").none(), nb::arg("tokens").none(),
           nb::arg("max_new_tokens").none() = 0,
           nb::arg("temperature").none() = 0.0, nb::arg("top_k").none() = 0,
           nb::arg("top_p").none() = 1.0, nb::arg("min_p").none() = 0.0,
           nb::arg("seed").none() = 0,
           nb::arg("stop_tokens").none() = nb::tuple(),
           nb::arg("salt").none() = nb::none(), nb::arg("list") = nb::none())
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
