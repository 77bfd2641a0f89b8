//===- DiskStore.h - Records on a disk --------------------------*- C++ -*-===//
//
// A bounded store of records in one directory:
//
//   lock          held as long as a process uses the directory
//   pages.bin     slots of equal size, a record each (RecordFormat.h)
//   index.mdb     which slot holds which record (RecordIndex.h)
//
// Threads read and write; who calls the store never waits for them, except in
// reset(). A process may end at any moment, between any two bytes: a record
// that is not whole, or not the one that was looked for, is dropped when it is
// read.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_TIERS_DISKSTORE_H
#define KV_RUNTIME_TIERS_DISKSTORE_H

#include "ChangeList.h"
#include "Recency.h"
#include "RecordFormat.h"
#include "RecordIndex.h"
#include "Waker.h"

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>
#include <unordered_map>

namespace kv {

/// The first bytes of a name are as good as any hash.
struct HashName {
  size_t operator()(const PrefixName &name) const {
    size_t hash;
    std::memcpy(&hash, name.data(), sizeof hash);
    return hash;
  }
};

class DiskStore {
public:
  /// `calls`, `metrics`, `waker`, which hears of what is over, and `told`
  /// outlive the store. Errors: those of PageConnector::open().
  static Expected<std::unique_ptr<DiskStore>>
  open(const PageConnector::Options &options, SystemCalls &calls,
       TierMetrics &metrics, Waker &waker, ChangeList &told);
  /// Ends reads and writes in flight; queued writes are still written.
  ~DiskStore();

  bool contains(const PrefixName &name) const { return slots.contains(name); }
  /// The names of whole records.
  template <class Visit> void visit(Visit &&visit) const {
    for (const auto &[name, slot] : slots)
      if (all[slot].isWhole)
        visit(name);
  }
  void touch(const PrefixName &name, uint8_t priority, int64_t until);

  /// Begins to write a record, evicting others. `page` and `data` stay as they
  /// are until take() has returned it. False: no slot can be evicted now.
  bool write(const OwnedPage &page, std::span<const std::byte> data,
             uint8_t priority, int64_t until, int32_t token);
  /// Begins to read the record of a page into `data`. False: there is none, or
  /// it is still being written.
  bool read(const OwnedPage &page, std::span<std::byte> data, int32_t token);

  /// A read or write that is over, with its caller's token.
  struct Finished {
    int32_t token;
    bool isRead, done;
  };
  /// Appends what is over since the last call.
  void take(std::vector<Finished> &finished);

  /// Forgets everything, for good. Error: the index could not be changed; then
  /// nothing is found any more, but may be by a later process, unless a later
  /// change of the index succeeds.
  Expected<void> reset();

  /// Nanoseconds since 1970: the clock of `until`.
  static int64_t now();

private:
  struct Job {
    bool isRead = false;
    int32_t token = 0, slot = 0;
    const OwnedPage *page = nullptr;
    std::span<std::byte> data = {};
    IndexedRecord record = {};              // of a write
    std::optional<PrefixName> evicted = {}; // that was in the slot
    uint64_t epoch = 0;
    bool done = false;
  };
  struct DiskSlot {
    PrefixName name;
    int32_t users = 0; // reads and writes in flight
    bool isUsed = false, isWhole = false;
  };
  /// A change of the index that came up in this epoch, of which reset() begins
  /// another: the generation of records.
  struct Change {
    RecordIndex::Change change;
    uint64_t epoch;
  };

  DiskStore(const PageConnector::Options &options, SystemCalls &calls,
            TierMetrics &metrics, Waker &waker, ChangeList &told);
  Expected<void> lockDirectory();
  /// Compares what the index says of the store, or writes it to a new one.
  Expected<void> adopt(const PageConnector::Options &options);
  Expected<void> openFile();
  Expected<void> readIndex();
  Expected<void> startThreads(int32_t count);

  int32_t takeSlot(std::optional<PrefixName> &evicted);
  void leave(DiskSlot &slot, int32_t index);
  void drop(int32_t slot);
  void tellIndex(const RecordIndex::Change &change);
  IndexedRecord recordOf(int32_t slot) const;
  void submit(Job job);

  /// Adds a change, under the mutex.
  void note(const Change &change);

  // By the threads.
  void work();
  bool read(const Job &job, RecordHeader &header);
  bool write(const Job &job, RecordHeader &header);
  void apply(std::span<const Change> changes);

  SystemCalls &calls;
  TierMetrics &metrics;
  Waker &waker;
  ChangeList &told;
  std::string directory;
  int lockFile = -1, file = -1;
  size_t headerBytes, slotBytes;
  int64_t numSlots;

  // Members that the caller's thread uses.
  std::unordered_map<PrefixName, int32_t, HashName> slots;
  std::vector<DiskSlot> all;
  std::vector<int32_t> unused;
  Recency recency;
  std::vector<Job> ended; // scratch of take()

  // Shared.
  std::mutex mutex; // of all below
  std::condition_variable more;
  std::deque<Job> reads, writes;
  std::vector<Job> finished;
  std::vector<Change> changes;
  std::chrono::steady_clock::time_point firstChange; // of `changes`
  bool isApplying = false, isEnding = false;

  std::mutex indexMutex; // of the three below
  std::optional<RecordIndex> index;
  bool isCleared = true; // false: the last reset() has failed
  std::atomic<uint64_t> epoch = 0;

  std::vector<std::thread> threads;
};

} // namespace kv

#endif // KV_RUNTIME_TIERS_DISKSTORE_H
