//===- Serving.cpp - Requests in, tokens out ------------------------------===//

#include "Buffers.h"
#include "Managers.h"
#include "Sessions.h"

using namespace kv::python;

namespace {

struct Server {
  ~Server() {
    nb::gil_scoped_release released;
    handle.reset();
  }

  std::shared_ptr<SessionState> state;
  nb::object model, manager;
  Owned<KvServer, kvServerDestroy> handle;
};

void makeServer(Server *own, nb::object model, nb::object manager,
                int32_t maxBatch, int64_t maxBatchTokens) {
  const Model &given = nb::cast<const Model &>(model);
  const Manager &caches = nb::cast<const Manager &>(manager);
  KvServerOptions options = {maxBatch, maxBatchTokens};
  KvServer *server = nullptr;
  unlocked(given.state->mutex, [&] {
    return kvServerCreate(given.handle.get(), caches.handle, &options, &server);
  });
  new (own) Server();
  own->state = given.state;
  own->model = std::move(model);
  own->manager = std::move(manager);
  own->handle.reset(server);
}

void add(Server &own, const std::string &id, nb::handle tokens,
         int64_t maxNewTokens, double temperature, int64_t topK, double topP,
         uint64_t seed, nb::handle stopTokens,
         std::optional<std::string> salt) {
  Tokens prompt(tokens), stops(stopTokens);
  KvGenerationRequest request = {};
  request.id = id.c_str();
  request.tokens = prompt.data();
  request.numTokens = prompt.size();
  request.maxNewTokens = maxNewTokens;
  request.temperature = temperature;
  request.topK = topK;
  request.topP = topP;
  request.seed = seed;
  request.stopTokens = stops.data();
  request.numStopTokens = stops.size();
  request.salt = salt ? salt->c_str() : nullptr;
  unlocked(own.state->mutex,
           [&] { return kvServerAdd(own.handle.get(), &request); });
}

/// (whether requests are left, events): each is a tuple of the request's id,
/// the kind, the token, and of a last event (prompt, cached, new tokens) or the
/// message.
nb::tuple step(Server &own) {
  int32_t more = 0;
  struct Event {
    std::string id, message;
    KvServerEvent event;
  };
  std::vector<Event> happened;
  unlocked(own.state->mutex, [&] {
    int32_t status = kvServerStep(own.handle.get(), &more);
    const KvServerEvent *events = nullptr;
    int64_t count = 0;
    if (status == KV_STATUS_OK)
      status = kvServerGetEvents(own.handle.get(), &events, &count);
    for (int64_t i = 0; i < count; ++i)
      happened.push_back({events[i].id,
                          events[i].message ? events[i].message : "",
                          events[i]});
    return status;
  });
  nb::list result;
  for (const Event &one : happened) {
    nb::object detail = nb::none();
    if (one.event.kind == KV_SERVER_FAILED)
      detail = nb::str(one.message.c_str());
    else if (one.event.kind != KV_SERVER_TOKEN)
      detail = nb::make_tuple(one.event.promptTokens, one.event.cachedTokens,
                              one.event.newTokens);
    result.append(
        nb::make_tuple(one.id, one.event.kind, one.event.token, detail));
  }
  return nb::make_tuple(more != 0, result);
}

nb::dict figures(Server &own) {
  KvServerFigures counted = {};
  KvMetrics cache = {};
  double used = 0;
  unlocked(own.state->mutex, [&] {
    const KvManager *manager = nb::inst_ptr<Manager>(own.manager)->handle;
    used = kvManagerUsedBlocksPct(manager);
    int32_t status = kvManagerGetMetrics(manager, &cache);
    return status ? status : kvServerGetFigures(own.handle.get(), &counted);
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
           nb::arg("max_batch") = 0, nb::arg("max_batch_tokens") = 0)
      .def("add", &add, nb::arg("id"), nb::arg("tokens"),
           nb::arg("max_new_tokens") = 0, nb::arg("temperature") = 0.0,
           nb::arg("top_k") = 0, nb::arg("top_p") = 1.0, nb::arg("seed") = 0,
           nb::arg("stop_tokens") = nb::tuple(), nb::arg("salt") = nb::none())
      .def(
          "abort",
          [](Server &own, const std::string &id) {
            unlocked(own.state->mutex, [&] {
              return kvServerAbort(own.handle.get(), id.c_str());
            });
          },
          nb::arg("id"))
      .def("step", &step)
      .def("figures", &figures);
}
