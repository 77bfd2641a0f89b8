//===- EmulatorTest.cpp - What the CPU backend must see -------------------===//

#include "kernels/emulator/CpuBlock.h"

#include <cstring>
#include <gtest/gtest.h>
#include <set>

using namespace kv::cuda;

namespace {

using Body = std::function<void(CpuBlock &)>;

/// The reports of a body in one block, or the same text for all schedules.
std::vector<std::string> reports(int threads, const Body &body,
                                 int blocks = 1) {
  std::vector<std::string> all;
  for (Schedule schedule :
       {Schedule::LatestFirst, Schedule::OldestFirst, Schedule::Random}) {
    Machine machine({.schedule = schedule, .seed = 5});
    machine.launch(blocks, threads, 4096, [&](Machine &m, int thread) {
      CpuBlock b(m, thread);
      body(b);
    });
    if (machine.reports().empty())
      return {};
    all.push_back(machine.reports()[0]);
  }
  return all;
}

void expectReport(int threads, const char *text, const Body &body) {
  std::vector<std::string> all = reports(threads, body);
  EXPECT_FALSE(all.empty());
  for (const std::string &report : all)
    EXPECT_NE(report.find(text), std::string::npos) << report;
}

void expectClean(int threads, const Body &body) {
  std::vector<std::string> all = reports(threads, body);
  EXPECT_TRUE(all.empty()) << all[0];
}

} // namespace

TEST(Emulator, BarriersOrder) {
  expectClean(64, [](CpuBlock &b) {
    auto x = b.shared<float>(0, 64);
    for (int round = 0; round < 3; ++round) {
      x.store(b.thread(), float(b.thread() + round));
      b.sync();
      EXPECT_EQ(x.load(63 - b.thread()), float(63 - b.thread() + round));
      EXPECT_EQ(x.load(5), float(5 + round)); // many readers
      b.sync();
    }
  });
}

TEST(Emulator, Races) {
  expectReport(64, "", [](CpuBlock &b) { // read before the barrier
    auto x = b.shared<float>(0, 64);
    x.store(b.thread(), 1);
    x.load(63 - b.thread());
    b.sync();
  });
  expectReport(64, "with the read of", [](CpuBlock &b) { // overwritten
    auto x = b.shared<float>(0, 64);
    x.store(b.thread(), 1);
    b.sync();
    x.load(5);
    x.store(b.thread(), 2);
    b.sync();
    x.load(5);
  });
  expectReport(64, "writes unordered with the write", [](CpuBlock &b) {
    b.shared<float>(0, 64).store(7, 1);
    b.sync();
  });
  expectReport(32, "unordered", [](CpuBlock &b) {
    // A shuffle makes lanes meet, but orders no memory.
    auto x = b.shared<float>(0, 32);
    x.store(b.thread(), 1);
    b.sync();
    x.load(31 - b.thread());
    b.shuffleXor(0, 1);
    x.store(b.thread(), 2);
  });
}

TEST(Emulator, Bounds) {
  expectReport(1, "leaves a view",
               [](CpuBlock &b) { b.shared<float>(0, 4).store(4, 1); });
  expectReport(1, "leaves shared memory",
               [](CpuBlock &b) { b.shared<float>(4096, 4).store(0, 1); });
  expectReport(1, "nobody wrote",
               [](CpuBlock &b) { b.shared<float>(0, 4).load(0); });
  expectReport(1, "leaves global memory", [](CpuBlock &b) {
    static float x = 0;
    b.load(&x);
  });
}

TEST(Emulator, Copies) {
  static const Chunk source[2] = {{{1, 2, 3, 4}}, {{5, 6, 7, 8}}};
  auto with = [](const Body &body) {
    Machine machine;
    machine.global().allow(source, sizeof(source), Access::Read);
    machine.launch(1, 1, 4096, [&](Machine &m, int thread) {
      CpuBlock b(m, thread);
      body(b);
    });
    return machine.reports().empty() ? std::string() : machine.reports()[0];
  };
  EXPECT_EQ(with([](CpuBlock &b) {
              auto x = b.shared<Chunk>(0, 2);
              b.copyAsync(x, 0, addressOf(source));
              b.commit();
              b.copyAsync(x, 1, NoAddress);
              b.commit();
              b.wait<1>();
              EXPECT_EQ(x.load(0).words[3], 4u);
              b.wait<0>();
              EXPECT_EQ(x.load(1).words[0], 0u); // zero-filled
            }),
            "");
  EXPECT_NE(with([](CpuBlock &b) {
              auto x = b.shared<Chunk>(0, 2);
              b.copyAsync(x, 0, addressOf(source));
              b.commit();
              b.copyAsync(x, 1, addressOf(source));
              b.commit();
              b.wait<1>();
              EXPECT_EQ(x.load(1).words[0], 0xffffffffu); // poison until then
              b.wait<0>();
            }).find("under the copy"),
            std::string::npos);
  EXPECT_NE(with([](CpuBlock &b) {
              b.copyAsync(b.shared<Chunk>(0, 2), 0, addressOf(source));
              b.commit();
            }).find("leaves with a copy under way"),
            std::string::npos);
  EXPECT_NE(with([](CpuBlock &b) {
              b.copyAsync(b.shared<Chunk>(0, 2), 0, addressOf(source + 2));
              b.commit();
              b.wait<0>();
            }).find("leaves global memory"),
            std::string::npos);
}

TEST(Emulator, Deadlocks) {
  expectReport(64, "deadlock", [](CpuBlock &b) {
    if (b.thread() != 3)
      b.sync();
  });
  expectReport(64, "for its warp", [](CpuBlock &b) {
    if (b.thread() != 40)
      b.shuffleXor(1, 1);
  });
  expectReport(32, "for its warp", [](CpuBlock &b) {
    // Two different shuffles do not meet.
    if (b.thread() < 16)
      b.shuffleXor(1, 1);
    else
      b.shuffleXor(2, 1);
  });
}

TEST(Emulator, Shuffles) {
  expectClean(64, [](CpuBlock &b) {
    float sum = b.thread();
    for (int mask = 1; mask < 32; mask *= 2)
      sum += b.shuffleXor(sum, mask);
    EXPECT_EQ(sum, b.thread() < 32 ? 496 : 496 + 1024);
  });
}

TEST(Emulator, ArrivalsPublish) {
  for (bool fenced : {true, false}) {
    float data[4] = {};
    uint32_t counter = 0;
    Machine machine;
    machine.global().allow(data, sizeof(data), Access::Write);
    machine.global().allow(&counter, sizeof(counter), Access::Write);
    machine.launch(4, 2, 64, [&](Machine &m, int thread) {
      CpuBlock b(m, thread);
      if (b.thread() == 1)
        b.storeScratch(data + b.block(), 1.0f);
      b.sync();
      auto last = b.shared<uint32_t>(0, 1);
      if (b.thread() == 0) {
        last.store(0, (fenced ? b.arrive<Order::AcquireRelease>(&counter, 1)
                              : b.arrive<Order::Acquire>(&counter, 1)) == 3);
      }
      b.sync();
      if (last.load(0)) {
        for (float &x : data)
          EXPECT_EQ(b.loadScratch(&x), 1.0f);
      }
    });
    EXPECT_EQ(machine.reports().empty(), fenced);
    EXPECT_EQ(counter, 4u);
  }
}

// What blocks exchange goes past their own caches.
TEST(Emulator, PlainAccessesOfScratch) {
  auto with = [](auto &&store, auto &&load) {
    float data = 0;
    uint32_t counter = 0;
    Machine machine({.schedule = Schedule::OldestFirst});
    machine.global().allow(&data, sizeof(data), Access::Write);
    machine.global().allow(&counter, sizeof(counter), Access::Write);
    machine.launch(2, 1, 0, [&](Machine &m, int thread) {
      CpuBlock b(m, thread);
      if (b.block() == 0)
        store(b, &data);
      if (b.arrive<Order::AcquireRelease>(&counter, 1) == 1)
        EXPECT_EQ(load(b, &data), 1.0f);
    });
    return machine.reports().empty() ? std::string() : machine.reports()[0];
  };
  auto store = [](CpuBlock &b, float *p) { b.storeScratch(p, 1.0f); };
  auto load = [](CpuBlock &b, float *p) { return b.loadScratch(p); };
  auto plainStore = [](CpuBlock &b, float *p) { b.store(p, 1.0f); };
  auto plainLoad = [](CpuBlock &b, float *p) { return b.load(p); };
  EXPECT_EQ(with(store, load), "");
  EXPECT_NE(with(store, plainLoad).find("as if nobody else wrote it"),
            std::string::npos);
  EXPECT_NE(with(plainStore, load).find("as if nobody else read it"),
            std::string::npos);
}

namespace {

/// C = A B + C by the emulator, elements by the PTX manual's formulas.
template <class T>
void product(MachineOptions options, const float (&a)[16][16],
             const float (&bm)[16][8], float (&c)[16][8]) {
  Machine machine(options);
  machine.launch(1, 32, 0, [&](Machine &m, int thread) {
    CpuBlock b(m, thread);
    int group = thread >> 2, in = thread % 4;
    uint32_t fa[4], fb[2];
    for (int i = 0; i < 4; ++i) {
      int row = group + (i & 1) * 8, column = in * 2 + (i >> 1) * 8;
      fa[i] = narrowPair<T>(a[row][column], a[row][column + 1]);
    }
    for (int i = 0; i < 2; ++i)
      fb[i] = narrowPair<T>(bm[in * 2 + i * 8][group],
                            bm[in * 2 + i * 8 + 1][group]);
    float fc[4];
    for (int i = 0; i < 4; ++i)
      fc[i] = c[group + (i >> 1) * 8][in * 2 + (i & 1)];
    b.multiplyAdd<T>(fc, fa, fb[0], fb[1]);
    for (int i = 0; i < 4; ++i)
      c[group + (i >> 1) * 8][in * 2 + (i & 1)] = fc[i];
  });
  EXPECT_TRUE(machine.reports().empty());
}

template <class T> void expectProducts() {
  std::mt19937 random(1);
  float a[16][16], bm[16][8], c[16][8];
  auto draw = [&](auto &matrix) {
    for (auto &row : matrix)
      for (float &x : row)
        x = widen(narrow<T>(float(int(random() % 20001) - 10000) / 3000));
  };
  draw(a);
  draw(bm);
  draw(c);
  std::set<std::vector<float>> different;
  for (SumOrder order : SumOrders) {
    float result[16][8];
    std::memcpy(result, c, sizeof(c));
    product<T>({.order = order, .seed = 9}, a, bm, result);
    for (int m = 0; m < 16; ++m)
      for (int n = 0; n < 8; ++n) {
        double expected = c[m][n];
        for (int k = 0; k < 16; ++k)
          expected += double(a[m][k]) * bm[k][n];
        EXPECT_NEAR(result[m][n], expected, 1e-4);
      }
    different.insert({result[0], result[0] + 128});
  }
  EXPECT_EQ(different.size(), std::size(SumOrders));
}

} // namespace

TEST(Emulator, Products) {
  expectProducts<Bf16>();
  expectProducts<F16>();
}
