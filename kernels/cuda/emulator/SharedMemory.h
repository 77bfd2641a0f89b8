//===- SharedMemory.h - A block's memory, watched ---------------*- C++ -*-===//
//
// Every 32-bit word remembers who wrote it last, who read it since, and
// whether a copy to it is under way. An access that no barrier orders after a
// conflicting one is a race, whatever the schedule made of it.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_EMULATOR_SHAREDMEMORY_H
#define KV_KERNELS_CUDA_EMULATOR_SHAREDMEMORY_H

#include "Clocks.h"

#include <functional>
#include <memory>
#include <string>

namespace kv::cuda {

class SharedMemory {
public:
  using Report = std::function<void(std::string)>;

  /// NaN everywhere, nothing written.
  void reset(int bytes, int threads, Report report);

  /// [offset, offset + bytes) by `thread`; false when out of bounds.
  bool read(int thread, const ClockVector &clock, int offset, int bytes);
  bool write(int thread, const ClockVector &clock, int offset, int bytes);
  /// An asynchronous copy begins: until it lands nobody may touch the bytes,
  /// and they are NaN.
  bool beginCopy(int thread, const ClockVector &clock, int offset, int bytes);
  void landCopy(int thread, const ClockVector &clock, int offset,
                const void *source, int bytes, int copied);

  unsigned char *data() const {
    return reinterpret_cast<unsigned char *>(memory.get());
  }

private:
  static constexpr uint16_t Nobody = 0xffff, Many = 0xfffe, Copying = 0xfffd;
  struct Word {
    uint32_t writeClock = 0;
    uint32_t readClock = 0; // of one reader, or an index into `readers`
    uint16_t writer = Nobody;
    uint16_t reader = Nobody; // since the last write
  };

  bool inside(int thread, int offset, int bytes);
  void readWord(int thread, const ClockVector &clock, int word);
  void checkWrite(int thread, const ClockVector &clock, int word);
  void race(int thread, int word, const char *what, int other);

  std::unique_ptr<uint64_t[]> memory;
  int size = 0;
  int threads = 0;
  std::vector<Word> words;
  std::vector<ClockVector> readers;
  std::vector<uint32_t> freeReaders;
  Report report;
};

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_EMULATOR_SHAREDMEMORY_H
