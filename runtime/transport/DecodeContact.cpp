//===- DecodeContact.cpp - A decoding peer's way to the other one ---------===//

#include "DecodePeer.h"

#include "kv/Runtime/Manager/PoolLayout.h"

#include <utility>

using namespace kv;
using namespace kv::peer;

/// Until a connection stands, nothing can be sent.
static constexpr auto GreetingPause = std::chrono::milliseconds(20);
/// Records that are converted at a time, in bytes, but at least what a page
/// needs.
static constexpr int64_t StagingBytes = int64_t(64) << 20;

DecodePeer::DecodePeer(const PageConnector::Options &slots,
                       std::unique_ptr<PageConnector> records,
                       std::unique_ptr<Transport> transport,
                       const Options &options, std::unique_ptr<Channel> channel)
    : slots(slots), options(options),
      type(PageType::of(options.cache, options.model)),
      stateParts(PoolLayout::of(options.cache).stateParts()),
      records(std::move(records)), transport(std::move(transport)),
      channel(std::move(channel)), names(size_t(1) << 16) {}

Expected<std::unique_ptr<DecodePeer>>
DecodePeer::open(const PageConnector::Options &slots,
                 std::unique_ptr<PageConnector> records,
                 std::unique_ptr<Transport> transport, const Options &options) {
  return open(slots, std::move(records), std::move(transport), options,
              Channel::zeromq(options.endpoint, /*listens=*/false));
}

Expected<std::unique_ptr<DecodePeer>>
DecodePeer::open(const PageConnector::Options &slots,
                 std::unique_ptr<PageConnector> records,
                 std::unique_ptr<Transport> transport, const Options &options,
                 std::unique_ptr<Channel> channel) {
  std::unique_ptr<DecodePeer> made(new DecodePeer(slots, std::move(records),
                                                  std::move(transport), options,
                                                  std::move(channel)));
  if (Expected<void> greeted = made->greet(); !greeted)
    return std::unexpected(greeted.error());
  if (Expected<void> contact = made->waitForContact(); !contact)
    return std::unexpected(contact.error());
  return made;
}

DecodePeer::~DecodePeer() {
  transport.reset(); // nothing is written to the slots any more
  for (Transfer &transfer : transfers)
    for (Load &load : transfer.loads)
      records->publish(load.slot, /*written=*/false);
  for (Load &load : queued)
    records->publish(load.slot, /*written=*/false);
}

/// Anew, so that no answer to an earlier greeting is heard.
Expected<void> DecodePeer::greet() {
  greeted = now();
  if (Expected<void> opened = channel->open(); !opened)
    return opened;
  contact = Contact::Greeting;
  unanswered.reset();
  return {};
}

Expected<void> DecodePeer::waitForContact() {
  Time until = now() + options.connect;
  while (contact == Contact::Greeting && now() < until) {
    channel->wait(GreetingPause);
    receive();
    watch();
  }
  if (contact == Contact::Refused)
    return makeError(KV_STATUS_INVALID_ARGUMENT, "peers: the one at ",
                     options.endpoint, " has other pages: ", refusal);
  if (contact == Contact::Greeting)
    note(concat("no peer answers at ", options.endpoint,
                ": prompts are computed here until one does"));
  return {};
}

template <class Message> bool DecodePeer::send(const Message &message) {
  msgpack::sbuffer buffer = encode(message);
  bool sent = channel->send({}, {buffer.data(), buffer.size()});
  if (!unanswered)
    unanswered = now();
  return sent;
}
template bool DecodePeer::send(const Ask &);
template bool DecodePeer::send(const Lease &);
template bool DecodePeer::send(const Return &);

void DecodePeer::receive() {
  std::string from, frame;
  while (channel->receive(from, frame)) {
    unanswered.reset();
    handle(frame);
  }
}

void DecodePeer::handle(std::string_view frame) {
  Received received(frame);
  if (contact == Contact::Connected) {
    if (auto have = received.as<Have>())
      return handle(*have);
    if (auto leased = received.as<Leased>())
      return handle(*leased);
    if (auto returned = received.as<Returned>())
      return handle(*returned);
    if (received.as<Stranger>())
      lose("has started anew");
    return;
  }
  if (auto welcome = received.as<Welcome>())
    return handle(*welcome);
  if (auto refused = received.as<Refusal>()) {
    contact = Contact::Refused;
    if (everConnected && refusal.empty())
      note(concat("the peer at ", options.endpoint,
                  " has other pages now: ", refused->sentence));
    refusal = refused->sentence;
  }
}

void DecodePeer::handle(const Welcome &welcome) {
  Expected<MultiKVCacheParams> theirs = welcome.type.params();
  if (!theirs || welcome.type.digest() != type.digest())
    return; // what it has said to others
  RecordConversion wanted(*theirs, options.cache);
  if (!wanted.isIdentity()) {
    // The bytes that one page needs, and more if these are few.
    int64_t page = slots.pageSize, source = wanted.sourcePage();
    int64_t least = (page + source - 1) / source + 1;
    int64_t count = std::max(least, StagingBytes / wanted.sourceBytes());
    auto bytes = static_cast<size_t>(count * wanted.sourceBytes());
    if (staging.size() < bytes) {
      if (usesStaging)
        return; // asked again when its link is closed
      staging = std::vector<std::byte>(bytes);
      if (!transport->add(staging))
        return;
    }
  }
  Expected<Transport::Peer> connected = transport->connect(welcome.address);
  if (!connected) {
    if (std::exchange(refusal, connected.error().message).empty())
      note(concat("the peer at ", options.endpoint,
                  " cannot be read from: ", refusal));
    return;
  }
  if (everConnected)
    note(concat("the peer at ", options.endpoint, " answers again"));
  everConnected = true;
  refusal.clear();
  conversion = std::move(wanted);
  link = *connected;
  incarnation = welcome.incarnation;
  leaseTime = std::chrono::milliseconds(
      std::clamp<int64_t>(welcome.leaseMilliseconds, 1, 3'600'000));
  contact = Contact::Connected;
}

bool DecodePeer::expectsAnswer() const {
  for (const Question &question : questions)
    if (question.sent && !question.final)
      return true;
  for (const Transfer &transfer : transfers)
    if (transfer.stage != Transfer::Stage::Reading)
      return true;
  return false;
}

/// Says Hello until somebody answers; afterwards, asks for a sign of life while
/// an answer is awaited.
void DecodePeer::watch() {
  Time now = this->now();
  if (contact == Contact::Connected) {
    if (!expectsAnswer()) {
      unanswered.reset();
    } else if (unanswered && now - *unanswered > options.answer) {
      lose("does not answer");
    } else if (now - pinged > options.answer / 4) {
      pinged = now;
      (void)send(Ping{incarnation});
    }
    return;
  }
  // A socket that has said Hello, or was refused, says nothing more.
  if (now - greeted > options.answer)
    (void)greet();
  if (!unanswered && contact == Contact::Greeting &&
      !send(Hello{ProtocolVersion, type.digest(), type}))
    unanswered.reset(); // there is no connection yet
}

/// The pages that the peer was asked for will not come.
void DecodePeer::lose(std::string_view why) {
  note(concat("the peer at ", options.endpoint, " ", why,
              ": prompts are computed here"));
  oldLinks.push_back(link);
  link = -1;
  forgetQuestions();
  for (Transfer &transfer : transfers)
    giveUp(transfer);
  std::erase_if(transfers, [&](Transfer &transfer) {
    if (transfer.stage == Transfer::Stage::Reading)
      return false;
    for (Load &load : transfer.loads)
      drop(load);
    if (usesStaging == &transfer)
      usesStaging = nullptr;
    return true;
  });
  progress = true;
  contact = Contact::Greeting;
  (void)greet();
}
