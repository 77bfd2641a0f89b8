//===- RingTest.cpp - A ring of tiles, and mistakes in it -----------------===//

#include "AsyncCase.h"
#include "test/kernels/instructions/RingBody.h"

using namespace kv::cuda;
using namespace kv::cuda::test;

namespace {

constexpr int Rows = 128, Columns = 64;

struct RingCase {
  int tiles, live;
  std::vector<uint16_t> a, b;
  std::vector<float> c = std::vector<float>(Rows * Columns);

  explicit RingCase(int tiles = 7, int dead = 20)
      : tiles(tiles), live(tiles * 64 - dead), a(Rows * tiles * 64),
        b(tiles * 64 * Columns) {
    std::mt19937 next(7);
    auto number = [&] { // from 1/8 to 8, of either sign
      return uint16_t((next() & 0x807f) | (0x3e00 + (next() % 6 << 7)));
    };
    for (int row = 0; row < Rows; ++row)
      for (int k = 0; k < tiles * 64; ++k)
        a[row * tiles * 64 + k] = k < live ? number() : 0;
    for (int k = 0; k < tiles * 64; ++k)
      for (int column = 0; column < Columns; ++column)
        b[k * Columns + column] = k < live ? number() : 0x7fff; // NaN
  }

  LaunchShape shape() const {
    return {.blocks = 1,
            .threads = RingThreads,
            .sharedBytes = RingSharedBytes,
            .registers = RingRegisters};
  }
  std::vector<Given> given() { return {in(a), in(b), out(c)}; }

  template <bool FromRegisters, RingFault F> void run(CpuBlock &block) {
    RingParams p = {matrixMap(a.data(), Rows, tiles * 64, 64),
                    matrixMap(b.data(), tiles * 64, Columns, 64), c.data(),
                    tiles, live};
    RingBody<CpuBlock, FromRegisters, F>(block, p).run();
  }

  /// By mma.sync's arithmetic.
  std::vector<float> expected(SumOrder order) const {
    std::mt19937 random(std::mt19937(1)());
    MatrixUnit unit(order, random);
    std::vector<float> all(Rows * Columns);
    for (int row = 0; row < Rows; row += 16)
      for (int column = 0; column < Columns; column += 8) {
        MatrixTile tile{};
        for (int k = 0; k < tiles * 64; k += 16) {
          auto atB = [&](int at, int n) {
            return at < live ? b[at * Columns + column + n] : 0u;
          };
          for (int r = 0; r < 16; ++r)
            std::memcpy(tile.a + r * 8, &a[(row + r) * tiles * 64 + k], 32);
          for (int pair = 0; pair < 8; ++pair)
            for (int n = 0; n < 8; ++n)
              tile.b[pair * 8 + n] = atB(k + pair * 2, n) |
                                     uint32_t(atB(k + pair * 2 + 1, n)) << 16;
          unit.multiplyAdd(
              tile, MatrixElement::Bf16,
              fusedSumOf(90, MatrixInstruction::Mma, MatrixElement::Bf16));
        }
        for (int i = 0; i < 128; ++i)
          all[(row + i / 8) * Columns + column + i % 8] = tile.sums[i];
      }
    return all;
  }
};

/// A mistake that is found whatever the schedule.
template <RingFault F, bool FromRegisters = false>
void expectSeen(const std::vector<std::string> &texts) {
  RingCase ring;
  expectReport(
      ring.shape(), texts, [&](CpuBlock &b) { ring.run<FromRegisters, F>(b); },
      ring.given());
}

/// One that breaks no rule.
template <RingFault F, bool FromRegisters = false> void expectOtherNumbers() {
  RingCase ring;
  expectClean(
      ring.shape(), [&](CpuBlock &b) { ring.run<FromRegisters, F>(b); },
      ring.given());
  EXPECT_NE(ring.c, ring.expected(usualOrder()));
}

} // namespace

TEST(Ring, BitsOfMma) {
  for (int tiles : {1, 2, 4, 7})
    for (SumOrder order : {SumOrder::Fused, SumOrder::Shuffled})
      for (MachineOptions options : machines()) {
        options.order = order;
        if (order == SumOrder::Shuffled)
          options.seed = 1; // as expected() has it
        RingCase ring(tiles, tiles == 2 ? 0 : 20);
        auto check = [&](const Body &body) {
          EXPECT_EQ(
              joined(reportsOf(options, ring.shape(), body, ring.given())),
              "nothing was reported");
          EXPECT_EQ(ring.c, ring.expected(order));
          std::fill(ring.c.begin(), ring.c.end(), 0.0f);
        };
        check([&](CpuBlock &b) { ring.run<false, RingFault::None>(b); });
        check([&](CpuBlock &b) { ring.run<true, RingFault::None>(b); });
      }
}

TEST(RingFaults, MissingInitFence) {
  expectSeen<RingFault::MissingInitFence>({"no fenceInit() showed to copies"});
}
TEST(RingFaults, MissingInitBarrier) {
  expectSeen<RingFault::MissingInitBarrier>(
      {"unordered with its initialisation", "where none was initialised"});
}
TEST(RingFaults, MissingFullWait) {
  expectSeen<RingFault::MissingFullWait>(
      {"nobody wrote", "under the box of", "its phase not awaited"});
}
TEST(RingFaults, UnawaitedPhase) {
  expectSeen<RingFault::UnawaitedPhase>({"its phase not awaited"});
}
TEST(RingFaults, MissingEmptyWait) {
  expectSeen<RingFault::MissingEmptyWait>(
      {"thread 256 writes under the box of thread 256",
       "copies a box unordered with the read of a product",
       "its phase not awaited"});
}
TEST(RingFaults, WrongFullParity) {
  expectSeen<RingFault::WrongFullParity>({"nobody wrote", "under the box of",
                                          "its phase not awaited",
                                          "which may be phase -1 or 1"});
}
TEST(RingFaults, WrongEmptyParity) {
  expectSeen<RingFault::WrongEmptyParity>(
      {"thread 256 waits for phase 0 (parity 0) of the mbarrier at byte 73752, "
       "whose phase 0 lacks 2 of 2 arrivals and 0 bytes"});
}
TEST(RingFaults, ParityOfTheStage) {
  expectSeen<RingFault::ParityOfTheStage>({"nobody wrote", "under the box of",
                                           "its phase not awaited",
                                           "which may be phase -1 or 1"});
}
TEST(RingFaults, BytesOffByABox) {
  expectSeen<RingFault::BoxNotExpected>(
      {"is complete with 1 boxes under way: fewer bytes were expected than are "
       "copied"});
  expectSeen<RingFault::BoxExpectedTwice>(
      {"whose phase 0 lacks 0 of 1 arrivals and 8192 bytes"});
  expectSeen<RingFault::BoxNotCopied>(
      {"whose phase 0 lacks 0 of 1 arrivals and 8192 bytes"});
}
TEST(RingFaults, BoxElsewhere) {
  expectOtherNumbers<RingFault::BoxElsewhere>();
  expectSeen<RingFault::StageElsewhere>(
      {"writes under the box of thread 256", "its phase not awaited"});
}
TEST(RingFaults, EarlyRelease) {
  expectSeen<RingFault::EarlyRelease>(
      {"copies a box unordered with the read of a product of warpgroup"});
  expectSeen<RingFault::EarlyRelease, true>(
      {"copies a box unordered with the read of a product of warpgroup"});
}
TEST(RingFaults, MissingRelease) {
  expectSeen<RingFault::MissingRelease>(
      {"thread 256 waits for phase 0 (parity 0) of the mbarrier at byte"});
  expectSeen<RingFault::ReleasedByOneGroup>({"lacks 1 of 2 arrivals"});
}
TEST(RingFaults, ReleasedTwice) {
  expectSeen<RingFault::ReleasedTwice>(
      {"copies a box unordered with the read of", "under the box of",
       "which may be phase"});
}
TEST(RingFaults, Tail) {
  expectOtherNumbers<RingFault::MissingTailFill>();
  expectSeen<RingFault::MissingTailFence>({"reads without fenceAsync() what"});
  expectSeen<RingFault::TailFenceAfterBarrier>(
      {"reads without fenceAsync() what was written by thread"});
  expectSeen<RingFault::MissingTailBarrier>(
      {"unordered with the write of", "unordered with the read of"});
  expectSeen<RingFault::OneWarpSkipsTheTail>(
      {"waits at named barrier 1, where 224 of 256 threads arrived"});
  expectSeen<RingFault::TailBarrierOfTooMany>(
      {"waits at named barrier 1, where 256 of 384 threads arrived"});
}
TEST(RingFaults, Products) {
  expectSeen<RingFault::MissingProductsFence>(
      {"needs fenceProducts() before the product at line"});
  expectSeen<RingFault::MissingProductsFence, true>(
      {"needs fenceProducts() before the product at line"});
  // Which is not waited for, so its stage is filled under it.
  expectSeen<RingFault::MissingCommit>(
      {"copies a box unordered with the read of a product of warpgroup"});
  expectSeen<RingFault::ProductsWaitOneShort>(
      {"which the wait leaves under way: 1 groups may be pending"});
  expectSeen<RingFault::EarlyAccumulator>(
      {"uses the accumulator of a product that it did not wait for"});
  expectSeen<RingFault::ScaledUnderWay>(
      {"touched the accumulator of a product under way"});
  expectSeen<RingFault::RegistersAOverwritten, true>(
      {"touched A's registers of the product"});
}
TEST(RingFaults, Layouts) {
  expectOtherNumbers<RingFault::WrongSwizzle, true>();
  expectOtherNumbers<RingFault::WrongStride>();
  expectOtherNumbers<RingFault::WrongSlab>();
}
TEST(RingFaults, Registers) {
  expectSeen<RingFault::ProducerKeepsRegisters>(
      {"waits for 9216 registers for warpgroup 0: the block was launched with "
       "64512 and 0 are free"});
  expectSeen<RingFault::OneWarpTakesNoRegisters>({"for its warpgroup at line"});
}
TEST(RingFaults, WhoLeavesEarly) {
  expectSeen<RingFault::ConsumerLeavesEarly>({"deadlock:"});
  expectSeen<RingFault::ProducerLeavesEarly>(
      {"thread 0 waits for phase 2 (parity 0) of the mbarrier at byte 73728"});
}
