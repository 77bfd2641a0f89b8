//===- SharedMemory.cpp - A block's memory, watched -----------------------===//

#include "SharedMemory.h"

#include <cstring>

using namespace kv::cuda;

void SharedMemory::reset(int bytes, Moment now, Report newReport) {
  report = std::move(newReport);
  int rounded = (bytes + 127) / 128 * 128;
  if (rounded > capacity || !memory) {
    memory = std::make_unique_for_overwrite<uint64_t[]>(rounded / 8 + 16);
    words.assign(rounded / 4, Word());
    capacity = rounded;
  }
  size = bytes;
  std::memset(data(), 0xff, bytes);
  blockBegin = phase = now;
}

inline bool SharedMemory::inside(int thread, int offset, int bytes) {
  if (offset >= 0 && offset + bytes <= size && (offset & (bytes - 1)) == 0)
      [[likely]]
    return true;
  outside(thread, offset, bytes);
  return false;
}

bool SharedMemory::contains(int thread, int offset, int bytes) {
  if (offset >= 0 && offset + bytes <= size &&
      offset % std::min(bytes & -bytes, 16) == 0)
    return true;
  outside(thread, offset, bytes);
  return false;
}

void SharedMemory::outside(int thread, int offset, int bytes) {
  report("thread " + std::to_string(thread) +
         " leaves shared memory: " + std::to_string(bytes) + " bytes at " +
         std::to_string(offset) + " of " + std::to_string(size));
}

void SharedMemory::race(int thread, int word, const char *what, int other) {
  report("race: thread " + std::to_string(thread) + " " + what + " thread " +
         std::to_string(other) + " at byte " + std::to_string(word * 4) +
         " of shared memory");
}

inline void SharedMemory::checkRead(int thread, int index) {
  Word &word = words[index];
  if (word.writePhase < blockBegin) [[unlikely]]
    return report("thread " + std::to_string(thread) +
                  " reads what nobody wrote at byte " +
                  std::to_string(index * 4) + " of shared memory");
  if (word.copying) [[unlikely]]
    return race(thread, index, "reads under the copy of", word.writer);
  if (word.writePhase == phase && word.writer != thread) [[unlikely]]
    race(thread, index, "reads unordered with the write of", word.writer);
  if (word.readPhase != phase) {
    word.readPhase = phase;
    word.reader = thread;
    word.otherReader = Nobody;
  } else if (word.reader != thread && word.otherReader == Nobody) {
    word.otherReader = thread;
  }
}

inline void SharedMemory::checkWrite(int thread, int index) {
  Word &word = words[index];
  if (word.copying && word.writePhase >= blockBegin) [[unlikely]]
    race(thread, index, "writes under the copy of", word.writer);
  else if (word.writePhase == phase && word.writer != thread) [[unlikely]]
    race(thread, index, "writes unordered with the write of", word.writer);
  if (word.readPhase == phase) {
    int other = word.reader != thread ? word.reader : word.otherReader;
    if (other != Nobody) [[unlikely]]
      race(thread, index, "writes unordered with the read of", other);
    word.readPhase = 0;
  }
}

inline void SharedMemory::setWriter(int thread, int index, bool copying) {
  Word &word = words[index];
  word.writePhase = phase;
  word.writer = thread;
  word.copying = copying;
}

bool SharedMemory::read(int thread, int offset, int bytes) {
  if (!inside(thread, offset, bytes))
    return false;
  for (int i = offset / 4; i * 4 < offset + bytes; ++i)
    checkRead(thread, i);
  return true;
}

bool SharedMemory::write(int thread, int offset, int bytes) {
  if (!inside(thread, offset, bytes))
    return false;
  for (int i = offset / 4; i * 4 < offset + bytes; ++i) {
    checkWrite(thread, i);
    setWriter(thread, i, false);
  }
  return true;
}

bool SharedMemory::beginCopy(int thread, int offset, int bytes) {
  if (!inside(thread, offset, bytes))
    return false;
  for (int i = offset / 4; i * 4 < offset + bytes; ++i) {
    checkWrite(thread, i);
    setWriter(thread, i, true);
  }
  std::memset(data() + offset, 0xff, bytes);
  return true;
}

void SharedMemory::landCopy(int thread, int offset, const void *source,
                            int bytes) {
  if (source)
    std::memcpy(data() + offset, source, bytes);
  else
    std::memset(data() + offset, 0, bytes);
  for (int i = offset / 4; i * 4 < offset + bytes; ++i)
    setWriter(thread, i, false);
}
