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

const GlobalMemory::Writer *GlobalMemory::written(const void *p) const {
  uintptr_t word = reinterpret_cast<uintptr_t>(p) / 4;
  auto page = pages.find(word / PageWords);
  return page == pages.end() ? nullptr
                             : &page->second.writers[word % PageWords];
}

GlobalMemory::Writer &GlobalMemory::writer(const void *p) {
  uintptr_t word = reinterpret_cast<uintptr_t>(p) / 4;
  uintptr_t number = word / PageWords;
  if (!lastPage || number != lastNumber) {
    lastNumber = number;
    lastPage = &pages[number];
  }
  return lastPage->writers[word % PageWords];
}
