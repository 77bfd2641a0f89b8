//===- StateFaultTest.cpp - Planted mistakes of recurrent layers ----------===//
//
// And of what reads and changes rows of a cache; on the emulator only.
//
//===----------------------------------------------------------------------===//

#include "MoverReport.h"
#include "kernels/cuda/movers/CacheRowsBody.h"
#include "kernels/cuda/movers/StateBody.h"
#include "test/kernels/movers/StateCase.h"

using namespace kv::cuda;
using namespace kv::cuda::test;

namespace {

/// Addresses as they are: a backend is given them for every schedule.
struct Places {
  std::vector<std::tuple<const void *, size_t, Access>> all;
  template <class T> T *in(const std::vector<T> &x) {
    all.push_back({x.data(), x.size() * sizeof(T), Access::Read});
    return const_cast<T *>(x.data());
  }
  template <class T> T *out(std::vector<T> &x) {
    all.push_back({x.data(), x.size() * sizeof(T), Access::Write});
    return x.data();
  }
  void operator()(Backend &b) const {
    for (auto [data, bytes, access] : all)
      b.give(data, bytes, access);
  }
};

/// The last sequence's states are far from all others.
const std::vector<int32_t> FarTable = {3, 3, 4, 5,       1,
                                       1, 6, 6, 1 << 20, 1 << 20};

/// One launch of a body, without a report.
template <class Body> void launch(const Places &places, Body body) {
  expectReport(nullptr, places, body);
}

} // namespace

TEST(StateFault, ScanShuffles) {
  StateStep step(2, 8 * 16, 1);
  ScanCase c(1, 2, 8, 16, true, false, step.tokens());
  std::vector<float> blocks = step.blocks, out(c.v.size());
  Places places;
  StateScanParams p = c.params(places, step, blocks, out);
  launch(places, [&](CpuBlock &b) { stateScanBody(b, p); });
  expectReport("waits for its warp", places, [&](CpuBlock &b) {
    stateScanBody<CpuBlock, Fault::SkippedShuffle>(b, p);
  });
}

TEST(StateFault, ScanDecays) {
  StateStep step(2, 8 * 16, 1);
  ScanCase c(1, 2, 8, 16, false, false, step.tokens());
  auto outOf = [&]<Fault F>() {
    std::vector<float> blocks = step.blocks, out(c.v.size());
    Places places;
    StateScanParams p = c.params(places, step, blocks, out);
    EmulatorBackend backend;
    places(backend);
    backend.machine.launch(1, MoverThreads, 0, [&](Machine &m, int thread) {
      CpuBlock b(m, thread);
      stateScanBody<CpuBlock, F>(b, p);
    });
    EXPECT_TRUE(backend.reports().empty());
    return out;
  };
  EXPECT_NE(outOf.operator()<Fault::None>(),
            outOf.operator()<Fault::ForgottenDecay>());
}

// A number that names no state: memory that nobody gave.
TEST(StateFault, UncheckedStates) {
  StateStep step(2, 8 * 16, 1);
  step.table = FarTable;
  ScanCase c(1, 2, 8, 16, true, false, step.tokens());
  std::vector<float> blocks = step.blocks, out(c.v.size());
  Places places;
  StateScanParams p = c.params(places, step, blocks, out);
  expectReport("where nothing was allocated", places, [&](CpuBlock &b) {
    stateScanBody<CpuBlock, Fault::UncheckedState>(b, p);
  });
  std::vector<float> rows(size_t(step.sequences()) * 2 * 128);
  Places others;
  CopyStatesParams copy{step.view(others, blocks), others.out(rows),
                        step.sequences(), KV_DTYPE_F32, false};
  launch(others, [&](CpuBlock &b) { copyStatesBody(b, copy); });
  expectReport("where nothing was allocated", others, [&](CpuBlock &b) {
    copyStatesBody<CpuBlock, Fault::UncheckedState>(b, copy);
  });
}

// Rows behind a sequence's first must not look at a state that the first one's
// thread writes in place.
TEST(StateFault, ConvolutionReadsItsStateOnce) {
  StateStep step(3, 16, 2);
  step.table = {3, 3, 4, 5, 1, 1, 6, 6, 2, 2};
  auto x = StateStep::numbers(size_t(step.tokens()) * 16, 1, 2);
  auto weight = StateStep::numbers(4 * 16, 2, 1);
  std::vector<float> blocks = step.blocks, out(x.size());
  Places places;
  StateConvolutionParams p{step.view(places, blocks),
                           step.batch(places),
                           places.in(x),
                           places.in(weight),
                           nullptr,
                           places.out(out),
                           16,
                           16,
                           16,
                           16,
                           4};
  launch(places, [&](CpuBlock &b) { stateConvolutionBody(b, p); });
  // Seen where the one that writes comes first.
  EmulatorBackend backend({.schedule = Schedule::OldestFirst});
  places(backend);
  backend.machine.launch(1, MoverThreads, 0, [&](Machine &m, int thread) {
    CpuBlock b(m, thread);
    stateConvolutionBody<CpuBlock, Fault::StateReadTwice>(b, p);
  });
  ASSERT_FALSE(backend.reports().empty());
  EXPECT_NE(backend.reports()[0].find("race"), std::string::npos)
      << backend.reports()[0];
  step.table.back() = FarTable.back();
  expectReport("where nothing was allocated", places, [&](CpuBlock &b) {
    stateConvolutionBody<CpuBlock, Fault::UncheckedState>(b, p);
  });
}

namespace {

/// Two sequences in a cache of four pages of four rows; the second one's first
/// page is none.
struct RowsCase {
  std::vector<Bf16> cache = std::vector<Bf16>(4 * 2 * 4 * 64, narrow<Bf16>(1));
  std::vector<int32_t> table = {1, 2, 77, 3}, lengths = {3, 2},
                       offsets = {0, 4, 6};

  StoreParams store(Places &places) {
    StoreParams p{};
    p.cache = {places.out(cache), 2 * 4 * 64, 4 * 64, 4 * 64, 64, 64, 4, 4};
    p.table = places.in(table);
    p.tablePitch = p.tableColumns = 2;
    p.batch = {places.in(lengths), places.in(offsets), 2, 6, 8};
    p.heads = 1;
    p.dim = 64;
    p.cacheType = KV_DTYPE_BF16;
    return p;
  }
};

} // namespace

TEST(CacheRowsFault, UncheckedPageOfLoad) {
  RowsCase c;
  std::vector<float> out(2 * 8 * 64);
  std::vector<int32_t> lengths(2);
  Places places;
  LoadParams p{c.store(places),     {}, 0,           1, 0, places.out(out),
               places.out(lengths), 8,  KV_DTYPE_F32};
  launch(places, [&](CpuBlock &b) { loadBody(b, p); });
  expectReport("where nothing was allocated", places, [&](CpuBlock &b) {
    loadBody<CpuBlock, Fault::UncheckedPage>(b, p);
  });
}

// Rows behind the window are zeros though their page is there.
TEST(CacheRowsFault, WindowOfLoad) {
  auto loaded = []<Fault F>() {
    RowsCase c;
    std::vector<float> out(2 * 8 * 64);
    std::vector<int32_t> lengths(2);
    Places places;
    LoadParams p{c.store(places),     {}, 0,           1, 2, places.out(out),
                 places.out(lengths), 8,  KV_DTYPE_F32};
    launch(places, [&](CpuBlock &b) { loadBody<CpuBlock, F>(b, p); });
    return out;
  };
  EXPECT_EQ(loaded.operator()<Fault::None>()[64], 0);
  EXPECT_EQ(loaded.operator()<Fault::ForgottenMask>()[64], 1);
}

TEST(CacheRowsFault, BarriersOfUpdate) {
  RowsCase c;
  std::vector<float> freqs(16 * 32, 0.5f);
  Places places;
  UpdateParams p{};
  p.store.store = c.store(places);
  p.store.groupChunks = 1;
  p.kind = KV_UPDATE_ROPE;
  p.operand = places.in(freqs);
  p.operandRows = 16;
  p.width = 32;
  launch(places, [&](CpuBlock &b) { updateBody(b, p); });
  expectReport("shared memory", places, [&](CpuBlock &b) {
    updateBody<CpuBlock, Fault::MissingStageBarrier>(b, p);
  });
  expectReport("where nothing was allocated", places, [&](CpuBlock &b) {
    updateBody<CpuBlock, Fault::UncheckedPage>(b, p);
  });
}
