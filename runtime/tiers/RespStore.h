//===- RespStore.h - Records in a store that machines share -----*- C++ -*-===//
//
// Records of a Redis or Valkey server, below host memory and disk. Its keys:
//
//   kv1:NAMESPACE:epoch   a random text, which reset() replaces
//   kv1:RECORDS:NAME      a record (RecordFormat.h)
//
// in hexadecimal: NAMESPACE is a digest of the geometry and the model, RECORDS
// one of the namespace and the epoch, half of which is the records' generation
// too, and NAME the name of the prefix. So a process with another geometry,
// model or epoch neither finds a record nor takes it for one of its own.
//
// Nothing is believed: a record is compared with all that was asked for, and
// whatever the server does or does not do costs misses. Threads talk to it;
// their calls end in time, and after one that failed nothing is asked for until
// the server answers again: it is tried by a thread, not by requests, at times
// that grow further apart.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_TIERS_RESPSTORE_H
#define KV_RUNTIME_TIERS_RESPSTORE_H

#include "DiskStore.h"
#include "RespConnection.h"
#include "Waker.h"

#include <random>
#include <set>

namespace kv {

class RespStore {
public:
  using Finished = DiskStore::Finished;

  /// `calls`, `metrics`, `waker` and `told` outlive the store. Errors: the
  /// address is none, or no thread can be started; a server that is not there
  /// is none.
  static Expected<std::unique_ptr<RespStore>>
  open(const PageConnector::Options &options, StoreCalls &calls,
       TierMetrics &metrics, Waker &waker, ChangeList &told);
  /// Ends calls in flight; queued writes are still written if there is time.
  ~RespStore();

  enum class Known : uint8_t { Absent, Asked, Present };
  /// The knowledge of a record. If there is none, or it is old, the record is
  /// asked for, with others, at the next flush().
  Known look(const PrefixName &name);
  /// Sends what is asked for.
  void flush();

  /// Begins to write a record. `page` and `data` stay as they are until take()
  /// has returned it. False: the store has it, is not there, or is too slow.
  bool write(const OwnedPage &page, std::span<const std::byte> data,
             int32_t token);
  /// Begins to read the record of a page into `data`. False: there is none.
  bool read(const OwnedPage &page, std::span<std::byte> data, int32_t token);

  /// Appends the reads and writes that are over since the last call. Returns
  /// whether there were any, or answers to what was asked.
  bool take(std::vector<Finished> &finished);
  /// Whether a job or a question is in flight.
  bool isBusy() const { return busy > 0; }

  /// Forgets everything, for all processes of the namespace. Error: the store
  /// could not be told in time; this process finds nothing until it has been.
  Expected<void> reset();

private:
  using Clock = std::chrono::steady_clock;
  using Outcome = RespConnection::Outcome;
  /// One epoch of the namespace.
  struct Epoch {
    std::string token, records; // `records`: what the keys begin with
    uint64_t generation = 0;
  };
  struct Job {
    bool isRead = false;
    int32_t token = 0;
    const OwnedPage *page = nullptr;
    std::span<std::byte> data = {};
    uint64_t round = 0; // of reset()
    bool done = false;
  };
  struct StoreQuestion {
    PrefixName name;
    uint64_t round = 0;
    bool isAnswered = false, isPresent = false;
  };
  /// The work that a thread does in one round trip.
  struct StoreBatch {
    std::vector<StoreQuestion> questions;
    std::vector<Job> jobs;
    std::shared_ptr<const Epoch> epoch;
    bool isWrong = false;   // the epoch is another one
    bool isRefused = false; // a write
    bool empty() const { return questions.empty() && jobs.empty(); }
  };
  struct StoreEntry {
    Known known = Known::Asked;
    bool isAsked = true;
    Clock::time_point until = {}; // when it is asked for again
  };

  RespStore(const PageConnector::Options &options, StoreAddress address,
            StoreCalls &calls, TierMetrics &metrics, Waker &waker,
            ChangeList &told);
  void ask(const PrefixName &name);
  void submit(Job job);

  // By the threads, RespThreads.cpp.
  using Lock = std::unique_lock<std::mutex>;
  void work(int index);
  void sleep(Lock &lock, Clock::time_point until);
  StoreBatch pick(int index);
  Outcome run(StoreBatch &batch, RespConnection &connection,
              RecordHeader &header);
  Outcome attempt(StoreBatch &batch, RespConnection &connection,
                  RecordHeader &header);
  class Incoming;
  void accept(StoreBatch &batch, size_t command, const RespReply &reply,
              Incoming &records);
  void finish(Lock &lock, StoreBatch &batch, Outcome outcome);
  void learn(Lock &lock, RespConnection &connection);
  std::optional<std::string> askEpoch(RespConnection &connection, bool &resets);
  static std::string hexOf(std::span<const std::byte> bytes);
  std::shared_ptr<const Epoch> epochOf(const std::string &token) const;
  void giveUp();
  void failQueued();
  std::string_view assemble(const Job &job, uint64_t generation,
                            RecordHeader &header,
                            std::vector<std::byte> &record) const;

  StoreAddress address;
  StoreCalls &calls;
  TierMetrics &metrics;
  Waker &waker;
  ChangeList &told;
  size_t headerBytes, recordBytes;
  int32_t mostWrites; // in flight, so that slots are left to others
  PrefixName nameSpace;
  std::string epochKey;

  // Members that the caller's thread uses.
  std::unordered_map<PrefixName, StoreEntry, HashName> entries;
  std::vector<StoreQuestion> asking;
  std::vector<Job> ended;              // scratch of take()
  std::vector<StoreQuestion> answered; // the same
  int64_t busy = 0;
  int32_t writing = 0;

  std::atomic<bool> isUp = true;            // or has not been tried yet
  std::atomic<Clock::rep> writesAgainAt{0}; // after a write was refused

  // Shared.
  std::mutex mutex; // of all below
  std::condition_variable more, wasReset;
  std::deque<StoreQuestion> questions;
  std::deque<Job> reads, writes;
  std::vector<Job> finished;
  std::vector<StoreQuestion> answers;
  std::shared_ptr<const Epoch> epoch; // null: to be learnt
  /// Epochs that reset() has ended: a server that falls back to one is not
  /// believed.
  std::set<std::string> retired;
  uint64_t round = 0;
  bool wantsReset = false, isEnding = false;
  Clock::time_point retryAt = {}, endBy = {};
  int failures = 0, refusals = 0; // one after the other
  int64_t losses = 0;             // of which metrics do not know yet
  std::minstd_rand random;

  std::vector<std::thread> threads;
};

} // namespace kv

#endif // KV_RUNTIME_TIERS_RESPSTORE_H
