//===- GlobalMemory.cpp - What a kernel may touch outside -----------------===//

#include "GlobalMemory.h"

using namespace kv::cuda;

void GlobalMemory::allow(const void *data, size_t bytes, Access access) {
  const char *begin = static_cast<const char *>(data);
  regions.push_back({begin, begin + bytes, access});
}

bool GlobalMemory::allowed(const void *p, size_t bytes, Access access) const {
  const char *begin = static_cast<const char *>(p);
  for (const Region &region : regions)
    if (begin >= region.begin && begin + bytes <= region.end &&
        (access == Access::Read || region.access == Access::Write))
      return true;
  return false;
}

bool GlobalMemory::scratchKnown(const void *p, int block,
                                const ThreadClock &clock,
                                std::string &writer) const {
  auto found = writers.find(p);
  if (found == writers.end())
    return true; // from before the launch
  const Writer &by = found->second;
  const ClockVector *known = &clock.own;
  if (by.block != block) {
    auto other = clock.others.find(by.block);
    known = other == clock.others.end() ? nullptr : &other->second;
  }
  if (known && (*known)[by.thread] >= by.clock)
    return true;
  writer = "block " + std::to_string(by.block) + ", thread " +
           std::to_string(by.thread);
  return false;
}
