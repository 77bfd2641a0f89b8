//===- AsyncTest.cpp - Barriers of some threads, boxes, registers ---------===//
//
// Each mechanism that a kernel has whose warps have roles, alone: what it
// orders, and the sentence about each way to get it wrong.
//
//===----------------------------------------------------------------------===//

#include "AsyncCase.h"

using namespace kv::cuda;
using namespace kv::cuda::test;

namespace {

/// By thread 0, for all; boxes may complete on them.
void initBarriers(CpuBlock &b, std::initializer_list<int> arrivals) {
  if (b.thread() == 0) {
    int offset = 0;
    for (int count : arrivals) {
      b.init(b.barrier(offset), count);
      offset += 8;
    }
    b.fenceInit();
  }
  b.sync();
}

constexpr int Data = 1024; // where bodies put what is no barrier

} // namespace

//===--- mbarriers --------------------------------------------------------===//

namespace {

enum class PingPong { Right, NoWait, NoArrival, ReadAfterArrival, LateStore };

/// Warp 0 stores, warp 1 reads, five times, through one stage.
template <PingPong How> void pingPong(CpuBlock &b) {
  initBarriers(b, {32, 32}); // full, empty
  auto full = b.barrier(0), empty = b.barrier(8);
  auto x = b.shared<float>(Data, 32);
  int lane = b.thread() % 32;
  for (int round = 0; round < 5; ++round)
    if (b.thread() < 32) {
      b.awaitPhase(empty, (round & 1) ^ 1);
      if (How != PingPong::LateStore)
        x.store(lane, float(round + lane));
      b.arriveAt(full);
      if (How == PingPong::LateStore)
        x.store(lane, float(round + lane));
    } else {
      if (How != PingPong::NoWait)
        b.awaitPhase(full, round & 1);
      if (How == PingPong::ReadAfterArrival)
        b.arriveAt(empty);
      float read = x.load(31 - lane);
      if (How == PingPong::Right) {
        EXPECT_EQ(read, float(round + 31 - lane));
      }
      if (How != PingPong::ReadAfterArrival && How != PingPong::NoArrival)
        b.arriveAt(empty);
    }
}

} // namespace

TEST(SharedBarriers, OrderWhatArrivalsFollow) {
  expectClean(64, pingPong<PingPong::Right>);
}
TEST(SharedBarriers, MissingWait) {
  expectReport(shapeOf(64), {"reads unordered with the write", "nobody wrote"},
               pingPong<PingPong::NoWait>);
}
TEST(SharedBarriers, MissingArrivalNamesBarrierPhaseAndWaiters) {
  expectReport(64,
               "deadlock: thread 0 waits for phase 0 (parity 0) of the "
               "mbarrier at byte 8, whose phase 0 lacks 32 of 32 arrivals and "
               "0 bytes; thread 32 waits for phase 1 (parity 1) of",
               pingPong<PingPong::NoArrival>);
}
TEST(SharedBarriers, ReadAfterTheStageIsGiven) {
  expectReport(shapeOf(64),
               {"writes unordered with the read of",
                "reads unordered with the write of"},
               pingPong<PingPong::ReadAfterArrival>);
}
TEST(SharedBarriers, StoreAfterTheArrival) {
  expectReport(shapeOf(64),
               {"reads unordered with the write of", "nobody wrote",
                "writes unordered with the read of"},
               pingPong<PingPong::LateStore>);
}
TEST(SharedBarriers, ManyReadersAreRemembered) {
  // Of 31 readers all but the one in the middle are known to have read.
  expectReport(shapeOf(64), {"with the read of thread 15", "with the write of"},
               [](CpuBlock &b) {
                 auto x = b.shared<float>(Data, 1);
                 initBarriers(b, {31});
                 if (b.thread() == 0)
                   x.store(0, 1);
                 b.sync();
                 if (b.thread() < 32) {
                   if (b.thread() != 15)
                     x.load(0);
                   b.arriveAt(b.barrier(0));
                   if (b.thread() == 15)
                     x.load(0);
                 } else if (b.thread() == 32) {
                   b.awaitPhase(b.barrier(0), 0);
                   x.store(0, 2);
                 }
               });
}
TEST(SharedBarriers, OneArrivalTooMany) {
  expectReport(64, "arrives at the mbarrier at byte 0 once too often",
               [](CpuBlock &b) {
                 initBarriers(b, {1});
                 if (b.thread() == 0)
                   b.expectBytes(b.barrier(0), 128); // which never come
                 b.sync();
                 if (b.thread() == 1)
                   b.arriveAt(b.barrier(0));
               });
}
TEST(SharedBarriers, TwoPhasesOff) {
  expectReport(64,
               "thread 0 waits for parity 0 at the mbarrier at byte 0, which "
               "may be phase 0 or 2: 2 are complete, and it knows of 0",
               [](CpuBlock &b) {
                 initBarriers(b, {1});
                 if (b.thread() == 32) {
                   b.arriveAt(b.barrier(0));
                   b.arriveAt(b.barrier(0));
                 }
                 b.sync();
                 if (b.thread() == 0)
                   b.awaitPhase(b.barrier(0), 0);
               });
  // Parity 1 of a new barrier is complete, unless phase 0 is as well.
  expectReport(64, "which may be phase -1 or 1", [](CpuBlock &b) {
    initBarriers(b, {1});
    if (b.thread() == 32)
      b.arriveAt(b.barrier(0));
    b.sync();
    if (b.thread() == 0)
      b.awaitPhase(b.barrier(0), 1);
  });
}
TEST(SharedBarriers, UsedBeforeTheyAreThere) {
  expectReport(64, "arrives at an mbarrier at byte 8, where none was",
               [](CpuBlock &b) {
                 initBarriers(b, {1});
                 if (b.thread() == 0)
                   b.arriveAt(b.barrier(8));
               });
  expectReport(shapeOf(64),
               {"unordered with its initialisation by thread 0",
                "where none was initialised"},
               [](CpuBlock &b) {
                 if (b.thread() == 0)
                   b.init(b.barrier(0), 64);
                 b.arriveAt(b.barrier(0));
               });
}
TEST(SharedBarriers, InitialisedTwice) {
  expectReport(32, "thread 0 initialises the mbarrier at byte 0 again",
               [](CpuBlock &b) {
                 initBarriers(b, {1});
                 if (b.thread() == 0)
                   b.init(b.barrier(0), 1);
               });
  expectReport(32, "for 0 arrivals; 1 to 1048575 are allowed",
               [](CpuBlock &b) { initBarriers(b, {0}); });
}
TEST(SharedBarriers, TheirBytesAreTheirs) {
  expectReport(32, "writes over the mbarrier of thread 0", [](CpuBlock &b) {
    initBarriers(b, {1});
    if (b.thread() == 0)
      b.shared<float>(0, 2).store(1, 1);
  });
  expectReport(32, "reads the mbarrier of", [](CpuBlock &b) {
    initBarriers(b, {1});
    if (b.thread() == 0)
      b.shared<float>(0, 2).load(0);
  });
}
TEST(SharedBarriers, NeedALaunchWithRegisters) {
  expectReport({.blocks = 1, .threads = 32, .sharedBytes = 4096},
               {"does not say how many registers"},
               [](CpuBlock &b) { initBarriers(b, {1}); });
}

//===--- Boxes ------------------------------------------------------------===//

namespace {

/// 100 rows of 96 elements, of which a box has 16 rows of 64.
struct Matrix {
  static constexpr int Rows = 100, Columns = 96, BoxRows = 16;
  static constexpr int BoxBytes = BoxRows * 128;
  std::vector<uint16_t> elements = [] {
    std::vector<uint16_t> all(Rows * Columns);
    for (size_t i = 0; i < all.size(); ++i)
      all[i] = uint16_t(i + 1);
    return all;
  }();
  TensorMap map = matrixMap(elements.data(), Rows, Columns, BoxRows);

  uint16_t at(int row, int column) const {
    return row >= 0 && row < Rows && column >= 0 && column < Columns
               ? elements[row * Columns + column]
               : 0;
  }
};

enum class Box {
  Right,
  FewerBytes,
  MoreBytes,
  NoWait,
  NoInitFence,
  NoStoreFence,
  Unaligned,
  NotSwizzled,
  NoMap,
  NoDriversMap,
  BesideMemory,
  OutOfShared
};

/// Thread 32 copies two boxes, the second one beyond both ends; all read them.
template <Box How> void boxes(CpuBlock &b, const Matrix &matrix) {
  auto bar = b.barrier(0);
  auto x = b.shared<uint16_t>(Data, 2 * Matrix::BoxBytes / 2);
  if (b.thread() == 0) {
    b.init(bar, 1);
    if (How != Box::NoInitFence)
      b.fenceInit();
    x.store(0, 1); // what the box overwrites
    if (How != Box::NoStoreFence)
      b.fenceAsync();
  }
  b.sync();
  if (b.thread() == 32) {
    TensorDescription twisted = {matrix.elements.data(),
                                 {64, 16, 1, 1},
                                 {100, 1600, 1600},
                                 {64, 16, 1, 1}};
    TensorMap map =
        How == Box::NoMap          ? TensorMap{}
        : How == Box::NoDriversMap ? mapOf(twisted)
        : How == Box::BesideMemory
            ? matrixMap(matrix.elements.data() + 16 * Matrix::Columns,
                        Matrix::Rows, Matrix::Columns, Matrix::BoxRows)
            : matrix.map;
    b.expectBytes(bar, 2 * Matrix::BoxBytes +
                           (How == Box::FewerBytes  ? -Matrix::BoxBytes
                            : How == Box::MoreBytes ? Matrix::BoxBytes
                                                    : 0));
    b.copyTile(map,
               How == Box::Unaligned     ? Data + 16
               : How == Box::OutOfShared ? 65536 - 1024
                                         : Data,
               {{0, 84, 0, 0}}, bar);
    b.copyTile(matrix.map, Data + Matrix::BoxBytes, {{48, 90, 0, 0}}, bar);
  }
  if (How != Box::NoWait)
    b.awaitPhase(bar, 0);
  for (int i = b.thread(); i < 2 * Matrix::BoxBytes / 2; i += 64) {
    uint32_t byte = Data + 2 * i;
    int place = How == Box::NotSwizzled ? i : int(swizzled(byte) - Data) / 2;
    uint16_t read = x.load(place);
    int row = i / 64 % 16, column = i % 64;
    uint16_t expected = i < Matrix::BoxBytes / 2
                            ? matrix.at(84 + row, column)
                            : matrix.at(90 + row, 48 + column);
    if (How == Box::Right) {
      EXPECT_EQ(read, expected) << i;
    }
    if (How == Box::NotSwizzled && row == 0) {
      EXPECT_EQ(read, expected) << "the first row is as it was";
    }
    if (How == Box::NotSwizzled && i / 64 == 1) {
      EXPECT_NE(read, expected);
    }
  }
}

template <Box How> void expectBoxReport(const std::vector<std::string> &texts) {
  Matrix matrix;
  expectReport(shapeOf(64), texts, [&](CpuBlock &b) { boxes<How>(b, matrix); },
               {in(matrix.elements)});
}

} // namespace

TEST(TileCopies, LandSwizzledWithZerosOutside) {
  Matrix matrix;
  expectClean(64, [&](CpuBlock &b) { boxes<Box::Right>(b, matrix); },
              {in(matrix.elements)});
  expectClean(64, [&](CpuBlock &b) { boxes<Box::NotSwizzled>(b, matrix); },
              {in(matrix.elements)});
}
TEST(TileCopies, BytesOffByABox) {
  expectBoxReport<Box::FewerBytes>(
      {"phase 0 of the mbarrier at byte 0 is complete with 1 boxes under way: "
       "fewer bytes were expected than are copied"});
  expectBoxReport<Box::MoreBytes>({"whose phase 0 lacks 0 of 1 arrivals and "
                                   "2048 bytes"});
}
TEST(TileCopies, MissingWait) {
  expectBoxReport<Box::NoWait>({"reads under the box of thread 32",
                                "reads unordered with", "nobody",
                                "copies a box unordered with the read of"});
}
TEST(TileCopies, MissingInitFence) {
  expectBoxReport<Box::NoInitFence>({"no fenceInit() showed to copies"});
}
TEST(TileCopies, MissingFenceBehindAStore) {
  expectBoxReport<Box::NoStoreFence>(
      {"copies a box without fenceAsync() over a store of thread 0"});
}
TEST(TileCopies, Places) {
  expectBoxReport<Box::Unaligned>({"both are multiples of 128"});
  expectBoxReport<Box::OutOfShared>({"leaves shared memory: 2048 bytes"});
  expectBoxReport<Box::BesideMemory>({"leaves global memory"});
}
TEST(TileCopies, Maps) {
  expectBoxReport<Box::NoMap>({"by what is no tensor map"});
  expectBoxReport<Box::NoDriversMap>(
      {"no driver takes: a stride is not a multiple of 16 bytes"});
}
TEST(TileCopies, GlobalMemoryOfThisLaunch) {
  Matrix matrix;
  expectReport(shapeOf(32),
               {"the box of thread 0 reads what a thread of this launch"},
               [&](CpuBlock &b) {
                 initBarriers(b, {1});
                 if (b.thread() == 0) {
                   b.store(&matrix.elements[70], uint16_t(1));
                   b.expectBytes(b.barrier(0), Matrix::BoxBytes);
                   b.copyTile(matrix.map, Data, {{64, 0, 0, 0}}, b.barrier(0));
                   b.awaitPhase(b.barrier(0), 0);
                 }
               },
               {out(matrix.elements)});
}
TEST(TileCopies, NobodyWaits) {
  Matrix matrix;
  expectReport(shapeOf(32), {"with the box of thread 0 to byte 1024 under way"},
               [&](CpuBlock &b) {
                 initBarriers(b, {1});
                 if (b.thread() == 0) {
                   b.expectBytes(b.barrier(0), Matrix::BoxBytes);
                   b.copyTile(matrix.map, Data, {}, b.barrier(0));
                 }
               },
               {in(matrix.elements)});
}

//===--- Named barriers ---------------------------------------------------===//

namespace {

enum class Named { Right, OtherCount, TooMany };

/// Two pairs of warps meet in their own; the first passes on to the second.
template <Named How> void named(CpuBlock &b) {
  auto x = b.shared<float>(Data, 128);
  int pair = b.thread() / 64, i = b.thread() % 64;
  x.store(b.thread(), float(b.thread()));
  b.syncNamed(1 + pair, How == Named::TooMany                 ? 96
                        : How == Named::OtherCount && i >= 32 ? 128
                                                              : 64);
  float other = x.load(pair * 64 + 63 - i);
  if (How == Named::Right) {
    EXPECT_EQ(other, float(pair * 64 + 63 - i));
  }
  if (pair == 0) {
    b.arriveNamed(3, 128);
  } else {
    b.syncNamed(3, 128);
    float first = x.load(i);
    if (How == Named::Right) {
      EXPECT_EQ(first, float(i));
    }
  }
}

} // namespace

TEST(NamedBarriers, OrderThoseWhoCome) {
  expectClean(128, named<Named::Right>);
}
TEST(NamedBarriers, Missing) {
  // Without a value that is read too early: the other warps may not have run.
  expectReport(shapeOf(64), {"unordered with the write", "nobody wrote"},
               [](CpuBlock &b) {
                 auto x = b.shared<float>(Data, 64);
                 x.store(b.thread(), 1);
                 if (b.thread() < 32)
                   b.arriveNamed(1, 64);
                 else
                   b.syncNamed(1, 64);
                 x.load(63 - b.thread()); // warp 0 did not wait
               });
}
TEST(NamedBarriers, CountsDiffer) {
  expectReport(128, "threads, where", named<Named::OtherCount>);
}
TEST(NamedBarriers, WaitForTooMany) {
  expectReport(128, "waits at named barrier 1, where 64 of 96 threads arrived",
               named<Named::TooMany>);
}
TEST(NamedBarriers, OneThreadLeaves) {
  expectReport(128,
               "waits at named barrier 2, where 63 of 64 threads arrived; 1 "
               "threads have left",
               [](CpuBlock &b) {
                 if (b.thread() >= 64 && b.thread() != 70)
                   b.syncNamed(2, 64);
                 else if (b.thread() < 64)
                   b.syncNamed(1, 64);
                 if (b.thread() != 70)
                   b.syncNamed(4, 128);
               });
}
TEST(NamedBarriers, CountWarps) {
  expectReport(64, "is complete with 16 lanes of the warp of thread 0",
               [](CpuBlock &b) {
                 if (b.thread() % 32 < 16)
                   b.syncNamed(1, 32);
               });
}
TEST(NamedBarriers, ArriveTwice) {
  expectReport(128, "arrives at named barrier 3 again before it is complete",
               [](CpuBlock &b) {
                 if (b.thread() < 64)
                   for (int i = 0; i < 2; ++i)
                     b.arriveNamed(3, 128);
               });
}

namespace {
/// Lanes exchange what they stored; where `leaves`, one goes before.
void exchange(CpuBlock &b, bool meets, bool leaves = false) {
  auto x = b.shared<float>(Data, 64);
  x.store(b.thread(), float(b.thread()));
  if (leaves && b.thread() == 40)
    return;
  if (meets)
    b.syncWarp();
  float other = x.load(b.thread() ^ 31);
  if (meets && !leaves) {
    EXPECT_EQ(other, float(b.thread() ^ 31));
  }
}
} // namespace

TEST(WarpBarriers, OrderTheLanesOfAWarp) {
  expectClean(64, [](CpuBlock &b) { exchange(b, /*meets=*/true); });
}
TEST(WarpBarriers, Missing) {
  expectReport(shapeOf(64), {"unordered with the write", "nobody wrote"},
               [](CpuBlock &b) { exchange(b, /*meets=*/false); });
}
TEST(WarpBarriers, SayNothingToOtherWarps) {
  expectReport(shapeOf(64), {"unordered with the write", "nobody wrote"},
               [](CpuBlock &b) {
                 auto x = b.shared<float>(Data, 64);
                 x.store(b.thread(), 1);
                 b.syncWarp();
                 x.load(b.thread() ^ 32);
               });
}
TEST(WarpBarriers, ALaneLeaves) {
  expectReport(
      64, "waits at the barrier of its warp, where 31 of 32 threads",
      [](CpuBlock &b) { exchange(b, /*meets=*/true, /*leaves=*/true); });
}
TEST(NamedBarriers, Limits) {
  expectReport(32, "names barrier 16; 1 to 15 are allowed",
               [](CpuBlock &b) { b.syncNamed(16, 32); });
  expectReport(64, "named barrier 1 of 40 threads: whole warps",
               [](CpuBlock &b) { b.syncNamed(1, 40); });
  expectReport(64, "all have left named barrier 5, where 32 of 64 threads",
               [](CpuBlock &b) {
                 if (b.thread() < 32)
                   b.arriveNamed(5, 64);
               });
}

//===--- Registers --------------------------------------------------------===//

namespace {

/// Three warpgroups, the first of which gives registers to the others.
template <int Down, int Up> void budgets(CpuBlock &b) {
  if (b.thread() < GroupThreads)
    b.registersDown<Down>();
  else
    b.registersUp<Up>();
}

constexpr LaunchShape Roles = {
    .blocks = 1, .threads = 384, .sharedBytes = 4096, .registers = 168};

} // namespace

TEST(Registers, AreGivenAndTaken) { expectClean(Roles, budgets<24, 240>); }
TEST(Registers, OverBudget) {
  expectReport(Roles,
               {"waits for 9216 registers for warpgroup 2: the block was "
                "launched with 64512 and 7168 are free",
                "waits for 9216 registers for warpgroup 1"},
               budgets<40, 240>);
}
TEST(Registers, LaunchTakesMoreThanThereAre) {
  LaunchShape shape = Roles;
  shape.registers = 176;
  expectReport(shape,
               {"a launch of 384 threads with 176 registers takes 67584 of an "
                "SM's 65536"},
               [](CpuBlock &) {});
}
TEST(Registers, WrongWay) {
  expectReport(Roles, {"which has 168 registers a thread, goes up to 160"},
               budgets<24, 160>);
  expectReport(Roles, {"which has 168 registers a thread, goes down to 20"},
               budgets<20, 200>);
}
TEST(Registers, OneWarpDoesNotCome) {
  expectReport(Roles, {"for its warpgroup at line"}, [](CpuBlock &b) {
    if (b.thread() >= 32 && b.thread() < 128)
      b.registersDown<24>();
  });
}
