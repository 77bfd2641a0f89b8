//===- StateFaultTest.cpp - Mistakes of recurrent layers ------------------===//
//
// And of what reads and changes rows of a cache.
//
//===----------------------------------------------------------------------===//

#include "MoverFaults.h"
#include "kernels/cuda/movers/CacheRowsBody.h"
#include "kernels/cuda/movers/StateBody.h"
#include "test/kernels/movers/StateCase.h"

using namespace kv::cuda;
using namespace kv::cuda::test;

namespace {

constexpr auto Nowhere = "where nothing was allocated";

/// The last sequence's states are far from all others.
const std::vector<int32_t> FarTable = {3, 3, 4, 5,       1,
                                       1, 6, 6, 1 << 20, 1 << 20};

Case scan(bool delta, std::vector<int32_t> table = StateStep(1, 1, 1).table) {
  return moverCase([=](auto run) {
    StateStep step(2, 8 * 16, 1);
    step.table = table;
    ScanCase c(1, 2, 8, 16, delta, false, step.tokens());
    std::vector<float> blocks = step.blocks, out(c.v.size());
    Places places;
    StateScanParams p = c.params(places, step, blocks, out);
    run(places, [&](auto &b) { stateScanBody(b, p); }, out, blocks);
  });
}

Case copyOfFarStates() {
  return moverCase([](auto run) {
    StateStep step(2, 8 * 16, 1);
    step.table = FarTable;
    std::vector<float> blocks = step.blocks,
                       rows(size_t(step.sequences()) * 2 * 128);
    Places places;
    CopyStatesParams p{step.view(places, blocks), places.out(rows),
                       step.sequences(), KV_DTYPE_F32, false};
    run(places, [&](auto &b) { copyStatesBody(b, p); }, rows);
  });
}

Case convolution(std::vector<int32_t> table) {
  return moverCase([=](auto run) {
    StateStep step(3, 16, 2);
    step.table = table;
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
    run(places, [&](auto &b) { stateConvolutionBody(b, p); }, out, blocks);
  });
}

/// Two sequences in a cache of four pages of four rows, which are more than a
/// block has warps; the second one's first page is none.
struct RowsCase {
  std::vector<Bf16> cache = std::vector<Bf16>(4 * 2 * 4 * 128, narrow<Bf16>(1));
  std::vector<int32_t> table = {1, 2, 77, 3}, lengths = {3, 2},
                       offsets = {0, 4, 6};

  StoreParams store(Places &places) {
    StoreParams p{};
    p.cache = {places.out(cache), 2 * 4 * 128, 4 * 128, 4 * 128, 128, 64, 4, 4};
    p.table = places.in(table);
    p.tablePitch = p.tableColumns = 2;
    p.batch = {places.in(lengths), places.in(offsets), 2, 6, 8};
    p.heads = 2;
    p.dim = 64;
    p.cacheType = KV_DTYPE_BF16;
    return p;
  }
};

/// Rows behind the window are zeros though their page is there.
Case load(int64_t window) {
  return moverCase([=](auto run) {
    RowsCase c;
    std::vector<float> out(2 * 8 * 128);
    std::vector<int32_t> lengths(2);
    Places places;
    LoadParams p{
        c.store(places),     {}, 0,           1, window, places.out(out),
        places.out(lengths), 8,  KV_DTYPE_F32};
    run(places, [&](auto &b) { loadBody(b, p); }, out);
  });
}

/// With scales, rows are of 8 bits.
Case update(int kind, bool scaled) {
  return moverCase([=](auto run) {
    RowsCase c;
    std::vector<float> operand(16 * 32, 0.5f), scales(4 * 2 * 4 * 2, 1);
    Places places;
    UpdateParams p{};
    p.store.store = c.store(places);
    p.store.groupChunks = scaled ? 64 / 8 : 1;
    if (scaled) {
      p.store.store.cacheType = KV_DTYPE_I8;
      p.store.scales = {places.out(scales), 16, 8, 8, 2, 1, 0, 1, 0};
      p.scaled = true;
    }
    p.kind = kind;
    p.operand = places.in(operand);
    p.operandRows = 16;
    p.width = 32;
    run(places, [&](auto &b) { updateBody(b, p); }, c.cache, scales);
  });
}

const bool Added[] = {
    addKernel(
        {"ScanFault",
         {},
         {{"SkippedShuffle",
           {{{"StateBody.h", "sumOwn", Member::Shuffle, 1},
             Action::LeaveOut,
             is37,
             0}},
           "waits for its warp",
           scan(true)},
          {"ForgottenDecay", Mistake::ForgottenDecay, nullptr, scan(false)},
          // A number that names no state: memory that nobody gave.
          {"UncheckedState", Mistake::UncheckedState, Nowhere,
           scan(true, FarTable)}}}),
    addKernel({"CopyStatesFault",
               {},
               {{"UncheckedState", Mistake::UncheckedState, Nowhere,
                 copyOfFarStates()}}}),
    addKernel({"ConvolutionFault",
               {},
               {{"UncheckedState", Mistake::UncheckedState, Nowhere,
                 convolution(FarTable)}}}),
    addKernel(
        {"CacheRowsFault",
         {update(KV_UPDATE_ROPE, false), update(KV_UPDATE_ROPE, true),
          update(KV_UPDATE_RMS_NORM, false)},
         {{"UncheckedPageOfLoad", Mistake::UncheckedPage, Nowhere, load(0)},
          {"WindowOfLoad", Mistake::ForgottenMask, nullptr, load(2)},
          {"UncheckedPageOfUpdate", Mistake::UncheckedPage, Nowhere,
           update(KV_UPDATE_ROPE, false)}}}),
};

} // namespace

// Rows behind a sequence's first must not look at a state that the first one's
// thread writes in place: seen where the one that writes comes first.
TEST(ConvolutionFault, ReadsItsStateOnce) {
  Case run = convolution({3, 3, 4, 5, 1, 1, 6, 6, 2, 2});
  EXPECT_TRUE(run(Schedule::OldestFirst).isGood());
  Outcome outcome =
      runWith(Mistake::StateReadTwice, run, Schedule::OldestFirst);
  ASSERT_FALSE(outcome.reports.empty());
  EXPECT_NE(outcome.reports[0].find("race"), std::string::npos)
      << outcome.reports[0];
}
