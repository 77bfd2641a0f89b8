//===- MoverFaultTest.cpp - Movers on the emulator only -------------------===//
//
// Each planted mistake of a mover is seen, and pools may be larger than memory.
//
//===----------------------------------------------------------------------===//

#include "MoverReport.h"
#include "kernels/cuda/movers/MergeSidesBody.h"
#include "kernels/cuda/movers/MoverBodies.h"
#include "kernels/cuda/movers/PlanBody.h"
#include "kernels/cuda/movers/RopeStoreBody.h"
#include "kernels/cuda/movers/SampleBody.h"
#include "kernels/cuda/products/ExpertBody.h"
#include "kernels/cuda/products/GateBody.h"
#include "kernels/cuda/products/QuantBody.h"
#include "test/kernels/Reservation.h"
#include "test/kernels/movers/SampleCase.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace kv::cuda;
using namespace kv::cuda::test;

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

TEST(MoverFault, MissingBarrierOfGate) {
  std::vector<float> x(512, 1), out(512);
  GateRowsParams p{x.data(), x.data(), x.data(), out.data(), 512, 512, 512,
                   1,        512,      512,      0,          0,   0,   0};
  auto give = [&](Backend &b) {
    b.give(x.data(), 2048, Access::Read);
    b.give(out.data(), 2048, Access::Write);
  };
  expectReport(nullptr, give, [&](CpuBlock &b) { gateRowsBody(b, p); });
  expectReport("shared memory", give, [&](CpuBlock &b) {
    gateRowsBody<CpuBlock, Fault::MissingStageBarrier>(b, p);
  });
}

// A side without keys may hold anything, and counts nothing.
TEST(MoverFault, ASideOfNothing) {
  std::vector<float> a(8, NAN), c(8, 3), out(8);
  float aLse = -INFINITY, bLse = 1;
  MergeSidesParams p{a.data(), c.data(), &aLse, &bLse, out.data(), nullptr, 8,
                     8,        8,        1,     8,     0,          0,       0};
  auto give = [&](Backend &b) {
    for (const float *side : {a.data(), c.data()})
      b.give(side, 32, Access::Read);
    for (const float *lse : {&aLse, &bLse})
      b.give(lse, 4, Access::Read);
    b.give(out.data(), 32, Access::Write);
  };
  expectReport(nullptr, give, [&](CpuBlock &b) { mergeSidesBody(b, p); });
  EXPECT_EQ(out, c);
  expectReport(nullptr, give, [&](CpuBlock &b) {
    mergeSidesBody<CpuBlock, Fault::ForgottenMask>(b, p);
  });
  EXPECT_TRUE(std::isnan(out[0]));
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

// A head of queries, normed and rotated: what norm and rope make of it one
// after the other, and other bits where what stands beside a chunk is not
// normed.
TEST(MoverFault, PartnersOfRopeStore) {
  constexpr int Dim = 32;
  std::vector<float> x(Dim), weight(Dim), angles(Dim), normed(Dim), apart(Dim),
      made(Dim);
  for (int i = 0; i < Dim; ++i) {
    x[i] = float(i * 7 % 13) - 5;
    weight[i] = 1 + float(i) / 16;
    angles[i] = i % 2 ? 0.6f : 0.8f;
  }
  int32_t position = 0, number = KV_DTYPE_F32;
  NormParams norm{x.data(),      normed.data(), Dim,  Dim,    1,      Dim,
                  weight.data(), 1e-5f,         0.5f, number, number, number};
  RopeParams rope{normed.data(),
                  apart.data(),
                  Dim,
                  Dim,
                  Dim,
                  Dim,
                  1,
                  1,
                  Dim,
                  Dim,
                  &position,
                  angles.data(),
                  1,
                  false,
                  number,
                  number,
                  nullptr};
  RopeStoreParams both{.q = rope,
                       .store = {},
                       .scaled = false,
                       .kType = number,
                       .vType = number,
                       .qWeight = weight.data(),
                       .kWeight = weight.data(),
                       .epsilon = 1e-5f,
                       .offset = 0.5f,
                       .qWeightType = number,
                       .kWeightType = number};
  both.q.x = x.data();
  both.q.out = made.data();
  auto give = [&](Backend &b) {
    for (auto *all : {&x, &weight, &angles, &normed, &apart, &made})
      b.give(all->data(), Dim * 4, Access::Write);
    b.give(&position, 4, Access::Read);
  };
  expectReport(nullptr, give, [&](CpuBlock &b) {
    normBody(b, norm);
    b.sync();
    ropeBody(b, rope);
  });
  expectReport(nullptr, give, [&](CpuBlock &b) { ropeStoreBody(b, both); });
  EXPECT_EQ(made, apart);
  expectReport(nullptr, give, [&](CpuBlock &b) {
    ropeStoreBody<CpuBlock, Fault::OwnHalfOnly>(b, both);
  });
  EXPECT_NE(made, apart);
}

/// A row of logits of few values, from which `choice` keeps some.
static void testDraw(const kv::sampling::Choice &choice, auto test,
                     int width = 512) {
  SampleCase c(width, {1.0f, 0.0f, 2.0f, -1.0f});
  c.add(choice);
  SampleLists lists(c);
  std::vector<int32_t> out(1);
  auto give = [&](Backend &b) {
    b.give(c.logits.data(), c.logits.size() * 4, Access::Read);
    for (const auto *list : {&lists.temperature, &lists.topP, &lists.minP})
      b.give(list->data(), 4, Access::Read);
    for (const auto *list : {&lists.topK, &lists.index})
      b.give(list->data(), 4, Access::Read);
    b.give(lists.seed.data(), 8, Access::Read);
    b.give(out.data(), 4, Access::Write);
  };
  test(give,
       SampleParams{c.logits.data(), out.data(), width, 1, width,
                    lists.temperature.data(), lists.topP.data(),
                    lists.minP.data(), lists.topK.data(), lists.seed.data(),
                    lists.index.data()},
       c.drawByCpu(0));
}

TEST(MoverFault, MissingBarriersOfDraw) {
  testDraw({.temperature = 1, .topK = 100}, [](auto give, auto p, int32_t) {
    expectReport(nullptr, give, [&](CpuBlock &b) { sampleBody(b, p); });
    expectReport("shared memory", give, [&](CpuBlock &b) {
      sampleBody<CpuBlock, Fault::MissingStageBarrier>(b, p);
    });
    expectReport("shared memory", give, [&](CpuBlock &b) {
      sampleBody<CpuBlock, Fault::MissingSumsBarrier>(b, p);
    });
  });
}

/// Two blocks that draw from a row together.
template <Fault F>
static void testTogether(const char *text, float temperature) {
  testDraw(
      {.temperature = temperature, .seed = 3},
      [&](auto give, const SampleParams &p, int32_t token) {
        auto body = [&](CpuBlock &b) { sampleBody<CpuBlock, F>(b, p); };
        expectReport(text, give, body, /*cluster=*/2);
        if (F == Fault::None)
          EXPECT_EQ(*p.out, token);
      },
      /*width=*/4096);
}

TEST(MoverFault, DrawsTogether) {
  // The largest logit is known when blocks have told one another once.
  testTogether<Fault::None>(nullptr, 0);
  testTogether<Fault::MissingClusterBarrier>("shared memory", 0);
  testTogether<Fault::OwnPartOnly>("nobody wrote", 0);
  testTogether<Fault::None>(nullptr, 1);
  testTogether<Fault::OneFoundBuffer>("unordered", 1);
}

TEST(MoverFault, WrongDraws) {
  int drawnFromAll = 0, unordered = 0;
  for (uint64_t seed = 0; seed < 8; ++seed)
    testDraw({.temperature = 4, .topK = 30, .seed = seed},
             [&](auto give, const SampleParams &p, int32_t token) {
               auto none = [&](CpuBlock &b) { sampleBody(b, p); };
               expectReport(nullptr, give, none);
               EXPECT_EQ(*p.out, token);
               expectReport(nullptr, give, [&](CpuBlock &b) {
                 sampleBody<CpuBlock, Fault::DrawnFromAll>(b, p);
               });
               drawnFromAll += *p.out != token;
               expectReport(nullptr, give, [&](CpuBlock &b) {
                 sampleBody<CpuBlock, Fault::UnorderedTies>(b, p);
               });
               unordered += *p.out != token;
             });
  EXPECT_GT(drawnFromAll, 4);
  EXPECT_GT(unordered, 4);
}

TEST(MoverFault, MissingBarrierOfQuantisedProduct) {
  constexpr int Depth = 64, Columns = 16;
  std::vector<int8_t> x(kv::kernels::roundedRowBytes(Depth));
  std::vector<uint8_t> weight(Depth / 32 * 544);
  std::vector<float> out(Columns);
  QuantMatmulParams p{
      x.data(),     {weight.data(), int64_t(weight.size()), 1, 544},
      out.data(),   int64_t(x.size()),
      Columns,      1,
      Columns,      Depth,
      KV_DTYPE_F32, QuantFormat::Q8_0};
  auto give = [&](Backend &b) {
    b.give(x.data(), x.size(), Access::Read);
    b.give(weight.data(), weight.size(), Access::Read);
    b.give(out.data(), Columns * 4, Access::Write);
  };
  expectReport(nullptr, give, [&](CpuBlock &b) { quantMatmulBody(b, p); });
  expectReport("shared memory", give, [&](CpuBlock &b) {
    quantMatmulBody<CpuBlock, Fault::MissingStageBarrier>(b, p);
  });
}

TEST(MoverFault, ExpertProducts) {
  // Two tiles of columns, and more slices than stages; the last one is a part.
  constexpr int Depth = 264, Columns = 80;
  std::vector<Bf16> x(Depth), weight(Columns * Depth);
  std::vector<float> out(Columns);
  std::vector<int32_t> order(ExpertRecord);
  order[1] = 1;
  ExpertMatmulParams p{x.data(),
                       weight.data(),
                       out.data(),
                       order.data(),
                       Depth,
                       Columns,
                       1,
                       1,
                       Columns,
                       Depth,
                       KV_DTYPE_BF16,
                       KV_DTYPE_F32};
  auto give = [&](Backend &b) {
    b.give(x.data(), x.size() * 2, Access::Read);
    b.give(weight.data(), weight.size() * 2, Access::Read);
    b.give(order.data(), order.size() * 4, Access::Read);
    b.give(out.data(), out.size() * 4, Access::Write);
  };
  expectReport(nullptr, give, [&](CpuBlock &b) { expertMatmulBody(b, p); });
  expectReport("", give, [&](CpuBlock &b) {
    expertMatmulBody<CpuBlock, Fault::MissingWait>(b, p);
  });
  expectReport("shared memory", give, [&](CpuBlock &b) {
    expertMatmulBody<CpuBlock, Fault::MissingStageBarrier>(b, p);
  });
  expectReport("shared memory", give, [&](CpuBlock &b) {
    expertMatmulBody<CpuBlock, Fault::MissingUnitBarrier>(b, p);
  });
  expectReport("leaves global memory", give, [&](CpuBlock &b) {
    expertMatmulBody<CpuBlock, Fault::NoTailFill>(b, p);
  });
}

TEST(MoverFault, MissingBarrierOfExpertOrder) {
  std::vector<int32_t> experts(40, 1), order(2 * ExpertRecord);
  OrderExpertsParams p{experts.data(), order.data(), 40, 2};
  auto give = [&](Backend &b) {
    b.give(experts.data(), experts.size() * 4, Access::Read);
    b.give(order.data(), order.size() * 4, Access::Write);
  };
  expectReport(nullptr, give, [&](CpuBlock &b) { orderExpertsBody(b, p); });
  expectReport("shared memory", give, [&](CpuBlock &b) {
    orderExpertsBody<CpuBlock, Fault::MissingStageBarrier>(b, p);
  });
}

TEST(MoverFault, SkippedShuffleOfRoute) {
  std::vector<float> logits(32, 1);
  std::vector<int32_t> experts(8 * 2);
  RouteParams p{logits.data(), experts.data(), 4, 8, 4, 2};
  auto give = [&](Backend &b) {
    b.give(logits.data(), logits.size() * 4, Access::Read);
    b.give(experts.data(), experts.size() * 4, Access::Write);
  };
  expectReport(nullptr, give, [&](CpuBlock &b) { routeBody(b, p); });
  expectReport("waits for its warp", give, [&](CpuBlock &b) {
    routeBody<CpuBlock, Fault::SkippedShuffle>(b, p);
  });
}

TEST(MoverFault, SkippedShuffleOfKeptGroups) {
  std::vector<float> x(8 * 12, 1), out(8 * 12);
  KeepGroupsParams p{x.data(), out.data(), 12, 12, 8, 4, 3, 2, 2};
  auto give = [&](Backend &b) {
    b.give(x.data(), x.size() * 4, Access::Read);
    b.give(out.data(), out.size() * 4, Access::Write);
  };
  expectReport(nullptr, give, [&](CpuBlock &b) { keepGroupsBody(b, p); });
  expectReport("waits for its warp", give, [&](CpuBlock &b) {
    keepGroupsBody<CpuBlock, Fault::SkippedShuffle>(b, p);
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
      cuts.data(),
      /*errors=*/nullptr};
  auto give = [&](Backend &b) {
    b.give(tiles.data(), tiles.size() * sizeof(tiles[0]), Access::Write);
    b.give(cuts.data(), cuts.size() * sizeof(cuts[0]), Access::Write);
    b.give(&header, sizeof(header), Access::Write);
  };
  expectReport(nullptr, give, [&](CpuBlock &b) { planBody(b, p); });
  expectReport("shared memory", give, [&](CpuBlock &b) {
    planBody<CpuBlock, Fault::MissingStageBarrier>(b, p);
  });
  expectReport("shared memory", give, [&](CpuBlock &b) {
    planBody<CpuBlock, Fault::MissingEndsBarrier>(b, p);
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

TEST(MoverFault, UnmaskedAmax) {
  // A row of 24 chunks of 32 lanes, and behind it a larger one.
  constexpr int Dim = 192;
  std::vector<float> k(2 * Dim, 1), scales(2);
  std::fill(k.begin() + Dim, k.end(), 1000);
  std::vector<I8> cache(2 * Dim);
  std::vector<int32_t> table = {1}, cached = {0}, offsets = {0, 1};
  StoreScaledParams p{};
  p.store.cache = {cache.data(), Dim, Dim, Dim, Dim, Dim, 2, 1};
  p.store.table = table.data();
  p.store.tablePitch = p.store.tableColumns = 1;
  p.store.batch = {cached.data(), offsets.data(), 1, 1, 0};
  p.store.heads = 1;
  p.store.dim = Dim;
  p.store.k = k.data();
  p.store.cacheType = KV_DTYPE_I8;
  p.scales = {scales.data(), 1, 1, 1, 1, 1, 0, 1, 0};
  p.groupChunks = Dim / 8;
  auto give = [&](Backend &b) {
    b.give(k.data(), k.size() * 4, Access::Read);
    b.give(table.data(), 4, Access::Read);
    b.give(offsets.data(), 8, Access::Read);
    b.give(cache.data(), cache.size(), Access::Write);
    b.give(scales.data(), scales.size() * 4, Access::Write);
  };
  expectReport(nullptr, give, [&](CpuBlock &b) { storeScaledBody(b, p); });
  EXPECT_EQ(scales[1], 1.0f / 127);
  EXPECT_EQ(cache[Dim].bits, 127);
  expectReport(nullptr, give, [&](CpuBlock &b) {
    storeScaledBody<CpuBlock, Fault::UnmaskedAmax>(b, p);
  });
  EXPECT_NE(scales[1], 1.0f / 127);
}

//===--- Pools beyond 2^31 elements ---------------------------------------===//

namespace {

/// Pages of 4 tokens, 1 head, 64 elements of bf16 in two planes: page 2^22 and
/// those after it begin beyond element 2^31, and 2^32 bytes.
constexpr int64_t PageElements = 2 * 4 * 64;
constexpr int32_t FarPage = int32_t((int64_t(1) << 31) / PageElements);
constexpr int32_t FarPages = FarPage + 3;
static_assert(int64_t(FarPage) * PageElements > INT32_MAX);

} // namespace

TEST(MoverPool, StoreBeyondTwoToThe31Elements) {
  Reservation pool(FarPages * PageElements * 2);
  auto *cache = static_cast<Bf16 *>(pool.memory);
  std::vector<int32_t> table = {FarPage - 1, FarPage + 1}, cached = {2},
                       offsets = {0, 4};
  std::vector<Bf16> k(4 * 64);
  for (size_t i = 0; i < k.size(); ++i)
    k[i] = {uint16_t(i + 1)};
  StoreParams p{};
  p.cache = {cache, PageElements, PageElements / 2, PageElements,
             64,    64,           FarPages,         4};
  p.table = table.data();
  p.tablePitch = p.tableColumns = 2;
  p.batch = {cached.data(), offsets.data(), 1, 4, 0};
  p.heads = 1;
  p.dim = 64;
  p.k = p.v = k.data();
  p.kTokenStride = p.vTokenStride = 64;
  p.rowsType = p.cacheType = KV_DTYPE_BF16;
  EmulatorBackend backend;
  backend.give(pool.memory, pool.bytes, Access::Write);
  backend.give(k.data(), k.size() * 2, Access::Read);
  backend.give(table.data(), 8, Access::Read);
  backend.give(offsets.data(), 8, Access::Read);
  backend.launch("kv_store", 1, &p);
  ASSERT_TRUE(backend.reports().empty()) << backend.reports()[0];
  for (int token = 0; token < 4; ++token)
    for (int plane = 0; plane < 2; ++plane) {
      int position = 2 + token;
      const Bf16 *row = cache + table[position / 4] * PageElements +
                        plane * PageElements / 2 + position % 4 * 64;
      EXPECT_EQ(std::memcmp(row, &k[token * 64], 128), 0) << token;
    }
}

TEST(MoverPool, CopyBeyondTwoToThe31Elements) {
  Reservation pool(FarPages * PageElements * 2);
  auto *cache = static_cast<Bf16 *>(pool.memory);
  std::vector<int32_t> source = {1, FarPage + 2},
                       destination = {FarPage + 1, 2};
  std::memset(static_cast<void *>(cache + PageElements), 1, PageElements * 2);
  std::memset(static_cast<void *>(cache + (FarPage + 2) * PageElements), 2,
              PageElements * 2);
  CopyPagesParams p{
      cache,         PageElements * 2,   0, PageElements * 2, 1, FarPages,
      source.data(), destination.data(), 2};
  EmulatorBackend backend;
  backend.give(pool.memory, pool.bytes, Access::Write);
  backend.give(source.data(), 8, Access::Read);
  backend.give(destination.data(), 8, Access::Read);
  backend.launch("kv_copy_pages", 2, &p);
  ASSERT_TRUE(backend.reports().empty()) << backend.reports()[0];
  for (int i = 0; i < PageElements; ++i) {
    EXPECT_EQ(cache[(FarPage + 1) * PageElements + i].bits, 0x0101);
    EXPECT_EQ(cache[2 * PageElements + i].bits, 0x0202);
  }
}
