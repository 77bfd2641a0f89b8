//===- SharedBarriers.cpp - mbarriers -------------------------------------===//

#include "SharedBarriers.h"
#include "Machine.h"

using namespace kv::cuda;

static std::string threadName(int thread) {
  return "thread " + std::to_string(thread);
}

void SharedBarriers::reset(int sharedBytes) {
  barriers.clear();
  barriers.reserve(clocks.mostBarriers());
  byPlace.assign(sharedBytes / Bytes, -1);
  waits.assign(clocks.threads(), Wait());
}

std::string SharedBarriers::name(const Barrier &barrier) const {
  return "the mbarrier at byte " + std::to_string(barrier.offset);
}

std::string SharedBarriers::state(const Barrier &barrier) const {
  return "phase " + std::to_string(barrier.phase) + " lacks " +
         std::to_string(barrier.pending) + " of " +
         std::to_string(barrier.expected) + " arrivals and " +
         std::to_string(barrier.bytes) + " bytes";
}

void SharedBarriers::finish() {
  for (const Barrier &barrier : barriers)
    if (barrier.bytes != 0 && barrier.offset >= 0)
      machine.report("all have left " + name(barrier) + ", whose " +
                     state(barrier));
}

void SharedBarriers::init(int thread, int offset, int arrivals) {
  if (!machine.contains(thread, offset, Bytes))
    return;
  if (arrivals < 1 || arrivals > MostCounted)
    return machine.report(threadName(thread) + " initialises an mbarrier for " +
                          std::to_string(arrivals) + " arrivals; 1 to " +
                          std::to_string(MostCounted) + " are allowed");
  if (byPlace[offset / Bytes] >= 0)
    return machine.report(threadName(thread) + " initialises " +
                          name(barriers[byPlace[offset / Bytes]]) + " again");
  if (int(barriers.size()) == clocks.mostBarriers())
    return machine.report("the emulator knows " +
                          std::to_string(ThreadClocks::MaxBarriers) +
                          " mbarriers a block, and no more");
  words.makeBarrier(thread, offset, Bytes);
  byPlace[offset / Bytes] = int(barriers.size());
  Barrier barrier;
  barrier.offset = offset;
  barrier.initialiser = thread;
  barrier.initialised = clocks.now(thread);
  barrier.expected = barrier.pending = arrivals;
  barriers.push_back(std::move(barrier));
}

void SharedBarriers::invalidate(int thread, int offset) {
  Barrier *barrier = find(thread, offset, "invalidates");
  if (!barrier)
    return;
  if (barrier->boxes || barrier->bytes || !barrier->waiters.empty())
    machine.report(threadName(thread) + " invalidates " + name(*barrier) +
                   ", whose " + state(*barrier));
  words.dropBarrier(thread, offset, Bytes);
  byPlace[offset / Bytes] = -1;
  barrier->offset = -1;
}

void SharedBarriers::fenceInit(int thread) {
  for (Barrier &barrier : barriers)
    if (barrier.initialiser == thread && !barrier.fenced)
      barrier.fenced = clocks.now(thread);
  clocks.tick(thread); // who knows of this moment knows of the fence
}

SharedBarriers::Barrier *SharedBarriers::find(int thread, int offset,
                                              const char *what) {
  int index = -1;
  if (offset >= 0 && offset % Bytes == 0 &&
      offset / Bytes < int(byPlace.size()))
    index = byPlace[offset / Bytes];
  if (index < 0) {
    machine.report(threadName(thread) + " " + what + " an mbarrier at byte " +
                   std::to_string(offset) + ", where none was initialised");
    return nullptr;
  }
  Barrier &barrier = barriers[index];
  if (!clocks.knows(thread, barrier.initialiser, barrier.initialised))
    machine.report("race: " + threadName(thread) + " " + what + " " +
                   name(barrier) + " unordered with its initialisation by " +
                   threadName(barrier.initialiser));
  return &barrier;
}

void SharedBarriers::complete(Barrier &barrier) {
  if (barrier.pending || barrier.bytes)
    return;
  if (barrier.boxes)
    machine.report("phase " + std::to_string(barrier.phase) + " of " +
                   name(barrier) + " is complete with " +
                   std::to_string(barrier.boxes) +
                   " boxes under way: fewer bytes were expected than are "
                   "copied");
  ++barrier.phase;
  barrier.pending = barrier.expected;
  std::swap(barrier.complete, barrier.arriving);
  barrier.arriving.clear();
  ClockVector &seen = barrier.complete.seen;
  seen.resize(std::max(seen.size(), size_t(actor(barrier)) + 1));
  seen[actor(barrier)] = barrier.phase;
  for (int thread : barrier.waiters)
    machine.resume(thread);
  barrier.waiters.clear();
}

void SharedBarriers::arrive(int thread, int offset) {
  Barrier *barrier = find(thread, offset, "arrives at");
  if (!barrier)
    return;
  if (barrier->pending == 0)
    return machine.report(threadName(thread) + " arrives at " + name(*barrier) +
                          " once too often: " + state(*barrier));
  clocks.release(thread, barrier->arriving);
  --barrier->pending;
  complete(*barrier);
}

void SharedBarriers::expectBytes(int thread, int offset, int bytes) {
  Barrier *barrier = find(thread, offset, "expects bytes at");
  if (!barrier)
    return;
  barrier->bytes += bytes;
  if (bytes < 0 || barrier->bytes > MostCounted)
    return machine.report(threadName(thread) + " expects " +
                          std::to_string(bytes) + " bytes at " +
                          name(*barrier) + ", which counts at most " +
                          std::to_string(MostCounted));
  arrive(thread, offset);
}

void SharedBarriers::awaitPhase(int thread, int offset, int parity) {
  Barrier *barrier = find(thread, offset, "waits at");
  if (!barrier)
    return;
  if (parity != 0 && parity != 1)
    return machine.report(threadName(thread) + " waits for parity " +
                          std::to_string(parity) + " at " + name(*barrier));
  // The thread knows that the phase with this parity is complete, or waits for
  // it: it cannot mean a later phase.
  int known = int(clocks.of(thread).seen[actor(*barrier)]);
  int wanted = (known & 1) == parity ? known : known - 1;
  for (;;) {
    if (barrier->phase > wanted + 1)
      return machine.report(
          threadName(thread) + " waits for parity " + std::to_string(parity) +
          " at " + name(*barrier) + ", which may be phase " +
          std::to_string(wanted) + " or " + std::to_string(wanted + 2) + ": " +
          std::to_string(barrier->phase) + " are complete, and it knows of " +
          std::to_string(known));
    if (barrier->phase == wanted + 1)
      break;
    waits[thread] = {int(barrier - barriers.data()), wanted, parity};
    barrier->waiters.push_back(thread);
    machine.yield();
    waits[thread].barrier = -1;
  }
  if (wanted >= 0)
    clocks.acquire(thread, barrier->complete);
}

SharedBarriers::Barrier *SharedBarriers::findFenced(int thread, int offset,
                                                    const char *what,
                                                    const char *things) {
  Barrier *barrier = find(thread, offset, what);
  if (!barrier || (barrier->fenced &&
                   clocks.knows(thread, barrier->initialiser, barrier->fenced)))
    return barrier;
  machine.report(threadName(thread) + " " + what + " " + name(*barrier) +
                 ", whose initialisation by " +
                 threadName(barrier->initialiser) +
                 " no fenceInit() showed to " + things);
  return nullptr;
}

bool SharedBarriers::beginBox(int thread, int offset) {
  Barrier *barrier = findFenced(thread, offset, "copies a box to", "copies");
  if (barrier)
    ++barrier->boxes;
  return barrier;
}

bool SharedBarriers::beginCommit(int thread, int offset) {
  return findFenced(thread, offset, "commits products to", "products");
}

void SharedBarriers::landCommit(int offset, const Knowledge &known) {
  Barrier &barrier = barriers[byPlace[offset / Bytes]];
  if (barrier.pending == 0)
    return machine.report("a commit arrives at " + name(barrier) +
                          " once too often: " + state(barrier));
  barrier.arriving.join(known);
  --barrier.pending;
  complete(barrier);
}

std::pair<int, Moment> SharedBarriers::landBox(int offset, int bytes) {
  Barrier &barrier = barriers[byPlace[offset / Bytes]];
  std::pair<int, Moment> landed = {actor(barrier), Moment(barrier.phase + 1)};
  --barrier.boxes;
  barrier.bytes -= bytes;
  if (barrier.bytes < 0 && barrier.pending == 0)
    machine.report("more bytes land at " + name(barrier) +
                   " than were expected: " + state(barrier));
  complete(barrier);
  return landed;
}

std::string SharedBarriers::waitsFor(int thread) const {
  const Wait &wait = waits[thread];
  if (wait.barrier < 0)
    return {};
  const Barrier &barrier = barriers[wait.barrier];
  return "for phase " + std::to_string(wait.phase) + " (parity " +
         std::to_string(wait.parity) + ") of " + name(barrier) + ", whose " +
         state(barrier);
}
