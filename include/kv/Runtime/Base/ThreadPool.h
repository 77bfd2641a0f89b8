//===- ThreadPool.h - Parallel loops ----------------------------*- C++ -*-===//

#ifndef KV_RUNTIME_BASE_THREADPOOL_H
#define KV_RUNTIME_BASE_THREADPOOL_H

#include <cstdint>
#include <memory>
#include <type_traits>

namespace kv {

/// An executor of parallel loops: the pool below, or the caller's own.
class Executor {
public:
  using Body = void (*)(void *env, int64_t lo, int64_t hi);

  virtual ~Executor();

  /// Calls `body` for disjoint ranges that cover [0, count), each of at least
  /// `grain` iterations (the last may be shorter), on any threads; returns when
  /// all are done. The result of `body` must not depend on the cuts.
  virtual void parallelFor(int64_t count, int64_t grain, Body body,
                           void *env) = 0;

  /// Threads that take part in a loop, the caller included.
  virtual unsigned threads() const = 0;

  template <class Fn> void forRange(int64_t count, int64_t grain, Fn &&fn) {
    using Callable = std::remove_reference_t<Fn>;
    parallelFor(
        count, grain,
        [](void *env, int64_t lo, int64_t hi) {
          (*static_cast<Callable *>(env))(lo, hi);
        },
        const_cast<void *>(static_cast<const void *>(&fn)));
  }
};

/// Threads that live as long as the pool. Idle workers spin as long as the
/// serial code between two loops of a step usually takes, then sleep. If there
/// are more threads than cores, only as many are awake at a time as there are
/// cores. A loop that is started inside a loop, or while a loop of another
/// thread is running, runs on its caller alone.
class ThreadPool final : public Executor {
public:
  /// `threads` includes the caller; 0: one for each core.
  explicit ThreadPool(unsigned threads = 0);
  ~ThreadPool() override;
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  void parallelFor(int64_t count, int64_t grain, Body body, void *env) override;
  unsigned threads() const override;

  /// The cores that this process may run on.
  static unsigned cores();

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace kv

#endif // KV_RUNTIME_BASE_THREADPOOL_H
