//===- Ranks.cpp - GPUs that compute together -----------------------------===//

#include "Ranks.h"

#include <cstring>
#include <sched.h>
#include <utility>

using namespace kv;
using namespace kv::cuda;
using Clock = std::chrono::steady_clock;

Expected<void> Ranks::check(nccl::Result result, std::string_view call) const {
  if (result == 0 || result == nccl::InProgress)
    return {};
  const char *text = api.getErrorString(result);
  return makeError(KV_STATUS_INTERNAL, call, ": ",
                   text ? text : "unknown error", " (", result, ")");
}

Expected<std::unique_ptr<Ranks>> Ranks::create(Backend &backend,
                                               Communicator &all) {
  Expected<const nccl::Nccl *> api = nccl::loadNccl();
  if (!api)
    return std::unexpected(api.error());
  std::unique_ptr<Ranks> made(new Ranks(backend, all, **api));
  nccl::UniqueId id = {};
  if (all.rank() == 0)
    if (Expected<void> named =
            made->check((*api)->getUniqueId(&id), "ncclGetUniqueId");
        !named)
      return std::unexpected(named.error());
  std::vector<std::byte> message(sizeof id);
  std::memcpy(message.data(), &id, sizeof id);
  if (Expected<void> told =
          all.broadcast(message, Communicator::Wait::Unlimited);
      !told)
    return std::unexpected(told.error());
  if (message.size() != sizeof id)
    return makeError(
        KV_STATUS_INTERNAL,
        "rank 0 gave no id of NCCL: does it run the same program?");
  std::memcpy(&id, message.data(), sizeof id);
  // A call that blocks could not be ended if a rank does not come.
  nccl::CommConfig config;
  config.blocking = 0;
  const char *call = "ncclCommInitRankConfig";
  Expected<void> begun =
      made->check((*api)->commInitRankConfig(&made->comm, all.size(), id,
                                             all.rank(), &config),
                  call);
  if (begun)
    begun = made->settle(call);
  if (!begun)
    return std::unexpected(begun.error());
  backend.limitWaits(
      [ranks = made.get()](Duration waited) { return ranks->mayWait(waited); });
  return made;
}

Ranks::~Ranks() {
  if (comm)
    (void)backend.synchronize(); // which may give up
  backend.limitWaits(nullptr);
  if (comm)
    api.commDestroy(comm);
}

void Ranks::giveUp() {
  all.giveUp();
  if (comm)
    api.commAbort(std::exchange(comm, nullptr));
}

Expected<void> Ranks::mayWait(Duration waited) {
  if (!comm)
    return makeError(KV_STATUS_INTERNAL, "the ranks are apart");
  nccl::Result state = 0;
  Expected<void> sound =
      check(api.commGetAsyncError(comm, &state), "ncclCommGetAsyncError");
  if (sound)
    sound = check(state, "an exchange between GPUs");
  if (sound && waited > all.limit())
    sound = makeError(KV_STATUS_INTERNAL,
                      "the GPU of another rank, or this one's, did not finish "
                      "within ",
                      static_cast<int64_t>(all.limit().count()), " ms");
  if (!sound)
    giveUp();
  return sound;
}

Expected<void> Ranks::settle(std::string_view call) {
  // NCCL looks for ways between GPUs, which takes seconds. NCCL does so at the
  // beginning, and in the first gather.
  constexpr int Patience = 15;
  std::chrono::milliseconds limit = Patience * all.limit();
  Clock::time_point begin = Clock::now();
  while (true) {
    nccl::Result state = 0;
    Expected<void> sound = check(api.commGetAsyncError(comm, &state), call);
    if (sound)
      sound = check(state, call);
    if (sound && state == 0)
      return {};
    if (sound && Clock::now() - begin > limit)
      sound = makeError(KV_STATUS_INTERNAL, call,
                        ": not all ranks' GPUs took part within ",
                        static_cast<int64_t>(limit.count()), " ms");
    if (!sound) {
      giveUp();
      return sound;
    }
    sched_yield();
  }
}

Expected<void> Ranks::gather(const void *from, void *into, size_t bytes) {
  constexpr const char *Call = "ncclAllGather";
  if (!comm)
    return makeError(KV_STATUS_INTERNAL, "the ranks are apart");
  nccl::Result result =
      api.allGather(from, into, bytes, nccl::Int8, comm, backend.stream());
  if (result == nccl::InProgress)
    return settle(Call);
  return check(result, Call);
}
