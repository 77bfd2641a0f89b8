//===- GuardedMemory.cpp - Memory whose neighbours are watched ------------===//

#include "GuardedMemory.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

static constexpr uint8_t Pattern = 0xa5;

static size_t pageSize() { return sysconf(_SC_PAGESIZE); }

GuardedMemory::GuardedMemory(size_t bytes) : size(bytes) {
  size_t page = pageSize(), inner = (bytes + page) / page * page;
  mapped = inner + 2 * page;
  void *memory = mmap(nullptr, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
                      /*fd=*/-1, /*offset=*/0);
  if (memory == MAP_FAILED || mprotect(static_cast<uint8_t *>(memory) + page,
                                       inner, PROT_READ | PROT_WRITE) != 0) {
    std::perror("kv-fuzz-steps: mmap");
    std::abort();
  }
  mapping = static_cast<uint8_t *>(memory);
  begin = mapping + page + inner - bytes;
  std::fill(mapping + page, begin, Pattern);
}

GuardedMemory::GuardedMemory(GuardedMemory &&other) noexcept
    : mapping(std::exchange(other.mapping, nullptr)), begin(other.begin),
      mapped(other.mapped), size(other.size) {}

GuardedMemory::~GuardedMemory() {
  if (mapping)
    munmap(mapping, mapped);
}

bool GuardedMemory::isIntact() const {
  return std::all_of(mapping + pageSize(), begin,
                     [](uint8_t byte) { return byte == Pattern; });
}
