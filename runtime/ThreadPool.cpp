//===- ThreadPool.cpp - Parallel loops ------------------------------------===//
//
// A loop is cut into chunks. One 64-bit atomic holds the count of loops so far
// and how many chunks of the current one are left; a thread takes a chunk by
// one compare-and-swap. A worker that wakes up late finds no chunk left, or
// chunks of a later loop, but never one of an earlier loop: so no loop waits
// for workers that are still asleep.
//
//===----------------------------------------------------------------------===//

#include "kv/Runtime/ThreadPool.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <climits>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace kv;

namespace {

using Clock = std::chrono::steady_clock;

/// How long idle workers spin. The serial code between the loops of a step
/// takes 10 to 50 microseconds; waking a sleeping thread costs about as much.
constexpr auto SpinTime = std::chrono::microseconds(100);
/// Chunks for each thread, so that uneven ones balance.
constexpr int64_t ChunksPerThread = 4;

void pause() {
#ifdef __x86_64__
  __builtin_ia32_pause();
#endif
}

/// Spins until `ready()` or the time is over; returns whether it is ready.
template <class Ready> bool spin(bool allowed, Ready &&ready) {
  if (ready())
    return true;
  if (!allowed)
    return false;
  Clock::time_point end = Clock::now() + SpinTime;
  do {
    for (int i = 0; i < 16; ++i) {
      if (ready())
        return true;
      pause();
    }
  } while (Clock::now() < end);
  return ready();
}

void futexWait(std::atomic<uint32_t> &word, uint32_t expected) {
  syscall(SYS_futex, reinterpret_cast<uint32_t *>(&word), FUTEX_WAIT_PRIVATE,
          expected, nullptr, nullptr, 0);
}

void futexWake(std::atomic<uint32_t> &word, int count) {
  syscall(SYS_futex, reinterpret_cast<uint32_t *>(&word), FUTEX_WAKE_PRIVATE,
          count, nullptr, nullptr, 0);
}

/// Whether this thread is executing a loop's body: a loop that is started there
/// runs on this thread alone.
thread_local bool InsideLoop = false;

} // namespace

Executor::~Executor() = default;

struct ThreadPool::State {
  // The current loop. Written only while no chunk is left or being executed.
  int64_t count = 0;
  int64_t chunk = 0;
  Body body = nullptr;
  void *env = nullptr;

  alignas(64) std::atomic<uint64_t> ticket = 0;  // loop << 32 | chunks left
  alignas(64) std::atomic<uint32_t> pending = 0; // chunks not finished
  std::atomic<uint32_t> callerSleeps = 0;
  alignas(64) std::atomic<uint32_t> loop = 0; // what idle workers sleep on
  std::atomic<uint32_t> sleepers = 0;
  std::atomic<bool> stop = false;
  std::atomic<bool> busy = false;
  bool maySpin = true;
  std::vector<std::thread> workers;

  static uint32_t chunksLeft(uint64_t ticket) { return uint32_t(ticket); }

  /// Executes chunks until none is left.
  void work() {
    uint64_t seen = ticket.load(std::memory_order_acquire);
    while (chunksLeft(seen)) {
      if (!ticket.compare_exchange_weak(seen, seen - 1,
                                        std::memory_order_acq_rel,
                                        std::memory_order_acquire))
        continue;
      int64_t lo = int64_t(chunksLeft(seen) - 1) * chunk;
      body(env, lo, std::min(lo + chunk, count));
      if (pending.fetch_sub(1, std::memory_order_seq_cst) == 1 &&
          callerSleeps.load(std::memory_order_seq_cst))
        futexWake(pending, 1);
      seen = ticket.load(std::memory_order_acquire);
    }
  }

  void workerMain() {
    InsideLoop = true;
    while (true) {
      // Read before `stop` and the ticket: whatever changes these afterwards
      // changes `loop` again, so the wait below returns. A worker may start as
      // late as after the pool's last loop.
      uint32_t seen = loop.load(std::memory_order_seq_cst);
      if (stop.load(std::memory_order_acquire))
        return;
      work();
      auto ready = [&] { return loop.load(std::memory_order_acquire) != seen; };
      if (!spin(maySpin, ready)) {
        sleepers.fetch_add(1, std::memory_order_seq_cst);
        while (loop.load(std::memory_order_seq_cst) == seen)
          futexWait(loop, seen);
        sleepers.fetch_sub(1, std::memory_order_seq_cst);
      }
    }
  }

  void announce() {
    loop.fetch_add(1, std::memory_order_seq_cst);
    if (sleepers.load(std::memory_order_seq_cst))
      futexWake(loop, INT_MAX);
  }

  void waitForChunks() {
    auto done = [&] { return pending.load(std::memory_order_acquire) == 0; };
    if (spin(maySpin, done))
      return;
    callerSleeps.store(1, std::memory_order_seq_cst);
    while (uint32_t left = pending.load(std::memory_order_seq_cst))
      futexWait(pending, left);
    callerSleeps.store(0, std::memory_order_relaxed);
  }
};

unsigned ThreadPool::cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0)
    return std::max(1, CPU_COUNT(&set));
  return std::max(1u, std::thread::hardware_concurrency());
}

ThreadPool::ThreadPool(unsigned threads) : state(std::make_unique<State>()) {
  unsigned available = cores();
  if (threads == 0)
    threads = available;
  state->maySpin = threads <= available;
  state->workers.reserve(threads - 1);
  for (unsigned i = 1; i < threads; ++i)
    state->workers.emplace_back([this] { state->workerMain(); });
}

ThreadPool::~ThreadPool() {
  state->stop.store(true, std::memory_order_release);
  state->announce();
  for (std::thread &worker : state->workers)
    worker.join();
}

unsigned ThreadPool::threads() const {
  return static_cast<unsigned>(state->workers.size()) + 1;
}

void ThreadPool::parallelFor(int64_t count, int64_t grain, Body body,
                             void *env) {
  if (count <= 0)
    return;
  State &pool = *state;
  grain = std::max<int64_t>(grain, 1);
  int64_t chunks = std::min(count / grain, threads() * ChunksPerThread);
  if (chunks <= 1 || pool.workers.empty() || InsideLoop ||
      pool.busy.exchange(true, std::memory_order_acquire)) {
    body(env, 0, count);
    return;
  }
  // Rounding up may give fewer chunks than intended, but no empty ones.
  pool.chunk = (count + chunks - 1) / chunks;
  chunks = (count + pool.chunk - 1) / pool.chunk;
  pool.count = count;
  pool.body = body;
  pool.env = env;
  pool.pending.store(uint32_t(chunks), std::memory_order_relaxed);
  uint64_t loops = (pool.ticket.load(std::memory_order_relaxed) >> 32) + 1;
  pool.ticket.store(loops << 32 | uint64_t(chunks), std::memory_order_seq_cst);
  pool.announce();

  InsideLoop = true;
  pool.work();
  InsideLoop = false;
  pool.waitForChunks();
  pool.busy.store(false, std::memory_order_release);
}
