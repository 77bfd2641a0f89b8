//===- MachineMemory.cpp - What threads read and write --------------------===//

#include "AsyncBlock.h"
#include "Machine.h"

#include <cstring>

using namespace kv::cuda;

void Machine::sharedRead(int thread, int offset, int bytes, void *target) {
  if (watch != Watch::Barriers) [[unlikely]] {
    if (watch == Watch::Clocks)
      return sharedReadByClocks(thread, offset, bytes, target);
  } else if (!sharedMemory.read(thread, offset, bytes)) {
    return void(std::memset(target, 0xff, bytes));
  }
  std::memcpy(target, sharedMemory.data() + offset, bytes);
}

void Machine::sharedWrite(int thread, int offset, int bytes,
                          const void *source) {
  if (watch == Watch::Clocks) [[unlikely]]
    return sharedWriteByClocks(thread, offset, bytes, source);
  if (watch == Watch::Nothing || sharedMemory.write(thread, offset, bytes))
    std::memcpy(sharedMemory.data() + offset, source, bytes);
}

void Machine::sharedReadByClocks(int thread, int offset, int bytes,
                                 void *target) {
  if (!contains(thread, offset, bytes))
    return void(std::memset(target, 0xff, bytes));
  asyncBlock->words.read(thread, offset, bytes);
  std::memcpy(target, sharedMemory.data() + offset, bytes);
}

void Machine::sharedWriteByClocks(int thread, int offset, int bytes,
                                  const void *source) {
  if (!contains(thread, offset, bytes))
    return;
  checkFinished(thread, source, bytes);
  asyncBlock->words.write(thread, offset, bytes);
  std::memcpy(sharedMemory.data() + offset, source, bytes);
}

void Machine::checkFinished(int thread, const void *data, size_t bytes) {
  for (size_t i = 0; i + sizeof(uint32_t) <= bytes; i += sizeof(uint32_t)) {
    uint32_t word;
    std::memcpy(&word, static_cast<const char *>(data) + i, sizeof(word));
    if (isUnfinished(word))
      return report("thread " + std::to_string(thread) +
                    " uses the accumulator of a product that it did not wait "
                    "for");
  }
}

bool Machine::globalAllowed(int thread, const void *p, size_t bytes,
                            Access access) {
  // A value is aligned to the largest power of two in its size.
  size_t alignment = std::min<size_t>(bytes & -bytes, 16);
  if ((reinterpret_cast<uintptr_t>(p) & (alignment - 1)) == 0 &&
      globalMemory.allowed(p, bytes, access))
    return true;
  report("thread " + std::to_string(thread) + " leaves global memory: " +
         (access == Access::Read ? "reads " : "writes ") +
         std::to_string(bytes) + " bytes where nothing was allocated");
  return false;
}

bool Machine::plainLoad(int thread, const void *p, size_t bytes) {
  if (!globalAllowed(thread, p, bytes, Access::Read))
    return false;
  for (size_t i = 0; i < bytes; i += sizeof(float)) {
    const auto *writer = globalMemory.written(static_cast<const char *>(p) + i);
    if (!writer || writer->block < 0)
      continue;
    if (!writer->plain)
      report("thread " + std::to_string(thread) +
             " reads scratch as if nobody else wrote it");
    else if (!isOrdered(thread, *writer))
      report("race: thread " + std::to_string(thread) +
             " reads global memory unordered with the write of block " +
             std::to_string(writer->block) + ", thread " +
             std::to_string(writer->thread));
  }
  return true;
}

bool Machine::plainStore(int thread, void *p, size_t bytes) {
  if (!globalAllowed(thread, p, bytes, Access::Write))
    return false;
  for (size_t i = 0; i < bytes; i += sizeof(float))
    globalMemory.writer(static_cast<char *>(p) + i) = {
        currentBlock, thread, momentOf(thread), /*plain=*/true};
  return true;
}

void Machine::copyAsync(int thread, int offset, int64_t address) {
  const void *source = reinterpret_cast<const void *>(address);
  if (address < 0 || !globalAllowed(thread, source, ChunkBytes, Access::Read))
    source = nullptr;
  bool begun = watch == Watch::Clocks
                   ? contains(thread, offset, ChunkBytes)
                   : sharedMemory.beginCopy(thread, offset, ChunkBytes);
  if (begun && watch == Watch::Clocks) {
    asyncBlock->words.beginCopy(thread, offset, ChunkBytes);
    std::memset(sharedMemory.data() + offset, 0xff, ChunkBytes);
  }
  if (begun) {
    threads[thread].copies.push_back({offset, source});
    ++threads[thread].open;
  }
}

void Machine::commit(int thread) {
  Thread &self = threads[thread];
  self.groups.push_back(self.open);
  self.open = 0;
}

void Machine::wait(int thread, int pending) {
  Thread &self = threads[thread];
  if (int(self.groups.size()) <= pending)
    return;
  self.pendingAllowed = pending;
  self.waiting = Waiting::Copies;
  yield();
}

Moment Machine::momentOf(int thread) const {
  return hasRoles() ? asyncBlock->clocks.now(thread) : now;
}

/// Whether `clocks` say that what the writer did happened before.
static bool happened(const BlockClocks &clocks,
                     const GlobalMemory::Writer &writer) {
  auto found = clocks.find(writer.block);
  return found != clocks.end() && found->second[writer.thread] >= writer.moment;
}

bool Machine::isOrdered(int thread, const GlobalMemory::Writer &writer) const {
  if (hasRoles()) {
    const ThreadClocks &own = asyncBlock->clocks;
    return writer.block == currentBlock
               ? own.knows(thread, writer.thread, writer.moment)
               : happened(own.of(thread).others, writer);
  }
  if (writer.block == currentBlock)
    return writer.thread == thread || writer.moment < lastBarrier;
  auto own = clocks.find(thread);
  return happened(known, writer) ||
         (own != clocks.end() && happened(own->second.others, writer));
}

void Machine::checkScratch(int thread, const void *p) {
  const GlobalMemory::Writer &writer = globalMemory.writer(p);
  if (writer.block < 0)
    return;
  if (writer.plain && writer.block != currentBlock)
    report("thread " + std::to_string(thread) + " reads scratch that block " +
           std::to_string(writer.block) + " wrote as if nobody else read it");
  if (!isOrdered(thread, writer))
    report("race: thread " + std::to_string(thread) +
           " reads scratch unordered with the write of block " +
           std::to_string(writer.block) + ", thread " +
           std::to_string(writer.thread));
}

void Machine::loadScratch(int thread, const void *p, size_t bytes,
                          void *target) {
  if (!globalAllowed(thread, p, bytes, Access::Read))
    return void(std::memset(target, 0xff, bytes));
  for (size_t i = 0; i < bytes; i += sizeof(float))
    checkScratch(thread, static_cast<const char *>(p) + i);
  std::memcpy(target, p, bytes);
}

void Machine::storeScratch(int thread, void *p, size_t bytes,
                           const void *source) {
  if (!globalAllowed(thread, p, bytes, Access::Write))
    return;
  if (hasRoles())
    checkFinished(thread, source, bytes);
  for (size_t i = 0; i < bytes; i += sizeof(float))
    globalMemory.writer(static_cast<char *>(p) + i) = {
        currentBlock, thread, momentOf(thread), /*plain=*/false};
  std::memcpy(p, source, bytes);
}

void Machine::fence(int thread) {
  ThreadClock &clock = clocks[thread];
  BlockClocks &others =
      hasRoles() ? asyncBlock->clocks.change(thread).others : clock.others;
  join(others, clock.acquired);
  clock.acquired.clear();
  clock.fenced = others;
  join(clock.fenced, known);
  // Later actions of this thread are not published.
  if (hasRoles()) {
    const ClockVector &seen = asyncBlock->clocks.of(thread).seen;
    clock.fenced[currentBlock] = {seen.begin(), seen.begin() + threadCount};
    asyncBlock->clocks.tick(thread);
    return;
  }
  ClockVector own(threadCount, lastBarrier - 1);
  own[thread] = now;
  clock.fenced[currentBlock] = std::move(own);
  ++now;
}

uint32_t Machine::arrive(int thread, uint32_t *counter, uint32_t count,
                         Order order) {
  if (!globalAllowed(thread, counter, sizeof(*counter), Access::Write))
    return 0;
  if (order != Order::Acquire)
    fence(thread);
  ThreadClock &clock = clocks[thread];
  BlockClocks &published = globalMemory.counter(counter);
  join(clock.acquired, published);
  join(published, clock.fenced);
  if (order != Order::Release)
    fence(thread);
  return (*counter += count) - count;
}
