//===- ProductCase.h - Two matrices and their product -----------*- C++ -*-===//

#ifndef KV_TEST_KERNELS_EMULATOR_PRODUCTCASE_H
#define KV_TEST_KERNELS_EMULATOR_PRODUCTCASE_H

#include "AsyncCase.h"

namespace kv::cuda::test {

/// C [Rows][64] = A [Rows][K] B [K][64].
template <int Rows> struct Matrices {
  static constexpr int K = 64, Tiles = 8, Columns = Tiles * 8;

  std::vector<uint16_t> a = random(Rows * K, 1), b = random(K * Columns, 2);
  std::vector<float> c = std::vector<float>(Rows * Columns);

  static std::vector<uint16_t> random(int count, int seed) {
    std::mt19937 next(seed);
    std::vector<uint16_t> all(count);
    for (uint16_t &x : all) // from 1/16 to 16, of either sign
      x = uint16_t((next() & 0x807f) | (0x3d80 + (next() % 8 << 7)));
    return all;
  }
  std::vector<Given> given() { return {in(a), in(b), out(c)}; }
};

/// Numbers of f8E4M3FN, whole and small, so that sums are exact in any order.
inline std::vector<uint8_t> wholes(int count, int seed) {
  std::vector<uint8_t> all(count);
  for (int i = 0; i < count; ++i)
    all[i] = narrow<F8E4M3>(float((i * 37 + seed * 11) % 15 - 7)).bits;
  return all;
}

/// The product by mma.sync: each of four warps has some of the rows.
template <int Rows> void productByWarps(CpuBlock &b, Matrices<Rows> &m) {
  using M = Matrices<Rows>;
  int lane = b.thread() % 32;
  auto pair = [&](const uint16_t *low, const uint16_t *high) {
    return b.load(low) | uint32_t(b.load(high)) << 16;
  };
  for (int row = b.thread() / 32 * 16; row < Rows; row += 64)
    for (int n = 0; n < M::Tiles; ++n) {
      float c[4] = {};
      for (int k = 0; k < M::K; k += 16) {
        uint32_t a[4], bs[2];
        for (int i = 0; i < 4; ++i) {
          Place p = fragmentA(lane, i, 0);
          const uint16_t *at = &m.a[(row + p.row) * M::K + k + p.column];
          a[i] = pair(at, at + 1);
        }
        for (int i = 0; i < 2; ++i) {
          Place p = fragmentB(lane, i, 0);
          const uint16_t *at =
              &m.b[(k + p.row) * M::Columns + n * 8 + p.column];
          bs[i] = pair(at, at + M::Columns);
        }
        b.multiplyAdd<Bf16>(c, a, bs[0], bs[1]);
      }
      for (int i = 0; i < 4; ++i) {
        Place p = fragmentC(lane, i);
        b.store(&m.c[(row + p.row) * M::Columns + n * 8 + p.column], c[i]);
      }
    }
}

/// A mistake that no rule is broken by: the numbers are others.
template <int Rows, class Right, class Wrong>
void expectOtherNumbers(const LaunchShape &shape, Right right, Wrong wrong) {
  Matrices<Rows> good, bad;
  expectClean(shape, [&](CpuBlock &b) { right(b, good); }, good.given());
  expectClean(shape, [&](CpuBlock &b) { wrong(b, bad); }, bad.given());
  EXPECT_NE(good.c, bad.c);
}

/// Under each way to sum and some schedules, all bodies' numbers are those
/// of productByWarps.
template <int Rows>
void expectBitsOfMma(
    const LaunchShape &shape,
    const std::vector<std::function<void(CpuBlock &, Matrices<Rows> &)>>
        &bodies) {
  for (SumOrder order : SumOrders)
    for (Schedule schedule : {Schedule::LatestFirst, Schedule::Random}) {
      Matrices<Rows> m;
      MachineOptions options = {
          .schedule = schedule, .order = order, .seed = 3};
      auto run = [&](auto body) {
        std::fill(m.c.begin(), m.c.end(), 0.0f);
        EXPECT_EQ(
            joined(reportsOf(
                options, shape, [&](CpuBlock &b) { body(b, m); }, m.given())),
            "nothing was reported");
        return m.c;
      };
      auto expected = run(productByWarps<Rows>);
      EXPECT_NE(expected[5], 0);
      for (const auto &body : bodies)
        EXPECT_EQ(expected, run(body));
    }
}

} // namespace kv::cuda::test

#endif // KV_TEST_KERNELS_EMULATOR_PRODUCTCASE_H
