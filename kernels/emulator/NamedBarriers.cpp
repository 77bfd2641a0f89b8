//===- NamedBarriers.cpp - Barriers of some threads -----------------------===//

#include "NamedBarriers.h"
#include "Machine.h"

using namespace kv::cuda;

void NamedBarriers::reset(int blocks) {
  barriers.clear();
  barriers.resize(blocks);
}

NamedBarriers::Barrier &NamedBarriers::of(int thread, int id) {
  return barriers[machine.rankOf(thread)][id];
}

static std::string nameOf(int id) {
  return id == 0                     ? "the barrier of its block"
         : id <= NamedBarriers::Last ? "named barrier " + std::to_string(id)
                                     : "the barrier of its warp";
}

void NamedBarriers::finish() {
  for (const auto &block : barriers)
    for (int id = First; id < Count; ++id)
      if (size_t count = block[id].arrived.size())
        machine.report("all have left " + nameOf(id) + ", where " +
                       std::to_string(count) + " of " +
                       std::to_string(block[id].expected) + " threads arrived");
}

bool NamedBarriers::count(int thread, int id, int threads, bool waits) {
  auto refuse = [&](const std::string &why) {
    machine.report("thread " + std::to_string(thread) + why);
    return false;
  };
  Barrier &barrier = of(thread, id);
  std::string name = nameOf(id);
  if (threads < WarpLanes || threads % WarpLanes != 0 ||
      threads > machine.threadsOfBlock())
    return refuse(" comes to " + name + " of " + std::to_string(threads) +
                  " threads: whole warps of the block are allowed");
  if (!barrier.arrived.empty() && barrier.expected != threads)
    return refuse(" says that " + name + " is of " + std::to_string(threads) +
                  " threads, where " + std::to_string(barrier.expected) +
                  " were said before");
  if (std::find(barrier.arrived.begin(), barrier.arrived.end(), thread) !=
      barrier.arrived.end())
    return refuse(" arrives at " + name + " again before it is complete");
  barrier.expected = threads;
  barrier.arrived.push_back(thread);
  clocks.release(thread, barrier.known);
  if (waits)
    barrier.waiters.push_back(thread);
  if (int(barrier.arrived.size()) < threads)
    return true;
  // A named barrier counts warps, whose lanes come together.
  std::vector<int> lanes(clocks.threads() / WarpLanes + 1);
  for (int each : barrier.arrived)
    ++lanes[each / WarpLanes];
  for (int warp = 0; warp < int(lanes.size()); ++warp)
    if (lanes[warp] % WarpLanes != 0) {
      machine.report(name + " is complete with " + std::to_string(lanes[warp]) +
                     " lanes of the warp of thread " +
                     std::to_string(warp * WarpLanes));
      break;
    }
  for (int waiter : barrier.waiters) {
    clocks.acquire(waiter, barrier.known);
    machine.resume(waiter);
  }
  barrier = {};
  return true;
}

bool NamedBarriers::isName(int thread, int id) {
  if (id >= First && id <= Last)
    return true;
  machine.report("thread " + std::to_string(thread) + " names barrier " +
                 std::to_string(id) + "; 1 to 15 are allowed");
  return false;
}

void NamedBarriers::sync(int thread, int id, int threads) {
  // The last one waits as well, so that the schedule says who goes first.
  if (isName(thread, id) && count(thread, id, threads, /*waits=*/true))
    machine.yield();
}

void NamedBarriers::syncBlock(int thread) {
  if (count(thread, WholeBlock, machine.threadsOfBlock(), /*waits=*/true))
    machine.yield();
}

void NamedBarriers::syncWarp(int thread) {
  int warp = thread % machine.threadsOfBlock() / WarpLanes;
  if (count(thread, FirstWarp + warp, WarpLanes, /*waits=*/true))
    machine.yield();
}

void NamedBarriers::arrive(int thread, int id, int threads) {
  if (isName(thread, id))
    count(thread, id, threads, /*waits=*/false);
}

std::string NamedBarriers::waitsFor(int thread) const {
  const auto &own = barriers[machine.rankOf(thread)];
  for (int id = WholeBlock; id < Count; ++id)
    for (int waiter : own[id].waiters)
      if (waiter == thread)
        return "at " + nameOf(id) + ", where " +
               std::to_string(own[id].arrived.size()) + " of " +
               std::to_string(own[id].expected) + " threads arrived";
  return {};
}
