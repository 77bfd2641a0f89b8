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

#ifndef KV_RUNTIME_SESSION_INFERENCESESSION_H
#define KV_RUNTIME_SESSION_INFERENCESESSION_H

#include "kv/Runtime/Base/FileMemory.h"
#include "kv/Runtime/Device/Communicator.h"
#include "kv/Runtime/Device/Device.h"
#include "kv/Runtime/Device/ExecutionContext.h"
#include "kv/Runtime/Session/Manifest.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <span>

namespace kv {

struct SessionOptions {
  static constexpr unsigned MostThreads = 4096;

  Device device = {};
  unsigned threads = 0;                           // 0: one for each core
  std::shared_ptr<Executor> executor = nullptr;   // replaces the pool
  std::function<void(std::string_view)> log = {}; // receives notes, by line
  size_t arenaBytes = 0; // of an entry's temporaries; 0: the device's default
  /// On a GPU: the bits of a row do not depend on the other rows of the batch.
  /// On a CPU they never do.
  bool deterministic = false;
  /// On a GPU: a step like an earlier one is queued as a CUDA graph, without
  /// calling its entry. Changes no bit.
  bool graphs = true;
  /// On a CPU: where weights lie that the file holds as the entries take them.
  FileMemory weights = FileMemory::Copied;
  /// The ranks that compute together with this process, for artifacts that were
  /// compiled for as many. Null: it computes alone.
  std::shared_ptr<Communicator> ranks = nullptr;
};

/// A tensor by the name that the manifest gives it.
struct NamedTensor {
  std::string_view name;
  KvTensorView view;
};

/// An entry with a slot for each argument. Binding and executing allocate
/// nothing unless there is an error, or a GPU keeps a step as a graph. Used by
/// one thread at a time; of all models of a session, one invocation executes at
/// a time.
class Invocation {
public:
  /// The slot of an input (not a weight) or an output. Error: no such name.
  Expected<int> slot(std::string_view name) const;

  /// Binds a tensor in the device's memory to a slot, for this and later steps.
  /// The view is copied; its memory must stay valid until the step is over.
  void bind(int slot, const KvTensorView &view);

  /// Binds a dense tensor in host memory: an input is copied to the device
  /// before the entry runs, an output back after it. On a CPU the same as bind.
  void bindHost(int slot, const KvTensorView &view);

  /// Queues the copies of inputs in host memory now, which the next execute()
  /// would queue, so that it begins with the entry. Error: no memory.
  Expected<void> upload();

  /// Runs the entry. On a CPU, or if an output is bound to host memory, the
  /// step is over when this returns; otherwise it is queued on the device.
  /// Errors: an argument that was never bound, by name; what the entry reports;
  /// a failure of the device.
  Expected<void> execute();

  const Entry &entry() const;

private:
  friend class Model;
  struct State;
  std::shared_ptr<State> state;
};

/// A loaded artifact. Copies share the artifact, which keeps the session's
/// threads and device alive.
class Model {
public:
  const Manifest &manifest() const;

  /// Binds every weight of every entry to a tensor of a safetensors file, which
  /// stays mapped. Errors name the tensor, what the file holds and what the
  /// artifact expects.
  Expected<void> bindWeights(const std::filesystem::path &file);
  /// Bytes of the weights that entries use, in the layout that they expect.
  size_t weightsBytes() const;

  /// Errors: no such entry; weights that are not bound.
  Expected<Invocation> prepare(std::string_view entry);

  /// prepare(), bind() for each tensor and execute(), for tests and tools.
  Expected<void> execute(std::string_view entry,
                         std::span<const NamedTensor> tensors);

  unsigned threads() const;
  const Device &device() const;
  /// The session's.
  const std::function<void(std::string_view)> &log() const;
  ExecutionContext &context();

private:
  friend class InferenceSession;
  friend class Invocation;
  struct State;
  std::shared_ptr<State> state;
};

/// The device, threads and scratch memory that models run on. Copies share
/// them.
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

/// The highest x86-64 level that this machine has, such as "x86-64-v4".
std::string_view hostCpuLevel();

/// Checks that code for the level `wanted` runs on a machine of the level
/// `have`. Errors: it does not, or one of the names is not a level.
Expected<void> checkCpuLevel(std::string_view wanted, std::string_view have);

/// Asks the system for what code for `level`, which this machine has, needs:
/// room for the tiles of AMX in the state of every thread of this process. Done
/// by InferenceSession::load. Error: the system refuses it.
Expected<void> enableCpuLevel(std::string_view level);

} // namespace kv

#endif // KV_RUNTIME_SESSION_INFERENCESESSION_H
