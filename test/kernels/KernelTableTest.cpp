//===- KernelTableTest.cpp - The kernels that are built -------------------===//

#include "kernels/cuda/parameters/KernelTable.h"
#include "kernels/cuda/parameters/Watchdog.h"

#include <gtest/gtest.h>
#include <iterator>
#include <set>

using namespace kv::cuda;

TEST(KernelTable, NamesAndCount) {
  std::set<std::string_view> names;
  for (const KernelLaunch &kernel : KernelLaunches)
    names.insert(kernel.name);
  EXPECT_EQ(names.size(), std::size(MoverKernels) +
                              std::size(AttentionKernels) +
                              std::size(TileKernels));
  EXPECT_LE(names.size(), 200u);
}

TEST(KernelTable, ByName) {
  const KernelLaunch *decode = findKernel("kv_attention_decode_bf16_128");
  ASSERT_TRUE(decode);
  EXPECT_EQ(decode->argument.bytes, sizeof(AttentionParams));
  EXPECT_EQ(decode->threads, 128);
  EXPECT_GT(decode->sharedBytes(90), decode->sharedBytes(80));
  const KernelLaunch *plan = findKernel("kv_plan");
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->argument.bytes, sizeof(PlanParams));
  EXPECT_EQ(plan->threads, MoverThreads);
  EXPECT_EQ(plan->sharedBytes(80), PlanSharedBytes);
  EXPECT_EQ(findKernel("kv_store")->argument.bytes, sizeof(StoreParams));
  EXPECT_EQ(findKernel("kv_attention_decode_bf16_88"), nullptr);
}

// Who has a plan launches both kinds.
TEST(KernelTable, DecodeAndPrefillOfEachTypeAndDimension) {
  for (const AttentionKernel &kernel : AttentionKernels) {
    int same = 0, other = 0;
    for (const AttentionKernel &one : AttentionKernels)
      if (one.cache == kernel.cache && one.headDim == kernel.headDim &&
          one.vDim == kernel.vDim) {
        EXPECT_EQ(one.query, kernel.query) << kernel.name;
        // A plan does not know the scales.
        if (one.prefill == kernel.prefill)
          EXPECT_EQ(one.rows, kernel.rows) << kernel.name;
        if (one.scales != kernel.scales)
          continue;
        ++(one.prefill == kernel.prefill ? same : other);
      }
    EXPECT_EQ(same, 1) << kernel.name;
    EXPECT_EQ(other, 1) << kernel.name;
  }
}

TEST(KernelTable, Sentences) {
  namespace kernels = kv::kernels;
  EXPECT_EQ(kernels::rowTypes(), "f32, bf16 and f16");
  EXPECT_EQ(kernels::rowTypes("or"), "f32, bf16 or f16");
  EXPECT_EQ(kernels::multipliedTypes(), "f32, bf16 and f16");
  EXPECT_EQ(kernels::cacheTypes(), "bf16, f16, f8E4M3FN, f8E5M2 and i8");
  EXPECT_EQ(kernels::headDims(KV_DTYPE_I8, Scales::Groups), "64 and 128");
  EXPECT_EQ(kernels::headDims(KV_DTYPE_BF16, Scales::None),
            "64, 80, 96, 112, 128, 192 and 256");
  EXPECT_EQ(kernels::latentRows(),
            "bf16 and f16 rows of 192/128, 320/256 and 576/512");
  EXPECT_EQ(kernels::enumerate({"a", "a"}, "and"), "a");
  EXPECT_EQ(kernels::queryTypeOf(KV_DTYPE_F8E4M3FN), KV_DTYPE_BF16);
  EXPECT_EQ(kernels::queryTypeOf(KV_DTYPE_F32), std::nullopt);
  EXPECT_EQ(kernels::scalesFor(KV_DTYPE_F8E4M3FN, 0), Scales::None);
  EXPECT_EQ(kernels::scalesFor(KV_DTYPE_F8E5M2, 0), Scales::Row);
  EXPECT_EQ(kernels::scalesFor(KV_DTYPE_I8, 1), Scales::Row);
  EXPECT_EQ(kernels::scalesFor(KV_DTYPE_I8, 2), Scales::Groups);
  EXPECT_FALSE(kernels::hasKernels(KV_DTYPE_BF16, Scales::None, 576));
  EXPECT_TRUE(kernels::isLatentRow(KV_DTYPE_BF16, 576, 512));
  EXPECT_FALSE(kernels::isLatentRow(KV_DTYPE_BF16, 576, 256));
  EXPECT_FALSE(kernels::isLatentRow(KV_DTYPE_F8E4M3FN, 576, 512));
  EXPECT_FALSE(kernels::isLatentRow(KV_DTYPE_BF16, 128, 0));
}

TEST(KernelTable, BlocksFindRoom) {
  for (const AttentionKernel &kernel : AttentionKernels) {
    for (int sm : {80, 90, 120})
      EXPECT_TRUE(fits(kernel.sharedBytes(sm), kernel.blocksPerSM(sm), sm))
          << kernel.name;
    if (!kernel.prefill)
      EXPECT_EQ(kernel.rows, DecodeRows);
    EXPECT_EQ(kernel.blocksPerSM(120), kernel.headDim != 576) << kernel.name;
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
  EXPECT_EQ(needed.counters, 2 * 264 * 4);
  EXPECT_EQ(needed.tiles, (64 * 4 / 16 + 64) * 24);
  EXPECT_EQ(needed.cuts, 265 * 12);
}

// What a stuck wait says comes back as it was.
TEST(Watchdog, AWordHoldsAWait) {
  for (StuckWait wait :
       {StuckWait{0, 0, 0, 0, 0}, StuckWait{2097151, 31, 262136, 1, 2097150},
        StuckWait{131, 12, 1024, 1, -1}}) {
    uint64_t word = packStuckWait(wait);
    EXPECT_NE(word, 0u);
    StuckWait back = unpackStuckWait(word);
    EXPECT_EQ(back.block, wait.block);
    EXPECT_EQ(back.warp, wait.warp);
    EXPECT_EQ(back.barrier, wait.barrier);
    EXPECT_EQ(back.parity, wait.parity);
    EXPECT_EQ(back.leaf, wait.leaf);
  }
}
