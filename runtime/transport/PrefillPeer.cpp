//===- PrefillPeer.cpp - Records that peers may read: the manager's side --===//

#include "PrefillPeer.h"

#include "kv/Runtime/Manager/PoolLayout.h"

#include <random>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utility>

using namespace kv;

static uint64_t newIncarnation() {
  std::random_device entropy;
  return uint64_t(entropy()) << 32 | entropy();
}

PrefillPeer::PrefillPeer(const PageConnector::Options &slots,
                         std::unique_ptr<PageConnector> records,
                         std::unique_ptr<Transport> transport,
                         const Options &options,
                         std::unique_ptr<Channel> channel)
    : slots(slots), options(options),
      type(PageType::of(options.cache, options.model)),
      stateParts(PoolLayout::of(options.cache).stateParts()),
      incarnation(newIncarnation()), channel(std::move(channel)),
      records(std::move(records)), transport(std::move(transport)) {}

Expected<std::unique_ptr<PrefillPeer>> PrefillPeer::open(
    const PageConnector::Options &slots, std::unique_ptr<PageConnector> records,
    std::unique_ptr<Transport> transport, const Options &options) {
  Expected<std::unique_ptr<PrefillPeer>> made =
      open(slots, std::move(records), std::move(transport), options,
           Channel::zeromq(options.endpoint, /*listens=*/true));
  if (made)
    (*made)->thread = std::jthread(
        [self = made->get()](const std::stop_token &stop) { self->run(stop); });
  return made;
}

Expected<std::unique_ptr<PrefillPeer>>
PrefillPeer::open(const PageConnector::Options &slots,
                  std::unique_ptr<PageConnector> records,
                  std::unique_ptr<Transport> transport, const Options &options,
                  std::unique_ptr<Channel> channel) {
  Expected<std::string> address = transport->address();
  if (!address)
    return std::unexpected(address.error());
  std::unique_ptr<PrefillPeer> made(
      new PrefillPeer(slots, std::move(records), std::move(transport), options,
                      std::move(channel)));
  made->address = std::move(*address);
  made->promptEvent = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE);
  if (made->promptEvent < 0)
    return makeError(KV_STATUS_OUT_OF_MEMORY,
                     "peers: the system has no descriptor left");
  if (Expected<void> listening = made->channel->open(); !listening)
    return std::unexpected(listening.error());
  return made;
}

PrefillPeer::~PrefillPeer() {
  thread.request_stop();
  channel->wake();
  if (thread.joinable())
    thread.join();
  transport.reset(); // before the slots become somebody else's
  for (Slot slot : leases.clear())
    records->release(slot);
  if (promptEvent >= 0)
    ::close(promptEvent);
}

//===----------------------------------------------------------------------===//
// The connector
//===----------------------------------------------------------------------===//

PrefixName PrefillPeer::nameScope(std::span<const std::byte> scope) {
  std::lock_guard guard(lock);
  return records->nameScope(scope);
}

PrefixName PrefillPeer::namePage(const PrefixName &parent,
                                 std::span<const std::byte> images,
                                 std::span<const int32_t> tokens) {
  std::lock_guard guard(lock);
  return records->namePage(parent, images, tokens);
}

PageConnector::Place PrefillPeer::find(const PrefixPage &page) {
  std::lock_guard guard(lock);
  return records->find(page);
}

void PrefillPeer::touch(const PrefixName &name, const RecordWorth &worth) {
  std::lock_guard guard(lock);
  records->touch(name, worth);
}

PageConnector::Slot PrefillPeer::acquire(const PrefixPage &page) {
  std::lock_guard guard(lock);
  return records->acquire(page);
}

void PrefillPeer::release(Slot slot) {
  std::lock_guard guard(lock);
  records->release(slot);
}

bool PrefillPeer::fetch(const PrefixPage &page) {
  std::lock_guard guard(lock);
  return records->fetch(page);
}

PageConnector::Slot PrefillPeer::reserve(const PrefixPage &page,
                                         const RecordWorth &worth) {
  std::lock_guard guard(lock);
  return records->reserve(page, worth);
}

void PrefillPeer::publish(Slot slot, bool written) {
  std::lock_guard guard(lock);
  records->publish(slot, written);
  if (interested && !std::exchange(changed, true))
    channel->wake();
}

void PrefillPeer::poll() {
  std::lock_guard guard(lock);
  records->poll();
}

bool PrefillPeer::wait(std::chrono::nanoseconds most) {
  // In small pieces, so that peers are answered meanwhile.
  auto until = channel->now() +
               std::min(most, std::chrono::nanoseconds(1'000'000'000'000));
  for (;;) {
    {
      std::lock_guard guard(lock);
      if (records->wait(std::chrono::microseconds(500)))
        return true;
      if (records->metrics().diskOperations == 0)
        return false;
    }
    if (channel->now() >= until)
      return false;
  }
}

Expected<void> PrefillPeer::reset() {
  std::lock_guard guard(lock);
  leases.revoke();
  return records->reset();
}

bool PrefillPeer::takeChanges(bool all, std::vector<TierChange> &changes) {
  std::lock_guard guard(lock);
  return records->takeChanges(all, changes);
}

std::optional<PeerConnector::WantedPrompt> PrefillPeer::takePrompt() {
  std::lock_guard guard(lock);
  if (wanted.empty())
    return std::nullopt;
  uint64_t count;
  (void)!::read(promptEvent, &count, sizeof count);
  WantedPrompt prompt = std::move(wanted.front());
  wanted.pop_front();
  return prompt;
}

void PrefillPeer::promptDone(uint64_t id) {
  std::lock_guard guard(lock);
  done.push_back(id);
  channel->wake();
}
