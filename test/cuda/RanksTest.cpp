//===- RanksTest.cpp - GPUs of several processes --------------------------===//

#include "CudaFixture.h"
#include "kv/Runtime/Device/Communicator.h"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace kv;
using namespace kv::test;

namespace {

/// Two processes at the ends of a socket.
class PairRanks : public Communicator {
public:
  PairRanks(int rank, int socket, int milliseconds)
      : self(rank), socket(socket), longest(milliseconds) {}
  ~PairRanks() override { close(socket); }
  int rank() const override { return self; }
  int size() const override { return 2; }
  int localSize() const override { return 2; }
  int localRank() const override { return self; }
  std::chrono::milliseconds limit() const override { return longest; }
  bool isBroken() const override { return broken; }
  void giveUp() override { broken = true; }
  void abort(int code) override { std::_Exit(code); }
  Expected<void> gather(std::span<const std::byte>,
                        std::span<std::byte>) override {
    return makeError(KV_STATUS_INTERNAL, "GPUs do not gather here");
  }
  Expected<void> broadcast(std::vector<std::byte> &message, Wait) override {
    auto size = ssize_t(message.size());
    if (self == 0 ? write(socket, message.data(), size) != size
                  : read(socket, message.data(), size) != size)
      return makeError(KV_STATUS_INTERNAL, "the other process is gone");
    return {};
  }
  /// Until the other process has ended.
  void waitForEnd() const {
    char byte;
    while (read(socket, &byte, 1) > 0)
      ;
  }

private:
  int self, socket;
  std::chrono::milliseconds longest;
  bool broken = false;
};

/// Calls `body` in two processes, one a rank: a device that has failed stays
/// so.
void inTwoProcesses(int milliseconds,
                    const std::function<void(PairRanks &)> &body) {
  int sockets[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
  pid_t children[2];
  for (int rank : {0, 1}) {
    children[rank] = fork();
    ASSERT_GE(children[rank], 0);
    if (children[rank] != 0)
      continue;
    close(sockets[1 - rank]);
    {
      PairRanks ranks(rank, sockets[rank], milliseconds);
      body(ranks);
    }
    std::fflush(stdout);
    _exit(::testing::Test::HasFailure());
  }
  for (int rank : {0, 1}) {
    close(sockets[rank]);
    int status = -1;
    EXPECT_EQ(waitpid(children[rank], &status, 0), children[rank]);
    EXPECT_EQ(status, 0) << "rank " << rank << " failed";
  }
}

/// Element i of run `run` of what rank `rank` holds.
template <class T> T valueOf(int64_t rank, int64_t run, int64_t i) {
  return T(float((rank * 31 + run * 7 + i) % 251));
}
template <> Bf16 valueOf<Bf16>(int64_t rank, int64_t run, int64_t i) {
  return kv::cuda::narrow<Bf16>(valueOf<float>(rank, run, i));
}

struct Case {
  int64_t runs, shard, size, copies = 1;
};

template <class T> void check(Gpu &gpu, DType type, int rank, const Case &c) {
  SCOPED_TRACE(concat(c.runs, " runs of ", c.shard, ", ", c.size, " in all, ",
                      c.copies, " copies"));
  std::vector<T> mine(size_t(c.runs * c.shard));
  for (int64_t run = 0; run < c.runs; ++run)
    for (int64_t i = 0; i < c.shard; ++i)
      mine[size_t(run * c.shard + i)] = valueOf<T>(rank, run, i);
  Tensor<T> x(gpu.device, type, {c.runs, c.shard}, mine);
  Tensor<T> out(gpu.device, type, {c.runs, c.size});
  gpu.expectRun([&](KvContext *ctx, const KvFunctionTable &f) {
    f.gather(ctx, x.view(), c.shard, c.size, 2, c.copies, out.view());
  });
  std::vector<T> got = out.read();
  for (int64_t run = 0; run < c.runs; ++run)
    for (int64_t i = 0; i < c.size; ++i) {
      T wanted = valueOf<T>(i / c.shard * c.copies, run, i % c.shard);
      ASSERT_EQ(std::memcmp(&got[size_t(run * c.size + i)], &wanted, sizeof(T)),
                0)
          << "run " << run << ", element " << i;
    }
}

TEST(CudaRanks, GatherWhatAllHave) {
  inTwoProcesses(60000, [](PairRanks &ranks) {
    Gpu gpu(ranks.rank(), false, &ranks);
    // In place; side by side; the last rank has less, or nothing; both have the
    // same; more than is exchanged at once.
    for (Case c :
         {Case{1, 16, 32}, Case{3, 16, 32}, Case{3, 32, 48}, Case{2, 32, 16},
          Case{3, 16, 16, 2}, Case{5, 16384, 32768}}) {
      check<float>(gpu, DType::F32, ranks.rank(), c);
      check<Bf16>(gpu, DType::BF16, ranks.rank(), c);
    }
    EXPECT_TRUE(fake::takeProblems().empty());
    EXPECT_FALSE(ranks.isBroken());
  });
}

TEST(CudaRanks, RefuseWhatDoesNotFit) {
  Gpu gpu;
  Tensor<float> x(gpu.device, DType::F32, {2, 16}),
      out(gpu.device, DType::F32, {2, 32});
  auto said = [&](int64_t shard, int64_t size, int64_t ranks) {
    auto done = gpu.run([&](KvContext *ctx, const KvFunctionTable &f) {
      f.gather(ctx, x.view(), shard, size, ranks, 1, out.view());
    });
    return done ? "no error" : done.error().message;
  };
  EXPECT_EQ(said(16, 32, 2),
            "gather: the graph is for 2 ranks, this context has 1");
  EXPECT_EQ(said(16, 32, 1), "gather: x is f32[2, 16] of 16, out f32[2, 32] of "
                             "32: they do not fit");
}

TEST(CudaRanks, SomebodyDoesNotCome) {
  inTwoProcesses(20, [](PairRanks &ranks) {
    if (ranks.rank() != 0)
      return ranks.waitForEnd();
    ThreadPool pool(1);
    auto made = ExecutionContext::create(
        pool, {.device = {Device::Kind::CUDA, 0}, .ranks = &ranks});
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().message,
              "device cuda:0: ncclCommInitRankConfig: not all ranks' GPUs took "
              "part within 300 ms");
    EXPECT_TRUE(ranks.isBroken());
  });
}

TEST(CudaRanks, SomebodyDoesNotGather) {
  inTwoProcesses(1000, [](PairRanks &ranks) {
    Gpu gpu(ranks.rank(), false, &ranks);
    check<float>(gpu, DType::F32, ranks.rank(), {3, 16, 32});
    if (ranks.rank() != 0)
      return ranks.waitForEnd();
    Tensor<float> x(gpu.device, DType::F32, {2, 16}),
        out(gpu.device, DType::F32, {2, 32});
    EXPECT_TRUE(gpu.run([&](KvContext *ctx, const KvFunctionTable &f) {
      f.gather(ctx, x.view(), 16, 32, 2, 1, out.view());
    }));
    auto waited = gpu.backend.synchronize();
    ASSERT_FALSE(waited);
    EXPECT_EQ(waited.error().message,
              "the GPU of another rank, or this one's, did not finish within "
              "1000 ms");
    EXPECT_TRUE(ranks.isBroken());
  });
}

} // namespace
