//===- InferenceSession.cpp - Loads artifacts and runs them ---------------===//

#include "kv/Runtime/Session/InferenceSession.h"
#include "HostArguments.h"
#include "Weights.h"
#include "runtime/device/KernelImages.h"

#include <cassert>
#include <dlfcn.h>
#include <utility>

using namespace kv;

struct InferenceSession::State {
  SessionOptions options;
  std::shared_ptr<Executor> executor;
  std::unique_ptr<ExecutionContext> context;
  DeviceBackend *backend = nullptr;
};

struct Model::State {
  std::shared_ptr<InferenceSession::State> session;
  std::string path;
  Manifest manifest;
  std::unique_ptr<void, int (*)(void *)> library{nullptr, dlclose};
  std::vector<KvEntry> functions; // one for each of manifest.entries
  std::optional<Weights> weights;
  std::unique_ptr<DeviceModule> module; // null on a CPU
};

struct Invocation::State {
  std::shared_ptr<Model::State> model;
  const Entry *entry = nullptr;
  KvEntry function = nullptr;
  std::vector<KvTensorView> args; // inputs, then outputs
  std::vector<char> bound;        // for each of args whether it is bound
  size_t unbound = 0;             // arguments that are not bound yet
  HostArguments host;
  bool isUploaded = false;        // since the last execution
  std::vector<uint64_t> identity; // what the step's queued work depends on

  bool identify();
};

/// Appends what of an input in host memory decides what an entry queues. False:
/// too much to compare.
static bool addContents(const Argument &input, const KvTensorView &view,
                        std::vector<uint64_t> &words) {
  const char *from = static_cast<const char *>(view.data) +
                     view.offset * int64_t(dtypeBytes(input.dtype));
  if (input.kind == ArgumentKind::MaxLengths) {
    // The longest prompt of each step decides which kernels it needs. No
    // function on the device reads the other column, the longest cache.
    for (int64_t step = 0; step < view.sizes[0]; ++step)
      words.push_back(uint64_t(*reinterpret_cast<const int32_t *>(
          from + step * view.strides[0] * int64_t(sizeof(int32_t)))));
    return true;
  }
  constexpr size_t MostBytes = 256;
  size_t bytes = dtypeBytes(input.dtype);
  for (int64_t d = 0; d < view.rank; ++d)
    bytes *= size_t(view.sizes[d]);
  if (bytes > MostBytes)
    return false;
  for (size_t i = 0; i < bytes; ++i)
    words.push_back(uint64_t(static_cast<unsigned char>(from[i])));
  return true;
}

/// Fills `identity`; false if a step cannot be told from another by it. Weights
/// are the model's, and so is the device module, of which the device knows.
bool Invocation::State::identify() {
  identity.clear();
  identity.push_back(reinterpret_cast<uintptr_t>(function));
  for (size_t i = 0; i < args.size(); ++i) {
    const Argument *input =
        i < entry->inputs.size() ? &entry->inputs[i] : nullptr;
    if (input && input->kind == ArgumentKind::Weight)
      continue;
    const KvTensorView &view = args[i];
    identity.push_back(uint64_t(view.rank) << 32 | uint64_t(view.dtype));
    for (int64_t d = 0; d < view.rank; ++d) {
      identity.push_back(uint64_t(view.sizes[d]));
      identity.push_back(uint64_t(view.strides[d]));
    }
    if (input && input->host) {
      if (!addContents(*input, view, identity))
        return false;
      continue;
    }
    identity.push_back(reinterpret_cast<uintptr_t>(view.data));
    identity.push_back(uint64_t(view.offset));
  }
  return true;
}

//===----------------------------------------------------------------------===//
// InferenceSession
//===----------------------------------------------------------------------===//

Expected<InferenceSession> InferenceSession::create(SessionOptions options) {
  if (options.device.isVirtual())
    return makeError(KV_STATUS_UNSUPPORTED, "device ", options.device.str(),
                     " runs nothing: it is there to be compiled for");
  if (options.threads > SessionOptions::MostThreads)
    return makeError(KV_STATUS_INVALID_ARGUMENT, "session: ", options.threads,
                     " threads, allowed: 0 (one for each core) to ",
                     SessionOptions::MostThreads);
  auto state = std::make_shared<State>();
  state->executor = options.executor
                        ? options.executor
                        : std::make_shared<ThreadPool>(options.threads);
  Expected<std::unique_ptr<ExecutionContext>> context =
      ExecutionContext::create(*state->executor,
                               {.device = options.device,
                                .arenaBytes = options.arenaBytes,
                                .deterministic = options.deterministic,
                                .ranks = options.ranks.get(),
                                .log = options.log});
  if (!context)
    return std::unexpected(context.error());
  state->context = std::move(*context);
  state->backend = *options.device.backend();
  state->options = std::move(options);
  InferenceSession session;
  session.state = std::move(state);
  return session;
}

unsigned InferenceSession::threads() const {
  return state->executor->threads();
}

const Device &InferenceSession::device() const { return state->options.device; }

Executor &InferenceSession::executor() { return *state->executor; }

static Expected<void> checkTarget(const Manifest &manifest,
                                  const Device &device) {
  std::string_view kind = device.kind == Device::Kind::CPU ? "cpu" : "cuda";
  if (manifest.targetKind != kind)
    return makeError(KV_STATUS_UNSUPPORTED, "target.kind is \"",
                     manifest.targetKind, "\", this session runs ", kind);
  if (Expected<void> runs = checkCpuLevel(manifest.targetCpu, hostCpuLevel());
      !runs)
    return runs;
  return enableCpuLevel(manifest.targetCpu);
}

static Expected<void> checkRanks(const Manifest &manifest,
                                 const Communicator *ranks) {
  int64_t running = ranks ? ranks->size() : 1;
  if (running == manifest.ranks)
    return {};
  return makeError(KV_STATUS_UNSUPPORTED, "the artifact is for ",
                   manifest.ranks, " ranks, this session has ", running,
                   ": start 'mpirun -n ", manifest.ranks,
                   " kv-run', or compile with --ranks=", running);
}

Expected<Model> InferenceSession::load(const std::filesystem::path &artifact) {
  std::string path = artifact.string();
  Expected<Manifest> manifest = Manifest::readFile(artifact);
  if (!manifest)
    return std::unexpected(manifest.error());
  if (Expected<void> fits = checkTarget(*manifest, state->options.device);
      !fits)
    return makeError(fits.error().code, path,
                     ": manifest: ", fits.error().message);

  if (Expected<void> fits = checkRanks(*manifest, state->options.ranks.get());
      !fits)
    return makeError(fits.error().code, path,
                     ": manifest: ", fits.error().message);

  // An absolute path, since dlopen looks for a name without a slash in the
  // library path.
  std::error_code ignored;
  std::string absolute = std::filesystem::absolute(artifact, ignored).string();
  void *library = dlopen(absolute.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return makeError(KV_STATUS_INVALID_ARGUMENT, path,
                     ": cannot be loaded: ", dlerror());
  auto loaded = std::make_shared<Model::State>();
  loaded->library.reset(library);
  loaded->session = state;
  loaded->path = path;
  for (const Entry &entry : manifest->entries) {
    void *symbol = dlsym(library, entry.symbol.c_str());
    if (!symbol)
      return makeError(KV_STATUS_INVALID_ARGUMENT, path, ": entry ", entry.name,
                       ": the symbol ", entry.symbol, " is not in the file");
    loaded->functions.push_back(reinterpret_cast<KvEntry>(symbol));
  }
  if (!state->backend->isHost()) {
    Expected<std::vector<KernelImage>> images = readKernelImages(artifact);
    if (!images)
      return std::unexpected(images.error());
    Expected<std::unique_ptr<DeviceModule>> module =
        state->backend->load(*images);
    if (!module)
      return makeError(module.error().code, path, ": ", module.error().message);
    loaded->module = std::move(*module);
  }
  loaded->manifest = std::move(*manifest);
  Model model;
  model.state = std::move(loaded);
  return model;
}

//===----------------------------------------------------------------------===//
// Model
//===----------------------------------------------------------------------===//

const Manifest &Model::manifest() const { return state->manifest; }

Expected<void> Model::bindWeights(const std::filesystem::path &file) {
  const SessionOptions &options = state->session->options;
  if (state->weights)
    return makeError(KV_STATUS_INVALID_ARGUMENT, state->path,
                     ": weights are bound already; load the model again for ",
                     file.string());
  Expected<Weights> weights =
      Weights::load(state->manifest, file, options.device, options.weights,
                    options.ranks ? options.ranks->rank() : 0,
                    *state->session->executor, options.log);
  if (!weights)
    return std::unexpected(weights.error());
  state->weights = std::move(*weights);
  return {};
}

size_t Model::weightsBytes() const {
  return state->weights ? state->weights->bytes() : 0;
}

Expected<Invocation> Model::prepare(std::string_view name) {
  const Manifest &manifest = state->manifest;
  Expected<const Entry *> found = manifest.requireEntry(name);
  if (!found)
    return makeError(found.error().code, state->path, ": ",
                     found.error().message);
  const Entry *entry = *found;
  auto prepared = std::make_shared<Invocation::State>();
  prepared->model = state;
  prepared->entry = entry;
  prepared->function = state->functions[entry - manifest.entries.data()];
  size_t count = entry->inputs.size() + entry->outputs.size();
  prepared->args.resize(count);
  prepared->bound.resize(count);
  prepared->unbound = count;
  for (size_t i = 0; i < entry->inputs.size(); ++i) {
    const Argument &input = entry->inputs[i];
    if (input.kind != ArgumentKind::Weight)
      continue;
    const KvTensorView *view =
        state->weights ? state->weights->find(input) : nullptr;
    if (!view)
      return makeError(KV_STATUS_INVALID_ARGUMENT, state->path, ": entry ",
                       name, ": weight ", input.name,
                       " is not bound; call bindWeights first");
    prepared->args[i] = *view;
    prepared->bound[i] = 1;
    --prepared->unbound;
  }
  Invocation invocation;
  invocation.state = std::move(prepared);
  return invocation;
}

Expected<void> Model::execute(std::string_view entry,
                              std::span<const NamedTensor> tensors) {
  Expected<Invocation> invocation = prepare(entry);
  if (!invocation)
    return std::unexpected(invocation.error());
  for (const NamedTensor &tensor : tensors) {
    Expected<int> slot = invocation->slot(tensor.name);
    if (!slot)
      return std::unexpected(slot.error());
    invocation->bind(*slot, tensor.view);
  }
  return invocation->execute();
}

unsigned Model::threads() const { return state->session->executor->threads(); }

const Device &Model::device() const { return state->session->options.device; }

const std::function<void(std::string_view)> &Model::log() const {
  return state->session->options.log;
}

ExecutionContext &Model::context() { return *state->session->context; }

//===----------------------------------------------------------------------===//
// Invocation
//===----------------------------------------------------------------------===//

const Entry &Invocation::entry() const { return *state->entry; }

Expected<int> Invocation::slot(std::string_view name) const {
  const Entry &entry = *state->entry;
  for (size_t i = 0; i < entry.inputs.size(); ++i)
    if (entry.inputs[i].kind != ArgumentKind::Weight &&
        entry.inputs[i].name == name)
      return static_cast<int>(i);
  for (size_t i = 0; i < entry.outputs.size(); ++i)
    if (entry.outputs[i].name == name)
      return static_cast<int>(entry.inputs.size() + i);
  std::string known;
  for (const std::vector<Argument> *list : {&entry.inputs, &entry.outputs})
    for (const Argument &argument : *list)
      if (argument.kind != ArgumentKind::Weight)
        known += concat(known.empty() ? "" : ", ", argument.name);
  return makeError(KV_STATUS_INVALID_ARGUMENT, "entry ", entry.name,
                   ": no input or output \"", name, "\"; it has ", known);
}

void Invocation::bind(int slot, const KvTensorView &view) {
  assert(slot >= 0 && size_t(slot) < state->args.size());
  state->host.remove(slot);
  state->isUploaded = false;
  state->args[slot] = view;
  state->unbound -= !state->bound[slot];
  state->bound[slot] = 1;
}

void Invocation::bindHost(int slot, const KvTensorView &view) {
  bind(slot, view);
  size_t inputs = state->entry->inputs.size(), at = slot;
  if (!state->model->session->backend->isHost() &&
      (at >= inputs || !state->entry->inputs[at].host))
    state->host.add(slot, view, /*output=*/at >= inputs);
}

Expected<void> Invocation::upload() {
  Expected<void> done =
      state->host.upload(state->model->session->options.device, state->args);
  state->isUploaded = done.has_value();
  return done;
}

Expected<void> Invocation::execute() {
  const Entry &entry = *state->entry;
  if (state->unbound) {
    std::string missing;
    for (size_t i = 0; i < state->bound.size(); ++i)
      if (!state->bound[i])
        missing += concat(missing.empty() ? "" : ", ",
                          i < entry.inputs.size()
                              ? entry.inputs[i].name
                              : entry.outputs[i - entry.inputs.size()].name);
    return makeError(KV_STATUS_INVALID_ARGUMENT, "entry ", entry.name,
                     ": not bound: ", missing);
  }
  auto &session = *state->model->session;
  Expected<void> done;
  if (!std::exchange(state->isUploaded, false))
    done = state->host.upload(session.options.device, state->args);
  std::span<const uint64_t> identity;
  if (session.options.graphs && !session.backend->isHost() && state->identify())
    identity = state->identity;
  if (done)
    done = session.context->call(state->function, state->args,
                                 state->model->module.get(), identity);
  if (done) {
    Expected<bool> waited = state->host.download(session.options.device);
    if (!waited)
      done = std::unexpected(waited.error());
    else if (*waited)
      done = session.context->stepError();
  }
  if (!done)
    return makeError(done.error().code, "entry ", entry.name, ": ",
                     done.error().message);
  return done;
}
