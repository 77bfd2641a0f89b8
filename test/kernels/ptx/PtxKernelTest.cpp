//===- PtxKernelTest.cpp - What executed PTX gave -------------------------===//

#include "PtxBackend.h"
#include "kernels/cuda/parameters/KernelTable.h"
#include "test/kernels/attention/AttentionCase.h"

#include <cstdio>
#include <gtest/gtest.h>
#include <vector>

using namespace kv;
using namespace kv::cuda;
using namespace kv::cuda::test;

namespace {

bool isMade(std::string_view kernel) {
  const std::string &chip = PtxRecord::get().chip;
  std::string_view only = kernels::onlyChipOf(kernel);
  if (!only.empty())
    return only == "sm_" + chip;
  return chip == "80" || chip == "90a" ||
         !PtxRecord::get().fileOf(kernel).empty();
}

/// Says behind all tests what was executed.
class Summary : public testing::Environment {
  void TearDown() override {
    PtxRecord &record = PtxRecord::get();
    if (std::getenv("KV_PTX_EVERY_ROW"))
      for (const KernelLaunch &kernel : KernelLaunches)
        EXPECT_TRUE(!isMade(kernel.name) ||
                    record.kernels.contains(kernel.name))
            << kernel.name << " was not executed";
    record.countForms();
    record.mutants.print();
    for (const auto &[name, tally] : record.kernels)
      std::printf("%s: %d launches, %d with the body's bits, %d hurried\n",
                  name.c_str(), tally.launches, tally.equal, tally.hurried);
    std::printf("compute_%s: %zu of %zu forms executed\n", record.chip.c_str(),
                record.executed.size(), record.contained.size());
    for (const std::string &form : record.contained)
      if (!record.executed.contains(form))
        std::printf("  not executed: %s\n", form.c_str());
  }
};

const auto *Added = testing::AddGlobalTestEnvironment(new Summary);

/// Attention kernels of this chip that are wanted.
template <class Wanted>
std::vector<AttentionKernel> kernelsWhere(Wanted isWanted) {
  std::vector<AttentionKernel> kernels;
  auto add = [&](const AttentionKernel &kernel) {
    if (canRun(kernel.name) && isWanted(kernel))
      kernels.push_back(kernel);
  };
  std::ranges::for_each(AttentionKernels, add);
  std::ranges::for_each(TileKernels, add);
  return kernels;
}

/// Changes a case's inputs, for which its truth does not hold: the body says
/// what is right.
template <class Change>
void expectBodysBits(const AttentionKernel &kernel, const AttentionCase &c,
                     Change change) {
  withFixture(kernel, c, [&](auto &fixture) {
    change(fixture);
    Results results = fixture.run();
    EXPECT_TRUE(results.reports.empty())
        << kernel.name << ", " << c << ": " << results.reports[0];
  });
}

} // namespace

// A case of a kernel without a file is left out. So here the files are counted:
// those of a chip that the build has images for are there, and all that they
// contain is modelled.
TEST(PtxKernels, AllAreTranslated) {
  PtxRecord &record = PtxRecord::get();
  int translated = 0;
  for (const KernelLaunch &kernel : KernelLaunches) {
    if (!isMade(kernel.name))
      continue;
    SCOPED_TRACE(kernel.name);
    try {
      record.programOf(kernel.name);
      ++translated;
    } catch (const kv::ptx::Error &error) {
      ADD_FAILURE() << error.what();
    }
  }
  EXPECT_GT(translated, 50);
}

// As little as makes all rings of tiles begin again: for many schedules.
TEST(PtxKernels, SmallUnits) {
  for (const AttentionKernel &kernel : TileKernels) {
    AttentionCase c;
    c.heads = 1;
    c.sequences = {{300, 2}};
    c.parts = 2;
    EXPECT_TRUE(check(kernel, c)) << kernel.name << ", " << c;
  }
}

//===--- What makes a mistake of an instruction visible -------------------===//

// Rows of a tile see all of a leaf, some of it, and nothing; nodes of trees lie
// in each place of a leaf.
TEST(PtxAttention, EveryMask) {
  struct {
    int mask;
    int64_t window;
    bool softcap, trees;
  } masks[] = {{KV_MASK_CAUSAL, 0, true, false},
               {KV_MASK_CAUSAL, 0, false, true},
               {KV_MASK_NONE, 0, true, false},
               {KV_MASK_SLIDING, 130, false, false},
               {KV_MASK_CHUNKED, 64, true, false},
               {KV_MASK_CHUNKED_CAUSAL, 64, false, false},
               {KV_MASK_SLIDING_NONCAUSAL, 130, true, false}};
  for (const AttentionKernel &kernel :
       kernelsWhere([](auto &) { return true; }))
    for (auto [mask, window, softcap, trees] : masks) {
      bool hasChunks =
          mask == KV_MASK_CHUNKED || mask == KV_MASK_CHUNKED_CAUSAL;
      if (hasChunks && kernel.eightBitProducts)
        continue; // kv.attention has none
      AttentionCase c;
      c.heads = 1;
      c.group = 3;
      c.mask = mask;
      c.window = window;
      c.softcap = softcap ? 2.5f : 0;
      c.sinks = softcap;
      c.trees = trees;
      c.sequences = {{375, 20}, {31, 3}};
      if (trees)
        c.sequences = {{330, 64}, {390, 64}};
      EXPECT_TRUE(check(kernel, c)) << kernel.name << ", " << c;
    }
}

TEST(PtxAttention, OffsetsOutOfOrder) {
  for (const AttentionKernel &kernel :
       kernelsWhere([](auto &) { return true; }))
    for (int i = 0; i < 4; ++i)
      for (int32_t value : {-1, 2, 7, INT32_MAX}) {
        AttentionCase c;
        c.sequences = {{20, 2}, {10, 3}, {5, 1}};
        expectBodysBits(kernel, c, [&](auto &fixture) {
          fixture.offsets[i] = value;
          fixture.cached[1] = int32_t(0u - uint32_t(value));
        });
      }
}

// Of each leaf one value's scale is the largest by far, or all are from one
// key on: where a row counts one that it does not see, or misses one that it
// sees, weights leave their type's range. A leaf with rows of its own has that
// key among them.
TEST(PtxAttention, AnyScaleIsTheLargest) {
  for (const AttentionKernel &kernel :
       kernelsWhere([](auto &each) { return each.scales != Scales::None; }))
    for (uint32_t seed = 1; seed <= 6; ++seed) {
      AttentionCase c;
      c.seed = seed;
      c.group = 2;
      c.sequences = {{200, 60}, {10, 50}, {330, 40}};
      expectBodysBits(kernel, c, [&](auto &fixture) {
        std::mt19937 random(seed);
        auto setScale = [&](size_t b, int head, int key, int power) {
          int groups = fixture.truth->shape.groups;
          int64_t at = fixture.place(b, 1, key, head) / kernel.headDim * groups;
          for (int g = 0; g < groups; ++g)
            fixture.setScale(at + g, std::ldexp(1.0f, power + g));
        };
        for (size_t b = 0; b < c.sequences.size(); ++b)
          for (int head = 0; head < c.heads; ++head) {
            auto [cached, added] = c.sequences[b];
            for (int leaf = 0; leaf < cached + added; leaf += kernel.leaf) {
              int end = std::min(leaf + kernel.leaf, cached + added);
              int from = cached < end ? std::max(leaf, cached) : leaf;
              int first = from + int(random() % (end - from));
              bool isOne = random() % 2;
              for (int key = leaf; key < end; ++key)
                setScale(b, head, key,
                         (isOne ? key == first : key >= first) ? 20 : -20);
            }
          }
      });
    }
}

// Of each query one element is the largest by far, of either sign, in each
// column.
TEST(PtxAttention, AnyQueryIsTheLargest) {
  for (const AttentionKernel &kernel :
       kernelsWhere([](auto &each) { return each.eightBitProducts; })) {
    AttentionCase c;
    c.heads = 1;
    c.scale = 1.0f / 1024;
    c.sequences = {{100, 40}, {140, 40}};
    expectBodysBits(kernel, c, [&](auto &fixture) {
      int rows = int(fixture.q.size()) / kernel.headDim;
      for (int row = 0; row < rows; ++row) {
        auto &x = fixture.q[row * kernel.headDim + row % kernel.headDim];
        using Query = std::decay_t<decltype(x)>;
        x = narrow<Query>(row < rows / 2 ? -300.0f : 300.0f);
      }
    });
  }
}

// Lanes of a warp weigh groups of a unit that parts share: more than eight, of
// as many rows as warps have two of.
TEST(PtxAttention, MoreGroupsThanEight) {
  for (const AttentionKernel &kernel : kernelsWhere(
           [](auto &each) { return !each.vDim && each.headDim <= 128; })) {
    AttentionCase c;
    c.heads = 1;
    c.sequences = {{80 * kernel.leaf - 100, 8}};
    c.parts = 12;
    EXPECT_TRUE(check(kernel, c)) << kernel.name << ", " << c;
  }
}
