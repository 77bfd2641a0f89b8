//===- RanksTest.cpp - Shards, and steps that ranks share -----------------===//

#include "kv/Runtime/Serving/RankedRunner.h"

#include <condition_variable>
#include <cstring>
#include <gtest/gtest.h>
#include <mutex>
#include <thread>

using namespace kv;

namespace {

/// What the ranks of one process, each a thread, share.
struct Exchange {
  explicit Exchange(int count) : given(count) {}
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::span<const std::byte>> given;
  int arrived = 0, left = 0;
  std::vector<std::vector<std::byte>> messages;
};

/// Ranks that are threads. It breaks with the call `breaks`, counted from 0.
class ThreadRanks : public Communicator {
public:
  ThreadRanks(Exchange &exchange, int rank, int breaks = -1)
      : exchange(exchange), self(rank), breaks(breaks) {}
  int rank() const override { return self; }
  int size() const override { return int(exchange.given.size()); }
  int localSize() const override { return size(); }
  int localRank() const override { return self; }
  std::chrono::milliseconds limit() const override { return {}; }
  void giveUp() override { broken = true; }
  bool isBroken() const override { return broken; }
  void abort(int code) override { std::_Exit(code); }

  Expected<void> gather(std::span<const std::byte> mine,
                        std::span<std::byte> all) override {
    if (fails())
      return makeError(KV_STATUS_INTERNAL, "rank 7 did not answer");
    std::unique_lock lock(exchange.mutex);
    exchange.changed.wait(lock, [&] { return exchange.left == 0; });
    exchange.given[self] = mine;
    ++exchange.arrived;
    exchange.changed.notify_all();
    exchange.changed.wait(lock, [&] { return exchange.arrived == size(); });
    for (int r = 0; r < size(); ++r)
      std::memcpy(all.data() + r * mine.size(), exchange.given[r].data(),
                  mine.size());
    if (++exchange.left == size())
      exchange.left = exchange.arrived = 0;
    exchange.changed.notify_all();
    exchange.changed.wait(lock, [&] { return exchange.left == 0; });
    return {};
  }

  Expected<void> broadcast(std::vector<std::byte> &message,
                           Wait wait) override {
    waits.push_back(wait);
    if (fails())
      return makeError(KV_STATUS_INTERNAL, "rank 7 did not answer");
    std::unique_lock lock(exchange.mutex);
    if (self == 0) {
      exchange.messages.push_back(message);
      exchange.changed.notify_all();
      return {};
    }
    exchange.changed.wait(lock,
                          [&] { return exchange.messages.size() > received; });
    message = exchange.messages[received++];
    return {};
  }

  std::vector<Wait> waits; // of broadcasts

private:
  bool fails() { return broken |= calls++ == breaks; }
  Exchange &exchange;
  int self, breaks, calls = 0;
  size_t received = 0;
  bool broken = false;
};

template <class Fn> void onRanks(int count, Fn fn) {
  Exchange exchange(count);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < count; ++rank)
    threads.emplace_back([&, rank] {
      ThreadRanks ranks(exchange, rank);
      fn(ranks);
    });
  for (std::thread &thread : threads)
    thread.join();
}

std::string gathered(Communicator *ranks, std::string_view x, size_t shard,
                     size_t size, size_t copies) {
  std::string out(x.size() / shard * size, '-');
  std::vector<std::byte> scratch;
  Expected<void> done =
      gatherShards(ranks, std::as_bytes(std::span(x)), shard, size, copies,
                   reinterpret_cast<std::byte *>(out.data()), scratch);
  return done ? out : done.error().message;
}

TEST(GatherShards, PutsRunsSideBySide) {
  onRanks(3, [](Communicator &ranks) {
    std::string own[] = {"ab", "cd", "ef"};
    EXPECT_EQ(gathered(&ranks, own[ranks.rank()], 2, 6, 1), "abcdef");
    // The last rank's are more than there are.
    EXPECT_EQ(gathered(&ranks, own[ranks.rank()], 2, 5, 1), "abcde");
    EXPECT_EQ(gathered(&ranks, own[ranks.rank()], 2, 3, 1), "abc");
    std::string runs[] = {"abAB", "cdCD", "efEF"};
    EXPECT_EQ(gathered(&ranks, runs[ranks.rank()], 2, 6, 1), "abcdefABCDEF");
    EXPECT_EQ(gathered(&ranks, runs[ranks.rank()], 2, 5, 1), "abcdeABCDE");
  });
}

TEST(GatherShards, TakesOneOfSeveralCopies) {
  onRanks(4, [](Communicator &ranks) {
    std::string own[] = {"abAB", "abAB", "cdCD", "cdCD"};
    EXPECT_EQ(gathered(&ranks, own[ranks.rank()], 2, 4, 2), "abcdABCD");
    EXPECT_EQ(gathered(&ranks, own[ranks.rank()], 2, 3, 2), "abcABC");
  });
}

TEST(GatherShards, NeedsNoOthers) {
  EXPECT_EQ(gathered(nullptr, "abcd", 4, 4, 1), "abcd");
  EXPECT_EQ(gathered(nullptr, "abcd", 2, 1, 1), "ac");
}

TEST(Agreement, NamesTheRanksThatDiffer) {
  onRanks(4, [](Communicator &ranks) {
    EXPECT_TRUE(checkAgreement(ranks, "a.so", 5));
    Expected<void> differs =
        checkAgreement(ranks, "a.so", ranks.rank() % 2 ? 6 : 5);
    ASSERT_FALSE(differs);
    EXPECT_EQ(differs.error().message,
              "a.so of rank 1, 3 is not that of rank 0");
  });
}

MultiKVCacheParams twoReplicas() {
  KVCacheParams params;
  params.geometry = {
      .dtype = KV_DTYPE_F32, .layers = 1, .heads = 1, .dim = 4, .page = 2};
  params.numDevices = params.dataParallelDegree = 2;
  return params;
}

/// Notes what it is given, and writes the first token to the first page.
class NotingRunner : public ModelRunner {
public:
  int64_t vocabSize() const override { return 1; }
  Expected<std::span<const float>> run(const ModelStep &step) override {
    auto list = [&](const auto &values) {
      for (int32_t value : values)
        said += concat(value, " ");
      said += "| ";
    };
    auto tensor = [&](const KvTensorView &view) {
      int64_t elements = 1;
      for (int64_t d = 0; d < view.rank; ++d)
        elements *= view.sizes[d];
      said += describe(view) + ": ";
      list(std::span(static_cast<const int32_t *>(view.data), elements));
    };
    said += concat("replica ", step.replica, ": ");
    list(step.tokens);
    list(step.rowOffsets);
    list(step.logitRows);
    const RaggedKVCacheInputs &kv = step.kv[0];
    tensor(kv.cacheLengths);
    tensor(kv.lookupTable);
    tensor(kv.maxLengths);
    auto *blocks = static_cast<float *>(kv.blocks.data);
    int64_t page = kv.blocks.strides[0];
    said += concat("pages ", kv.blocks.sizes[0], ", page 2 holds ",
                   int(blocks[2 * page]), "\n");
    blocks[page] = float(step.tokens[0]);
    if (step.tokens[0] == 99)
      return makeError(KV_STATUS_INVALID_ARGUMENT, "99 is refused");
    return std::span<const float>(&logit, 1);
  }
  std::string said;

private:
  float logit = 0;
};

/// A step of one sequence in a cache of 4 pages and the null page.
struct OneStep {
  int32_t token, replica;
  std::vector<float> blocks = std::vector<float>(5 * 16);
  int32_t tokens[1] = {token}, offsets[2] = {0, 1}, rows[1] = {0};
  int32_t lengths[1] = {3}, table[2] = {1, 2}, maxima[2] = {1, 4};
  RaggedKVCacheInputs kv = {
      .blocks = makeView(blocks.data(), DType::F32, {5, 2, 1, 2, 1, 4}),
      .cacheLengths = makeView(lengths, DType::I32, {1}),
      .lookupTable = makeView(table, DType::I32, {1, 2}),
      .maxLengths = makeView(maxima, DType::I32, {1, 2})};
  ModelStep step() {
    return {.tokens = tokens,
            .rowOffsets = offsets,
            .logitRows = rows,
            .kv = std::span(&kv, 1),
            .replica = replica};
  }
};

TEST(RankedRunner, OthersDoTheSame) {
  MultiKVCacheParams params = twoReplicas();
  NotingRunner leader, follower;
  Exchange exchange(2);
  std::thread other([&] {
    ThreadRanks ranks(exchange, 1);
    Expected<void> done = followSteps(follower, ranks, params);
    EXPECT_TRUE(done) << done.error().message;
  });
  ThreadRanks ranks(exchange, 0);
  RankedRunner runner(leader, &ranks, [](const Error &) { FAIL(); });
  EXPECT_EQ(runner.vocabSize(), 1);
  OneStep first{5, 0}, second{6, 1}, third{99, 0};
  EXPECT_TRUE(runner.run(first.step()));
  // Pages of both replicas, done before the next step of either.
  PageOp ops[] = {{PageOp::Copy, 0, 1, 2, 1}, {PageOp::ZeroFill, 0, 0, 1, 0}};
  runner.addPageOps(0, ops);
  std::memcpy(&first.blocks[2 * 16], &first.blocks[16], 16 * sizeof(float));
  std::fill_n(&first.blocks[16], 16, 0.0f);
  EXPECT_TRUE(runner.run(second.step()));
  third.blocks = first.blocks;
  third.kv.blocks.data = third.blocks.data();
  // An error that all ranks have ends no rank.
  EXPECT_FALSE(runner.run(third.step()));
  EXPECT_TRUE(runner.run(second.step()));
  EXPECT_TRUE(runner.finish());
  other.join();
  EXPECT_EQ(follower.said, leader.said);
  EXPECT_NE(leader.said.find("replica 0: 99 | 0 1 | 0 | i32[1]: 3 | "
                             "i32[1, 2]: 1 2 | i32[1, 2]: 1 4 | pages 5, page "
                             "2 holds 5\n"),
            std::string::npos)
      << leader.said;
}

// A rank 0 that hangs between two steps is lost; one without requests is not.
TEST(RankedRunner, OthersWaitLongerWhileItRests) {
  MultiKVCacheParams params = twoReplicas();
  NotingRunner leader, follower;
  Exchange exchange(2);
  ThreadRanks others(exchange, 1);
  std::thread other([&] {
    Expected<void> done = followSteps(follower, others, params);
    EXPECT_TRUE(done) << done.error().message;
  });
  ThreadRanks ranks(exchange, 0);
  RankedRunner runner(leader, &ranks, [](const Error &) { FAIL(); });
  OneStep step{5, 0};
  EXPECT_TRUE(runner.run(step.step()));
  EXPECT_TRUE(runner.run(step.step()));
  runner.rest();
  EXPECT_TRUE(runner.run(step.step()));
  runner.rest();
  EXPECT_TRUE(runner.finish());
  other.join();
  using enum Communicator::Wait;
  EXPECT_EQ(others.waits, (std::vector{Unlimited, Limited, Limited, Unlimited,
                                       Limited, Unlimited}));
  EXPECT_EQ(follower.said, leader.said);
}

TEST(RankedRunner, SaysThatRanksAreLost) {
  NotingRunner own;
  Exchange exchange(2);
  ThreadRanks ranks(exchange, 0, /*breaks=*/1);
  std::string lost;
  RankedRunner runner(own, &ranks,
                      [&](const Error &error) { lost = error.message; });
  OneStep step{5, 0};
  EXPECT_TRUE(runner.run(step.step()));
  EXPECT_EQ(lost, "");
  EXPECT_FALSE(runner.run(step.step()));
  EXPECT_EQ(lost, "rank 7 did not answer");
}

TEST(RankedRunner, RefusesWhatIsNoStep) {
  MultiKVCacheParams params = twoReplicas();
  auto follow = [&](std::vector<int32_t> numbers) {
    Exchange exchange(2);
    auto bytes = std::as_bytes(std::span(numbers));
    exchange.messages.emplace_back(bytes.begin(), bytes.end());
    ThreadRanks ranks(exchange, 1);
    NotingRunner own;
    Expected<void> done = followSteps(own, ranks, params);
    return done ? "no error" : done.error().message;
  };
  const char *damaged = "a step of rank 0 cannot be read: does it run the same "
                        "program?";
  // Kind, pages, page operations, replica, and lists that are not there.
  EXPECT_EQ(follow({1, 5, 0, 0, 1, 7}), damaged);
  EXPECT_EQ(follow({1, 5, 0, 2}), damaged);
  EXPECT_EQ(follow({1, 5, 3, 0, 0, 0, 0}), damaged);
  EXPECT_EQ(follow({1, 5, -3}), damaged);
  EXPECT_EQ(follow({0}), "no error");
}

TEST(RankedRunner, AloneIsTheOwnRunner) {
  NotingRunner own;
  RankedRunner runner(own, nullptr, [](const Error &) { FAIL(); });
  OneStep step{5, 0};
  EXPECT_TRUE(runner.run(step.step()));
  EXPECT_TRUE(runner.finish());
  EXPECT_NE(own.said, "");
}

} // namespace
