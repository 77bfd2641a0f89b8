//===- KernelTableTest.cpp - The kernels that are built -------------------===//

#include "../../kernels/cuda/KernelTable.h"

#include <gtest/gtest.h>
#include <iterator>
#include <set>

using namespace kv::cuda;

TEST(KernelTable, NamesAndCount) {
  std::set<std::string_view> names;
  for (const KernelLaunch &kernel : KernelLaunches)
    names.insert(kernel.name);
  EXPECT_EQ(names.size(),
            std::size(MoverKernels) + std::size(AttentionKernels));
  EXPECT_LE(names.size(), 48u);
}

TEST(KernelTable, ByName) {
  const KernelLaunch *decode = findKernel("kv_attention_decode_bf16_128");
  ASSERT_TRUE(decode);
  EXPECT_EQ(decode->paramBytes, sizeof(AttentionParams));
  EXPECT_EQ(decode->threads, 128);
  EXPECT_GT(decode->sharedBytes(90), decode->sharedBytes(80));
  const KernelLaunch *plan = findKernel("kv_plan");
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->paramBytes, sizeof(PlanParams));
  EXPECT_EQ(plan->threads, MoverThreads);
  EXPECT_EQ(plan->sharedBytes(80), PlanSharedBytes);
  EXPECT_EQ(findKernel("kv_store")->paramBytes, sizeof(StoreParams));
  EXPECT_EQ(findKernel("kv_attention_decode_bf16_96"), nullptr);
}

TEST(KernelTable, EveryKindTypeAndDimension) {
  for (const char *type : {"bf16", "f16", "f8"})
    for (int dim : {64, 128, 256})
      for (bool prefill : {false, true}) {
        int found = 0;
        for (const AttentionKernel &kernel : AttentionKernels)
          found += kernel.type == type && kernel.headDim == dim &&
                   kernel.prefill == prefill;
        EXPECT_EQ(found, 1) << type << ' ' << dim << ' ' << prefill;
      }
}

TEST(KernelTable, BlocksFindRoom) {
  for (const AttentionKernel &kernel : AttentionKernels) {
    for (int sm : {80, 90})
      EXPECT_TRUE(fits(kernel.sharedBytes(sm), kernel.blocksPerSM(sm), sm))
          << kernel.name;
    EXPECT_EQ(kernel.rows == DecodeRows, !kernel.prefill);
    // A piece is read in quads.
    EXPECT_EQ(kernel.slotFloats % 4, 0);
  }
}

TEST(KernelTable, Workspace) {
  const AttentionKernel &kernel = AttentionKernels[0];
  kv::plan::Shape shape{8,
                        4,
                        kernel.rows,
                        kv::plan::GpuLeaf,
                        KV_MASK_CAUSAL,
                        0,
                        0,
                        DecodeRows + 1,
                        264,
                        20};
  AttentionWorkspace needed = workspace(kernel, shape, 64, 64);
  EXPECT_EQ(needed.scratch, 264 * 20 * 16 * (64 + 2) * 4);
  EXPECT_EQ(needed.totals, 0); // decode keeps them in registers
  EXPECT_EQ(needed.counters, 264 * 4);
  EXPECT_EQ(needed.tiles, (64 * 4 / 16 + 64) * 24);
  EXPECT_EQ(needed.cuts, 265 * 12);
}
