//===- SharedBarriers.h - mbarriers -----------------------------*- C++ -*-===//
//
// A phase of an mbarrier is complete when all arrivals and all bytes that it
// expects are there; then the next one begins. Who awaits a phase names its
// parity alone, so it has to know how many are complete, but for one.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_EMULATOR_SHAREDBARRIERS_H
#define KV_KERNELS_EMULATOR_SHAREDBARRIERS_H

#include "kernels/emulator/base/OrderedWords.h"

namespace kv::cuda {

class Machine;

class SharedBarriers {
public:
  static constexpr int Bytes = 8;
  /// More than that an mbarrier does not count, of arrivals and of bytes.
  static constexpr int64_t MostCounted = (1 << 20) - 1;

  SharedBarriers(Machine &machine, ThreadClocks &clocks, OrderedWords &words)
      : machine(machine), clocks(clocks), words(words) {}

  void reset(int sharedBytes);
  /// Reports what is left undone when all threads have left.
  void finish();

  void init(int thread, int offset, int arrivals);
  /// Its bytes are memory again.
  void invalidate(int thread, int offset);
  void fenceInit(int thread);
  void arrive(int thread, int offset);
  void expectBytes(int thread, int offset, int bytes);
  void awaitPhase(int thread, int offset, int parity);

  /// A thread asks for a box that completes on a barrier. False where there is
  /// none that boxes may see.
  bool beginBox(int thread, int offset);
  /// A thread commits products, whose end arrives on a barrier. False if there
  /// is no such barrier.
  bool beginCommit(int thread, int offset);
  void landCommit(int offset, const Knowledge &known);
  /// That box has landed. Returns whose store it counts as, and when.
  std::pair<int, Moment> landBox(int offset, int bytes);
  /// Says what a thread waits for.
  std::string waitsFor(int thread) const;

private:
  struct Barrier {
    int offset = 0; // -1: invalidated
    int initialiser = 0;
    Moment initialised = 0, fenced = 0; // the initialiser's; fenced: or 0
    int expected = 0, pending = 0;      // arrivals
    int64_t bytes = 0;                  // that are expected and not there
    int phase = 0;                      // how many are complete
    int boxes = 0;                      // in flight
    Knowledge arriving, complete;       // of the current phase, and of the last
    std::vector<int> waiters;
  };
  struct Wait {
    int barrier = -1, phase = 0, parity = 0;
  };

  std::string name(const Barrier &barrier) const;
  std::string state(const Barrier &barrier) const;
  /// The barrier that a thread means, or null, and a report.
  Barrier *find(int thread, int offset, const char *what);
  /// A barrier that `things`, which run next to the threads, may see.
  Barrier *findFenced(int thread, int offset, const char *what,
                      const char *things);
  void complete(Barrier &barrier);
  int actor(const Barrier &barrier) const {
    return clocks.barrierActor(int(&barrier - barriers.data()));
  }

  Machine &machine;
  ThreadClocks &clocks;
  OrderedWords &words;
  std::vector<Barrier> barriers;
  std::vector<int> byPlace; // by offset / Bytes; -1: none
  std::vector<Wait> waits;  // by thread
};

} // namespace kv::cuda

#endif // KV_KERNELS_EMULATOR_SHAREDBARRIERS_H
