//===- MoverFaultTest.cpp - Each planted mistake of a mover is seen -------===//

#include "../../kernels/cuda/MoverBodies.h"
#include "../../kernels/cuda/PlanBody.h"
#include "../../kernels/cuda/emulator/CpuBlock.h"
#include "EmulatorBackend.h"

#include <gtest/gtest.h>

using namespace kv::cuda;
using namespace kv::cuda::test;

namespace {

/// Runs a body under every schedule; each must report `text`, or nothing at all
/// where that is null.
template <class Give, class Body>
void expectReport(const char *text, Give give, Body body) {
  for (Schedule schedule :
       {Schedule::LatestFirst, Schedule::OldestFirst, Schedule::Random}) {
    EmulatorBackend backend({.schedule = schedule});
    give(backend);
    backend.machine.launch(1, MoverThreads, PlanSharedBytes,
                           [&](Machine &m, int thread) {
                             CpuBlock b(m, thread);
                             body(b);
                           });
    if (!text) {
      EXPECT_TRUE(backend.reports().empty()) << backend.reports()[0];
      continue;
    }
    ASSERT_FALSE(backend.reports().empty());
    EXPECT_NE(backend.reports()[0].find(text), std::string::npos)
        << backend.reports()[0];
  }
}

} // namespace

TEST(MoverFault, MissingBarrierOfNorm) {
  std::vector<float> x(512, 1), out(512);
  NormParams p{x.data(), out.data(), 512,  512, 1, 512,
               x.data(), 1e-5f,      0.0f, 0,   0, 0};
  auto give = [&](Backend &b) {
    b.give(x.data(), 2048, Access::Read);
    b.give(out.data(), 2048, Access::Write);
  };
  expectReport(nullptr, give, [&](CpuBlock &b) { normBody(b, p); });
  expectReport("shared memory", give, [&](CpuBlock &b) {
    normBody<CpuBlock, Fault::MissingStageBarrier>(b, p);
  });
}

TEST(MoverFault, MissingBarrierOfArgmax) {
  std::vector<float> x(512, 1);
  std::vector<int32_t> out(1);
  ArgmaxParams p{x.data(), out.data(), 512, 1, 512, KV_DTYPE_F32};
  auto give = [&](Backend &b) {
    b.give(x.data(), 2048, Access::Read);
    b.give(out.data(), 4, Access::Write);
  };
  expectReport(nullptr, give, [&](CpuBlock &b) { argmaxBody(b, p); });
  expectReport("shared memory", give, [&](CpuBlock &b) {
    argmaxBody<CpuBlock, Fault::MissingStageBarrier>(b, p);
  });
}

TEST(MoverFault, MissingBarrierOfPlan) {
  std::vector<int32_t> cached = {500}, offsets = {0, 1};
  std::vector<kv::plan::Tile> tiles(2);
  std::vector<kv::plan::Cut> cuts(3);
  kv::plan::Header header;
  PlanParams p{
      {cached.data(), offsets.data(), 1, 1, 1024},
      {1, 1, 16, kv::plan::GpuLeaf, KV_MASK_CAUSAL, 0, 0, INT64_MAX, 2, 0},
      &header,
      tiles.data(),
      cuts.data()};
  auto give = [&](Backend &b) {
    b.give(tiles.data(), tiles.size() * sizeof(tiles[0]), Access::Write);
    b.give(cuts.data(), cuts.size() * sizeof(cuts[0]), Access::Write);
    b.give(&header, sizeof(header), Access::Write);
  };
  expectReport(nullptr, give, [&](CpuBlock &b) { planBody(b, p); });
  expectReport("shared memory", give, [&](CpuBlock &b) {
    planBody<CpuBlock, Fault::MissingStageBarrier>(b, p);
  });
}

TEST(MoverFault, UncheckedPageOfStore) {
  std::vector<float> k(8), cache(2 * 8);
  std::vector<int32_t> table = {99}, cached = {0}, offsets = {0, 1};
  StoreParams p{};
  p.cache = {cache.data(), 8, 8, 8, 8, 8, 2, 1};
  p.table = table.data();
  p.tablePitch = p.tableColumns = 1;
  p.batch = {cached.data(), offsets.data(), 1, 1, 0};
  p.heads = 1;
  p.dim = 8;
  p.k = k.data();
  auto give = [&](Backend &b) {
    b.give(k.data(), 32, Access::Read);
    b.give(table.data(), 4, Access::Read);
    b.give(offsets.data(), 8, Access::Read);
    b.give(cache.data(), 64, Access::Write);
  };
  expectReport(nullptr, give, [&](CpuBlock &b) { storeBody(b, p); });
  expectReport("leaves global memory", give, [&](CpuBlock &b) {
    storeBody<CpuBlock, Fault::UncheckedPage>(b, p);
  });
}
