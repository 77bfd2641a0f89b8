//===- MpiCommunicator.h - Ranks by MPI -------------------------*- C++ -*-===//

#ifndef KV_RUNTIME_MPI_MPICOMMUNICATOR_H
#define KV_RUNTIME_MPI_MPICOMMUNICATOR_H

#include "kv/Runtime/Device/Communicator.h"

#include <mpi.h>

namespace kv {

/// Every exchange is sends and receives between pairs, and not one of MPI's
/// collective operations: only so can an error name the ranks that are missing.
/// As many bytes go over the wire as in a ring, in one step.
class MpiCommunicator final : public Communicator {
public:
  static Expected<std::unique_ptr<MpiCommunicator>>
  open(const Options &options);
  ~MpiCommunicator() override;

  int rank() const override { return self; }
  int size() const override { return count; }
  int localSize() const override { return local; }
  int localRank() const override { return localSelf; }
  std::chrono::milliseconds limit() const override { return longest; }
  Expected<void> gather(std::span<const std::byte> mine,
                        std::span<std::byte> all) override;
  Expected<void> broadcast(std::vector<std::byte> &message, Wait wait) override;
  bool isBroken() const override { return broken; }
  void giveUp() override { broken = true; }
  [[noreturn]] void abort(int code) override;

private:
  explicit MpiCommunicator(const Options &options) : longest(options.limit) {}

  /// Waits for all of `requests`, of which peers[i] is at the other end.
  Expected<void> waitAll(const char *what);
  /// The ranks for which some of `requests` still wait, as text.
  std::string missingRanks();
  /// Begins sends, which waitAll() ends.
  Expected<void> sendToOthers(std::span<const std::byte> bytes, int tag,
                              const char *what);
  /// Where a request to or from `peer` is kept.
  MPI_Request *addRequest(int peer);
  Expected<void> waitForMessage(std::vector<std::byte> &message, int tag,
                                Wait wait);
  /// That nothing came within the limit.
  std::unexpected<Error> late(std::string_view missing);
  /// Calls are numbered, so that ranks that are apart do not take each other's
  /// messages for what they wait for.
  int nextTag() { return calls++ % 32768; }
  Expected<void> check(int result, const char *what);

  std::chrono::milliseconds longest;
  int self = 0, count = 1, local = 1, localSelf = 0, calls = 0;
  bool broken = false;
  std::vector<MPI_Request> requests;
  size_t numReceives = 0; // of a gather; they stand before its sends
  std::vector<int> peers;
};

} // namespace kv

#endif // KV_RUNTIME_MPI_MPICOMMUNICATOR_H
