//===- TwinsTest.cpp - Kernels by their names -----------------------------===//

#include "kernels/cuda/twins/Twins.h"
#include "BodyCase.h"
#include "kernels/emulator/base/Earlier.h"

using namespace kv::cuda;
using namespace kv::cuda::test;

TEST(Twins, EveryKernelHasOne) {
  // All zeros are no work for any kernel, of no sequence, row or part.
  kv::plan::Header header{};
  kv::plan::Cut cuts[2] = {};
  for (const KernelLaunch &kernel : KernelLaunches) {
    SCOPED_TRACE(kernel.name);
    std::vector<char> params(kernel.argument.bytes);
    Machine machine;
    if (kernel.argument.bytes == sizeof(AttentionParams) ||
        kernel.argument.bytes == sizeof(TileParams) || // which begins with them
        kernel.name == "kv_merge") {                   // and so do its
      auto &p = *reinterpret_cast<AttentionParams *>(params.data());
      p.header = &header;
      p.cuts = cuts;
      machine.global().allow(&header, sizeof(header), Access::Read);
      machine.global().allow(cuts, sizeof(cuts), Access::Read);
    }
    if (kernel.name == "kv_plan") {
      auto &p = *reinterpret_cast<PlanParams *>(params.data());
      p.header = &header;
      p.cuts = cuts;
      p.shape = {1, 1, 16, kv::plan::GpuLeaf, 0, 0, 0, 1, 1, 0};
      machine.global().allow(&header, sizeof(header), Access::Write);
      machine.global().allow(cuts, sizeof(cuts), Access::Write);
    }
    EXPECT_TRUE(runTwin(machine, kernel.name, kernel.cluster, params.data(),
                        kernel.cluster));
    for (const std::string &report : machine.reports())
      ADD_FAILURE() << report;
  }
}

// Before earlier kernels are done none may touch anything: no argument here is
// an address.
TEST(Twins, EveryKernelWaitsFirst) {
  for (const KernelLaunch &kernel : KernelLaunches) {
    SCOPED_TRACE(kernel.name);
    std::vector<char> params(kernel.argument.bytes, 0x7f);
    Machine machine;
    EarlyRun early;
    EXPECT_TRUE(runTwin(machine, kernel.name, 3 * kernel.cluster, params.data(),
                        kernel.cluster));
    EXPECT_TRUE(early.hasWaited());
    EXPECT_TRUE(machine.reports().empty()) << machine.reports()[0];
  }
}

namespace {
/// A sum of eight elements with themselves.
struct Sum {
  std::vector<float> x = {1, 2, 3, 4, 5, 6, 7, 8}, out = std::vector<float>(8);
  PairParams p{x.data(),    x.data(),     out.data(),   8,           8, 8, 1, 8,
               KV_PAIR_ADD, KV_DTYPE_F32, KV_DTYPE_F32, KV_DTYPE_F32};
  Machine machine;
  Sum() {
    machine.global().allow(x.data(), 32, Access::Read);
    machine.global().allow(out.data(), 32, Access::Write);
  }
};
} // namespace

TEST(Twins, AKernelThatDoesNotWaitIsDoneEarly) {
  Sum s;
  {
    EarlyRun early;
    ASSERT_TRUE(runTwin(s.machine, "kv_pair", 1, &s.p));
    EXPECT_EQ(s.out[7], 0);
  }
  {
    EarlyRun early(/*ignoresWaits=*/true);
    ASSERT_TRUE(runTwin(s.machine, "kv_pair", 1, &s.p));
    EXPECT_FALSE(early.hasWaited());
  }
  EXPECT_EQ(s.out[7], 16);
}

TEST(Twins, ANameThatIsNone) {
  Machine machine;
  EXPECT_FALSE(runTwin(machine, "kv_attention_decode_bf16_88", 1, nullptr));
  EXPECT_FALSE(runTwin(machine, "store", 1, nullptr));
}

TEST(Twins, ClustersOfAnotherSize) {
  for (const KernelLaunch &kernel : KernelLaunches) {
    if (kernel.cluster == 1)
      continue;
    std::vector<char> params(kernel.argument.bytes);
    Machine machine;
    EarlyRun early;
    EXPECT_TRUE(runTwin(machine, kernel.name, 2, params.data()));
    ASSERT_FALSE(machine.reports().empty());
    EXPECT_NE(machine.reports()[0].find("launched in clusters of 1"),
              std::string::npos);
  }
}

TEST(Twins, ComputeWhatTheBodyDoes) {
  Sum s;
  ASSERT_TRUE(runTwin(s.machine, "kv_pair", 1, &s.p));
  EXPECT_TRUE(s.machine.reports().empty());
  EXPECT_EQ(s.out[7], 16);
  s.p.out = s.x.data(); // may only be read
  ASSERT_TRUE(runTwin(s.machine, "kv_pair", 1, &s.p));
  EXPECT_FALSE(s.machine.reports().empty());
}

namespace {

/// Room for the weights of eight groups, so that others' are computed when they
/// are read.
struct SmallTable : AttentionConfig<Bf16, Bf16, 64, 1, 4> {
  static constexpr int MergeTable = 24;
};

} // namespace

TEST(Twins, MoreGroupsThanTheMergeWeighs) {
  AttentionCase c;
  c.heads = 1;
  c.sequences = {{12000, 1}}; // twelve groups
  c.parts = 1;
  Results one = BodyFixture<SmallTable>(c).run();
  c.parts = 13;
  Results other = BodyFixture<SmallTable>(c).run();
  EXPECT_TRUE(other.reports.empty());
  EXPECT_EQ(one.out, other.out);
  EXPECT_EQ(one.lse, other.lse);
}

TEST(Twins, NoRingChangesABit) {
  AttentionCase c;
  c.sequences = {{500, 2}, {64, 1}};
  AttentionFixture<F16, F16> fixture(kernelFor("f16", 128, false), c);
  Results one = fixture.run();
  ASSERT_TRUE(one.reports.empty());
  auto expectSame = [&]<class Config>() {
    Results other = BodyFixture<Config>(c).run();
    EXPECT_TRUE(other.reports.empty());
    EXPECT_EQ(one.out, other.out);
    EXPECT_EQ(one.lse, other.lse);
  };
  expectSame.operator()<DecodeConfig<F16, F16, Scales::None, 128, 80>>();
  expectSame.operator()<PrefillConfig<F16, F16, Scales::None, 128, 80>>();
  expectSame.operator()<AttentionConfig<F16, F16, 128, 1, 9>>();
  expectSame.operator()<AttentionConfig<F16, F16, 128, 3, 2>>();
}
