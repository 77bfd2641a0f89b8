//===- EngineStatesTest.cpp - States of recurrent layers in the engine ----===//
//
// A device is played by an array: what a step computes of a state is a hash of
// all tokens so far, so that a state is right exactly if its hash is that of
// the tokens that the sequence has processed.
//
//===----------------------------------------------------------------------===//

#include "EngineFixture.h"
#include "test/Environment.h"

#include "kv/Runtime/Engine/CommandInterpreter.h"

#include <map>
#include <random>
#include <set>

using namespace kv;
using namespace kv::test;

namespace {

constexpr int32_t Page = 16;

uint64_t hashOf(std::span<const int32_t> tokens, uint64_t state = 0) {
  for (int32_t token : tokens)
    state = (state + static_cast<uint64_t>(token) + 1) * 0x9E3779B97F4A7C15u;
  return state;
}

/// An engine with recurrent layers, and the states that its steps compute.
struct Machine {
  std::unique_ptr<CacheEngineImpl> engine;
  std::vector<uint64_t> memory;

  explicit Machine(int32_t pages, int32_t snapshots, int32_t sequences,
                   CommandSink *log = nullptr)
      : engine(make({.numPages = pages,
                     .pageSize = Page,
                     .recurrent = true,
                     .snapshots = snapshots,
                     .maxSequences = sequences,
                     .log = log})),
        memory(engine->numStates() + 1) {}
};

/// One request: its tokens, and how far it is.
struct Request {
  Sequence sequence;
  Tokens tokens;
  int64_t prompt = 0; // tokens that were not generated

  int64_t processed() const { return sequence.processedTokens(); }
  Prompt known() const { return {tokens, {}}; }
};

/// Tokens that the next step computes: at most `chunk`, up to a snapshot.
int64_t stepOf(const Machine &machine, const Request &request, int64_t chunk) {
  int64_t left =
      static_cast<int64_t>(request.tokens.size()) - request.processed();
  int64_t stop = machine.engine->nextSnapshot(request.sequence);
  return std::min({left, chunk, stop - request.processed()});
}

/// What a step does to the state of a sequence that has joined it.
void compute(Machine &machine, const Request &request, StatePlaces places,
             int64_t count) {
  auto done = std::span(request.tokens).first(request.processed());
  ASSERT_EQ(places.read == NullState, done.empty());
  uint64_t state = done.empty() ? 0 : machine.memory[places.read];
  ASSERT_EQ(state, hashOf(done)) << "a state of other tokens";
  ASSERT_NE(places.write, NullState);
  auto now = std::span(request.tokens).subspan(done.size(), count);
  machine.memory[places.write] = hashOf(now, state);
}

/// Computes all tokens in steps of at most `chunk`, and then generates `more`.
void finish(Machine &machine, Request &request, int64_t chunk, int64_t more,
            std::mt19937 &random) {
  int64_t end = static_cast<int64_t>(request.tokens.size()) + more;
  while (request.processed() < end) {
    int64_t length = static_cast<int64_t>(request.tokens.size());
    ASSERT_TRUE(machine.engine
                    ->reserve(request.sequence, request.known(),
                              {.length = length, .chunk = chunk})
                    .fits());
    int64_t count = stepOf(machine, request, chunk);
    Ticket ticket = machine.engine->beginStep()->ticket;
    ASSERT_TRUE(machine.engine->join(request.sequence, ticket));
    compute(machine, request, machine.engine->statePlaces(request.sequence),
            count);
    int64_t processed = request.processed() + count;
    if (processed == length && length < end)
      request.tokens.push_back(static_cast<int32_t>(random() % 1000));
    commit(*machine.engine, request.sequence, request.known(), processed);
    ASSERT_TRUE(machine.engine->completeStep(ticket));
  }
  ASSERT_EQ(machine.engine->check(), "");
}

/// Runs a prompt to its end, and returns the tokens of its hit.
int64_t serve(Machine &machine, Tokens &tokens, int64_t more,
              std::mt19937 &random) {
  Request request{open(*machine.engine), tokens};
  auto plan = machine.engine->plan(request.sequence, request.known(),
                                   {.length = request.known().length()});
  finish(machine, request, 64, more, random);
  tokens = request.tokens;
  return int64_t(plan.hitPages) * Page;
}

Tokens randomTokens(std::mt19937 &random, size_t count, int32_t most = 1000) {
  Tokens tokens(count);
  for (int32_t &token : tokens)
    token = static_cast<int32_t>(random() % most);
  return tokens;
}

Tokens operator+(Tokens a, const Tokens &b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

TEST(EngineStates, AHitEndsAtASnapshot) {
  std::mt19937 random(1);
  Machine machine(100, 10, 4);
  Tokens prompt = randomTokens(random, 70), first = prompt;
  EXPECT_EQ(serve(machine, first, 0, random), 0);
  // All four pages are there, and the state behind the fourth.
  Tokens again = prompt;
  EXPECT_EQ(serve(machine, again, 0, random), 64);
  Tokens longer = prompt + randomTokens(random, 40);
  EXPECT_EQ(serve(machine, longer, 0, random), 64);
  // Three pages are the same, but nobody has kept the state behind them.
  Tokens other =
      Tokens(prompt.begin(), prompt.begin() + 50) + randomTokens(random, 40);
  Tokens third =
      Tokens(prompt.begin(), prompt.begin() + 50) + randomTokens(random, 40);
  EXPECT_EQ(serve(machine, other, 0, random), 0);
  // Now it is known that prompts part there.
  EXPECT_EQ(serve(machine, third, 0, random), 48);
  EXPECT_EQ(machine.engine->explain({}, {prompt, {}})[0],
            CacheEngine::Reason::Hit);
}

TEST(EngineStates, AConversationGoesOnFromItsLastFullPage) {
  std::mt19937 random(2);
  Machine machine(100, 10, 4);
  Tokens turn = randomTokens(random, 40);
  EXPECT_EQ(serve(machine, turn, 30, random), 0);
  turn = turn + randomTokens(random, 20);
  EXPECT_EQ(serve(machine, turn, 30, random), 64);
  // The same prompt once more: nothing has evicted the state behind it.
  Tokens again(turn.begin(), turn.begin() + 90);
  EXPECT_EQ(serve(machine, again, 0, random), 80);
}

TEST(EngineStates, AStateIsWrittenInPlaceUnlessOthersMayReadIt) {
  std::mt19937 random(3);
  Machine machine(100, 0, 2);
  CacheEngineImpl &engine = *machine.engine;
  Request request{open(engine), randomTokens(random, 20)};
  EXPECT_EQ(engine.statePlaces(request.sequence), StatePlaces());
  ASSERT_TRUE(
      engine.reserve(request.sequence, request.known(), {.length = 5}).fits());
  StatePlaces fresh = engine.statePlaces(request.sequence);
  EXPECT_EQ(fresh.read, NullState);
  commit(engine, request.sequence, request.known(), 5);
  EXPECT_EQ(engine.statePlaces(request.sequence),
            (StatePlaces{fresh.write, fresh.write}));
  auto other = engine.fork(request.sequence, 5);
  ASSERT_TRUE(other);
  ASSERT_TRUE(engine.reserve(*other, request.known(), {.length = 9}).fits());
  EXPECT_EQ(engine.statePlaces(*other).read, fresh.write);
  EXPECT_NE(engine.statePlaces(*other).write, fresh.write);
  EXPECT_NE(engine.statePlaces(request.sequence).write, fresh.write);
  EXPECT_NE(engine.statePlaces(request.sequence).write,
            engine.statePlaces(*other).write);
  EXPECT_EQ(engine.check(), "");
  EXPECT_EQ(engine.stateCounts().held, 3);
}

TEST(EngineStates, WhatHasNoStateIsAnError) {
  std::mt19937 random(4);
  Machine machine(100, 4, 2);
  CacheEngineImpl &engine = *machine.engine;
  Request request{open(engine), randomTokens(random, 40)};
  finish(machine, request, 64, 0, random);
  auto cut = engine.truncate(request.sequence, 32);
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().message,
            "cache engine: 32 tokens are to be kept, with recurrent layers "
            "allowed: 0 or 40, of which there is a state");
  EXPECT_FALSE(engine.fork(request.sequence, 39));
  EXPECT_TRUE(engine.fork(request.sequence, 0));
  ASSERT_TRUE(engine.truncate(request.sequence, 0));
  EXPECT_EQ(engine.statePlaces(request.sequence).read, NullState);
  EXPECT_EQ(engine.check(), "");
  auto made =
      CacheEngine::create({.numPages = 1, .pageSize = 1, .snapshots = 3});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().message,
            "cache engine: snapshots is 3, allowed: 0 to 0");
}

TEST(EngineStates, AForkWaitsForTheStepThatChangesTheState) {
  std::mt19937 random(5);
  Machine machine(100, 4, 2);
  CacheEngineImpl &engine = *machine.engine;
  Request request{open(engine), randomTokens(random, 40)};
  ASSERT_TRUE(
      engine.reserve(request.sequence, request.known(), {.length = 40}).fits());
  commit(engine, request.sequence, request.known(), 8);
  Ticket ticket = engine.beginStep()->ticket;
  ASSERT_TRUE(engine.join(request.sequence, ticket));
  EXPECT_FALSE(engine.fork(request.sequence, 8));
  commit(engine, request.sequence, request.known(), 12);
  EXPECT_TRUE(engine.fork(request.sequence, 12));
}

TEST(EngineStates, PagesTakeTheirSnapshotsWithThem) {
  std::mt19937 random(6);
  Machine machine(8, 20, 2);
  Tokens first = randomTokens(random, 70), second = randomTokens(random, 120);
  serve(machine, first, 0, random);
  EXPECT_EQ(machine.engine->stateCounts().cached, 1);
  serve(machine, second, 0, random);
  EXPECT_EQ(machine.engine->stateCounts().cached, 1);
  machine.engine->resetPrefixes();
  EXPECT_EQ(machine.engine->stateCounts().cached, 0);
  EXPECT_EQ(machine.engine->check(), "");
}

TEST(EngineStates, SupersededSnapshotsAreEvictedFirst) {
  std::mt19937 random(7);
  // Two states of the one sequence, and three more.
  Machine machine(200, 3, 1);
  std::vector<Tokens> talks;
  for (int i = 0; i < 4; ++i) {
    talks.push_back(randomTokens(random, 40));
    serve(machine, talks.back(), 30, random);
  }
  // Eight snapshots were made. The last one of each conversation is there.
  for (Tokens &talk : talks) {
    talk = talk + randomTokens(random, 20);
    EXPECT_EQ(serve(machine, talk, 30, random), 64);
  }
}

/// Everything that was ever committed, and ever kept. Nothing is evicted.
struct Oracle {
  std::set<Tokens> pages;
  std::map<Tokens, int> snapshots; // when it was made

  static Tokens prefix(const Tokens &tokens, int64_t count) {
    return Tokens(tokens.begin(), tokens.begin() + count);
  }
  int64_t found(const Tokens &tokens) const {
    int64_t at = 0, last = (int64_t(tokens.size()) - 1) / Page * Page;
    while (at < last && pages.contains(prefix(tokens, at + Page)))
      at += Page;
    return at;
  }
  int64_t hit(const Tokens &tokens) const {
    int64_t at = found(tokens);
    while (at > 0 && !snapshots.contains(prefix(tokens, at)))
      at -= Page;
    return at;
  }
};

/// A request as the oracle sees it.
struct Seen {
  Request request;
  int64_t junction = 0, promptEnd = 0;
};

/// Random requests that share prefixes, forked, cut short, in batches.
class RandomRequests {
public:
  RandomRequests(uint32_t seed, int32_t pages, int32_t snapshots, bool exact)
      : random(seed), exact(exact), machine(pages, snapshots, Sequences) {}

  void run(int commands) {
    for (int i = 0; i < commands && !testing::Test::HasFatalFailure(); ++i) {
      uint32_t kind = random() % 100;
      if (open_.size() < Sequences && kind < 25)
        add();
      else if (kind < 90)
        step();
      else if (kind < 95 && !open_.empty())
        close(random() % open_.size());
      else if (kind < 97 && !open_.empty() && open_.size() < Sequences)
        forkOne();
      else if (kind < 98 && !open_.empty())
        restart();
      else if (kind == 99 && random() % 50 == 0)
        reset();
      if (i % 16 == 0)
        ASSERT_EQ(machine.engine->check(), "");
    }
  }

  int64_t hits = 0, junctionHits = 0, shorter = 0, forks = 0, steps = 0;
  const CacheEngineImpl &engine() const { return *machine.engine; }

private:
  static constexpr size_t Sequences = 6;

  Tokens prompt() {
    Tokens tokens;
    if (!archive.empty() && random() % 4 != 0) {
      const Tokens &old = archive[random() % archive.size()];
      size_t keep = random() % 2 ? old.size() : random() % (old.size() + 1);
      tokens = Oracle::prefix(old, static_cast<int64_t>(keep));
    }
    if (tokens.size() > 150)
      tokens.resize(150);
    return tokens + randomTokens(random, 1 + random() % 40, 3);
  }

  void add() {
    Seen seen;
    seen.request = {open(*machine.engine), prompt()};
    seen.request.prompt = static_cast<int64_t>(seen.request.tokens.size());
    open_.push_back(std::move(seen));
  }

  void close(size_t index) {
    archive.push_back(open_[index].request.tokens);
    open_[index].request.sequence.release();
    std::swap(open_[index], open_.back());
    open_.pop_back();
  }

  void forkOne() {
    Seen &source = open_[random() % open_.size()];
    auto made = machine.engine->fork(source.request.sequence,
                                     source.request.processed());
    ASSERT_TRUE(made) << made.error().message;
    Seen seen;
    seen.request = {
        std::move(*made),
        Oracle::prefix(source.request.tokens, source.request.processed()) +
            randomTokens(random, 1 + random() % 20, 3)};
    open_.push_back(std::move(seen));
    ++forks;
  }

  void restart() {
    Seen &seen = open_[random() % open_.size()];
    ASSERT_TRUE(machine.engine->truncate(seen.request.sequence, 0));
    seen.junction = seen.promptEnd = 0;
  }

  void reset() {
    while (!open_.empty())
      close(0);
    machine.engine->resetPrefixes();
    oracle = {};
  }

  /// Reserves for a chunk; checks the hit. False: there is no room.
  bool reserve(Seen &seen, int64_t chunk) {
    Request &request = seen.request;
    int64_t before = request.processed();
    bool takes = machine.engine->canTakeOver(request.sequence);
    int64_t found = takes ? oracle.found(request.tokens) : 0;
    int64_t hit = takes ? oracle.hit(request.tokens) : 0;
    auto plan = machine.engine->reserve(
        request.sequence, request.known(),
        {.length = request.known().length(), .chunk = chunk});
    if (!plan.fits())
      return false;
    int64_t now = request.processed();
    if (exact)
      EXPECT_EQ(now, std::max(before, hit));
    else // snapshots come where the engine's prompts part, or are gone
      EXPECT_TRUE(now == before || (now <= found && now % Page == 0));
    hits += now > before;
    shorter += takes && now < found;
    if (now > before || now == 0) {
      junctionHits +=
          now > 0 && junctions.contains(Oracle::prefix(request.tokens, now));
      seen.junction = found;
      seen.promptEnd = (request.known().length() - 1) / Page * Page;
    }
    return true;
  }

  void step() {
    struct Part {
      Seen *seen;
      int64_t count;
    };
    std::vector<Part> batch;
    for (size_t i = 0; i < open_.size(); ++i) {
      Seen &seen = open_[i];
      if (random() % 3 == 0)
        continue;
      int64_t chunk = 1 + random() % 60;
      if (!reserve(seen, chunk)) {
        if (batch.empty() && open_.size() > 1)
          close(i);
        continue;
      }
      int64_t left = seen.request.known().length() - seen.request.processed();
      int64_t count = random() % 8 ? stepOf(machine, seen.request, chunk)
                                   : std::min(left, chunk);
      batch.push_back({&seen, count});
    }
    if (batch.empty())
      return;
    ++steps;
    Ticket ticket = machine.engine->beginStep()->ticket;
    std::set<StateId> written, read;
    std::vector<StatePlaces> places;
    for (Part &part : batch) {
      Sequence &sequence = part.seen->request.sequence;
      Expected<void> joined = machine.engine->join(sequence, ticket);
      ASSERT_TRUE(joined) << joined.error().message;
      places.push_back(machine.engine->statePlaces(sequence));
      EXPECT_TRUE(written.insert(places.back().write).second);
    }
    for (size_t i = 0; i < batch.size(); ++i)
      EXPECT_TRUE(places[i].read == places[i].write ||
                  !written.contains(places[i].read));
    for (size_t i = 0; i < batch.size(); ++i)
      compute(machine, batch[i].seen->request, places[i], batch[i].count);
    for (Part &part : batch)
      commitOne(*part.seen, part.count);
    ASSERT_TRUE(machine.engine->completeStep(ticket));
  }

  void commitOne(Seen &seen, int64_t count) {
    Request &request = seen.request;
    int64_t processed = request.processed() + count;
    if (processed == request.known().length())
      request.tokens.push_back(static_cast<int32_t>(random() % 3));
    commit(*machine.engine, request.sequence, request.known(), processed);
    for (int64_t at = Page; at <= processed; at += Page)
      oracle.pages.insert(Oracle::prefix(request.tokens, at));
    bool wanted = processed == seen.junction || processed == seen.promptEnd ||
                  request.known().length() <= processed + 1;
    if (processed % Page != 0 || !wanted)
      return;
    Tokens prefix = Oracle::prefix(request.tokens, processed);
    oracle.snapshots.emplace(prefix, 0);
    if (processed == seen.junction)
      junctions.insert(prefix);
  }

  std::mt19937 random;
  bool exact;
  Machine machine;
  std::vector<Seen> open_;
  std::vector<Tokens> archive;
  Oracle oracle;
  std::set<Tokens> junctions;
};

/// A place that only the caller knows of, in the middle of a prompt.
TEST(EngineStates, AStateIsKeptWhereTheCallerSays) {
  for (bool isJunction : {false, true}) {
    CommandWriter lines;
    std::mt19937 random(4);
    Machine machine(40, 2, 2, &lines);
    Tokens tokens = randomTokens(random, 60, 1000);
    Request first{open(*machine.engine), tokens};
    CacheEngine::Demand all = {.length = 60};
    ASSERT_TRUE(
        machine.engine->reserve(first.sequence, first.known(), all).fits());
    machine.engine->keepState(first.sequence, 2 * Page, isJunction);
    // A step ends at a junction; a state that is loaded is there at once.
    EXPECT_EQ(machine.engine->nextSnapshot(first.sequence),
              isJunction ? 2 * Page : 59 / Page * Page);
    commit(*machine.engine, first.sequence, first.known(), 2 * Page);
    std::string log = lines.text();
    Request second{open(*machine.engine), tokens};
    EXPECT_EQ(
        machine.engine->plan(second.sequence, second.known(), all).hitPages, 2);
    Machine other(40, 2, 2);
    CommandInterpreter interpreter(*other.engine, 2);
    Expected<void> done = interpreter.run(log);
    ASSERT_TRUE(done) << done.error().message;
    Request third{open(*other.engine), tokens};
    EXPECT_EQ(other.engine->plan(third.sequence, third.known(), all).hitPages,
              2);
  }
}

/// What an engine is told makes the same states in another one.
TEST(EngineStates, ALogMakesTheSameStates) {
  CommandWriter lines;
  std::mt19937 random(9);
  Machine machine(40, 2, 2, &lines);
  Request open_{open(*machine.engine), randomTokens(random, 50, 3)};
  finish(machine, open_, 20, 30, random);
  for (int i = 0; i < 20; ++i) {
    Tokens tokens = open_.tokens;
    tokens.resize(10 + random() % 70);
    tokens = tokens + randomTokens(random, 5, 3);
    serve(machine, tokens, 20, random);
  }
  ASSERT_TRUE(
      machine.engine->reserve(open_.sequence, open_.known(), {.length = 80})
          .fits());
  Machine other(40, 2, 2);
  CommandInterpreter interpreter(*other.engine, 2);
  Expected<void> done = interpreter.run(lines.text());
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_GT(machine.engine->metrics().hitPages, 0);
  EXPECT_EQ(other.engine->metrics().hitPages,
            machine.engine->metrics().hitPages);
  EXPECT_EQ(
      other.engine->statePlaces(interpreter.sequence(open_.sequence.slot())),
      machine.engine->statePlaces(open_.sequence));
  EXPECT_EQ(other.engine->stateCounts().cached,
            machine.engine->stateCounts().cached);
}

TEST(EngineStates, HitsAreTheOracles) {
  int64_t hits = 0, junctionHits = 0, forks = 0;
  for (uint32_t seed = 0; seed < 8; ++seed) {
    RandomRequests requests(seed, 8000, 2000, /*exact=*/true);
    requests.run(2500);
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
    EXPECT_EQ(requests.engine().metrics().evictedPages, 0);
    hits += requests.hits;
    junctionHits += requests.junctionHits;
    forks += requests.forks;
  }
  EXPECT_GT(hits, 500);
  EXPECT_GT(junctionHits, 30);
  EXPECT_GT(forks, 30);
}

/// KV_STATE_OPS: commands in all.
TEST(EngineStates, StatesAreRightWhateverIsEvicted) {
  int64_t runs = environment("KV_STATE_OPS", 80'000) / 2000;
  int64_t hits = 0, shorter = 0;
  for (uint32_t seed = 100; seed < 100 + runs; ++seed) {
    RandomRequests requests(seed, seed % 2 ? 60 : 400, seed % 5,
                            /*exact=*/false);
    requests.run(2000);
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
    hits += requests.hits;
    shorter += requests.shorter;
  }
  EXPECT_GT(hits, 200);
  EXPECT_GT(shorter, 200);
}

/// Conversations that take turns, with new ones in each round, all of which
/// begin with one of two texts: the hits of each request. `oracle`, if given,
/// hears what was kept when, and `used` when each snapshot was needed last.
std::vector<int64_t> talk(Machine &machine, Oracle *oracle,
                          std::map<Tokens, int> *used) {
  std::mt19937 random(42);
  std::vector<Tokens> systems, talks;
  for (int i = 0; i < 2; ++i)
    systems.push_back(randomTokens(random, 70));
  for (int i = 0; i < 40; ++i)
    talks.push_back(systems[i % systems.size()]);
  std::vector<int64_t> hits;
  int time = 0;
  for (int turn = 0; turn < 5; ++turn) {
    talks.insert(talks.end(), systems.begin(), systems.end());
    for (Tokens &tokens : talks) {
      tokens = tokens + randomTokens(random, 25);
      int64_t found = oracle ? oracle->found(tokens) : 0;
      int64_t promptEnd = (int64_t(tokens.size()) - 1) / Page * Page;
      hits.push_back(serve(machine, tokens, 35, random));
      ++time;
      if (!oracle)
        continue;
      if (hits.back() > 0)
        (*used)[Oracle::prefix(tokens, hits.back())] = time;
      int64_t length = static_cast<int64_t>(tokens.size());
      for (int64_t at = Page; at <= length; at += Page) {
        oracle->pages.insert(Oracle::prefix(tokens, at));
        if (at == found || at >= promptEnd)
          oracle->snapshots.emplace(Oracle::prefix(tokens, at), time);
      }
    }
  }
  return hits;
}

TEST(EngineStates, SnapshotsTakeLittleMoreMemoryThanHitsNeed) {
  Machine all(2000, 2000, 1);
  Oracle oracle;
  std::map<Tokens, int> used;
  std::vector<int64_t> wanted = talk(all, &oracle, &used);
  // A snapshot is needed from when it is made until its last hit.
  std::map<int, int> change;
  for (const auto &[prefix, last] : used) {
    ASSERT_TRUE(oracle.snapshots.contains(prefix));
    ++change[oracle.snapshots[prefix]];
    --change[last + 1];
  }
  int needed = 0, now = 0;
  for (auto [time, delta] : change)
    needed = std::max(needed, now += delta);
  // One a conversation, and one a common beginning.
  EXPECT_EQ(needed, 50);
  // All states there are: those of the sequence that runs are among them.
  int states = needed * 11 / 10;
  Machine tight(2000, states - 2, 1);
  EXPECT_EQ(tight.engine->numStates(), states);
  EXPECT_EQ(talk(tight, nullptr, nullptr), wanted);
  RecordProperty("states", states);
  // The test can fail.
  Machine small(2000, needed - 6, 1);
  EXPECT_NE(talk(small, nullptr, nullptr), wanted);
}

} // namespace
