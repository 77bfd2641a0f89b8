//===- ThreadPool.cpp - Parallel loops ------------------------------------===//
//
// A loop is cut into chunks. Each thread has a share of them, neighbours, so
// that it reads memory as one stream; a thread that is through with its own
// takes the last ones of others. A share is one 64-bit atomic with the count of
// loops so far and the chunks that are left, and a chunk is taken by one
// compare-and-swap. A worker that wakes up late finds no chunk left, or chunks
// of a later loop, but never one of an earlier loop: so no loop waits for
// workers that are still asleep. Of more threads than there are cores, only as
// many are awake at a time as have a core each.
//
//===----------------------------------------------------------------------===//

#include "kv/Runtime/Base/ThreadPool.h"

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

/// The chunks of a thread that are left: loop << 32 | first << 16 | end.
struct alignas(64) Share {
  std::atomic<uint64_t> left = 0;

  void give(uint32_t loop, uint64_t first, uint64_t end) {
    left.store(uint64_t(loop) << 32 | first << 16 | end,
               std::memory_order_seq_cst);
  }

  /// Takes the first chunk, or, not being the owner, the last; returns its
  /// number, -1 where there is none.
  int64_t take(bool owner) {
    uint64_t seen = left.load(std::memory_order_acquire);
    while (true) {
      uint64_t first = seen >> 16 & 0xffff, end = seen & 0xffff;
      if (first == end)
        return -1;
      uint64_t rest = owner ? seen + (1 << 16) : seen - 1;
      if (left.compare_exchange_weak(seen, rest, std::memory_order_acq_rel,
                                     std::memory_order_acquire))
        return static_cast<int64_t>(owner ? first : end - 1);
    }
  }
};

void pause() {
#ifdef __x86_64__
  __builtin_ia32_pause();
#endif
}

/// Spins until `ready()` or the time is over; returns whether it is ready.
template <class Ready> bool spin(Ready &&ready) {
  if (ready())
    return true;
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

  std::vector<Share> shares; // one a thread, the caller's first
  alignas(64) std::atomic<uint32_t> pending = 0; // chunks not finished
  std::atomic<uint32_t> callerSleeps = 0;
  alignas(64) std::atomic<uint32_t> loop = 0; // what idle workers sleep on
  std::atomic<uint32_t> awake = 0;            // workers that work or spin
  std::atomic<bool> stop = false;
  std::atomic<bool> busy = false;
  uint32_t mostAwake = 0;
  std::vector<std::thread> workers;

  /// Executes chunks until none is left, those of thread `self` first.
  void work(size_t self) {
    uint32_t done = 0;
    for (size_t i = 0; i < shares.size(); ++i) {
      Share &share = shares[(self + i) % shares.size()];
      int64_t number;
      while ((number = share.take(/*owner=*/i == 0)) >= 0) {
        int64_t lo = number * chunk;
        body(env, lo, std::min(lo + chunk, count));
        ++done;
      }
    }
    // All are of one loop: the next one begins when these have been counted.
    if (done && pending.fetch_sub(done, std::memory_order_seq_cst) == done &&
        callerSleeps.load(std::memory_order_seq_cst))
      futexWake(pending, 1);
  }

  /// Whether one more worker may be awake; then it counts as that.
  bool wakeUp() {
    uint32_t now = awake.load(std::memory_order_seq_cst);
    while (now < mostAwake)
      if (awake.compare_exchange_weak(now, now + 1, std::memory_order_seq_cst))
        return true;
    return false;
  }

  void workerMain(size_t self) {
    InsideLoop = true;
    bool isAwake = false;
    while (true) {
      // Read before `stop` and the shares: whatever changes these afterwards
      // changes `loop` again, so the wait below returns. A worker may start as
      // late as after the pool's last loop.
      uint32_t seen = loop.load(std::memory_order_seq_cst);
      if (stop.load(std::memory_order_acquire))
        return;
      isAwake = isAwake || wakeUp();
      if (isAwake) {
        work(self);
        if (spin([&] { return loop.load(std::memory_order_acquire) != seen; }))
          continue;
        // Before the last look at `loop`: who begins a loop after it finds one
        // worker less awake.
        awake.fetch_sub(1, std::memory_order_seq_cst);
        isAwake = false;
      }
      while (loop.load(std::memory_order_seq_cst) == seen)
        futexWait(loop, seen);
    }
  }

  /// Begins a loop: as many workers wake up as may.
  void announce() {
    loop.fetch_add(1, std::memory_order_seq_cst);
    uint32_t now = awake.load(std::memory_order_seq_cst);
    if (now < mostAwake)
      futexWake(loop, static_cast<int>(mostAwake - now));
  }

  void waitForChunks() {
    if (spin([&] { return pending.load(std::memory_order_acquire) == 0; }))
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
  state->mostAwake = std::min(threads, available) - 1;
  state->shares = std::vector<Share>(threads);
  state->workers.reserve(threads - 1);
  for (unsigned i = 1; i < threads; ++i)
    state->workers.emplace_back([this, i] { state->workerMain(i); });
}

ThreadPool::~ThreadPool() {
  state->stop.store(true, std::memory_order_release);
  state->loop.fetch_add(1, std::memory_order_seq_cst);
  futexWake(state->loop, INT_MAX);
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
  uint32_t loop = pool.loop.load(std::memory_order_relaxed) + 1;
  uint64_t first = 0, threads = pool.shares.size();
  for (uint64_t i = 0; i < threads; ++i) {
    uint64_t end = uint64_t(chunks) * (i + 1) / threads;
    pool.shares[i].give(loop, first, end);
    first = end;
  }
  pool.announce();

  InsideLoop = true;
  pool.work(/*self=*/0);
  InsideLoop = false;
  pool.waitForChunks();
  pool.busy.store(false, std::memory_order_release);
}
