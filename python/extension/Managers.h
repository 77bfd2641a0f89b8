//===- Managers.h - Cache managers ------------------------------*- C++ -*-===//

#ifndef KV_PYTHON_MANAGERS_H
#define KV_PYTHON_MANAGERS_H

#include "Requests.h"
#include "Specs.h"

#include <functional>
#include <unordered_map>

namespace kv::python {

/// What a manager is made with. Points into itself.
struct ManagerOptions {
  explicit ManagerOptions(const nb::kwargs &fields);
  ManagerOptions(const ManagerOptions &) = delete;

  /// Calls make(options, &manager) -> status, and then tells Python what the
  /// call has warned of.
  KvManager *make(const std::function<int32_t(const KvManagerOptions *,
                                              KvManager **)> &make);

  /// Null for None.
  const char *text(nb::handle value, const char *keyword);

  KvManagerOptions options = {};
  std::vector<std::string> devices, warnings;
  std::vector<const char *> names;
  std::deque<std::string> texts;
  nb::object command, note;
  bool warns = true;
};

struct Manager {
  Manager(const Spec &spec, const nb::kwargs &options);
  Manager(KvManager *made, const ManagerOptions &options)
      : command(options.command), note(options.note), handle(made) {}
  Manager(const Manager &) = delete;
  ~Manager() { kvManagerDestroy(handle); }

  nb::object command, note; // are called by the manager's
  KvManager *handle;
  Batch batch;
  /// Which inputs are the latest; 0: none were made.
  uint64_t generation = 0;
  int32_t batchSize = 0;
  int32_t collections = 1; // of the latest inputs of a device
  std::unordered_map<uint64_t, IdUse> claims; // of strings
};

struct Model;
/// A manager of a model's caches, on its session's device.
void makeManagerOf(Manager *own, const Model &model, const nb::kwargs &options);

/// The inputs of one collection on one device; they lie in the manager's
/// memory.
struct RuntimeInputs {
  nb::object manager;
  int32_t device, collection;
  uint64_t generation;
};

} // namespace kv::python

#endif // KV_PYTHON_MANAGERS_H
