//===- ManagerEvents.h - Publishers for a paged manager ---------*- C++ -*-===//

#ifndef KV_RUNTIME_MANAGER_MANAGEREVENTS_H
#define KV_RUNTIME_MANAGER_MANAGEREVENTS_H

#include "kv/Runtime/Events/EventPublisher.h"
#include "kv/Runtime/Manager/KVCacheParams.h"

#include <vector>

namespace kv {

/// A publisher for each replica of a manager with these parameters, which are
/// valid ones of paged collections: for PagedKVCacheManager::Options::events.
/// Rank, page size, groups and the replica's endpoints are filled in. Errors:
/// those of EventPublisher::open().
Expected<std::vector<std::unique_ptr<EventPublisher>>>
openEventPublishers(const MultiKVCacheParams &params,
                    const EventPublisher::Options &options);

} // namespace kv

#endif // KV_RUNTIME_MANAGER_MANAGEREVENTS_H
