//===- DecodePeer.h - Records that a peer computes --------------*- C++ -*-===//
//
// Asks the peer for pages that the own records lack. find() collects the pages
// of a prompt, and the next poll() sends them as one question. Until the answer
// is there, the pages are Coming, then on a Disk. From there fetch() brings
// them into reserved slots of the own records, by a lease and a read. The pages
// are published when the peer has confirmed that the lease lasted until the
// read was over.
//
// No thread of its own, and nothing waits but open() and wait().
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_TRANSPORT_DECODEPEER_H
#define KV_RUNTIME_TRANSPORT_DECODEPEER_H

#include "Channel.h"
#include "Messages.h"
#include "PrefixNames.h"
#include "RecordConversion.h"
#include "Transport.h"

#include "kv/Runtime/Tiers/StateRecords.h"
#include "kv/Runtime/Transport/PeerConnector.h"

#include <list>

namespace kv {

class DecodePeer final : public PeerConnector {
public:
  /// `transport` is one that has added the slots. Errors: those of
  /// PeerConnector::open().
  static Expected<std::unique_ptr<DecodePeer>>
  open(const PageConnector::Options &slots,
       std::unique_ptr<PageConnector> records,
       std::unique_ptr<Transport> transport, const Options &options);
  /// Opens a peer by another channel than ZeroMQ.
  static Expected<std::unique_ptr<DecodePeer>>
  open(const PageConnector::Options &slots,
       std::unique_ptr<PageConnector> records,
       std::unique_ptr<Transport> transport, const Options &options,
       std::unique_ptr<Channel> channel);
  ~DecodePeer() override;

  PrefixName nameScope(std::span<const std::byte> scope) override;
  PrefixName namePage(const PrefixName &parent,
                      std::span<const std::byte> images,
                      std::span<const int32_t> tokens) override;
  Place find(const PrefixPage &page) override;
  void touch(const PrefixName &name, const RecordWorth &worth) override {
    records->touch(name, worth);
  }
  Slot acquire(const PrefixPage &page) override {
    return records->acquire(page);
  }
  void release(Slot slot) override { records->release(slot); }
  bool fetch(const PrefixPage &page) override;
  Slot reserve(const PrefixPage &page, const RecordWorth &worth) override {
    return records->reserve(page, worth);
  }
  void publish(Slot slot, bool written) override {
    records->publish(slot, written);
  }
  void poll() override;
  bool wait(std::chrono::nanoseconds most) override;
  Expected<void> reset() override;
  const TierMetrics &metrics() const override { return records->metrics(); }
  bool takeChanges(bool all, std::vector<TierChange> &changes) override {
    return records->takeChanges(all, changes);
  }

  const PeerMetrics &peerMetrics() const override { return figures; }

private:
  using Time = Channel::Time;

  /// A prompt that the peer is asked for.
  struct Question {
    uint64_t id = 0;
    PrefixNames::Prefix prefix;
    bool sent = false, final = false;
    int64_t have = 0;            // tokens that the peer has
    std::vector<int64_t> states; // pages after which it has a state
    Time changed;
  };
  struct Known {
    Question *question;
    int64_t index; // of the record, as peer::Lease counts
    bool isState = false;
  };
  /// A record on its way to a slot.
  struct Load {
    PrefixName name;
    Slot slot;
    uint64_t question;
    int64_t index;
    bool isState;
  };
  /// The pages of one lease. Its loads are consecutive pages.
  struct Transfer {
    enum class Stage : uint8_t { Leasing, Reading, Returning };
    uint64_t request = 0, generation = 0;
    uint64_t owner = 0; // incarnation of the peer that leases the pages
    Stage stage = Stage::Leasing;
    /// The pages are not wanted any more: the load goes on only so that its
    /// slots are not used too early.
    bool givenUp = false;
    bool failed = false; // Reading: what is left of it ends with its link
    std::vector<Load> loads;
    int64_t firstSource = 0, numSources = 0; // pages of the peer
    Transport::Peer link = -1;
    Transport::Read read = -1;
    Time deadline;
  };
  enum class Contact : uint8_t { Greeting, Connected, Refused };

  DecodePeer(const PageConnector::Options &slots,
             std::unique_ptr<PageConnector> records,
             std::unique_ptr<Transport> transport, const Options &options,
             std::unique_ptr<Channel> channel);
  Time now() const { return channel->now(); }

  // Contact (DecodeContact.cpp).
  Expected<void> greet();
  Expected<void> waitForContact();
  void receive();
  void handle(std::string_view frame);
  void handle(const peer::Welcome &welcome);
  void handle(const peer::Have &have);
  void handle(const peer::Leased &leased);
  void handle(const peer::Returned &returned);
  template <class Message> bool send(const Message &message);
  void watch();
  void lose(std::string_view why);
  void note(std::string_view sentence) const {
    if (options.note)
      options.note(sentence);
  }
  bool expectsAnswer() const;

  // Questions.
  Question *ask(const PrefixPage &page);
  Question *askAnew(const PrefixName &name, const PrefixName &scope);
  Place findState(const PrefixPage &part);
  std::optional<Known> locate(const PrefixPage &page) const;
  bool has(const Known &record) const;
  void forget(std::list<Question>::iterator question);
  void forgetQuestions();
  void giveUp(uint64_t question, int64_t index);

  // Transfers.
  void flush();
  int64_t leaseBytes() const;
  bool begin(Transfer &transfer, const peer::Leased &leased);
  bool advance(Transfer &transfer);
  void finish(Transfer &transfer, bool valid);
  void drop(Load &load);
  void giveUp(Transfer &transfer);
  void closeLinks();

  const PageConnector::Options slots;
  const Options options;
  const PageType type;
  const int64_t stateParts;
  PeerMetrics figures;
  std::vector<std::byte> staging; // records of the peer, to be converted
  const Transfer *usesStaging = nullptr;
  std::unique_ptr<PageConnector> records;
  std::unique_ptr<Transport> transport;

  std::unique_ptr<Channel> channel;
  Contact contact = Contact::Greeting;
  std::string refusal;
  bool everConnected = false;
  uint64_t incarnation = 0;
  Transport::Peer link = -1;
  std::vector<Transport::Peer> oldLinks; // to be closed
  std::optional<RecordConversion> conversion;
  std::chrono::milliseconds leaseTime = {};
  Time greeted, pinged;
  std::optional<Time> unanswered; // since when

  PrefixNames names;
  std::list<Question> questions; // by age
  std::unordered_map<PrefixName, Known, HashPrefixName> known;
  std::unordered_map<PrefixName, uint64_t, HashPrefixName> loading;
  std::vector<Load> queued;
  std::list<Transfer> transfers;
  uint64_t lastId = 0;
  bool progress = false; // something has come since wait() looked
};

} // namespace kv

#endif // KV_RUNTIME_TRANSPORT_DECODEPEER_H
