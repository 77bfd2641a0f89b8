//===- Machine.cpp - Runs a kernel body's blocks --------------------------===//

#include "Machine.h"
#include "AsyncBlock.h"
#include "kernels/emulator/base/Hurry.h"

#include <numeric>
#include <utility>

using namespace kv::cuda;

Machine::Machine(MachineOptions options)
    : options(options), random(std::mt19937(options.seed)()),
      matrices(options.order, random) {}

Machine::~Machine() = default;

void Machine::report(std::string text) {
  // One cause has many effects.
  if (problems.size() < 8)
    problems.push_back(
        "block " + std::to_string(currentBlock) + ": " + std::move(text) +
        (placeOf && !Hurry::isLanding() && fibers.running() != Fibers::Outside
             ? placeOf(fibers.running())
             : ""));
}

void Machine::reportView(int thread, int count, int index) {
  report("thread " + std::to_string(thread) + " leaves a view of " +
         std::to_string(count) + " elements at " + std::to_string(index));
  // Nothing is there to go on with: a loop might look for its end for ever.
  while (true)
    yield();
}

void Machine::launch(const LaunchShape &newShape,
                     const std::function<void(Machine &, int)> &body) {
  shape = newShape;
  threadCount = shape.threads * shape.cluster;
  partBytes = (shape.sharedBytes + AtomBytes - 1) / AtomBytes * AtomBytes;
  if (shape.cluster > 1 && (shape.blocks % shape.cluster != 0 || !hasRoles() ||
                            shape.threads % GroupThreads != 0))
    return report("clusters of " + std::to_string(shape.cluster) +
                  " blocks need as many times that, whole warpgroups, and a "
                  "launch that says its registers");
  watch = !options.detectRaces ? Watch::Nothing
          : hasRoles()         ? Watch::Clocks
                               : Watch::Barriers;
  if (hasRoles() && !asyncBlock)
    asyncBlock = std::make_unique<AsyncBlock>(*this);
  globalMemory.beginLaunch();
  std::vector<int> order(shape.blocks / shape.cluster);
  std::iota(order.begin(), order.end(), 0);
  if (options.schedule == Schedule::LatestFirst)
    std::reverse(order.begin(), order.end());
  if (options.schedule == Schedule::Random)
    std::shuffle(order.begin(), order.end(), random);
  for (int block : order) {
    currentBlock = block * shape.cluster;
    runBlock(body);
  }
}

void Machine::runBlock(const std::function<void(Machine &, int)> &body) {
  lastBarrier = ++now;
  known.clear();
  clocks.clear();
  int sharedBytes = partBegin(shape.cluster - 1) + shape.sharedBytes;
  sharedMemory.reset(sharedBytes, now,
                     [this](std::string text) { report(std::move(text)); });
  if (hasRoles())
    asyncBlock->reset(threadCount, sharedBytes, shape);
  threads.resize(threadCount);
  warps.assign((threadCount + WarpLanes - 1) / WarpLanes, Warp());
  runnable.reset(threadCount, options.schedule, random());
  atBarrier = 0;
  for (int t = 0; t < threadCount; ++t) {
    Thread &thread = threads[t];
    thread.waiting = Waiting::No;
    thread.copies.clear();
    thread.groups.clear();
    thread.open = 0;
    runnable.push(t);
  }
  fibers.start(threadCount, [&](int t) {
    body(*this, t);
    return takeRunnable();
  });
  auto somebodyWaits = [&] {
    for (int t = 0; t < threadCount; ++t)
      if (!fibers.finished(t))
        return true;
    return false;
  };
  do
    yield();
  while (landCopies() || (hasRoles() && somebodyWaits() && asyncBlock->land()));
  if (somebodyWaits())
    return reportDeadlock();
  for (int t = 0; t < threadCount; ++t)
    if (!threads[t].copies.empty())
      return report("thread " + std::to_string(t) +
                    " leaves with a copy under way");
  if (hasRoles())
    asyncBlock->finish();
}

AsyncBlock &Machine::async() {
  if (!hasRoles()) {
    report("a launch that does not say how many registers its threads have "
           "uses what needs it");
    // The thread goes on, if only to its end.
    if (!asyncBlock)
      asyncBlock = std::make_unique<AsyncBlock>(*this);
    shape.registers = Registers::Fewest;
    asyncBlock->reset(threadCount, shape.sharedBytes, shape);
  }
  Hurry::pass(random, [&] { asyncBlock->land(); });
  return *asyncBlock;
}

int Machine::choose(int count) {
  switch (options.schedule) {
  case Schedule::LatestFirst:
    return count - 1;
  case Schedule::OldestFirst:
    return 0;
  case Schedule::Random:
    return int(random() % count);
  }
  return 0;
}

void Machine::makeRunnable(int thread) {
  threads[thread].waiting = Waiting::No;
  runnable.push(thread);
}

int Machine::takeRunnable() {
  if (hasRoles())
    Hurry::pass(random, [&] { asyncBlock->land(); });
  if (runnable.empty())
    return Fibers::Outside;
  int thread = runnable.pop();
  if (!runnable.empty())
    fibers.prefetch(runnable.next());
  return thread;
}

/// Lets the copies land that threads wait for: all at once, since they are
/// independent, and no thread could run in between.
bool Machine::landCopies() {
  bool any = false;
  for (int t = 0; t < threadCount; ++t) {
    Thread &thread = threads[t];
    if (thread.waiting != Waiting::Copies)
      continue;
    int groups = int(thread.groups.size()) - thread.pendingAllowed;
    int landed = 0;
    for (int g = 0; g < groups; ++g)
      landed += thread.groups[g];
    for (int i = 0; i < landed; ++i) {
      const Copy &copy = thread.copies[i];
      sharedMemory.landCopy(t, copy.offset, copy.source, ChunkBytes);
      if (watch == Watch::Clocks)
        asyncBlock->words.landCopy(t, copy.offset, ChunkBytes);
    }
    thread.copies.erase(thread.copies.begin(), thread.copies.begin() + landed);
    thread.groups.erase(thread.groups.begin(), thread.groups.begin() + groups);
    makeRunnable(t);
    any = true;
  }
  return any;
}

bool Machine::contains(int thread, int offset, int bytes) {
  if (!sharedMemory.contains(thread, offset, bytes))
    return false;
  if (offset % partBytes + bytes <= shape.sharedBytes)
    return true;
  report("thread " + std::to_string(thread) +
         " leaves the shared memory of a block: " + std::to_string(bytes) +
         " bytes at " + std::to_string(offset % partBytes) + " of " +
         std::to_string(shape.sharedBytes));
  return false;
}

bool Machine::hasLeft(int rank) const {
  for (int t = rank * shape.threads; t < (rank + 1) * shape.threads; ++t)
    if (!fibers.finished(t))
      return false;
  return true;
}

void Machine::syncPart(int thread) { asyncBlock->named.syncBlock(thread); }

void Machine::syncAll(int thread) {
  threads[thread].waiting = Waiting::Barrier;
  if (++atBarrier == threadCount)
    releaseBarrier();
  else
    yield();
}

void Machine::releaseBarrier() {
  atBarrier = 0;
  lastBarrier = ++now;
  sharedMemory.barrier(now);
  if (hasRoles())
    asyncBlock->clocks.meetAll();
  for (auto &[thread, clock] : clocks) {
    join(known, clock.others);
    clock.others.clear();
  }
  for (int t = 0; t < threadCount; ++t)
    makeRunnable(t);
  // The caller is running: it yields like everybody, so that the schedule
  // decides who goes first.
  yield();
}

std::string Machine::waitsFor(int t) const {
  if (threads[t].waiting == Waiting::Barrier)
    return "at a barrier";
  if (std::string text = hasRoles() ? asyncBlock->waitsFor(t) : std::string();
      !text.empty())
    return text;
  return "for its warp at line " +
         std::to_string(warps[t / WarpLanes].requests[t % WarpLanes].line());
}

void Machine::reportDeadlock() {
  std::string text = "deadlock:", before;
  int left = 0, listed = 0;
  for (int t = 0; t < threadCount; ++t) {
    if (fibers.finished(t)) {
      ++left;
      before.clear();
      continue;
    }
    // Neighbours wait for the same thing.
    std::string waits = waitsFor(t);
    bool inWarp = waits.starts_with("for its warp at");
    if (waits == std::exchange(before, waits) &&
        !(inWarp && t % WarpLanes == 0))
      continue;
    if (++listed <= 6)
      text += " thread " + std::to_string(t) + " waits " + waits + ";";
  }
  report(text + " " + std::to_string(left) + " threads have left");
}
