//===- FaultyStoreCalls.h - A store that fails when told to -----*- C++ -*-===//

#ifndef KV_TEST_UNIT_TIERS_FAULTYSTORECALLS_H
#define KV_TEST_UNIT_TIERS_FAULTYSTORECALLS_H

#include "runtime/tiers/StoreCalls.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <thread>

namespace kv::test {

/// Lets one call of one kind fail, or all from that one on.
class FaultyStoreCalls final : public StoreCalls {
public:
  enum Kind { Connect, Wait, Read, Write };
  enum Fault {
    Fails, // `error`
    Ends,  // the peer is gone: a read of nothing, a write that is refused
    Short, // a byte moves, and the rest with the next call
    Hangs, // nothing happens in time
    Flips  // a bit of what is moved is wrong
  };
  struct Plan {
    Kind kind = Read;
    Fault fault = Fails;
    int error = ECONNRESET;
    int64_t at = -1; // the call's number, from 0; -1: no call
    bool forGood = false;
    size_t byte = 0; // of Flips: which of those that are moved
  };

  FaultyStoreCalls() = default;
  explicit FaultyStoreCalls(const Plan &plan) : plan(plan) {}

  void heal() { healed = true; }
  bool hasFailed() const { return failed; }

  redisContext *connect(const StoreAddress &address) override {
    if (!fails(Connect))
      return StoreCalls::connect(address);
    if (plan.fault == Fails)
      return nullptr;
    StoreAddress nowhere = address;
    nowhere.path = "/no/such/socket";
    return StoreCalls::connect(nowhere);
  }
  int wait(pollfd &of, int milliseconds) override {
    if (!fails(Wait))
      return StoreCalls::wait(of, milliseconds);
    if (plan.fault == Hangs) {
      std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
      return 0;
    }
    errno = plan.error;
    return -1;
  }
  ssize_t read(int socket, void *data, size_t bytes) override {
    // Only what moves bytes is counted: how often nothing does is chance.
    ssize_t moved = StoreCalls::read(socket, data, bytes);
    if (moved <= 0 || !fails(Read))
      return moved;
    switch (plan.fault) {
    case Ends:
      return 0;
    case Flips:
      static_cast<char *>(data)[plan.byte % static_cast<size_t>(moved)] ^= 4;
      return moved;
    case Hangs:
      errno = EAGAIN; // it is lost
      return -1;
    default:
      errno = plan.error;
      return -1;
    }
  }
  ssize_t write(int socket, const void *data, size_t bytes) override {
    if (!fails(Write))
      return StoreCalls::write(socket, data, bytes);
    switch (plan.fault) {
    case Short:
      return StoreCalls::write(socket, data, 1);
    case Flips: {
      std::string wrong(static_cast<const char *>(data), bytes);
      wrong[plan.byte % bytes] ^= 4;
      return StoreCalls::write(socket, wrong.data(), bytes);
    }
    case Hangs:
      errno = EAGAIN;
      return -1;
    default:
      errno = plan.fault == Ends ? EPIPE : plan.error;
      return -1;
    }
  }

private:
  bool fails(Kind kind) {
    if (kind != plan.kind || healed)
      return false;
    int64_t number = count++;
    bool now = plan.at >= 0 &&
               (number == plan.at || (plan.forGood && number > plan.at));
    failed = failed || now;
    return now;
  }

  Plan plan;
  std::atomic<int64_t> count = 0;
  std::atomic<bool> failed = false, healed = false;
};

} // namespace kv::test

#endif // KV_TEST_UNIT_TIERS_FAULTYSTORECALLS_H
