//===- Registers.cpp - What a warp may have of registers ------------------===//

#include "Registers.h"
#include "Machine.h"

using namespace kv::cuda;

void Registers::reset(const LaunchShape &shape) {
  threads = (shape.threads + WarpLanes - 1) / WarpLanes * WarpLanes;
  int rounded = (shape.registers + Step - 1) / Step * Step; // as warps get them
  budget = rounded * threads;
  if (budget > File)
    machine.report("a launch of " + std::to_string(shape.threads) +
                   " threads with " + std::to_string(rounded) +
                   " registers takes " + std::to_string(budget) +
                   " of an SM's " + std::to_string(File));
  // Blocks of a cluster are whole warpgroups.
  held.assign((threads * shape.cluster + GroupThreads - 1) / GroupThreads,
              RegisterGroup{rounded, 0});
}

int Registers::free(int group) const {
  int count = (threads + GroupThreads - 1) / GroupThreads, used = 0;
  for (int g = 0; g < count; ++g)
    used += held[group / count * count + g].held *
            std::min(GroupThreads, threads - g * GroupThreads);
  return budget - used;
}

void Registers::change(int thread, int wanted, bool up, unsigned line) {
  if (!groups.meet(thread, GroupOperation::Registers, line))
    return;
  int number = thread / GroupThreads;
  RegisterGroup &group = held[number];
  if (wanted < Fewest || wanted > Most || wanted % Step != 0 ||
      (up ? wanted < group.held : wanted > group.held))
    machine.report("warpgroup " + std::to_string(number) + ", which has " +
                   std::to_string(group.held) + " registers a thread, goes " +
                   (up ? "up" : "down") + " to " + std::to_string(wanted) +
                   ": multiples of 8 from 24 to 256 are allowed, and none the "
                   "other way");
  else if (up)
    group.wanted = wanted;
  else
    group.held = wanted;
  bool waits = group.wanted != 0;
  if (!waits)
    groups.release(number, thread);
  letWaitersGo();
  if (waits) // and its warpgroup in meet()
    machine.yield();
}

void Registers::letWaitersGo() {
  for (int number = 0; number < int(held.size()); ++number) {
    RegisterGroup &group = held[number];
    if (!group.wanted ||
        (group.wanted - group.held) * GroupThreads > free(number))
      continue;
    group.held = group.wanted;
    group.wanted = 0;
    groups.release(number, -1);
  }
}

std::string Registers::waitsFor(int thread) const {
  int number = thread / GroupThreads;
  const RegisterGroup &group = held[number];
  if (!group.wanted)
    return {};
  return "for " + std::to_string((group.wanted - group.held) * GroupThreads) +
         " registers for warpgroup " + std::to_string(number) +
         ": the block was launched with " + std::to_string(budget) + " and " +
         std::to_string(free(number)) + " are free";
}
