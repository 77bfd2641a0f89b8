//===- ManagerOptions.cpp - What cache managers are made with -------------===//

#include "Managers.h"

using namespace kv::python;

namespace {

#define NUMBER(name, member)                                                   \
  {name, [](ManagerOptions &own, nb::handle value) {                           \
     own.options.member = castTo<decltype(own.options.member)>(value, name);   \
   }}
#define FLAG(name, member)                                                     \
  {name, [](ManagerOptions &own, nb::handle value) {                           \
     own.options.member = castTo<bool>(value, name);                           \
   }}
#define TEXT(name, member)                                                     \
  {name, [](ManagerOptions &own, nb::handle value) {                           \
     if (!value.is_none())                                                     \
       own.options.member =                                                    \
           own.texts.emplace_back(castTo<std::string>(value, name)).c_str();   \
   }}

/// A number for which the C interface takes 0 as a default, which Python has
/// as the absence of the keyword.
#define COUNT(name, member)                                                    \
  {name, [](ManagerOptions &own, nb::handle value) {                           \
     own.options.member = castTo<decltype(own.options.member)>(value, name);   \
     if (own.options.member == 0)                                              \
       raise(KV_STATUS_INVALID_ARGUMENT, KV_REFUSAL_NONE,                      \
             name " is 0, allowed: 1 or more");                                \
   }}

/// Passes a line of the command log on. The manager is called with the GIL
/// held, or by a server without it.
void tellCommand(void *context, int32_t replica, const char *line) {
  nb::gil_scoped_acquire acquired;
  try {
    nb::handle(static_cast<PyObject *>(context))(replica, line);
  } catch (nb::python_error &error) {
    error.discard_as_unraisable("kvmlir: the function `command`");
  }
}

/// Passes a sentence on, called as tellCommand() is.
void tellNote(void *context, const char *sentence) {
  nb::gil_scoped_acquire acquired;
  try {
    nb::handle(static_cast<PyObject *>(context))(sentence);
  } catch (nb::python_error &error) {
    error.discard_as_unraisable("kvmlir: the function `note`");
  }
}

void setRole(ManagerOptions &own, nb::handle value) {
  if (value.is_none())
    return;
  std::string role = nb::cast<std::string>(nb::str(value));
  if (role != "prefill" && role != "decode")
    raise(KV_STATUS_INVALID_ARGUMENT, KV_REFUSAL_NONE,
          "peer_role is " + role + ", allowed: prefill, decode, None");
  own.options.peerRole = role == "prefill" ? KV_PEER_PREFILL : KV_PEER_DECODE;
}

} // namespace

ManagerOptions::ManagerOptions(const nb::kwargs &fields) {
  setFields<ManagerOptions>(
      *this, fields, "a manager",
      {{"devices",
        [](ManagerOptions &own, nb::handle value) {
          own.devices = castTo<std::vector<std::string>>(value, "devices");
        }},
       {"command", [](ManagerOptions &own,
                      nb::handle value) { own.command = nb::borrow(value); }},
       {"warn",
        [](ManagerOptions &own, nb::handle value) {
          own.warns = castTo<bool>(value, "warn");
        }},
       COUNT("max_batch_size", maxBatchSize),
       NUMBER("max_seq_len", maxSeqLen),
       NUMBER("num_pages", numPages),
       NUMBER("available_cache_memory", availableCacheMemory),
       NUMBER("max_steps", maxSteps),
       NUMBER("max_chunk_tokens", maxChunkTokens),
       FLAG("without_prefix_affinity", withoutPrefixAffinity),
       FLAG("enable_runtime_checks", enableRuntimeChecks),
       FLAG("asynchronous", asynchronous),
       NUMBER("key", key),
       NUMBER("retention_tick", retentionTick),
       TEXT("events", events),
       TEXT("events_replay", eventsReplay),
       TEXT("events_topic", eventsTopic),
       FLAG("events_as_maps", eventsAsMaps),
       FLAG("events_tiers", eventsTiers),
       TEXT("zmq_endpoint_base", zmqEndpointBase),
       TEXT("reset_endpoint", resetEndpoint),
       TEXT("metrics", metrics),
       TEXT("metrics_vllm", metricsVllm),
       TEXT("disk_directory", diskDirectory),
       NUMBER("disk_bytes", diskBytes),
       TEXT("model", model),
       NUMBER("io_threads", ioThreads),
       TEXT("block_store_endpoint", blockStoreEndpoint),
       FLAG("asynchronous_loads", asynchronousLoads),
       NUMBER("most_load_wait", mostLoadWait),
       {"peer_role", setRole},
       TEXT("peer", peer),
       TEXT("peer_model", peerModel),
       {"note", [](ManagerOptions &own, nb::handle value) {
          own.note = nb::borrow(value);
        }}});
  for (const std::string &device : devices)
    names.push_back(device.c_str());
  options.devices = names.empty() ? nullptr : names.data();
  options.numDevices = static_cast<int32_t>(names.size());
  options.warnContext = this;
  if (warns)
    options.warn = [](void *context, const char *sentence) {
      static_cast<ManagerOptions *>(context)->warnings.emplace_back(sentence);
    };
  if (note.is_valid() && !note.is_none()) {
    options.note = tellNote;
    options.noteContext = note.ptr();
  }
  if (command.is_valid() && !command.is_none()) {
    options.command = tellCommand;
    options.commandContext = command.ptr();
  }
}

KvManager *ManagerOptions::make(
    const std::function<int32_t(const KvManagerOptions *, KvManager **)>
        &create) {
  KvManager *manager = nullptr;
  std::mutex alone;
  unlocked(alone, [&] { return create(&options, &manager); });
  std::unique_ptr<KvManager, decltype(&kvManagerDestroy)> owned(
      manager, &kvManagerDestroy);
  for (const std::string &sentence : warnings)
    if (PyErr_WarnEx(PyExc_UserWarning, inPython(sentence).c_str(), 2) < 0)
      throw nb::python_error();
  return owned.release();
}

Manager::Manager(const Spec &spec, const nb::kwargs &fields) {
  ManagerOptions options(fields);
  handle = options.make([&](auto *given, auto *out) {
    return kvManagerCreate(&spec.spec, given, out);
  });
  command = options.command;
  note = options.note;
  collections = spec.spec.numCollections;
}
