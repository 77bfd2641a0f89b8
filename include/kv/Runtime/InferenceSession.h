//===- InferenceSession.h - Loads artifacts and runs them -------*- C++ -*-===//
//
//   auto session = InferenceSession::create({.threads = 2});
//   auto model = session->load("model.so");
//   model->bindWeights("model.safetensors");
//   auto forward = model->prepare("forward");
//   int tokens = *forward->slot("tokens");
//   forward->bind(tokens, view);            // each step
//   Expected<void> done = forward->execute();
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_INFERENCESESSION_H
#define KV_RUNTIME_INFERENCESESSION_H

#include "kv/Runtime/Device.h"
#include "kv/Runtime/ExecutionContext.h"
#include "kv/Runtime/Manifest.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <span>

namespace kv {

struct SessionOptions {
  Device device = {};
  unsigned threads = 0;                           // 0: one a core
  std::shared_ptr<Executor> executor = nullptr;   // replaces the pool
  std::function<void(std::string_view)> log = {}; // notes, one line each
  size_t arenaBytes = 0; // scratch of a step; 0: the device's default
  /// On a GPU: a row's bits do not depend on the rows beside it. A CPU's never
  /// do.
  bool deterministic = false;
};

/// A tensor by the name that the manifest gives it.
struct NamedTensor {
  std::string_view name;
  KvTensorView view;
};

/// One entry with its arguments laid out. Binding and executing allocate
/// nothing unless there is an error. One thread at a time, and one invocation
/// at a time of a session's models.
class Invocation {
public:
  /// The slot of an input (not a weight) or an output. Error: no such name.
  Expected<int> slot(std::string_view name) const;

  /// The view is copied; its memory must live until execute returns. The view
  /// stays bound for later steps.
  void bind(int slot, const KvTensorView &view);

  /// A dense view of the host's memory, whatever the device: an input is
  /// copied to the device before the entry, an output back after it. On a CPU
  /// this is bind.
  void bindHost(int slot, const KvTensorView &view);

  /// On a CPU, and where an output is bound to the host, the step is over when
  /// this returns. Else it is queued on the device. Errors: an argument that
  /// was never bound (named), whatever the entry reports, and a failure of the
  /// device.
  Expected<void> execute();

  const Entry &entry() const;

private:
  friend class Model;
  struct State;
  std::shared_ptr<State> state;
};

/// A loaded artifact. Copies share it; it keeps its session's threads and
/// device alive.
class Model {
public:
  const Manifest &manifest() const;

  /// Binds every weight of every entry from a safetensors file, which stays
  /// mapped. Errors name the tensor and both sides.
  Expected<void> bindWeights(const std::filesystem::path &file);
  /// Bytes of the weights that entries use, as they are passed.
  size_t weightsBytes() const;

  /// Errors: no such entry; weights that are not bound.
  Expected<Invocation> prepare(std::string_view entry);

  /// prepare, bind and execute in one: for tests and tools.
  Expected<void> execute(std::string_view entry,
                         std::span<const NamedTensor> tensors);

  unsigned threads() const;
  const Device &device() const;
  ExecutionContext &context();

private:
  friend class InferenceSession;
  friend class Invocation;
  struct State;
  std::shared_ptr<State> state;
};

/// Threads, scratch memory and a device that models run on. Copies share.
class InferenceSession {
public:
  static Expected<InferenceSession> create(SessionOptions options = {});

  /// Reads the manifest, checks it against this runtime and this machine, and
  /// only then loads the code. Errors name the field, what the artifact says
  /// and what is allowed.
  Expected<Model> load(const std::filesystem::path &artifact);

  unsigned threads() const;
  const Device &device() const;
  Executor &executor();

private:
  friend class Model;
  struct State;
  std::shared_ptr<State> state;
};

/// "x86-64" with the highest level that this machine has: "x86-64-v4".
std::string_view hostCpuLevel();

/// Whether code for the level `wanted` runs on a machine of level `have`.
/// Errors: a level that is lacking, or a name that is no level.
Expected<void> checkCpuLevel(std::string_view wanted, std::string_view have);

} // namespace kv

#endif // KV_RUNTIME_INFERENCESESSION_H
