//===- SharedMemory.h - A block's memory, watched ---------------*- C++ -*-===//
//
// Every 32-bit word remembers who wrote it last, who read it since, and whether
// a copy to it is in flight. An access that no barrier orders after a
// conflicting one is a race, whatever the schedule made of it.
//
// Nothing but a barrier of the whole block orders accesses of two threads to
// shared memory. So two accesses of different threads are ordered if there was
// a barrier between them. Since the last barrier, two readers of a word are
// enough to know: a writer conflicts with one of them or with none.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_EMULATOR_BASE_SHAREDMEMORY_H
#define KV_KERNELS_EMULATOR_BASE_SHAREDMEMORY_H

#include "Clocks.h"

#include <functional>
#include <memory>
#include <string>

namespace kv::cuda {

class SharedMemory {
public:
  using Report = std::function<void(std::string)>;

  /// NaN everywhere, nothing written. The block begins at `now`, which is later
  /// than all that earlier blocks did.
  void reset(int bytes, Moment now, Report report);
  /// All threads met.
  void barrier(Moment now) { phase = now; }

  /// [offset, offset + bytes) by `thread`, 1, 2, 4, 8 or 16 bytes; false when
  /// out of bounds or not aligned.
  bool read(int thread, int offset, int bytes);
  bool write(int thread, int offset, int bytes);
  /// An asynchronous copy begins: until it lands no thread may touch the bytes,
  /// and they are NaN.
  bool beginCopy(int thread, int offset, int bytes);
  /// A copy lands; without a source it is of zeros.
  void landCopy(int thread, int offset, const void *source, int bytes);

  /// Whether the bytes are there and aligned; says so, if not.
  bool contains(int thread, int offset, int bytes);

  unsigned char *data() const {
    return reinterpret_cast<unsigned char *>(memory.get());
  }

private:
  static constexpr uint16_t Nobody = 0xffff;
  /// Phases are those of the last write and of the last read after it.
  struct Word {
    Moment writePhase = 0, readPhase = 0;
    uint16_t writer = Nobody;
    uint16_t reader = Nobody, otherReader = Nobody; // in that phase
    bool copying = false; // the writer's copy is in flight
  };

  bool inside(int thread, int offset, int bytes);
  void outside(int thread, int offset, int bytes);
  void checkRead(int thread, int word);
  void checkWrite(int thread, int word);
  void setWriter(int thread, int word, bool copying);
  void race(int thread, int word, const char *what, int other);

  std::unique_ptr<uint64_t[]> memory;
  int size = 0, capacity = 0;
  Moment blockBegin = 0, phase = 0;
  std::vector<Word> words;
  Report report;
};

} // namespace kv::cuda

#endif // KV_KERNELS_EMULATOR_BASE_SHAREDMEMORY_H
