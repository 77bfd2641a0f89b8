//===- Sessions.cpp - Sessions, models and entries ------------------------===//

#include "Sessions.h"

#include "Buffers.h"
#include "Managers.h"

#include <algorithm>

using namespace kv::python;

static void makeSession(Session *own, std::optional<std::string> device,
                        nb::handle threads, bool deterministic, bool mapWeights,
                        int64_t arenaBytes, nb::object log) {
  auto state = std::make_shared<SessionState>();
  state->log = std::move(log);
  KvSessionOptions options = {};
  options.device = device ? device->c_str() : nullptr;
  options.threads = castTo<int32_t>(threads, "num_threads");
  options.deterministic = deterministic;
  options.mapWeights = mapWeights;
  options.arenaBytes = arenaBytes;
  if (!state->log.is_none()) {
    options.log = [](void *own, const char *line) { tell(own, "log", line); };
    options.logContext = state->log.ptr();
  }
  KvSession *session = nullptr;
  unlocked(state->mutex, [&] { return kvSessionCreate(&options, &session); });
  new (own) Session(std::move(state), session);
}

//===----------------------------------------------------------------------===//
// Manifests
//===----------------------------------------------------------------------===//

static nb::dict manifestOf(const KvManifest *manifest) {
  auto info = get<KvManifestInfo>(
      [&](auto *out) { return kvManifestGetInfo(manifest, out); });
  nb::dict result;
  result["abi_version"] = info.abiVersion;
  result["producer"] = info.producer;
  result["target_kind"] = info.targetKind;
  result["target_triple"] = info.targetTriple;
  result["target_cpu"] = info.targetCpu;
  nb::list chips;
  for (int32_t i = 0; i < info.numTargetChips; ++i)
    chips.append(info.targetChips[i]);
  result["target_chips"] = chips;
  result["model_name"] = info.modelName;
  result["model_architecture"] = info.modelArchitecture;
  result["model_vocab_size"] = info.modelVocabSize;
  result["model_max_seq_len"] = info.modelMaxSeqLen;
  result["model_json"] = info.modelJson;
  nb::list collections;
  auto spec = get<KvCacheSpec>(
      [&](auto *out) { return kvManifestGetCacheSpec(manifest, out); });
  for (int32_t i = 0; i < spec.numCollections; ++i) {
    const KvCollectionSpec &one = spec.collections[i];
    nb::dict collection;
    collection["name"] = one.name ? one.name : "kv";
    collection["strategy"] = one.strategy;
    collection["dtype"] = one.dtype;
    collection["layers"] = one.layers;
    collection["heads"] = one.heads;
    collection["dim"] = one.dim;
    collection["page"] = one.page;
    collection["v_dim"] = one.vDim;
    collection["layout"] = one.layout;
    collection["scale_dtype"] = one.scaleDType;
    collection["scale_group"] = one.scaleGroup;
    collection["window"] = one.window;
    collection["page_layers"] = one.pageLayers;
    collections.append(collection);
  }
  result["collections"] = collections;
  nb::dict entries;
  for (int32_t i = 0; i < info.numEntries; ++i) {
    auto entry = get<KvEntryInfo>(
        [&](auto *out) { return kvManifestGetEntry(manifest, i, out); });
    nb::list inputs, outputs;
    for (int32_t j = 0; j < entry.numInputs; ++j)
      inputs.append(argumentOf(get<KvArgument>([&](auto *out) {
        return kvManifestGetInput(manifest, entry.name, j, out);
      })));
    for (int32_t j = 0; j < entry.numOutputs; ++j)
      outputs.append(argumentOf(get<KvArgument>([&](auto *out) {
        return kvManifestGetOutput(manifest, entry.name, j, out);
      })));
    entries[entry.name] = nb::make_tuple(inputs, outputs);
  }
  result["entries"] = entries;
  return result;
}

static const KvManifest *manifestOfModel(const Model &own) {
  return get<const KvManifest *>(
      [&](auto *out) { return kvModelGetManifest(own.handle, out); });
}

//===----------------------------------------------------------------------===//
// Models and entries
//===----------------------------------------------------------------------===//

static void loadModel(Model *own, Session &session,
                      const std::string &artifact) {
  KvModel *model = nullptr;
  unlocked(session.state->mutex, [&] {
    return kvSessionLoad(session.handle, artifact.c_str(), &model);
  });
  new (own) Model(session.state, model);
}

static void prepare(Invocation *own, Model &model, const std::string &entry) {
  KvInvocation *invocation = nullptr;
  unlocked(model.state->mutex, [&] {
    return kvModelPrepare(model.handle, entry.c_str(), &invocation);
  });
  new (own) Invocation(model.state, invocation);
  const KvManifest *manifest = manifestOfModel(model);
  auto info = get<KvManifestInfo>(
      [&](auto *out) { return kvManifestGetInfo(manifest, out); });
  for (int32_t i = 0; i < info.numEntries; ++i) {
    auto found = get<KvEntryInfo>(
        [&](auto *out) { return kvManifestGetEntry(manifest, i, out); });
    for (int32_t j = 0; entry == found.name && j < found.numOutputs; ++j)
      own->outputs.push_back(get<KvArgument>([&](auto *out) {
                               return kvManifestGetOutput(
                                   manifest, entry.c_str(), j, out);
                             }).name);
  }
}

static void bind(Invocation &own, const std::string &name, nb::handle array) {
  Buffer buffer = Buffer::from(array);
  DLManagedTensorVersioned *lent = buffer.lend();
  try {
    unlocked(own.state->mutex, [&] {
      return kvInvocationBindDLPackVersioned(own.handle, name.c_str(), lent,
                                             /*owned=*/1);
    });
  } catch (...) {
    lent->deleter(lent);
    throw;
  }
  if (std::ranges::find(own.outputs, name) != own.outputs.end())
    own.bound[name] = nb::cast(std::move(buffer));
}

static nb::object output(Invocation &own, const std::string &name) {
  if (auto at = own.bound.find(name); at != own.bound.end())
    return at->second;
  auto view = get<KvTensorView>([&](auto *out) {
    return kvInvocationGetOutput(own.handle, name.c_str(), out);
  });
  DLManagedTensor *tensor = nullptr;
  unlocked(own.state->mutex, [&] {
    return kvInvocationGetOutputDLPack(own.handle, name.c_str(), &tensor);
  });
  return nb::cast(Buffer::take(tensor, view.dtype));
}

static void bindSession(nb::module_ &module) {
  nb::class_<Session>(module, "Session",
                      "The device, the threads and the scratch memory that "
                      "models run on: kvmlir.InferenceSession.")
      .def("__init__", &makeSession, nb::arg("device") = nb::none(),
           nb::arg("threads").none() = 0, nb::arg("deterministic") = false,
           nb::arg("map_weights") = false, nb::arg("arena_bytes") = 0,
           nb::arg("log") = nb::none())
      .def_prop_ro(
          "threads",
          [](const Session &own) { return kvSessionThreads(own.handle); },
          "Threads of a CPU.");
}

static void bindModels(nb::module_ &module) {
  nb::class_<Model>(module, "LoadedModel",
                    "An artifact that a session has loaded: kvmlir.Model.")
      .def("__init__", &loadModel, nb::arg("session"), nb::arg("artifact"))
      .def(
          "bind_weights",
          [](Model &own, const std::string &file) {
            unlocked(own.state->mutex, [&] {
              return kvModelBindWeights(own.handle, file.c_str());
            });
          },
          nb::arg("file"),
          "Binds every weight to a tensor of the safetensors file. Once.")
      .def(
          "identify",
          [](Model &own) {
            KvModelIdentity identity = {};
            unlocked(own.state->mutex,
                     [&] { return kvModelGetIdentity(own.handle, &identity); });
            return nb::make_tuple(identity.pages, identity.peers);
          },
          nb::sig("def identify(self) -> tuple[str, str]"),
          "The names under which the model's pages are kept (a manager's "
          "`model`) and exchanged\n(`peer_model`). The first call reads both "
          "files whole. Raises ValueError: no weights are bound.")
      .def_prop_ro(
          "weights_bytes",
          [](const Model &own) { return kvModelWeightsBytes(own.handle); },
          "Bytes of the weights; 0 before they are bound.")
      .def("read_manifest",
           [](const Model &own) { return manifestOf(manifestOfModel(own)); });

  module.def(
      "read_manifest",
      [](const std::string &artifact) {
        std::unique_ptr<KvManifest, decltype(&kvManifestDestroy)> manifest(
            get<KvManifest *>([&](auto *out) {
              return kvManifestRead(artifact.c_str(), out);
            }),
            &kvManifestDestroy);
        return manifestOf(manifest.get());
      },
      nb::arg("artifact"),
      "What an artifact says of itself, without loading its code.");
}

static void bindInvocations(nb::module_ &module) {
  nb::class_<Invocation>(
      module, "Invocation",
      "An entry of a model with its arguments, which stay bound for later "
      "executions.")
      .def("__init__", &prepare, nb::arg("model"), nb::arg("entry"))
      .def("bind", &bind, nb::arg("name"), nb::arg("array"),
           nb::sig("def bind(self, name: str, array: typing.Any) -> None"),
           "Binds an input or an output to an array, without a copy: the "
           "entry reads or writes its\nmemory. Raises ValueError: another "
           "element type or rank, not dense, on another device.")
      .def(
          "set_manager",
          [](Invocation &own, nb::handle manager, int32_t index) {
            const Manager &given = nb::cast<const Manager &>(manager);
            unlocked(own.state->mutex, [&] {
              return kvInvocationSetManager(own.handle, given.handle, index);
            });
            own.manager = nb::borrow(manager);
          },
          nb::arg("manager"), nb::arg("device_index") = 0,
          nb::sig("def set_manager(self, manager: Manager, device_index: int "
                  "= 0) -> None"),
          "Binds all cache arguments: each execution takes the manager's "
          "latest runtime inputs.")
      .def(
          "execute",
          [](Invocation &own) {
            unlocked(own.state->mutex,
                     [&] { return kvInvocationExecute(own.handle); });
          },
          "Runs the entry, without the GIL. On a GPU the step is queued.")
      .def(
          "wait",
          [](Invocation &own) {
            unlocked(own.state->mutex,
                     [&] { return kvInvocationWait(own.handle); });
          },
          "Waits for the device.")
      .def("output", &output, nb::arg("name"),
           nb::sig("def output(self, name: str) -> Buffer"),
           "An output of the latest execution; it keeps its memory, later "
           "executions write elsewhere.")
      .def_ro("output_names", &Invocation::outputs);
}

void kv::python::bindSessions(nb::module_ &module) {
  bindSession(module);
  bindModels(module);
  bindInvocations(module);
}

void kv::python::makeManagerOf(Manager *own, const Model &model,
                               const nb::kwargs &fields) {
  ManagerOptions options(fields);
  KvManager *made = options.make([&](auto *given, auto *out) {
    return kvModelCreateManager(model.handle, given, out);
  });
  new (own) Manager(made, options);
  own->collections = get<KvManifestInfo>([&](auto *out) {
                       return kvManifestGetInfo(manifestOfModel(model), out);
                     }).numCollections;
}
