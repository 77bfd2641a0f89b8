//===- RespThreads.cpp - What the threads of a shared store do ------------===//

#include "RespStore.h"

#include "runtime/hash/BlockHash.h"

#include <algorithm>

using namespace kv;

using std::chrono::milliseconds;

static constexpr size_t MostQuestions = 1024; // of a batch
/// The most bytes of a batch, which has one record at least: this many move
/// within one timeout.
static constexpr size_t MostBytes = size_t(4) << 20;
static constexpr milliseconds FirstRetry{100}, LastRetry{10'000};

/// Servers close idle connections, so a closed one is tried again.
template <class Attempt>
static RespConnection::Outcome twice(const RespConnection &connection,
                                     Attempt &&attempt) {
  bool wasOpen = connection.isOpen();
  RespConnection::Outcome outcome = attempt();
  return outcome == RespConnection::Outcome::Closed && wasOpen ? attempt()
                                                               : outcome;
}

/// The pause after `failures` failures in a row, random so that not all
/// machines come back at the same time.
static milliseconds pause(int failures, std::minstd_rand &random) {
  int64_t most = std::min<int64_t>(FirstRetry.count() << std::min(failures, 20),
                                   LastRetry.count());
  return milliseconds(most / 2 +
                      static_cast<int64_t>(random()) % (most / 2 + 1));
}

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

/// Calls use(part) for parts that fit a CPU's caches.
template <class Use>
static void eachPart(std::span<std::byte> data, Use &&use) {
  constexpr size_t Most = size_t(256) << 10;
  for (size_t at = 0; at < data.size(); at += Most)
    use(at, data.subspan(at, std::min(Most, data.size() - at)));
}

/// Puts records where they are wanted, and sums them up on the way.
class RespStore::Incoming final : public LongTexts {
public:
  Incoming(const RespStore &store, const StoreBatch &batch,
           RecordHeader &header)
      : batch(batch), header(header), found(store.headerBytes) {}

  TextPlace place(size_t command, size_t bytes) override {
    size_t before = 1 + batch.questions.size();
    if (batch.isWrong || command < before)
      return {};
    const Job &job = batch.jobs[command - before];
    if (!job.isRead || bytes != found.size() + job.data.size())
      return {};
    header.begin(job.page->view(), job.data.size(), batch.epoch->generation);
    return {found, job.data};
  }
  void arrived(std::span<std::byte> part) override { header.add(part); }
  /// Whether the one that was placed last is what was asked for.
  bool isRight() { return std::ranges::equal(found, header.finish()); }

private:
  const StoreBatch &batch;
  RecordHeader &header;
  std::vector<std::byte> found; // the header
};

std::string_view RespStore::assemble(const Job &job, uint64_t generation,
                                     RecordHeader &header,
                                     std::vector<std::byte> &record) const {
  record.resize(headerBytes + job.data.size());
  header.begin(job.page->view(), job.data.size(), generation);
  eachPart(job.data, [&](size_t at, std::span<std::byte> part) {
    header.add(part);
    std::ranges::copy(part, record.begin() +
                                static_cast<ptrdiff_t>(headerBytes + at));
  });
  std::ranges::copy(header.finish(), record.begin());
  return {reinterpret_cast<const char *>(record.data()), record.size()};
}

//===----------------------------------------------------------------------===//
// Batches
//===----------------------------------------------------------------------===//

RespStore::StoreBatch RespStore::pick(int index) {
  StoreBatch batch;
  batch.epoch = epoch;
  size_t bytes = headerBytes + recordBytes;
  auto takeFrom = [&](auto &queue, auto &into, size_t most) {
    size_t count = std::min(queue.size(), std::max<size_t>(most, 1));
    into.assign(queue.begin(), queue.begin() + static_cast<ptrdiff_t>(count));
    queue.erase(queue.begin(), queue.begin() + static_cast<ptrdiff_t>(count));
  };
  // Questions and reads come before writes, because callers wait for them.
  if (!questions.empty())
    takeFrom(questions, batch.questions, MostQuestions);
  else if (!reads.empty())
    takeFrom(reads, batch.jobs, MostBytes / bytes);
  else if (index != 0 && !writes.empty())
    takeFrom(writes, batch.jobs, MostBytes / bytes);
  return batch;
}

RespStore::Outcome RespStore::attempt(StoreBatch &batch,
                                      RespConnection &connection,
                                      RecordHeader &header) {
  Clock::time_point deadline = Clock::now() + address.timeout;
  RespCommands commands;
  // The epoch first: with another one, all other replies mean nothing.
  commands.add({"GET", epochKey});
  std::string key;
  auto keyOf = [&](const PrefixName &name) -> std::string_view {
    key = batch.epoch->records + hexOf(name);
    return key;
  };
  // Says whether there is a record, as EXISTS does, and that it is of use.
  for (const StoreQuestion &question : batch.questions)
    commands.add({"TOUCH", keyOf(question.name)});
  std::vector<std::byte> record;
  std::string ttl = std::to_string(address.ttl);
  for (const Job &job : batch.jobs) {
    keyOf(job.page->name);
    if (job.isRead) {
      commands.add({"GET", key});
      continue;
    }
    std::string_view value =
        assemble(job, batch.epoch->generation, header, record);
    if (address.ttl)
      commands.add({"SET", key, value, "EX", ttl});
    else
      commands.add({"SET", key, value});
  }
  Incoming records(*this, batch, header);
  return connection.exchange(
      commands, headerBytes + recordBytes,
      [&](size_t command, const RespReply &reply) {
        accept(batch, command, reply, records);
      },
      deadline, &records);
}

void RespStore::accept(StoreBatch &batch, size_t command,
                       const RespReply &reply, Incoming &records) {
  using Kind = RespReply::Kind;
  if (command == 0) {
    batch.isWrong =
        reply.kind != Kind::Text || reply.text != batch.epoch->token;
    return;
  }
  if (batch.isWrong)
    return;
  if (size_t at = command - 1; at < batch.questions.size()) {
    StoreQuestion &question = batch.questions[at];
    question.isAnswered = reply.kind == Kind::Number;
    question.isPresent = question.isAnswered && reply.number == 1;
  } else {
    Job &job = batch.jobs[at - batch.questions.size()];
    job.done = job.isRead ? reply.isPlaced && records.isRight()
                          : reply.kind == Kind::Status;
    batch.isRefused |= !job.isRead && !job.done;
  }
}

RespStore::Outcome RespStore::run(StoreBatch &batch, RespConnection &connection,
                                  RecordHeader &header) {
  return twice(connection, [&] { return attempt(batch, connection, header); });
}

void RespStore::finish(Lock &lock, StoreBatch &batch, Outcome outcome) {
  bool isGood = outcome == Outcome::Done && !batch.isWrong;
  lock.lock();
  if (isGood) {
    failures = 0;
    if (!batch.jobs.empty() && !batch.jobs[0].isRead) {
      refusals = batch.isRefused ? refusals + 1 : 0;
      // A server that is full reads all of a record before it says so.
      if (batch.isRefused)
        writesAgainAt =
            (Clock::now() + pause(refusals, random)).time_since_epoch().count();
    }
  } else if (outcome == Outcome::Done) {
    if (epoch == batch.epoch)
      epoch.reset(); // somebody has reset the store, or it has begun anew
  } else {
    giveUp();
  }
  for (StoreQuestion &question : batch.questions) {
    question.isAnswered &= isGood;
    question.isPresent &= isGood;
    answers.push_back(question);
  }
  for (Job &job : batch.jobs) {
    job.done &= isGood;
    finished.push_back(job);
  }
  waker.signal();
  more.notify_all();
}

/// Nothing more is asked of the store for a while; under the mutex.
void RespStore::giveUp() {
  isUp = false;
  ++losses;
  retryAt = Clock::now() + pause(failures++, random);
  epoch.reset();
  failQueued();
  wasReset.notify_all();
}

/// Ends all queued jobs as failed; the mutex is held.
void RespStore::failQueued() {
  answers.insert(answers.end(), questions.begin(), questions.end());
  finished.insert(finished.end(), reads.begin(), reads.end());
  finished.insert(finished.end(), writes.begin(), writes.end());
  questions.clear();
  reads.clear();
  writes.clear();
}

//===----------------------------------------------------------------------===//
// Epochs
//===----------------------------------------------------------------------===//

std::string RespStore::hexOf(std::span<const std::byte> bytes) {
  std::string text;
  for (std::byte one : bytes)
    for (int shift : {4, 0})
      text += "0123456789abcdef"[static_cast<unsigned>(one) >> shift & 15];
  return text;
}

std::shared_ptr<const RespStore::Epoch>
RespStore::epochOf(const std::string &token) const {
  PrefixName name =
      BlockHasher().block(nameSpace, std::as_bytes(std::span(token)), {});
  auto made = std::make_shared<Epoch>();
  made->token = token;
  made->records = concat("kv1:", hexOf(std::span(name).first(16)), ":");
  std::memcpy(&made->generation, name.data() + 16, sizeof made->generation);
  return made;
}

/// The epoch, which is made if there is none. If `resets`, the epoch is made
/// anew, and `resets` becomes false. nullopt: the server does not answer.
std::optional<std::string> RespStore::askEpoch(RespConnection &connection,
                                               bool &resets) {
  using Kind = RespReply::Kind;
  constexpr size_t MostTokenBytes = 256; // somebody else's may be longer
  std::random_device device;
  std::string token;
  for (int i = 0; i < 4; ++i)
    token += concat(i ? "-" : "", device());
  std::optional<std::string> found;
  bool isDone = false; // what the last command asked for
  auto send = [&](std::initializer_list<std::string_view> command) {
    RespCommands commands;
    commands.add(command);
    auto onReply = [&](size_t, const RespReply &reply) {
      isDone = reply.kind == Kind::Status || reply.kind == Kind::Number;
      if (reply.kind == Kind::Text)
        found = reply.text;
    };
    return twice(connection, [&] {
             return connection.exchange(commands, MostTokenBytes, onReply,
                                        Clock::now() + address.timeout);
           }) == Outcome::Done;
  };
  bool makesAnew = resets;
  if (resets) {
    if (!send({"SET", epochKey, token}))
      return std::nullopt;
    // A store that is full takes nothing, but lets go.
    if (!isDone && (!send({"DEL", epochKey}) || !isDone))
      return std::nullopt;
  }
  if (!send({"GET", epochKey}))
    return std::nullopt;
  resets &= found && found != token;
  if (!found &&
      (!send({"SET", epochKey, token, "NX"}) || !send({"GET", epochKey})))
    return std::nullopt;
  return makesAnew && found != token ? std::nullopt : found;
}

void RespStore::learn(Lock &lock, RespConnection &connection) {
  bool resets = wantsReset;
  uint64_t of = round;
  lock.unlock();
  std::optional<std::string> token = askEpoch(connection, resets);
  lock.lock();
  if (token && of != round)
    retired.insert(*token); // there was a reset meanwhile
  if (of == round && wantsReset && !resets) {
    wantsReset = false;
    wasReset.notify_all();
  }
  if (!token || (of == round && retired.contains(*token))) {
    connection.close();
    giveUp();
  } else {
    isUp = true;
    if (of == round)
      epoch = epochOf(*token);
  }
  waker.signal();
  more.notify_all();
}

//===----------------------------------------------------------------------===//
// The threads
//===----------------------------------------------------------------------===//

void RespStore::sleep(Lock &lock, Clock::time_point until) {
  if (isEnding)
    until = std::min(until, endBy);
  if (until == Clock::time_point::max())
    more.wait(lock);
  else
    more.wait_until(lock, until);
}

void RespStore::work(int index) {
  constexpr auto Never = Clock::time_point::max();
  RespConnection connection(calls, address);
  RecordHeader header(headerBytes);
  Lock lock(mutex);
  for (;;) {
    bool hasToDo = isUp && (wantsReset || !writes.empty());
    if (isEnding && (!hasToDo || Clock::now() >= endBy))
      return;
    if (isUp && epoch) {
      if (StoreBatch batch = pick(index); !batch.empty()) {
        lock.unlock();
        Outcome outcome = run(batch, connection, header);
        finish(lock, batch, outcome);
        continue;
      }
    } else if (index == 0 && (isUp || Clock::now() >= retryAt)) {
      // This thread finds out whether the store is there.
      learn(lock, connection);
      continue;
    }
    sleep(lock, !isUp && index == 0 ? retryAt : Never);
  }
}
