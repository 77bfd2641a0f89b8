//===- OrderedWords.h - Who touched a word, by clocks -----------*- C++ -*-===//
//
// SharedMemory's watch for blocks whose threads do not all meet: every 32-bit
// word of shared memory remembers by whom and when it was written, and all
// readers since that no other reader came after. An access that its thread's
// clock does not order after a conflicting one is a race, whatever the schedule
// made of it.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_EMULATOR_BASE_ORDEREDWORDS_H
#define KV_KERNELS_EMULATOR_BASE_ORDEREDWORDS_H

#include "ThreadClocks.h"

#include <functional>

namespace kv::cuda {

class OrderedWords {
public:
  using Report = std::function<void(std::string)>;

  OrderedWords(ThreadClocks &clocks, Report report)
      : clocks(clocks), report(std::move(report)) {}

  void reset(int bytes);

  // Bytes [offset, offset + bytes), which lie in shared memory.

  /// A thread's loads and stores.
  void read(int thread, int offset, int bytes);
  void write(int thread, int offset, int bytes);
  /// A thread's copy, which counts as its store once it has landed.
  void beginCopy(int thread, int offset, int bytes);
  void landCopy(int thread, int offset, int bytes);
  /// A box that a thread asks for, and that lands with a barrier's phase.
  void beginBox(int thread, int offset, int bytes);
  void landBox(int barrierActor, Moment phase, int offset, int bytes);
  /// An mbarrier that a thread initialises, and that nothing else may touch.
  void makeBarrier(int thread, int offset, int bytes);
  /// Memory again, which the thread wrote.
  void dropBarrier(int thread, int offset, int bytes);
  /// A box that a thread asks to be stored, which reads past the fence.
  void readByBox(int thread, int offset, int bytes);
  /// The word at `offset` by a product of a warpgroup, of whose threads all
  /// know `known`. False when it does not see what it should.
  bool readByProduct(const Knowledge &known, int groupActor, Moment product,
                     int offset);

private:
  enum class Kind : uint8_t {
    Unwritten,
    Stored,
    Copying, // a thread's copy is in flight
    Boxing,  // a box
    Boxed,
    Barrier
  };
  struct Reader {
    int actor;
    Moment moment;
  };
  struct Word {
    Kind kind = Kind::Unwritten;
    // the thread; for a box in flight, the one that asked for it
    int writer = 0;
    Moment written = 0;
    std::vector<Reader> readers; // since then
  };

  std::string actorName(int actor) const;
  bool race(int actor, const char *what, int other, int word);
  /// Whether an actor, who knows `known`, may read the word.
  bool checkRead(int actor, const Knowledge &known, int word, bool box);
  /// Whether a thread may write it, itself or by a box.
  bool checkWrite(int thread, int word, bool box);
  void addReader(const Knowledge &known, Word &word, int actor, Moment moment);
  void readAll(int thread, int offset, int bytes, bool box);
  /// Makes words a thread's, of some kind; what was wrong is reported once.
  void writeAll(int thread, int offset, int bytes, Kind kind);

  ThreadClocks &clocks;
  Report report;
  std::vector<Word> words;
};

} // namespace kv::cuda

#endif // KV_KERNELS_EMULATOR_BASE_ORDEREDWORDS_H
