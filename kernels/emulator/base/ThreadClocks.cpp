//===- ThreadClocks.cpp - What a thread knows to have happened ------------===//

#include "ThreadClocks.h"

using namespace kv::cuda;

static void joinInto(ClockVector &into, const ClockVector &from) {
  if (into.size() < from.size())
    into.resize(from.size());
  for (size_t i = 0; i < from.size(); ++i)
    into[i] = std::max(into[i], from[i]);
}

void Knowledge::join(const Knowledge &from) {
  joinInto(seen, from.seen);
  joinInto(fenced, from.fenced);
  if (!from.others.empty())
    kv::cuda::join(others, from.others);
  joinInto(tensor, from.tensor);
}

void Knowledge::clear() {
  seen.clear();
  fenced.clear();
  others.clear();
  tensor.clear();
}

void ThreadClocks::reset(int threads, int blocks) {
  threadCount = threads;
  barrierCount = MaxBarriers * blocks;
  groups = (threads + 127) / 128;
  clocks.resize(threads);
  changes.assign(threads, 0);
  common.clear();
  for (int t = 0; t < threads; ++t) {
    clocks[t].clear();
    clocks[t].seen.resize(threads + groups + barrierCount);
    clocks[t].fenced.resize(threads);
    clocks[t].seen[t] = 1;
  }
}

void ThreadClocks::release(int thread, Knowledge &into) {
  into.join(clocks[thread]);
  tick(thread);
}

void ThreadClocks::fence(int thread) {
  Knowledge &own = change(thread);
  own.fenced[thread] = own.seen[thread]++;
}

void ThreadClocks::meetAll() {
  Knowledge all;
  for (int t = 0; t < threadCount; ++t)
    release(t, all);
  for (int t = 0; t < threadCount; ++t) {
    Moment now = clocks[t].seen[t];
    change(t) = all;
    clocks[t].seen[t] = now;
  }
}

const Knowledge &ThreadClocks::knownToAll(int first, int count) {
  Common &found = common[first];
  uint64_t changed = 1;
  for (int t = first; t < first + count; ++t)
    changed += changes[t];
  if (found.changes == changed)
    return found.known;
  found.changes = changed;
  found.known = clocks[first];
  auto meet = [](ClockVector &into, const ClockVector &from) {
    for (size_t i = 0; i < into.size(); ++i)
      into[i] = std::min(into[i], from[i]);
  };
  for (int t = first + 1; t < first + count; ++t) {
    meet(found.known.seen, clocks[t].seen);
    meet(found.known.fenced, clocks[t].fenced);
  }
  return found.known;
}
