//===- ClusterInstructionTest.cpp - Two blocks and what they share --------===//

#include "ClusterInstructionBodies.h"
#include "test/kernels/KernelRun.h"

using namespace kv::cuda;
using namespace kv::cuda::test;

TEST(Instruction, StoresToAnotherBlock) {
  if (!canRun("kv_test_remote_store"))
    GTEST_SKIP() << OtherChips;
  std::vector<float> out(InstructionCluster * GroupThreads, -1);
  KernelRun run;
  TileInstructionParams p{};
  p.out = run.out(out);
  run("kv_test_remote_store", 1, p, InstructionCluster);
  for (int rank : {0, 1})
    for (int i = 0; i < GroupThreads; ++i)
      EXPECT_EQ(out[rank * GroupThreads + i],
                float((rank ^ 1) * 1000 + GroupThreads - 1 - i))
          << "block " << rank << ", thread " << i;
}

TEST(Instruction, ArrivalsAtAnotherBlock) {
  if (!canRun("kv_test_remote_arrival"))
    GTEST_SKIP() << OtherChips;
  constexpr int Phases = 5;
  std::vector<float> out(InstructionCluster, -1);
  KernelRun run;
  TileInstructionParams p{};
  p.out = run.out(out);
  p.count = Phases;
  run("kv_test_remote_arrival", 1, p, InstructionCluster);
  EXPECT_EQ(out, std::vector<float>(InstructionCluster, Phases));
}

TEST(Instruction, MulticastCopies) {
  if (!canRun("kv_test_multicast"))
    GTEST_SKIP() << OtherChips;
  constexpr int Rows = 140, Columns = 72, Box = RingBox / 2;
  std::vector<uint16_t> in(Rows * Columns),
      out(InstructionCluster * InstructionCluster * Box);
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = uint16_t(i + 1);
  KernelRun run;
  uint64_t pitch = Columns * 2, all = pitch * Rows;
  TensorDescription tensor{
      run.in(in), {Columns, Rows, 1, 1}, {pitch, all, all}, {64, 64, 1, 1}};
  TileInstructionParams p{};
  p.a = run.encode(tensor);
  p.out = run.out(out);
  p.at = {{8, 10, 0, 0}};
  run("kv_test_multicast", 1, p, InstructionCluster);
  for (int block : {0, 1})
    for (int box : {0, 1})
      for (int i = 0; i < Box; ++i) {
        TileAt at = p.at;
        at.at[1] += box * 64;
        int64_t from = boxElement(tensor, at, i);
        ASSERT_EQ(out[(block * 2 + box) * Box + swizzled(i * 2) / 2],
                  from < 0 ? 0 : in[from / 2])
            << "block " << block << ", box " << box << ", element " << i;
      }
}
