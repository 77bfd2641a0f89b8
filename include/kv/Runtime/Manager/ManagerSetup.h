//===- ManagerSetup.h - A manager and what is around it ---------*- C++ -*-===//

#ifndef KV_RUNTIME_MANAGER_MANAGERSETUP_H
#define KV_RUNTIME_MANAGER_MANAGERSETUP_H

#include "kv/Runtime/Events/EventPublisher.h"
#include "kv/Runtime/Manager/PagedKVCacheManager.h"

namespace kv {

/// The places of kv/ABI/ManagerOptions.def: what users of the C interface and
/// of programs say of a manager. An empty text asks for nothing.
struct ManagerSetup : PagedKVCacheManager::Options {
  enum class PeerRole { None, Prefill, Decode };

  EventPublisher::Options publisher = {.endpoint = {}};
  std::string metrics = {}, metricsVllm = {};
  struct {
    PeerRole role = PeerRole::None;
    std::string endpoint = {}, model = {};
  } peer = {};
};

} // namespace kv

#endif // KV_RUNTIME_MANAGER_MANAGERSETUP_H
