//===- PrefillPeer.h - Lets peers read records ------------------*- C++ -*-===//
//
// Two threads: the manager's, which calls the connector, and one that answers
// peers, also while a step runs. A lock is held during each use of the records,
// none of which waits (but for reset()).
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_TRANSPORT_PREFILLPEER_H
#define KV_RUNTIME_TRANSPORT_PREFILLPEER_H

#include "Channel.h"
#include "LeaseTable.h"
#include "Messages.h"
#include "Transport.h"

#include "kv/Runtime/Tiers/StateRecords.h"
#include "kv/Runtime/Transport/PeerConnector.h"

#include <deque>
#include <list>
#include <mutex>
#include <thread>

namespace kv {

class PrefillPeer final : public PeerConnector {
public:
  /// `transport` is one that has added the slots. Errors: those of
  /// PeerConnector::open().
  static Expected<std::unique_ptr<PrefillPeer>>
  open(const PageConnector::Options &slots,
       std::unique_ptr<PageConnector> records,
       std::unique_ptr<Transport> transport, const Options &options);
  /// Opens a peer without a thread: the owner of the channel calls turn().
  static Expected<std::unique_ptr<PrefillPeer>>
  open(const PageConnector::Options &slots,
       std::unique_ptr<PageConnector> records,
       std::unique_ptr<Transport> transport, const Options &options,
       std::unique_ptr<Channel> channel);
  ~PrefillPeer() override;

  PrefixName nameScope(std::span<const std::byte> scope) override;
  PrefixName namePage(const PrefixName &parent,
                      std::span<const std::byte> images,
                      std::span<const int32_t> tokens) override;
  Place find(const PrefixPage &page) override;
  void touch(const PrefixName &name, const RecordWorth &worth) override;
  Slot acquire(const PrefixPage &page) override;
  void release(Slot slot) override;
  bool fetch(const PrefixPage &page) override;
  Slot reserve(const PrefixPage &page, const RecordWorth &worth) override;
  void publish(Slot slot, bool written) override;
  void poll() override;
  bool wait(std::chrono::nanoseconds most) override;
  Expected<void> reset() override;
  const TierMetrics &metrics() const override { return records->metrics(); }
  bool takeChanges(bool all, std::vector<TierChange> &changes) override;

  const PeerMetrics &peerMetrics() const override { return figures; }
  int promptDescriptor() const override { return promptEvent; }
  std::optional<WantedPrompt> takePrompt() override;
  void promptDone(uint64_t id) override;

  /// Answers what has come. The thread calls it whenever it wakes.
  void turn();

private:
  using Clock = LeaseTable::Clock;

  /// A peer's question, kept until no one can be interested any more.
  struct Question {
    std::string peer; // its routing id
    uint64_t ask = 0;
    uint64_t prompt = 0; // its number as a WantedPrompt; 0: it is none
    PrefixName scope;
    std::vector<PrefixName> names;
    std::vector<int32_t> tokens;
    int64_t pages = 0; // leading ones that there have been
    /// Names of the first part of the state after each page; empty without
    /// states.
    std::vector<PrefixName> stateNames;
    std::vector<int64_t> states; // pages after which there is a state
    bool final = false;
    Clock::time_point changed;
  };
  /// A lease that waits for pages from the disk.
  struct Wish {
    std::string peer;
    peer::Lease lease;
    Clock::time_point until;
  };

  PrefillPeer(const PageConnector::Options &slots,
              std::unique_ptr<PageConnector> records,
              std::unique_ptr<Transport> transport, const Options &options,
              std::unique_ptr<Channel> channel);

  // The thread that answers.
  void run(const std::stop_token &stop);
  std::chrono::milliseconds mostPause();
  void handle(const std::string &peer, std::string_view frame);
  void answer(const std::string &peer, const peer::Hello &hello);
  void answer(const std::string &peer, peer::Ask ask);
  void answer(const std::string &peer, const peer::Return &back);
  /// Whether the wish is answered, by a lease or a refusal.
  bool grant(const Wish &wish);
  void look(Question &question, bool tells);
  void expire();
  bool isWhole(const Question &question) const;
  /// A record as peer::Lease counts them. Valid until the next call.
  PrefixPage recordOf(const Question &question, int64_t index);
  template <class Message>
  void send(const std::string &peer, const Message &message);
  int64_t pageSize() const { return slots.pageSize; }

  const PageConnector::Options slots;
  const Options options;
  const PageType type;
  const int64_t stateParts;
  const uint64_t incarnation;
  std::string address; // of the transport
  PeerMetrics figures;
  int promptEvent = -1;
  std::unique_ptr<Channel> channel;

  std::mutex lock; // guards what follows
  std::unique_ptr<PageConnector> records;
  LeaseTable leases;
  std::deque<WantedPrompt> wanted;
  std::vector<uint64_t> done; // prompts that are not computed any more
  bool changed = false;       // a record has been published
  bool interested = false;    // whether somebody waits for that

  // Members that the thread uses.
  std::list<Question> questions; // by age
  std::list<Wish> wishes;
  uint64_t lastPrompt = 0;
  StateMark mark{0}; // of recordOf()
  std::unique_ptr<Transport> transport;
  std::jthread thread;
};

} // namespace kv

#endif // KV_RUNTIME_TRANSPORT_PREFILLPEER_H
