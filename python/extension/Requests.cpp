//===- Requests.cpp - Contexts of requests --------------------------------===//

#include "Requests.h"

#include <nanobind/ndarray.h>

using namespace kv::python;

[[noreturn]] static void refuse(std::string message) {
  raise(KV_STATUS_INVALID_ARGUMENT, KV_REFUSAL_NONE, std::move(message));
}

Tokens::Tokens(nb::handle given) {
  using Array =
      nb::ndarray<const int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
  bool isList = PyList_Check(given.ptr()) || PyTuple_Check(given.ptr());
  Array array;
  if (!isList && nb::try_cast(given, array, false)) {
    kept = nb::borrow(given);
    values = array.data();
    count = static_cast<int64_t>(array.shape(0));
    return;
  }
  if (PyUnicode_Check(given.ptr()) || PyBytes_Check(given.ptr()) ||
      !PyObject_HasAttrString(given.ptr(), "__iter__"))
    refuse(std::string("tokens is a ") + nb::type_name(given.type()).c_str() +
           ", allowed: a list or an array of token ids");
  for (nb::handle token : given) {
    nb::object index = nb::steal(PyNumber_Index(token.ptr()));
    int32_t value = 0;
    if (!index.is_valid())
      PyErr_Clear();
    if (!index.is_valid() || !nb::try_cast(index, value))
      refuse("tokens[" + std::to_string(copied.size()) + "] is " +
             nb::repr(token).c_str() + ", allowed: an integer of 32 bits");
    copied.push_back(value);
  }
  values = copied.data();
  count = static_cast<int64_t>(copied.size());
}

Context::Context(nb::handle tokens, nb::object requestId)
    : id(std::move(requestId)) {
  if (id.is_none()) {
    static uint64_t next = 0;
    id = nb::str(("request-" + std::to_string(next++)).c_str());
  }
  use = IdUse(id);
  Tokens read(tokens);
  check(kvRequestCreate(use.value(), read.data(), read.size(), &request));
}

const std::vector<KvRequest *> &Batch::read(nb::handle contexts) {
  requests.clear();
  auto add = [&](nb::handle context) {
    if (!nb::isinstance<Context>(context))
      refuse("element " + std::to_string(requests.size()) +
             " of the batch is a " + nb::type_name(context.type()).c_str() +
             ", allowed: TextGenerationContext");
    requests.push_back(nb::inst_ptr<Context>(context)->request);
  };
  if (PyList_Check(contexts.ptr()))
    for (nb::handle context : nb::borrow<nb::list>(contexts))
      add(context);
  else if (PyObject_HasAttrString(contexts.ptr(), "__iter__"))
    for (nb::handle context : contexts)
      add(context);
  else
    refuse(std::string("the batch is a ") +
           nb::type_name(contexts.type()).c_str() +
           ", allowed: a list of TextGenerationContext");
  return requests;
}

static void update(Context &own, int32_t token) {
  check(kvRequestAdvance(own.request));
  check(kvRequestAppend(own.request, &token, 1));
}

template <auto Get> static int64_t length(const Context &own) {
  return Get(own.request);
}

template <auto Move> static void move(Context &own, int64_t count) {
  check(Move(own.request, count));
}

static void defineTokens(nb::class_<Context> &context) {
  context
      .def(nb::init<nb::handle, nb::object>(), nb::arg("tokens"),
           nb::arg("request_id").none() = nb::none(),
           nb::sig("def __init__(self, tokens: typing.Any, request_id: str | "
                   "int | None = None) -> None"),
           "tokens: ids, a list or an int32 array [N]; copied. request_id: "
           "unique among the requests\nof a manager; by default a fresh one.")
      .def_prop_ro(
          "request_id", [](const Context &own) { return own.id; },
          nb::sig("def request_id(self) -> str | int"),
          "The id by which managers know the request.")
      .def_prop_ro(
          "tokens",
          [](const Context &own) {
            // A copy: update() may move the tokens.
            int64_t count = kvRequestLength(own.request);
            auto *copy = new int32_t[count ? count : 1];
            std::copy_n(kvRequestTokens(own.request), count, copy);
            nb::capsule owner(copy, [](void *given) noexcept {
              delete[] static_cast<int32_t *>(given);
            });
            return nb::ndarray<int32_t, nb::numpy, nb::ndim<1>>(
                       copy, {static_cast<size_t>(count)}, owner)
                .cast();
          },
          nb::sig("def tokens(self) -> kvmlir.types.Array"),
          "A copy of all tokens, int32 [length].")
      .def("__len__", &length<kvRequestLength>)
      .def_prop_ro("current_length", &length<kvRequestLength>,
                   "All tokens, the prompt's and those since.")
      .def_prop_ro("processed_length", &length<kvRequestProcessed>,
                   "Tokens whose keys and values are in the cache.")
      .def_prop_ro("active_length", &length<kvRequestActive>,
                   "Tokens that the next step computes.")
      .def_prop_ro("vouched_length", &length<kvRequestVouched>,
                   "Tokens before the first draft.")
      .def("update", &update, nb::arg("new_token"),
           "The active tokens have been computed, and gave this one.")
      .def(
          "append",
          [](Context &own, nb::handle tokens, std::optional<int64_t> drafts) {
            Tokens read(tokens);
            check(drafts
                      ? kvRequestAppendDrafts(own.request, read.data(),
                                              read.size(), *drafts)
                      : kvRequestAppend(own.request, read.data(), read.size()));
          },
          nb::arg("tokens"), nb::arg("drafts") = nb::none(),
          nb::sig("def append(self, tokens: typing.Any, drafts: int | None = "
                  "None) -> None"),
          "Adds tokens that are still to be computed.\n\nThe last `drafts` of "
          "them are drafts: alloc() takes over no cached page for a draft, nor "
          "for\nwhat follows it. By default all tokens of a prompt are vouched "
          "for; of a request that has\nbeen computed once only the first "
          "active token is, which the model has chosen.")
      .def(
          "advance", [](Context &own) { check(kvRequestAdvance(own.request)); },
          "The active tokens have been computed.")
      .def("skip", &move<kvRequestSkip>, nb::arg("count"),
           "The next tokens are in the cache already.")
      .def("rewind", &move<kvRequestRewind>, nb::arg("count"),
           "The last processed tokens must be computed again.");
}

static void defineScope(nb::class_<Context> &context) {
  context
      .def("limit_active", &move<kvRequestLimitActive>, nb::arg("count"),
           "From now on a step computes at most this many tokens: chunked "
           "prefill. 0: all.")
      .def(
          "set_scope",
          [](Context &own, const std::optional<std::string> &model,
             const std::optional<std::string> &adapter,
             const std::optional<std::string> &salt) {
            auto text = [](const std::optional<std::string> &given,
                           const char *name) {
              return given ? cString(*given, name) : nullptr;
            };
            check(kvRequestSetScope(own.request, text(model, "model"),
                                    text(adapter, "adapter"),
                                    text(salt, "salt")));
          },
          nb::arg("model") = nb::none(), nb::arg("adapter") = nb::none(),
          nb::arg("salt") = nb::none(),
          "What requests must have in common to share pages. Read by the first "
          "alloc. None differs\nfrom \"\".")
      .def(
          "add_image",
          [](Context &own, int64_t begin, int64_t length,
             const nb::bytes &hash) {
            check(kvRequestAddImage(own.request, begin, length, hash.c_str(),
                                    static_cast<int64_t>(hash.size())));
          },
          nb::arg("begin"), nb::arg("length"), nb::arg("hash"),
          "The tokens [begin, begin + length) stand for the image with this "
          "digest. In order, before\nan alloc sees them.")
      .def(
          "set_retention",
          [](Context &own, int32_t priority, int64_t prefixTokens,
             std::optional<int32_t> prefixPriority, int64_t duration,
             int64_t prefixDuration) {
            KvRetention retention = {.priority = priority,
                                     .prefixPriority =
                                         prefixPriority.value_or(priority),
                                     .prefixTokens = prefixTokens,
                                     .duration = duration,
                                     .prefixDuration = prefixDuration};
            check(kvRequestSetRetention(own.request, &retention));
          },
          nb::arg("priority") = 64, nb::arg("prefix_tokens") = 0,
          nb::arg("prefix_priority") = nb::none(), nb::arg("duration") = 0,
          nb::arg("prefix_duration") = 0,
          "How long its pages should outlive the request: priorities 0 to 127, "
          "durations in\nnanoseconds from the release on (0: for good).")
      .def(
          "set_reuses_prefix",
          [](Context &own, bool reuses) {
            check(kvRequestSetReusesPrefix(own.request, reuses));
          },
          nb::arg("reuses"),
          "Whether a cached prefix may be taken over instead of computed.")
      .def("__repr__", [](const Context &own) {
        return nb::str("TextGenerationContext(request_id={!r}, length={}, "
                       "processed={}, active={})")
            .format(own.id, kvRequestLength(own.request),
                    kvRequestProcessed(own.request),
                    kvRequestActive(own.request));
      });
}

static void definePayload(nb::class_<Context> &context) {
  context.def(
      "set_payload",
      [](nb::handle self, int64_t bytes) {
        void *payload = nullptr;
        check(kvRequestSetPayload(nb::cast<Context &>(self).request, bytes,
                                  &payload));
        return nb::ndarray<uint8_t, nb::numpy, nb::ndim<1>>(
                   payload, {static_cast<size_t>(bytes)}, self)
            .cast();
      },
      nb::arg("bytes"),
      nb::sig("def set_payload(self, bytes: int) -> kvmlir.types.Array"),
      "What its first tokens' pages keep, uint8 [bytes], before the first "
      "alloc: the manager's\npayload_bytes_per_token for each of them. "
      "Then only pages with a payload are taken over, which\nalloc() "
      "writes here, but for their last token, which is computed. step() "
      "reads what the\ncaller has written here.");
}

void kv::python::bindRequests(nb::module_ &module) {
  nb::class_<Context> context(
      module, "TextGenerationContext", nb::is_weak_referenceable(),
      "A request as managers see it: its tokens, and how far they are in the "
      "cache.\n\n[0, processed_length) is in the cache, the next active_length "
      "tokens are what a step\ncomputes, and the rest is for later steps.");
  defineTokens(context);
  defineScope(context);
  definePayload(context);
  module.def(
      "update_batch",
      [](nb::handle batch, nb::handle tokens) {
        Batch list;
        const std::vector<KvRequest *> &requests = list.read(batch);
        Tokens read(tokens);
        if (read.size() != static_cast<int64_t>(requests.size()))
          refuse("a batch of " + std::to_string(requests.size()) + " and " +
                 std::to_string(read.size()) +
                 " tokens are given, allowed: one token a request");
        for (size_t i = 0; i < requests.size(); ++i) {
          check(kvRequestAdvance(requests[i]));
          check(kvRequestAppend(requests[i], read.data() + i, 1));
        }
      },
      nb::arg("batch"), nb::arg("tokens"),
      nb::sig("def update_batch(batch: typing.Sequence[TextGenerationContext], "
              "tokens: typing.Any) -> None"),
      "context.update(token) for all contexts of a batch. tokens: int32 [B].");
}
