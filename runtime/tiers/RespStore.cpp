//===- RespStore.cpp - Records in a store that machines share -------------===//

#include "RespStore.h"

#include "runtime/hash/BlockHash.h"

#include <system_error>
#include <utility>

using namespace kv;

/// One asks and reads; the other one also writes, so that a question never
/// waits for more than a batch of reads.
static constexpr int NumThreads = 2;
/// The time for which an answer is believed. An answer may be out of date: a
/// record that is gone is a miss, and one that has come meanwhile is computed.
static constexpr auto AbsentFor = std::chrono::seconds(1),
                      PresentFor = std::chrono::seconds(10);
static constexpr size_t MostEntries = size_t(1) << 16;

RespStore::RespStore(const PageConnector::Options &options,
                     StoreAddress address, StoreCalls &calls,
                     TierMetrics &metrics, Waker &waker, ChangeList &told)
    : address(std::move(address)), calls(calls), metrics(metrics), waker(waker),
      told(told), headerBytes(recordHeaderBytes(options.pageSize)),
      recordBytes(options.recordBytes),
      mostWrites(std::max(options.numSlots / 4 * 3, 1)),
      random(std::random_device()()) {
  std::string text =
      concat("records 1, ", recordBytes, " bytes of ", options.pageSize,
             " tokens\n", options.geometry, "\n", options.model);
  nameSpace = BlockHasher().root(std::as_bytes(std::span(text)));
  epochKey = concat("kv1:", hexOf(std::span(nameSpace).first(16)), ":epoch");
}

Expected<std::unique_ptr<RespStore>>
RespStore::open(const PageConnector::Options &options, StoreCalls &calls,
                TierMetrics &metrics, Waker &waker, ChangeList &told) {
  Expected<StoreAddress> address =
      StoreAddress::parse(options.blockStoreEndpoint);
  if (!address)
    return std::unexpected(address.error());
  std::unique_ptr<RespStore> store(
      new RespStore(options, std::move(*address), calls, metrics, waker, told));
  try {
    for (int index = 0; index < NumThreads; ++index)
      store->threads.emplace_back(
          [own = store.get(), index] { own->work(index); });
  } catch (const std::system_error &error) {
    return makeError(KV_STATUS_OUT_OF_MEMORY,
                     "store: its threads cannot be started: ", error.what());
  }
  return store;
}

RespStore::~RespStore() {
  {
    std::lock_guard lock(mutex);
    isEnding = true;
    endBy = Clock::now() + 4 * address.timeout;
    questions.clear();
    reads.clear();
  }
  more.notify_all();
  for (std::thread &thread : threads)
    thread.join();
}

//===----------------------------------------------------------------------===//
// The caller's side
//===----------------------------------------------------------------------===//

void RespStore::ask(const PrefixName &name) {
  asking.push_back({name});
  ++busy;
}

RespStore::Known RespStore::look(const PrefixName &name) {
  if (!isUp)
    return Known::Absent;
  if (entries.size() >= MostEntries)
    std::erase_if(entries, [](const auto &one) { return !one.second.isAsked; });
  auto [at, isNew] = entries.try_emplace(name);
  StoreEntry &entry = at->second;
  if (isNew) {
    ask(name);
  } else if (!entry.isAsked && Clock::now() >= entry.until) {
    // Present is as good as new until the answer is there: a read will tell.
    entry.isAsked = true;
    if (entry.known == Known::Absent)
      entry.known = Known::Asked;
    ask(name);
  }
  return entry.known;
}

void RespStore::flush() {
  if (asking.empty())
    return;
  {
    std::lock_guard lock(mutex);
    for (StoreQuestion &question : asking) {
      question.round = round;
      questions.push_back(question);
    }
  }
  asking.clear();
  more.notify_all();
}

void RespStore::submit(Job job) {
  ++busy;
  ++metrics.storeOperations;
  {
    std::lock_guard lock(mutex);
    job.round = round;
    (job.isRead ? reads : writes).push_back(job);
  }
  more.notify_all();
}

bool RespStore::write(const OwnedPage &page, std::span<const std::byte> data,
                      int32_t token) {
  auto at = entries.find(page.name);
  if (at != entries.end() && at->second.known == Known::Present)
    return false;
  if (!isUp || writing >= mostWrites ||
      Clock::now().time_since_epoch().count() < writesAgainAt) {
    ++metrics.skippedStoreWrites;
    return false;
  }
  ++writing;
  submit({.token = token,
          .page = &page,
          .data = {const_cast<std::byte *>(data.data()), data.size()}});
  return true;
}

bool RespStore::read(const OwnedPage &page, std::span<std::byte> data,
                     int32_t token) {
  if (!isUp)
    return false;
  submit({.isRead = true, .token = token, .page = &page, .data = data});
  return true;
}

bool RespStore::take(std::vector<Finished> &result) {
  int64_t lost;
  uint64_t current;
  {
    std::lock_guard lock(mutex);
    ended.swap(finished);
    answered.swap(answers);
    lost = std::exchange(losses, 0);
    current = round;
  }
  metrics.storeLosses += lost;
  metrics.storeIsUp = isUp;
  Clock::time_point now = Clock::now();
  for (const StoreQuestion &one : answered) {
    --busy;
    ++(!one.isAnswered ? metrics.failedStoreQuestions
       : one.isPresent ? metrics.storeHits
                       : metrics.storeMisses);
    auto at = entries.find(one.name);
    if (one.round == current && at != entries.end())
      at->second = one.isPresent
                       ? StoreEntry{Known::Present, false, now + PresentFor}
                       : StoreEntry{Known::Absent, false, now + AbsentFor};
  }
  for (const Job &job : ended) {
    --busy;
    --metrics.storeOperations;
    writing -= !job.isRead;
    bool done = job.done && job.round == current;
    ++(job.isRead ? done ? metrics.storeReadPages : metrics.failedStoreReads
       : done     ? metrics.storeWrittenPages
                  : metrics.failedStoreWrites);
    if (done)
      (job.isRead ? metrics.storeReadBytes : metrics.storeWrittenBytes) +=
          static_cast<int64_t>(headerBytes + recordBytes);
    // A record that was written can be read, and one that could not be read is
    // not there.
    if (job.round == current && (job.isRead ? !done : done)) {
      told.add(Tier::Store, job.page->name, done);
      if (auto [at, isNew] = entries.try_emplace(job.page->name);
          isNew || !at->second.isAsked || !job.isRead)
        at->second = {done ? Known::Present : Known::Absent,
                      !isNew && at->second.isAsked,
                      now + (done ? Clock::duration(PresentFor)
                                  : Clock::duration(AbsentFor))};
    }
    result.push_back({job.token, job.isRead, done});
  }
  bool any = !ended.empty() || !answered.empty();
  ended.clear();
  answered.clear();
  return any;
}

Expected<void> RespStore::reset() {
  // Questions that were asked are still answered, but the answers are not used.
  entries.clear();
  std::unique_lock lock(mutex);
  ++round;
  wantsReset = true;
  if (epoch)
    retired.insert(epoch->token);
  epoch.reset();
  failQueued(); // or it would be done in the next epoch
  more.notify_all();
  // Waits for a call in flight, and for the reset itself.
  bool isTold = isUp && wasReset.wait_for(lock, 2 * address.timeout,
                                          [&] { return !wantsReset || !isUp; });
  if (!isTold || wantsReset)
    return makeError(KV_STATUS_INTERNAL,
                     "the store could not be told to forget its records");
  return {};
}
