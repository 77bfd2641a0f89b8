//===- Ranks.h - GPUs that compute together ---------------------*- C++ -*-===//

#ifndef KV_RUNTIME_CUDA_RANKS_H
#define KV_RUNTIME_CUDA_RANKS_H

#include "Backend.h"
#include "kv/Runtime/Device/Communicator.h"
#include "runtime/cuda/driver/Nccl.h"

namespace kv::cuda {

/// The exchanges of several ranks by NCCL, with one GPU per rank. The ranks'
/// Communicator carries the addresses that they need to find each other, and
/// says how long one waits for another. While this object lives, a wait for the
/// backend's queue ends after this time with an error, so that no rank waits
/// for ever for one that is gone.
class Ranks {
public:
  /// Called by all ranks. Errors: NCCL is not there, or too old; a rank that
  /// does not come in time; NCCL's.
  static Expected<std::unique_ptr<Ranks>> create(Backend &backend,
                                                 Communicator &all);
  ~Ranks();

  int size() const { return all.size(); }
  /// Queues: into[r] = from, of rank r, `bytes` each, on all ranks. May be
  /// captured. Error: NCCL's.
  Expected<void> gather(const void *from, void *into, size_t bytes);

private:
  Ranks(Backend &backend, Communicator &all, const nccl::Nccl &api)
      : backend(backend), all(all), api(api) {}
  using Duration = std::chrono::steady_clock::duration;

  Expected<void> check(nccl::Result result, std::string_view call) const;
  /// Waits until NCCL's own threads have finished a call. Error: this takes 15
  /// times as long as one rank waits for another in a step.
  Expected<void> settle(std::string_view call);
  /// Whether somebody who has waited so long may go on waiting.
  Expected<void> mayWait(Duration waited);
  /// After this call, no wait for other ranks goes on.
  void giveUp();

  Backend &backend;
  Communicator &all;
  const nccl::Nccl &api;
  nccl::Comm comm = nullptr;
};

} // namespace kv::cuda

#endif // KV_RUNTIME_CUDA_RANKS_H
