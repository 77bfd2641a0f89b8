//===- SessionHandles.h - Handles of what runs artifacts --------*- C++ -*-===//

#ifndef KV_RUNTIME_C_SESSIONHANDLES_H
#define KV_RUNTIME_C_SESSIONHANDLES_H

#include "Dlpack.h"
#include "Handles.h"

#include "kv/Runtime/C/Runtime.h"
#include "kv/Runtime/Session/InferenceSession.h"

#include <array>

struct KvManifest {
  explicit KvManifest(kv::Manifest given);
  KvManifest(const KvManifest &) = delete;

  kv::Manifest manifest;
  // These look at its strings.
  std::vector<KvCollectionSpec> collections;
  std::vector<const char *> chips;
};

struct KvSession {
  kv::InferenceSession session;
};

struct KvModel {
  KvModel(kv::Model given, std::string artifact)
      : model(std::move(given)), manifest(model.manifest()),
        device(model.device().str()), artifact(std::move(artifact)) {}

  kv::Model model;
  KvManifest manifest;
  std::string device;
  std::string artifact, weights;    // paths; empty: not bound
  std::string pagesName, peersName; // empty: not asked for yet
};

struct KvInvocation {
  /// An input or an output, and what is bound to it.
  struct BoundSlot {
    const kv::Argument *argument;
    KvTensorView view = {};
    bool given = false;               // by the caller
    std::shared_ptr<void> owner = {}; // of the memory; null: the caller
  };

  KvInvocation(kv::Model given, kv::Invocation prepared);
  /// A queued step may still use what is owned.
  ~KvInvocation() { (void)wait(); }

  kv::Expected<void> wait() {
    return (*model.device().backend())->synchronize();
  }
  bool isOutput(const BoundSlot &slot) const {
    return slot.argument->kind == kv::ArgumentKind::Output;
  }

  /// Binds a tensor to a slot. On a GPU, waits before owned memory is given
  /// back, since a queued step may still use it.
  kv::Expected<void> put(int slot, const KvTensorView &view, bool onHost,
                         std::shared_ptr<void> owner);
  kv::Expected<void> bind(std::string_view name, const KvTensorView &view,
                          bool onHost, std::shared_ptr<void> owner);
  kv::Expected<void> bindImported(std::string_view name, const DLTensor &tensor,
                                  std::shared_ptr<void> owner);
  kv::Expected<void> setManager(const KvManager &given, int32_t index);
  kv::Expected<void> bindCaches();
  kv::Expected<void> makeOutput(int slot);
  kv::Expected<void> execute();

  kv::Model model;
  kv::Invocation invocation;
  std::vector<BoundSlot>
      slots; // inputs, then outputs, as the invocation has them
  bool executed = false;

  std::optional<KvManager> manager; // of the cache arguments
  int32_t managerDevice = 0;
  /// The slot of each component of each collection; -1: the entry has none.
  std::vector<std::array<int, KV_COMPONENT_SCALES + 1>> caches;
};

namespace kv::capi {

/// "entry NAME: ARGUMENT: parts...".
std::unexpected<Error> refuse(const Entry &entry, std::string_view argument,
                              const auto &...parts) {
  return makeError(KV_STATUS_INVALID_ARGUMENT, "entry ", entry.name, ": ",
                   argument, ": ", parts...);
}

} // namespace kv::capi

#endif // KV_RUNTIME_C_SESSIONHANDLES_H
