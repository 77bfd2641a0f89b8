//===- PrefillAnswers.cpp - Records that peers may read: the peers' side --===//

#include "PrefillPeer.h"

#include "runtime/events/BlockSignals.h"

#include <algorithm>
#include <cstring>
#include <unistd.h>
#include <utility>

using namespace kv;
using namespace kv::peer;

/// Limits for all peers together, so that a peer that keeps asking costs no
/// more memory.
static constexpr size_t MostQuestions = 1024, MostPrompts = 1024,
                        MostWishes = 256;
static constexpr int64_t MostLeasedPages = 1 << 16;
/// The age at which a question with a final answer is forgotten.
static constexpr auto QuestionAge = std::chrono::seconds(60);
/// How often the disk is looked at for a lease that waits for it.
static constexpr auto DiskPause = std::chrono::milliseconds(2);

void PrefillPeer::run(const std::stop_token &stop) {
  blockSignals();
  while (!stop.stop_requested()) {
    channel->wait(mostPause());
    turn();
  }
}

std::chrono::milliseconds PrefillPeer::mostPause() {
  using std::chrono::milliseconds;
  if (!wishes.empty())
    return DiskPause;
  std::lock_guard guard(lock);
  auto left = leases.next() - channel->now();
  return std::clamp(std::chrono::ceil<milliseconds>(left), milliseconds(1),
                    milliseconds(500));
}

void PrefillPeer::turn() {
  std::string from, frame;
  while (channel->receive(from, frame))
    handle(from, frame);
  expire();
  std::vector<uint64_t> over;
  bool moved = false;
  {
    std::lock_guard guard(lock);
    over.swap(done);
    moved = std::exchange(changed, false);
    interested = std::ranges::any_of(
        questions, [](const Question &one) { return !one.final; });
    if (!wishes.empty())
      records->poll();
  }
  for (Question &question : questions)
    if (!question.final) {
      bool ends = std::ranges::find(over, question.prompt) != over.end();
      question.final = ends;
      if (ends || moved)
        look(question, /*tells=*/true);
    }
  std::erase_if(wishes, [&](const Wish &wish) { return grant(wish); });
  std::erase_if(questions, [&](const Question &one) {
    return one.final && channel->now() - one.changed > QuestionAge;
  });
  figures.openAsks = static_cast<int32_t>(questions.size());
}

template <class Message>
void PrefillPeer::send(const std::string &peer, const Message &message) {
  msgpack::sbuffer buffer = encode(message);
  (void)channel->send(peer, {buffer.data(), buffer.size()});
}

void PrefillPeer::handle(const std::string &peer, std::string_view frame) {
  Received received(frame);
  // A message for another process that had this endpoint before has no effect.
  auto forUs = [&](const auto &message) {
    if (message && message->incarnation != incarnation)
      send(peer, Stranger());
    return message && message->incarnation == incarnation;
  };
  if (auto hello = received.as<Hello>())
    return answer(peer, *hello);
  if (auto ask = received.as<Ask>(); forUs(ask))
    return answer(peer, std::move(*ask));
  if (auto lease = received.as<Lease>(); forUs(lease)) {
    Wish wish = {peer, *lease, channel->now() + options.lease};
    if (!grant(wish) && wishes.size() < MostWishes)
      wishes.push_back(std::move(wish));
    return;
  }
  if (auto back = received.as<Return>(); forUs(back))
    return answer(peer, *back);
  if (auto ping = received.as<Ping>(); forUs(ping))
    send(peer, Pong());
}

void PrefillPeer::answer(const std::string &peer, const Hello &hello) {
  auto refuse = [&](const auto &...parts) {
    send(peer, Refusal{concat(parts...)});
  };
  if (hello.version != ProtocolVersion)
    return refuse("the protocol is version ", ProtocolVersion,
                  " on the prefilling side and ", hello.version,
                  " on the decoding side");
  if (Expected<MultiKVCacheParams> valid = hello.type.params(); !valid)
    return refuse("the peer's collections are not valid: ",
                  valid.error().message);
  if (hello.digest != type.digest() || hello.type.digest() != type.digest())
    return refuse(type.difference(hello.type));
  send(peer, Welcome{incarnation, type, options.lease.count(), address});
}

/// The fields of a scope, as ScopeBytes frames them. False: it is something
/// else.
static bool
parseScope(std::string_view bytes,
           std::initializer_list<std::optional<std::string> *> fields) {
  for (std::optional<std::string> *field : fields) {
    if (bytes.empty())
      return false;
    bool present = bytes[0] != 0;
    bytes.remove_prefix(1);
    uint64_t size;
    if (!present)
      continue;
    if (bytes.size() < sizeof size)
      return false;
    std::memcpy(&size, bytes.data(), sizeof size);
    bytes.remove_prefix(sizeof size);
    if (bytes.size() < size)
      return false;
    *field = std::string(bytes.substr(0, size));
    bytes.remove_prefix(size);
  }
  return bytes.empty();
}

void PrefillPeer::answer(const std::string &peer, Ask ask) {
  ++figures.asks;
  std::erase_if(questions, [&](const Question &one) {
    return one.peer == peer && one.ask == ask.ask;
  });
  while (questions.size() >= MostQuestions)
    questions.pop_front();
  Question question;
  question.peer = peer;
  question.ask = ask.ask;
  question.changed = channel->now();
  WantedPrompt prompt;
  bool sound =
      parseScope(ask.scope, {&prompt.model, &prompt.adapter, &prompt.salt});
  int64_t pages = std::ssize(ask.tokens) / pageSize();
  if (sound) {
    std::span tokens(ask.tokens);
    std::lock_guard guard(lock);
    interested = true; // from before the look on
    question.scope =
        records->nameScope(std::as_bytes(std::span<const char>(ask.scope)));
    PrefixName name = question.scope;
    for (int64_t at = 0; at < pages; ++at) {
      name =
          records->namePage(name, {},
                            tokens.subspan(static_cast<size_t>(at * pageSize()),
                                           static_cast<size_t>(pageSize())));
      question.names.push_back(name);
      if (stateParts > 0)
        question.stateNames.push_back(records->namePage(
            name, StateMark(0).span(),
            tokens.subspan(static_cast<size_t>(at * pageSize()),
                           static_cast<size_t>(pageSize()))));
    }
  }
  question.tokens = std::move(ask.tokens);
  look(question, /*tells=*/false);
  question.final = isWhole(question) || !options.computes;
  if (!question.final) {
    std::lock_guard guard(lock);
    if (wanted.size() < MostPrompts) {
      prompt.id = question.prompt = ++lastPrompt;
      prompt.tokens = question.tokens;
      wanted.push_back(std::move(prompt));
      uint64_t one = 1;
      (void)!::write(promptEvent, &one, sizeof one);
    } else {
      question.final = true;
    }
  }
  send(peer, Have{question.ask, question.pages * pageSize(), question.final,
                  question.states});
  questions.push_back(std::move(question));
}

bool PrefillPeer::isWhole(const Question &question) const {
  int64_t pages = std::ssize(question.names);
  bool hasState =
      stateParts == 0 || pages == 0 ||
      std::ranges::find(question.states, pages) != question.states.end();
  return question.pages == pages && hasState;
}

PrefixPage PrefillPeer::recordOf(const Question &question, int64_t index) {
  int64_t pages = std::ssize(question.names);
  bool isPage = index < pages;
  int64_t page = isPage ? index : (index - pages) / stateParts;
  PrefixPage record = {
      .name = question.names[page],
      .parent = page > 0 ? question.names[page - 1] : question.scope,
      .scope = question.scope,
      .tokens = std::span(question.tokens)
                    .subspan(static_cast<size_t>(page * pageSize()),
                             static_cast<size_t>(pageSize()))};
  if (isPage)
    return record;
  auto part = static_cast<int32_t>((index - pages) % stateParts);
  mark = StateMark(part);
  record.images = mark.span();
  record.parent = record.name;
  record.name = part == 0 ? question.stateNames[page]
                          : records->namePage(record.parent, record.images,
                                              record.tokens);
  return record;
}

/// Counts the leading pages that there are by now, and looks for states.
void PrefillPeer::look(Question &question, bool tells) {
  int64_t before = question.pages, pages = std::ssize(question.names);
  std::vector<int64_t> states;
  {
    std::lock_guard guard(lock);
    auto isThere = [&](int64_t index) {
      // Whether a store has it is known when the prompt has been looked at.
      Place place = records->find(recordOf(question, index));
      return place != Place::Absent && place != Place::Asked;
    };
    while (question.pages < pages && isThere(question.pages))
      ++question.pages;
    for (int64_t page = 0; page < question.pages && stateParts > 0; ++page) {
      int64_t first = pages + page * stateParts, part = 0;
      while (part < stateParts && isThere(first + part))
        ++part;
      if (part == stateParts)
        states.push_back(page + 1);
    }
  }
  bool hasMore = question.pages > before || states != question.states;
  question.states = std::move(states);
  question.final |= isWhole(question);
  question.changed = channel->now();
  if (tells && (hasMore || question.final))
    send(question.peer, Have{question.ask, question.pages * pageSize(),
                             question.final, question.states});
}

bool PrefillPeer::grant(const Wish &wish) {
  const Lease &lease = wish.lease;
  Leased leased;
  leased.request = lease.request;
  auto question = std::ranges::find_if(questions, [&](const Question &one) {
    return one.peer == wish.peer && one.ask == lease.ask;
  });
  if (question == questions.end() || lease.first < 0 ||
      lease.end > std::ssize(question->names) * (1 + stateParts) ||
      lease.first >= lease.end || lease.end - lease.first > MostLeasedPages) {
    send(wish.peer, leased);
    return true;
  }
  question->changed = channel->now();
  {
    std::lock_guard guard(lock);
    // Peers hold at most half of the slots, so that prompts can still be
    // computed. No more is asked for either: it would drive out leased records.
    int64_t most = std::max(slots.numSlots / 2, 1);
    int64_t room = most - static_cast<int64_t>(leases.numSlots());
    int64_t end = std::min(lease.end, lease.first + room);
    if (channel->now() < wish.until) {
      bool comes = false;
      for (int64_t at = lease.first; at < end; ++at) {
        PrefixPage page = recordOf(*question, at);
        Place place = records->find(page);
        bool isBehind = place == Place::Disk || place == Place::Store;
        comes |= place == Place::Coming || (isBehind && records->fetch(page));
      }
      if (comes)
        return false;
    }
    LeaseTable::Slots taken;
    for (int64_t at = lease.first; at < end; ++at) {
      Slot slot = records->acquire(recordOf(*question, at));
      if (!slot)
        break;
      taken.push_back(slot);
      leased.addresses.push_back(reinterpret_cast<uint64_t>(slot.data));
    }
    if (room <= 0 && channel->now() < wish.until)
      return false; // until another lease is over
    if (!taken.empty()) {
      leased.generation =
          leases.grant(std::move(taken), channel->now() + options.lease);
      ++figures.grantedLeases;
    }
    figures.openLeases = static_cast<int32_t>(leases.size());
  }
  send(wish.peer, leased);
  return true;
}

void PrefillPeer::answer(const std::string &peer, const Return &back) {
  LeaseTable::Ended ended;
  {
    std::lock_guard guard(lock);
    ended = leases.take(back.generation, channel->now());
    for (Slot slot : ended.slots)
      records->release(slot);
    figures.openLeases = static_cast<int32_t>(leases.size());
  }
  ++(ended.inTime ? figures.returnedLeases : figures.refusedReturns);
  send(peer, Returned{back.request, ended.inTime});
}

void PrefillPeer::expire() {
  std::lock_guard guard(lock);
  for (;;) {
    LeaseTable::Slots slots = leases.expire(channel->now());
    if (slots.empty())
      break;
    for (Slot slot : slots)
      records->release(slot);
    ++figures.expiredLeases;
  }
  figures.openLeases = static_cast<int32_t>(leases.size());
}
