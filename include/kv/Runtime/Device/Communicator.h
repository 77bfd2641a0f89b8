//===- Communicator.h - Processes that compute together ---------*- C++ -*-===//

#ifndef KV_RUNTIME_DEVICE_COMMUNICATOR_H
#define KV_RUNTIME_DEVICE_COMMUNICATOR_H

#include "kv/Runtime/Base/Error.h"

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace kv {

/// The ranks: processes that run the same artifact, each with its shard of the
/// model. Rank 0 decides, the others follow. All ranks make the same calls in
/// the same order. Used by one thread at a time.
///
/// A call that fails has left the ranks apart: the caller ends the process,
/// with abort() if the others must end, too.
class Communicator {
public:
  struct Options {
    /// How long a call waits for the other ranks, but for a broadcast that
    /// waits for as long as it takes.
    std::chrono::milliseconds limit{4000};
  };

  /// The ranks that mpirun has started, by libkv_mpi.so. A process has one
  /// communicator at a time. Errors: the library is not there; MPI's.
  static Expected<std::unique_ptr<Communicator>> open(const Options &options);

  /// The processes that mpirun has started along with this one, as its
  /// environment says; 1 without mpirun. Does not open anything.
  static int launchedRanks();

  /// Ends the exchange. Waits for no other rank.
  virtual ~Communicator() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Ranks on this machine, this one included, and which of them this is.
  virtual int localSize() const = 0;
  virtual int localRank() const = 0;
  /// Options::limit.
  virtual std::chrono::milliseconds limit() const = 0;

  /// How long the other ranks wait for rank 0.
  enum class Wait { Limited, Unlimited };

  /// Gives `mine` to all ranks: all[r] begins with what rank r gave, which has
  /// as many bytes on every rank, and `all` has size() times as many. Error:
  /// the ranks that did not answer within the limit, by number; MPI's.
  virtual Expected<void> gather(std::span<const std::byte> mine,
                                std::span<std::byte> all) = 0;

  /// On rank 0 gives `message` to all others; there it returns with what rank 0
  /// gave, for which it waits as `wait` says. Errors: rank 0 could not get rid
  /// of it within the limit, or gave nothing within it; MPI's.
  virtual Expected<void> broadcast(std::vector<std::byte> &message,
                                   Wait wait) = 0;

  /// Whether a call has failed, and the ranks are apart for good.
  virtual bool isBroken() const = 0;
  /// Marks the ranks as apart, because another exchange of theirs has failed.
  virtual void giveUp() = 0;

  /// Ends all ranks, at once, with this exit code.
  [[noreturn]] virtual void abort(int code) = 0;

protected:
  Communicator() = default;
};

/// The work of an entry's function `gather` (Symbols.def), on bytes: x consists
/// of runs of `shard` bytes, out of as many of `size`. `ranks` may be null:
/// then there is this process alone. `scratch` keeps its memory from call to
/// call.
Expected<void> gatherShards(Communicator *ranks, std::span<const std::byte> x,
                            size_t shard, size_t size, size_t copies,
                            std::byte *out, std::vector<std::byte> &scratch);

} // namespace kv

#endif // KV_RUNTIME_DEVICE_COMMUNICATOR_H
