//===- Follower.cpp - Keeps what a machine's events tell ------------------===//

#include "Follower.h"

#include "runtime/events/Endpoint.h"
#include "runtime/events/EventEncoder.h"

using namespace kv;

static constexpr size_t MostHeld = 10'000;

Follower::Follower(zmq::context_t &context, const Options &options,
                   PrefixRouter &router, PrefixRouter::Machine machine)
    : context(context), options(options), router(router), machine(machine),
      events(context, zmq::socket_type::sub) {
  router.setUsable(machine, false);
}

Expected<std::unique_ptr<Follower>>
Follower::open(zmq::context_t &context, const Options &options,
               PrefixRouter &router, PrefixRouter::Machine machine) {
  std::unique_ptr<Follower> made(
      new Follower(context, options, router, machine));
  for (const std::string &endpoint : {options.events, options.replay}) {
    zmq::socket_t probe(context, zmq::socket_type::dealer);
    probe.set(zmq::sockopt::linger, 0);
    if (Expected<void> done = attach(probe, endpoint, /*binds=*/false); !done)
      return makeError(done.error().code, "router: ", done.error().message);
  }
  made->events.set(zmq::sockopt::subscribe, options.topic);
  made->events.set(zmq::sockopt::rcvhwm, 100'000);
  made->events.set(zmq::sockopt::linger, 0);
  made->events.connect(options.events);
  made->ask(Asked::Snapshot);
  return made;
}

std::array<zmq::pollitem_t, 2> Follower::pollItems() {
  return {{{events, 0, ZMQ_POLLIN, 0}, {requests, 0, ZMQ_POLLIN, 0}}};
}

//===----------------------------------------------------------------------===//
// Questions and answers
//===----------------------------------------------------------------------===//

void Follower::ask(Asked what) {
  // A socket of its own: what answers an earlier question never comes here.
  requests = zmq::socket_t(context, zmq::socket_type::dealer);
  requests.set(zmq::sockopt::linger, 0);
  requests.connect(options.replay);
  std::string text = what == Asked::Status     ? "kv:status"
                     : what == Asked::Snapshot ? "kv:snapshot"
                                               : sequenceFrame(expected);
  requests.send(zmq::str_buffer(""), zmq::send_flags::sndmore);
  requests.send(zmq::buffer(text), zmq::send_flags::none);
  asked = what;
  askedAt = Clock::now();
  counted.replays += what == Asked::Replay;
  counted.snapshots += what == Asked::Snapshot;
  if (what != Asked::Snapshot)
    return;
  isKnown = false;
  // The answer has what has come before the question, unless that is of an
  // earlier process, whose numbers mean nothing any more.
  held.clear();
}

/// The number and the payload of a message; the topic is left out where the
/// publisher does.
static bool takeMessage(zmq::socket_t &socket, int64_t &number,
                        std::string &payload) {
  std::vector<std::string> frames;
  for (;;) {
    zmq::message_t frame;
    if (!socket.recv(frame, zmq::recv_flags::dontwait))
      return false;
    frames.push_back(frame.to_string());
    if (!frame.more())
      break;
  }
  number = INT64_MIN;
  if (frames.size() < 2 || frames[frames.size() - 2].size() != 8)
    return true;
  uint64_t bits = 0;
  for (unsigned char byte : frames[frames.size() - 2])
    bits = bits << 8 | byte;
  number = static_cast<int64_t>(bits);
  payload = std::move(frames.back());
  return true;
}

bool Follower::takeAnswers() {
  int64_t number = 0;
  std::string payload;
  bool any = false;
  while (asked && takeMessage(requests, number, payload)) {
    any = true;
    answer(number, payload);
  }
  return any;
}

void Follower::answer(int64_t number, const std::string &payload) {
  bool isEnd = number == -1;
  switch (*asked) {
  case Asked::Status: {
    Expected<PublisherStatus> status = decodeStatus(payload);
    asked.reset();
    // Messages that are on their way have come by the next time.
    if (!status || status->incarnation != incarnation)
      return ask(Asked::Snapshot);
    if (status->sequence >= expected && held.empty()) {
      ++counted.gaps;
      missing = status->sequence;
      return ask(Asked::Replay);
    }
    break;
  }
  case Asked::Replay:
    if (!isEnd && number == expected) {
      apply(payload);
      ++expected;
    }
    if (!isEnd)
      return;
    asked.reset();
    if (expected <= missing)
      return ask(Asked::Snapshot); // it is not kept any more
    break;
  case Asked::Snapshot:
    if (!isEnd) // begins with AllBlocksCleared
      return apply(payload);
    asked.reset();
    Expected<PublisherStatus> status = decodeStatus(payload);
    if (!status)
      return ask(Asked::Snapshot);
    incarnation = status->incarnation;
    expected = status->sequence + 1;
    isKnown = true;
    router.setUsable(machine, true);
    break;
  }
  applyHeld();
}

void Follower::applyHeld() {
  held.erase(held.begin(), held.lower_bound(expected));
  while (!held.empty() && !asked) {
    auto [number, payload] = std::move(*held.begin());
    held.erase(held.begin());
    receive(number, payload);
  }
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

bool Follower::takeEvents() {
  int64_t number = 0;
  std::string payload;
  bool any = false;
  while (takeMessage(events, number, payload)) {
    any = true;
    if (number < 0 || (options.loses && options.loses()))
      continue;
    ++counted.messages;
    receive(number, payload);
  }
  return any;
}

void Follower::receive(int64_t number, const std::string &payload) {
  // A status does not change what a message means; the others do.
  if (asked && *asked != Asked::Status) {
    if (held.size() < MostHeld)
      held[number] = payload;
    return;
  }
  if (number < expected) // known from an answer, or of another incarnation
    return check();
  if (number > expected) {
    ++counted.gaps;
    held[number] = payload;
    missing = number - 1;
    return ask(Asked::Replay);
  }
  apply(payload);
  ++expected;
}

void Follower::apply(const std::string &payload) {
  Expected<std::vector<RoutedEvent>> batch = decodeEvents(payload);
  if (!batch)
    return;
  for (const RoutedEvent &event : *batch) {
    if (event.tier != Tier::Device) {
      event.kind == RoutedEvent::Stored
          ? router.stored(machine, event.blocks, event.tier)
          : router.removed(machine, event.blocks, event.tier);
      continue;
    }
    if (event.isState)
      stateGroup = event.group;
    bool isState = event.group == stateGroup;
    // Of models with windows the pages of the first group are followed.
    if (event.kind != RoutedEvent::Cleared && event.group != 0 && !isState)
      continue;
    switch (event.kind) {
    case RoutedEvent::Stored:
      isState ? router.storedStates(machine, event.blocks)
              : router.stored(machine, event.blocks);
      break;
    case RoutedEvent::Removed:
      isState ? router.removedStates(machine, event.blocks)
              : router.removed(machine, event.blocks);
      break;
    case RoutedEvent::Cleared:
      router.cleared(machine);
      break;
    }
  }
}

/// The machine does not answer: no request is sent there until it does.
void Follower::forget() {
  ++counted.unanswered;
  router.setUsable(machine, false);
  router.cleared(machine);
  ask(Asked::Snapshot);
}

bool Follower::step() {
  bool any = takeEvents();
  any |= takeAnswers();
  Clock::time_point now = Clock::now();
  if (asked && now - askedAt >= options.patience)
    forget();
  if (!asked && now >= nextStatus) {
    nextStatus = now + options.interval;
    ask(Asked::Status);
  }
  return any;
}
