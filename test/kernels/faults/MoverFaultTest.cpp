//===- MoverFaultTest.cpp - Mistakes of movers and products ---------------===//

#include "MoverFaults.h"
#include "kernels/cuda/movers/MergeSidesBody.h"
#include "kernels/cuda/movers/MoverBodies.h"
#include "kernels/cuda/movers/PlanBody.h"
#include "kernels/cuda/movers/RopeStoreBody.h"
#include "kernels/cuda/movers/SampleBody.h"
#include "kernels/cuda/products/ExpertBody.h"
#include "kernels/cuda/products/GateBody.h"
#include "kernels/cuda/products/QuantBody.h"
#include "test/kernels/movers/SampleCase.h"

using namespace kv::cuda;
using namespace kv::cuda::test;

namespace {

std::vector<float> numbers(size_t count) {
  std::vector<float> x(count);
  for (size_t i = 0; i < count; ++i)
    x[i] = float(i * 7 % 13) - 5;
  return x;
}

Case norm() {
  return moverCase([](auto run) {
    std::vector<float> x = numbers(1024), out(1024);
    Places places;
    NormParams p{places.in(x), places.out(out), 512,  512, 2, 512,
                 x.data(),     1e-5f,           0.0f, 0,   0, 0};
    p.together = p.weightRows = 1;
    run(places, [&](auto &b) { normBody(b, p); }, out);
  });
}

Case gate() {
  return moverCase([](auto run) {
    std::vector<float> x = numbers(1024), out(1024);
    Places places;
    float *in = places.in(x);
    GateRowsParams p{in, in, in, places.out(out), 512, 512, 512, 2, 512, 512, 0,
                     0,  0,  0};
    run(places, [&](auto &b) { gateRowsBody(b, p); }, out);
  });
}

Case argmax() {
  return moverCase([](auto run) {
    std::vector<float> x = numbers(1024);
    std::vector<int32_t> out(2);
    Places places;
    ArgmaxParams p{places.in(x), places.out(out), 512, 2, 512, KV_DTYPE_F32};
    run(places, [&](auto &b) { argmaxBody(b, p); }, out);
  });
}

/// Two rows of logits of few values, from which `choice` keeps some.
Case draw(kv::sampling::Choice choice, int width = 512, int cluster = 1) {
  auto make = [=](auto run) {
    SampleCase c(width, {1.0f, 0.0f, 2.0f, -1.0f});
    c.add(choice);
    c.add(choice);
    SampleLists lists(c);
    std::vector<int32_t> out(2);
    Places places;
    SampleParams p{places.in(c.logits),
                   places.out(out),
                   width,
                   2,
                   width,
                   places.in(lists.temperature),
                   places.in(lists.topP),
                   places.in(lists.minP),
                   places.in(lists.topK),
                   places.in(lists.seed),
                   places.in(lists.index)};
    run(places, [&](auto &b) { sampleBody(b, p); }, out);
  };
  return moverCase(make, cluster);
}
Case drawTogether(float temperature) {
  return draw({.temperature = temperature, .seed = 3}, 4096, 2);
}

Case quantised() {
  return moverCase([](auto run) {
    constexpr int Depth = 768, Columns = 32; // odd turns
    std::vector<int8_t> x(kv::kernels::roundedRowBytes(Depth), 1);
    std::vector<uint8_t> weight(Columns / 16 * Depth / 32 * 544, 1);
    std::vector<float> out(Columns);
    Places places;
    QuantMatmulParams p{
        places.in(x),    {places.in(weight), Depth / 32 * 544, 1, 544},
        places.out(out), int64_t(x.size()),
        Columns,         1,
        Columns,         Depth,
        KV_DTYPE_F32,    QuantFormat::Q8_0};
    run(places, [&](auto &b) { quantMatmulBody(b, p); }, out);
  });
}

/// Two tiles of columns, and more slices than stages; the last one is a part.
template <class T> Case experts(int type, int depth = 264) {
  return moverCase([=](auto run) {
    constexpr int Columns = 80;
    std::vector<T> x(depth), weight(Columns * depth);
    std::vector<float> out(Columns);
    std::vector<int32_t> order(ExpertRecord);
    order[1] = 1;
    Places places;
    ExpertMatmulParams p{places.in(x),
                         places.in(weight),
                         places.out(out),
                         places.in(order),
                         depth,
                         Columns,
                         1,
                         1,
                         Columns,
                         depth,
                         type,
                         KV_DTYPE_F32};
    run(places, [&](auto &b) { expertMatmulBody(b, p); }, out);
  });
}

Case expertOrder() {
  return moverCase([](auto run) {
    std::vector<int32_t> experts(600, 1), order(12 * ExpertRecord);
    Places places;
    OrderExpertsParams p{places.in(experts), places.out(order), 600, 2};
    run(places, [&](auto &b) { orderExpertsBody(b, p); }, order);
  });
}

Case route() {
  return moverCase([](auto run) {
    std::vector<float> logits(32, 1);
    std::vector<int32_t> experts(8 * 2);
    Places places;
    RouteParams p{places.in(logits), places.out(experts), 4, 8, 4, 2};
    run(places, [&](auto &b) { routeBody(b, p); }, experts);
  });
}

Case keptGroups() {
  return moverCase([](auto run) {
    std::vector<float> x(8 * 12, 1), out(8 * 12);
    Places places;
    KeepGroupsParams p{places.in(x), places.out(out), 12, 12, 8, 4, 3, 2, 2};
    run(places, [&](auto &b) { keepGroupsBody(b, p); }, out);
  });
}

/// So many sequences of a token each, behind one of a long prompt.
Case plan(int sequences, int prompt) {
  return moverCase([=](auto run) {
    std::vector<int32_t> cached(sequences, 500), offsets(sequences + 1);
    for (int i = 0; i < sequences; ++i)
      offsets[i + 1] = prompt + i;
    kv::plan::Shape shape{
        1, 1, 16, kv::plan::GpuLeaf, KV_MASK_CAUSAL, 0, 0, INT64_MAX, 2, 0};
    std::vector<kv::plan::Tile> tiles(
        kv::plan::maxTiles(shape, sequences, offsets.back()) + 1);
    std::vector<kv::plan::Cut> cuts(3);
    std::vector<kv::plan::Header> header(1);
    Places places;
    PlanParams p{{places.in(cached), places.in(offsets), sequences,
                  offsets.back(), 1 << 20},
                 shape,
                 places.out(header),
                 places.out(tiles),
                 places.out(cuts),
                 /*errors=*/nullptr};
    run(places, [&](auto &b) { planBody(b, p); }, header, cuts);
  });
}

/// A page that is none, of a store.
Case storedNowhere() {
  return moverCase([](auto run) {
    std::vector<float> k(8), cache(2 * 8);
    std::vector<int32_t> table = {99}, cached = {0}, offsets = {0, 1};
    Places places;
    StoreParams p{};
    p.cache = {places.out(cache), 8, 8, 8, 8, 8, 2, 1};
    p.table = places.in(table);
    p.tablePitch = p.tableColumns = 1;
    p.batch = {places.in(cached), places.in(offsets), 1, 1, 0};
    p.heads = 1;
    p.dim = 8;
    p.k = places.in(k);
    run(places, [&](auto &b) { storeBody(b, p); }, cache);
  });
}

/// A row of 24 chunks of 32 lanes, and behind it a larger one.
Case storedScaled() {
  return moverCase([](auto run) {
    constexpr int Dim = 192;
    std::vector<float> k(2 * Dim, 1), scales(2);
    std::fill(k.begin() + Dim, k.end(), 1000);
    std::vector<I8> cache(2 * Dim);
    std::vector<int32_t> table = {1}, cached = {0}, offsets = {0, 1};
    Places places;
    StoreScaledParams p{};
    p.store.cache = {places.out(cache), Dim, Dim, Dim, Dim, Dim, 2, 1};
    p.store.table = places.in(table);
    p.store.tablePitch = p.store.tableColumns = 1;
    p.store.batch = {places.in(cached), places.in(offsets), 1, 1, 0};
    p.store.heads = 1;
    p.store.dim = Dim;
    p.store.k = places.in(k);
    p.store.cacheType = KV_DTYPE_I8;
    p.scales = {places.out(scales), 1, 1, 1, 1, 1, 0, 1, 0};
    p.groupChunks = Dim / 8;
    run(places, [&](auto &b) { storeScaledBody(b, p); }, cache, scales);
    if (planted == Mistake::None) {
      EXPECT_EQ(scales[1], 1.0f / 127);
      EXPECT_EQ(cache[Dim].bits, 127);
    }
  });
}

const bool Added[] = {
    addKernel({"NormFault", {norm()}}),
    addKernel({"GateFault", {gate()}}),
    addKernel({"ArgmaxFault", {argmax()}}),
    addKernel({"DrawFault",
               {draw({.temperature = 1, .topK = 100}),
                draw({.temperature = 1, .topP = 0.5f})},
               {},
               {{{"SampleBody.h", "sampleBody", Member::Sync},
                 "a row begins with two barriers before it stores sums"}}}),
    // The largest logit is known when blocks have told one another once.
    addKernel({"DrawTogetherFault",
               {drawTogether(0), drawTogether(1)},
               {{"BlockBarrier",
                 {{{"SampleBody.h", "awaitOthers", Member::SyncCluster},
                   Action::Weaken}},
                 "shared memory",
                 drawTogether(0)},
                {"OwnPartOnly", Mistake::OwnPartOnly, "nobody wrote",
                 drawTogether(0)},
                {"OneFoundBuffer", Mistake::OneFoundBuffer, "unordered",
                 drawTogether(1)}},
               {{{"SampleBody.h", "findExtremes", Member::Sync, 1},
                 "awaitOthers() has a barrier behind what others read"}}}),
    addKernel({"QuantFault", {quantised()}}),
    addKernel({"ExpertFault",
               {experts<Bf16>(KV_DTYPE_BF16)},
               {{"NoTailFill", Mistake::NoTailFill, "leaves global memory",
                 experts<Bf16>(KV_DTYPE_BF16)}}}),
    addKernel({"FloatExpertFault", {experts<float>(KV_DTYPE_F32, 136)}}),
    addKernel({"ExpertOrderFault", {expertOrder()}}),
    addKernel({"RouteFault",
               {},
               {{"SkippedShuffle",
                 {{{"ExpertBody.h", "routeBody", Member::Shuffle},
                   Action::LeaveOut,
                   is37}},
                 "waits for its warp",
                 route()}}}),
    addKernel({"KeptGroupsFault",
               {},
               {{"SkippedShuffle",
                 {{{"ExpertBody.h", "keepGroupsBody", Member::Shuffle},
                   Action::LeaveOut,
                   is37,
                   1}},
                 "waits for its warp",
                 keptGroups()}}}),
    addKernel({"PlanFault", {plan(1, 1), plan(600, 9000)}}),
    addKernel(
        {"StoreFault",
         {},
         {{"UncheckedPage", Mistake::UncheckedPage, "leaves global memory",
           storedNowhere()},
          {"UnmaskedAmax", Mistake::UnmaskedAmax, nullptr, storedScaled()}}}),
};

} // namespace

// A side without keys may hold anything, and counts nothing.
TEST(MergeSidesFault, ASideOfNothing) {
  auto merged = [](Mistake mistake) {
    std::vector<float> a(8, NAN), c(8, 3), out(8), aLse = {-INFINITY},
                                                   bLse = {1};
    Places places;
    MergeSidesParams p{places.in(a),
                       places.in(c),
                       places.in(aLse),
                       places.in(bLse),
                       places.out(out),
                       nullptr,
                       8,
                       8,
                       8,
                       1,
                       8,
                       0,
                       0,
                       0};
    EXPECT_TRUE(withMistake(mistake, [&] {
                  return runBody(
                      places, [&](auto &b) { mergeSidesBody(b, p); },
                      Schedule::LatestFirst);
                }).empty());
    return out;
  };
  EXPECT_EQ(merged(Mistake::None), std::vector<float>(8, 3));
  EXPECT_TRUE(std::isnan(merged(Mistake::ForgottenMask)[0]));
}

// A head of queries, normed and rotated: what norm and rope make of it one
// after the other, and other bits where what stands beside a chunk is not
// normed.
TEST(RopeStoreFault, Partners) {
  constexpr int Dim = 32;
  std::vector<float> x = numbers(Dim), weight(Dim), angles(Dim), normed(Dim),
                     apart(Dim), made(Dim);
  for (int i = 0; i < Dim; ++i) {
    weight[i] = 1 + float(i) / 16;
    angles[i] = i % 2 ? 0.6f : 0.8f;
  }
  std::vector<int32_t> position = {0};
  int32_t number = KV_DTYPE_F32;
  Places places;
  NormParams norm{places.in(x),
                  places.out(normed),
                  Dim,
                  Dim,
                  1,
                  Dim,
                  places.in(weight),
                  1e-5f,
                  0.5f,
                  number,
                  number,
                  number};
  RopeParams rope{normed.data(),
                  places.out(apart),
                  Dim,
                  Dim,
                  Dim,
                  Dim,
                  1,
                  1,
                  Dim,
                  Dim,
                  places.in(position),
                  places.in(angles),
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
  both.q.out = places.out(made);
  auto launch = [&](auto body) {
    EXPECT_TRUE(runBody(places, body, Schedule::Random).empty());
  };
  launch([&](auto &b) {
    normBody(b, norm);
    b.sync();
    ropeBody(b, rope);
  });
  launch([&](auto &b) { ropeStoreBody(b, both); });
  EXPECT_EQ(made, apart);
  withMistake(Mistake::OwnHalfOnly,
              [&] { launch([&](auto &b) { ropeStoreBody(b, both); }); });
  EXPECT_NE(made, apart);
}

TEST(DrawFault, WrongDraws) {
  std::map<Mistake, int> wrong;
  for (uint64_t seed = 0; seed < 8; ++seed) {
    Case run = draw({.temperature = 4, .topK = 30, .seed = seed});
    EXPECT_TRUE(run(Schedule::LatestFirst).isGood());
    for (Mistake mistake : {Mistake::DrawnFromAll, Mistake::UnorderedTies}) {
      Outcome outcome = runWith(mistake, run, Schedule::Random);
      EXPECT_TRUE(outcome.reports.empty());
      wrong[mistake] += !outcome.wrong.empty();
    }
  }
  EXPECT_GT(wrong[Mistake::DrawnFromAll], 4);
  EXPECT_GT(wrong[Mistake::UnorderedTies], 4);
}
