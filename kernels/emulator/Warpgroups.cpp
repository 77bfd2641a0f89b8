//===- Warpgroups.cpp - Four warps that do one thing together -------------===//

#include "Warpgroups.h"
#include "Machine.h"

using namespace kv::cuda;

void Warpgroups::reset(int threads) {
  threadCount = threads;
  groups.assign((threads + GroupThreads - 1) / GroupThreads, Warpgroup());
}

bool Warpgroups::meet(int thread, GroupOperation operation, unsigned line) {
  Warpgroup &group = groups[thread / GroupThreads];
  if (group.waiting == 0) {
    group.operation = operation;
    group.line = line;
  }
  group.mixed |= group.operation != operation || group.line != line;
  group.lines[thread % GroupThreads] = line;
  if (++group.waiting == GroupThreads && !group.mixed)
    return true;
  machine.yield();
  return false;
}

void Warpgroups::release(int number, int thread) {
  Warpgroup &group = groups[number];
  group = {};
  for (int t = number * GroupThreads; t < (number + 1) * GroupThreads; ++t)
    if (t != thread)
      machine.resume(t);
}

std::string Warpgroups::waitsFor(int thread) const {
  const Warpgroup &group = groups[thread / GroupThreads];
  unsigned line = group.lines[thread % GroupThreads];
  if (line == 0)
    return {};
  return "for its warpgroup at line " + std::to_string(line) + ", where " +
         std::to_string(group.waiting) + " of " + std::to_string(GroupThreads) +
         " threads wait" + (group.mixed ? " for different things" : "");
}
