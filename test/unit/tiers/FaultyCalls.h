//===- FaultyCalls.h - A disk that fails when it is told to -----*- C++ -*-===//

#ifndef KV_TEST_UNIT_TIERS_FAULTYCALLS_H
#define KV_TEST_UNIT_TIERS_FAULTYCALLS_H

#include "runtime/tiers/SystemCalls.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <string>
#include <vector>

namespace kv::test {

/// Lets one call of one kind fail, or all from that one on.
class FaultyCalls final : public SystemCalls {
public:
  enum Kind { Read, Write, Allocate, Commit, Sync };
  enum Fault {
    Fails,       // nothing has happened, `error`
    Short,       // half is done; the rest is for the next call
    Torn,        // half is done, `error`
    Ends,        // half is done, and the next call does nothing more
    Lies,        // nothing has happened, but it says that it has
    Interrupted, // nothing has happened, EINTR
  };
  struct Plan {
    Kind kind = Read;
    Fault fault = Fails;
    int error = EIO;
    int64_t at = -1; // the call's number, from 0; -1: no call
    bool forGood = false;
  };

  FaultyCalls() = default;
  explicit FaultyCalls(const Plan &plan) : plan(plan) {}

  /// Nothing fails any more.
  void heal() { healed = true; }
  /// Whether the call has been reached.
  bool hasFailed() const { return failed; }
  int64_t count(Kind kind) const { return counts[kind]; }

  ssize_t read(int file, const iovec *parts, int count, off_t at) override {
    switch (faultOf(Read)) {
    case None:
      return preadv(file, parts, count, at);
    case Short:
      return half(parts, count, [&](const iovec *some, int number) {
        return preadv(file, some, number, at);
      });
    case Ends:
    case Torn:
      ends = true;
      return half(parts, count, [&](const iovec *some, int number) {
        return preadv(file, some, number, at);
      });
    case Lies:
      return static_cast<ssize_t>(bytes(parts, count));
    case Interrupted:
      return fail(EINTR);
    default:
      return plan.fault == Ends ? 0 : fail(plan.error);
    }
  }
  ssize_t write(int file, const iovec *parts, int count, off_t at) override {
    auto some = [&] {
      return half(parts, count, [&](const iovec *some, int number) {
        return pwritev(file, some, number, at);
      });
    };
    switch (faultOf(Write)) {
    case None:
      return pwritev(file, parts, count, at);
    case Short:
      return some();
    case Ends:
      ends = true;
      return some();
    case Torn:
      (void)some();
      return fail(plan.error);
    case Lies:
      return static_cast<ssize_t>(bytes(parts, count));
    case Interrupted:
      return fail(EINTR);
    default:
      return plan.fault == Ends ? 0 : fail(plan.error);
    }
  }
  int allocate(int file, off_t bytes) override {
    switch (faultOf(Allocate)) {
    case None:
      return SystemCalls::allocate(file, bytes);
    case Torn: // a part of the file is there
      (void)!ftruncate(file, bytes / 2);
      return plan.error;
    case Interrupted:
      return EINTR;
    default:
      return plan.error;
    }
  }
  int commit(MDB_txn *transaction) override {
    if (faultOf(Commit) == None) {
      // No test loses power, and to wait for a disk takes most of their time.
      mdb_env_set_flags(mdb_txn_env(transaction), MDB_NOSYNC, 1);
      return SystemCalls::commit(transaction);
    }
    mdb_txn_abort(transaction);
    return plan.error;
  }
  int sync(MDB_env *environment) override {
    return faultOf(Sync) == None ? SystemCalls::sync(environment) : plan.error;
  }

private:
  static constexpr int None = -1, Ended = 100;

  int faultOf(Kind kind) {
    int64_t number = counts[kind]++;
    if (kind != plan.kind || healed)
      return None;
    if (ends.exchange(false))
      return Ended;
    if (number == plan.at ||
        (plan.forGood && number > plan.at && plan.at >= 0)) {
      failed = true;
      return plan.fault;
    }
    return None;
  }
  static ssize_t fail(int error) {
    errno = error;
    return -1;
  }
  static size_t bytes(const iovec *parts, int count) {
    size_t sum = 0;
    for (int i = 0; i < count; ++i)
      sum += parts[i].iov_len;
    return sum;
  }
  template <class Transfer>
  static ssize_t half(const iovec *parts, int count, Transfer &&transfer) {
    size_t left = (bytes(parts, count) + 1) / 2;
    std::vector<iovec> some;
    for (int i = 0; i < count && left > 0; ++i) {
      some.push_back({parts[i].iov_base, std::min(parts[i].iov_len, left)});
      left -= some.back().iov_len;
    }
    return transfer(some.data(), static_cast<int>(some.size()));
  }

  Plan plan;
  std::array<std::atomic<int64_t>, 5> counts = {};
  std::atomic<bool> failed = false, ends = false, healed = false;
};

} // namespace kv::test

#endif // KV_TEST_UNIT_TIERS_FAULTYCALLS_H
