//===- SharedMemory.cpp - A block's memory, watched -----------------------===//

#include "SharedMemory.h"

#include <cstring>

using namespace kv::cuda;

void SharedMemory::reset(int bytes, int threadCount, Report newReport) {
  report = std::move(newReport);
  threads = threadCount;
  int rounded = (bytes + 127) / 128 * 128;
  if (rounded > size || !memory)
    memory = std::make_unique_for_overwrite<uint64_t[]>(rounded / 8 + 16);
  size = bytes;
  std::memset(data(), 0xff, bytes);
  words.assign(rounded / 4, Word());
  readers.clear();
  freeReaders.clear();
}

bool SharedMemory::inside(int thread, int offset, int bytes) {
  if (offset >= 0 && offset + bytes <= size &&
      offset % std::min(bytes, 16) == 0)
    return true;
  report("thread " + std::to_string(thread) +
         " leaves shared memory: " + std::to_string(bytes) + " bytes at " +
         std::to_string(offset) + " of " + std::to_string(size));
  return false;
}

void SharedMemory::race(int thread, int word, const char *what, int other) {
  report("race: thread " + std::to_string(thread) + " " + what + " thread " +
         std::to_string(other) + " at byte " + std::to_string(word * 4) +
         " of shared memory");
}

void SharedMemory::readWord(int thread, const ClockVector &clock, int index) {
  Word &word = words[index];
  if (word.writer == Copying)
    return race(thread, index, "reads under the copy of", word.writeClock);
  if (word.writer == Nobody)
    return report("thread " + std::to_string(thread) +
                  " reads what nobody wrote at byte " +
                  std::to_string(index * 4) + " of shared memory");
  if (word.writer != thread && clock[word.writer] < word.writeClock)
    race(thread, index, "reads unordered with the write of", word.writer);
  if (word.reader == Many) {
    readers[word.readClock][thread] = clock[thread];
  } else if (word.reader == Nobody || word.reader == thread ||
             clock[word.reader] >= word.readClock) {
    // Whoever is ordered after this read is ordered after the earlier one.
    word.reader = thread;
    word.readClock = clock[thread];
  } else {
    uint32_t list;
    if (freeReaders.empty()) {
      list = readers.size();
      readers.emplace_back();
    } else {
      list = freeReaders.back();
      freeReaders.pop_back();
    }
    readers[list].assign(threads, 0);
    readers[list][word.reader] = word.readClock;
    readers[list][thread] = clock[thread];
    word.reader = Many;
    word.readClock = list;
  }
}

void SharedMemory::checkWrite(int thread, const ClockVector &clock, int index) {
  Word &word = words[index];
  if (word.writer == Copying)
    race(thread, index, "writes under the copy of", word.writeClock);
  else if (word.writer != Nobody && word.writer != thread &&
           clock[word.writer] < word.writeClock)
    race(thread, index, "writes unordered with the write of", word.writer);
  if (word.reader == Many) {
    const ClockVector &list = readers[word.readClock];
    for (int t = 0; t < threads; ++t)
      if (t != thread && clock[t] < list[t]) {
        race(thread, index, "writes unordered with the read of", t);
        break;
      }
    freeReaders.push_back(word.readClock);
  } else if (word.reader != Nobody && word.reader != thread &&
             clock[word.reader] < word.readClock) {
    race(thread, index, "writes unordered with the read of", word.reader);
  }
  word.reader = Nobody;
}

bool SharedMemory::read(int thread, const ClockVector &clock, int offset,
                        int bytes) {
  if (!inside(thread, offset, bytes))
    return false;
  for (int i = offset / 4; i * 4 < offset + bytes; ++i)
    readWord(thread, clock, i);
  return true;
}

bool SharedMemory::write(int thread, const ClockVector &clock, int offset,
                         int bytes) {
  if (!inside(thread, offset, bytes))
    return false;
  for (int i = offset / 4; i * 4 < offset + bytes; ++i) {
    checkWrite(thread, clock, i);
    words[i].writer = thread;
    words[i].writeClock = clock[thread];
  }
  return true;
}

bool SharedMemory::beginCopy(int thread, const ClockVector &clock, int offset,
                             int bytes) {
  if (!inside(thread, offset, bytes))
    return false;
  for (int i = offset / 4; i * 4 < offset + bytes; ++i) {
    checkWrite(thread, clock, i);
    words[i].writer = Copying;
    words[i].writeClock = thread;
  }
  std::memset(data() + offset, 0xff, bytes);
  return true;
}

void SharedMemory::landCopy(int thread, const ClockVector &clock, int offset,
                            const void *source, int bytes, int copied) {
  std::memcpy(data() + offset, source, copied);
  std::memset(data() + offset + copied, 0, bytes - copied);
  for (int i = offset / 4; i * 4 < offset + bytes; ++i) {
    words[i].writer = thread;
    words[i].writeClock = clock[thread];
  }
}
