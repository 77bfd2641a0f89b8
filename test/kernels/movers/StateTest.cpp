//===- StateTest.cpp - Recurrent layers against plain loops ---------------===//

#include "StateCase.h"
#include "test/kernels/KernelRun.h"

#include <cstring>

using namespace kv::cuda;
using namespace kv::cuda::test;

namespace {

void expectNear(float have, double want, const char *what) {
  EXPECT_NEAR(have, want, 2e-5 * std::abs(want) + 2e-5) << what;
}

/// Everything but what the step may write is as it was; that is what `wanted`
/// says.
void expectStates(const StateStep &step, const std::vector<float> &written,
                  const std::vector<std::vector<double>> &wanted) {
  std::vector<float> kept = step.blocks;
  for (int b = 0; b < step.sequences(); ++b) {
    int id = step.table[b * 2 + 1];
    if (!StateStep::isState(id))
      continue;
    for (size_t i = 0; i < wanted[b].size(); ++i)
      expectNear(written[step.at(id) + i], wanted[b][i], "state");
    std::copy_n(&written[step.at(id)], wanted[b].size(), &kept[step.at(id)]);
  }
  EXPECT_EQ(std::memcmp(kept.data(), written.data(), kept.size() * 4), 0);
}

struct Done {
  std::vector<float> out, blocks;
};

Done scan(const ScanCase &c, StateStep &step, int blocks) {
  Done done{std::vector<float>(c.v.size(), NAN), step.blocks};
  KernelRun run;
  run("kv_state_scan", blocks, c.params(run, step, done.blocks, done.out));
  return done;
}

void testScan(int keyHeads, int perKey, int keyDim, int valueDim, bool delta,
              bool skips) {
  SCOPED_TRACE(testing::Message() << keyDim << ' ' << valueDim << ' ' << delta);
  StateStep step(keyHeads * perKey, keyDim * valueDim, 7);
  ScanCase c(keyHeads, perKey, keyDim, valueDim, delta, skips, step.tokens());
  Done done = scan(c, step, 2);
  std::vector<std::vector<double>> states;
  for (int b = 0; b < step.sequences(); ++b) {
    states.push_back(step.begun(b));
    std::vector<double> want(c.values());
    for (int t = step.offsets[b]; t < step.offsets[b + 1]; ++t) {
      c.step(states.back(), t, want.data());
      for (int i = 0; i < c.values(); ++i)
        expectNear(done.out[size_t(t) * c.values() + i], want[i], "out");
    }
  }
  expectStates(step, done.blocks, states);
}

/// A convolution of so many channels, in double precision.
void testConvolution(int taps, int width, bool biased, int blocks) {
  SCOPED_TRACE(testing::Message() << taps << ' ' << width);
  StateStep step(taps - 1, width, 8);
  int stride = width + 8;
  auto x = StateStep::numbers(size_t(step.tokens()) * stride, 1, 2);
  auto weight = StateStep::numbers(size_t(taps) * width, 2, 1);
  auto bias = StateStep::numbers(width, 3, 1);
  std::vector<float> out(size_t(step.tokens()) * width, NAN);
  std::vector<float> written = step.blocks;
  KernelRun run;
  StateConvolutionParams p{step.view(run, written),
                           step.batch(run),
                           run.in(x),
                           run.in(weight),
                           biased ? run.in(bias) : nullptr,
                           run.out(out),
                           stride,
                           width,
                           width,
                           width,
                           taps};
  run("kv_state_convolution", blocks, p);
  std::vector<std::vector<double>> states;
  for (int b = 0; b < step.sequences(); ++b) {
    std::vector<double> rows = step.begun(b);
    for (int t = step.offsets[b]; t < step.offsets[b + 1]; ++t) {
      rows.insert(rows.end(), &x[size_t(t) * stride],
                  &x[size_t(t) * stride] + width);
      for (int c = 0; c < width; ++c) {
        double sum = biased ? bias[c] : 0;
        for (int i = 0; i < taps; ++i)
          sum += double(weight[i * width + c]) * rows[i * width + c];
        expectNear(out[size_t(t) * width + c], sum / (1 + std::exp(-sum)),
                   "out");
      }
      rows.erase(rows.begin(), rows.begin() + width);
    }
    states.push_back(rows);
  }
  expectStates(step, written, states);
}

} // namespace

TEST(Mover, StateScan) {
  testScan(2, 2, 8, 16, true, false);
  testScan(1, 3, 40, 8, false, true);
  testScan(2, 1, 128, 8, true, true);
  testScan(1, 2, 136, 16, true, false); // fewer columns a warp
  testScan(1, 1, 256, 8, false, false);
}

// A prompt in one step and in three, alone and beside others, by any number of
// blocks: the same bits of every token and of the state.
TEST(Mover, StateScanHasOneOrder) {
  for (bool delta : {false, true}) {
    constexpr int Tokens = 11;
    StateStep step(4, 8 * 16, 9);
    ScanCase all(2, 2, 8, 16, delta, !delta, Tokens);
    step.offsets = {0, Tokens};
    step.lengths = {0};
    step.table = {2, 2};
    Done whole = scan(all, step, 3);
    std::vector<float> out;
    for (auto [first, end] : {std::pair(0, 1), {1, 8}, {8, Tokens}}) {
      ScanCase part = all;
      auto cut = [&](std::vector<float> &x, int width) {
        x = std::vector<float>(x.begin() + first * width,
                               x.begin() + end * width);
      };
      cut(part.q, all.keys());
      cut(part.k, all.keys());
      cut(part.v, all.values());
      cut(part.decay, all.heads());
      cut(part.strength, all.heads());
      // Beside it, a sequence without rows, whose state moves.
      step.offsets = {0, 0, end - first};
      step.lengths = {5, first};
      step.table = {4, 4, 2, 2};
      Done done = scan(part, step, 1 + first);
      out.insert(out.end(), done.out.begin(), done.out.end());
      step.blocks = done.blocks;
    }
    EXPECT_EQ(std::memcmp(out.data(), whole.out.data(), out.size() * 4), 0);
    EXPECT_EQ(std::memcmp(step.blocks.data(), whole.blocks.data(),
                          whole.blocks.size() * 4),
              0);
  }
}

TEST(Mover, StateConvolution) {
  testConvolution(4, 24, true, 1);
  testConvolution(4, 264, false, 3);
  testConvolution(3, 8, true, 2);
  testConvolution(2, 16, false, 1);
}

TEST(Mover, CopyStates) {
  for (bool toStates : {false, true}) {
    StateStep step(3, 16, 10);
    auto rows = StateStep::numbers(size_t(step.sequences()) * 48, 4, 1);
    std::vector<float> blocks = step.blocks, copied = rows;
    KernelRun run;
    CopyStatesParams p{step.view(run, blocks), run.out(copied),
                       step.sequences(), KV_DTYPE_F32, toStates};
    run("kv_copy_states", 2, p);
    std::vector<std::vector<double>> states;
    for (int b = 0; b < step.sequences(); ++b)
      states.push_back(
          toStates ? std::vector<double>(&rows[b * 48], &rows[b * 48] + 48)
                   : step.begun(b));
    if (toStates) {
      expectStates(step, blocks, states);
      EXPECT_EQ(copied, rows);
      continue;
    }
    EXPECT_EQ(blocks, step.blocks);
    for (int b = 0; b < step.sequences(); ++b)
      for (int i = 0; i < 48; ++i)
        EXPECT_EQ(copied[b * 48 + i], states[b][i]);
  }
}
