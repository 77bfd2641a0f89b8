//===- PagedManagers.cpp - What only paged managers do, in C --------------===//

#include "Handles.h"

using namespace kv;
using namespace kv::capi;

template <class Fn>
static int32_t withPaged(const char *function, const KvManager *manager,
                         Fn &&fn) {
  return guarded([&] {
    KV_REQUIRE(function, manager);
    if (!manager->state->paged)
      return fail(Error{KV_STATUS_UNSUPPORTED,
                        concat(function, " needs a paged cache manager")});
    return fn(*manager->state->paged);
  });
}

int32_t kvManagerFork(KvManager *manager, uint64_t source, uint64_t id,
                      int64_t tokens) {
  return withPaged("kvManagerFork", manager, [&](auto &paged) {
    return give(paged.fork(source, id, tokens));
  });
}

int32_t kvManagerTruncate(KvManager *manager, uint64_t id, int64_t tokens) {
  return withPaged("kvManagerTruncate", manager, [&](auto &paged) {
    return give(paged.truncate(id, tokens));
  });
}

int32_t kvManagerSynchronize(KvManager *manager) {
  return withPaged("kvManagerSynchronize", manager, [&](auto &paged) {
    paged.synchronize();
    return int32_t(KV_STATUS_OK);
  });
}

int32_t kvManagerSetTime(KvManager *manager, int64_t nanoseconds) {
  return withPaged("kvManagerSetTime", manager, [&](auto &paged) {
    return give(paged.setTime(nanoseconds));
  });
}

int32_t kvManagerExplain(const KvManager *manager, const KvRequest *request,
                         int32_t *reasons, int64_t capacity, int64_t *count) {
  return withPaged("kvManagerExplain", manager, [&](auto &paged) {
    KV_REQUIRE("kvManagerExplain", request);
    KV_REQUIRE("kvManagerExplain", count);
    if (capacity < 0 || (capacity > 0 && !reasons))
      return invalid("kvManagerExplain: room for ", capacity, " reasons",
                     capacity < 0 ? ", allowed: 0 or more" : " at null");
    std::vector<CacheEngine::Reason> made = paged.explain(request->context);
    *count = static_cast<int64_t>(made.size());
    for (int64_t i = 0; i < std::min(capacity, *count); ++i)
      reasons[i] = static_cast<int32_t>(made[i]);
    return int32_t(KV_STATUS_OK);
  });
}

int32_t kvManagerPrefetch(KvManager *manager, const KvRequest *request,
                          int64_t *tokens) {
  return withPaged("kvManagerPrefetch", manager, [&](auto &paged) {
    KV_REQUIRE("kvManagerPrefetch", request);
    KV_REQUIRE("kvManagerPrefetch", tokens);
    Expected<int64_t> fetched = paged.prefetch(request->context);
    if (!fetched)
      return fail(fetched.error());
    *tokens = *fetched;
    return int32_t(KV_STATUS_OK);
  });
}

int32_t kvManagerWaitForLoads(KvManager *manager, int64_t nanoseconds,
                              int32_t *came) {
  return withPaged("kvManagerWaitForLoads", manager, [&](auto &paged) {
    KV_REQUIRE("kvManagerWaitForLoads", came);
    if (nanoseconds < 0)
      return invalid("kvManagerWaitForLoads: ", nanoseconds,
                     " ns, allowed: 0 or more");
    *came = paged.waitForLoads(nanoseconds);
    return int32_t(KV_STATUS_OK);
  });
}
