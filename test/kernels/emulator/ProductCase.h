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

/// Numbers of f8E4M3FN: C [Rows][Columns] = A [Rows][K] B, where B is
/// [Columns][K] if its neighbours lie along K, else [K][Columns].
template <int Rows, int K, int Columns, Major MajorB> struct MatricesOfBytes {
  std::vector<uint8_t> a = wholes(Rows * K, 1), b = wholes(K * Columns, 2);
  std::vector<float> c = std::vector<float>(Rows * Columns);

  std::vector<Given> given() { return {in(a), in(b), out(c)}; }
  bool isRight() const {
    for (int i = 0; i < Rows * Columns; ++i) {
      int column = i % Columns;
      float sum = 0;
      for (int k = 0; k < K; ++k)
        sum +=
            widen(F8E4M3{a[i / Columns * K + k]}) *
            widen(F8E4M3{
                b[MajorB == Major::K ? column * K + k : k * Columns + column]});
      if (c[i] != sum)
        return false;
    }
    return true;
  }
};

/// One warpgroup, whose slabs of A and B lie here in shared memory.
inline LaunchShape shape() { return shapeOf(GroupThreads); }
inline constexpr int PlaceA = 0, PlaceB = 16384, SlabBytes = 16384;

/// One run of a body, of which nothing must be reported.
template <class M, class Body>
void runClean(const MachineOptions &options, M &m, Body body) {
  EXPECT_EQ(joined(reportsOf(
                options, shape(), [&](CpuBlock &b) { body(b, m); }, m.given())),
            "nothing was reported");
}

/// Each run of a body must be found bad, by a report with this text.
template <class M>
void expectReport(void (*body)(CpuBlock &, M &), const char *text) {
  M m;
  expectReport(shape(), {text}, [&](CpuBlock &b) { body(b, m); }, m.given());
}

/// A register's elements of 8 or 16 bits, which lie `pitch` apart.
template <class T> uint32_t packed(CpuBlock &b, const T *first, int pitch = 1) {
  constexpr int Bits = 8 * sizeof(T);
  uint32_t word = 0;
  for (int i = 0; i < 32 / Bits; ++i)
    word |= uint32_t(b.load(first + i * pitch)) << Bits * i;
  return word;
}

/// Stores a word of a slab's row where products look for it, or, if it is not
/// to be swizzled, elsewhere.
inline void storeWord(CpuBlock &b, int place, int row, int byte, uint32_t word,
                      bool swizzles = true) {
  int linear = place + row * SlabRowBytes + byte;
  int at = int(swizzled(b.sharedAddress(linear)) - b.sharedAddress(0));
  b.shared<uint32_t>(0, (PlaceB + SlabBytes) / 4)
      .store((swizzles ? at : linear) / 4, word);
}

/// Fills a slab with a matrix whose rows have `width` elements.
template <class T>
void fillSlab(CpuBlock &b, int place, const std::vector<T> &from, int width,
              bool swizzles = true) {
  constexpr int Each = 4 / sizeof(T);
  for (int i = b.thread() * Each; i < int(from.size());
       i += GroupThreads * Each)
    storeWord(b, place, i / width, i % width * int(sizeof(T)),
              packed(b, &from[i]), swizzles);
}

/// Fills B's slab: with its rows, or transposed to neighbours along K.
template <Major MajorB, class T>
void fillSlabOfB(CpuBlock &b, const std::vector<T> &from, int k, int columns,
                 bool swizzles = true) {
  if (MajorB == Major::Other)
    return fillSlab(b, PlaceB, from, columns, swizzles);
  constexpr int Each = 4 / sizeof(T);
  for (int i = b.thread() * Each; i < k * columns; i += GroupThreads * Each)
    storeWord(b, PlaceB, i / k, i % k * int(sizeof(T)),
              packed(b, &from[i % k * columns + i / k], columns), swizzles);
}

/// A's fragments for a warpgroup's products, each of which reads 32 bytes of a
/// row.
template <int Steps, class T>
void loadFragments(CpuBlock &b, const std::vector<T> &from,
                   uint32_t (&a)[Steps][4]) {
  constexpr int Each = 2 / sizeof(T); // elements in the place of one of 16 bits
  for (int step = 0; step < Steps; ++step)
    for (int i = 0; i < 4; ++i) {
      Place place = groupFragmentA(b.thread(), i, 0);
      int column = step * 16 + place.column;
      a[step][i] = packed(b, &from[(place.row * Steps * 16 + column) * Each]);
    }
}

/// Stores a warpgroup's sums to C, row by row.
template <int Tiles>
void storeSums(CpuBlock &b, std::vector<float> &c,
               const float (&sums)[Tiles][4]) {
  for (int n = 0; n < Tiles; ++n)
    for (int i = 0; i < 4; ++i) {
      Place place = groupFragmentC(b.thread(), n, i);
      b.store(&c[place.row * Tiles * 8 + place.column], sums[n][i]);
    }
}

/// The product by mma.sync: each of four warps has some of the rows.
template <int Rows> void productByWarps(CpuBlock &b, Matrices<Rows> &m) {
  using M = Matrices<Rows>;
  int lane = b.thread() % 32;
  for (int row = b.thread() / 32 * 16; row < Rows; row += 64)
    for (int n = 0; n < M::Tiles; ++n) {
      float c[4] = {};
      for (int k = 0; k < M::K; k += 16) {
        uint32_t a[4], bs[2];
        for (int i = 0; i < 4; ++i) {
          Place p = fragmentA(lane, i, 0);
          a[i] = packed(b, &m.a[(row + p.row) * M::K + k + p.column]);
        }
        for (int i = 0; i < 2; ++i) {
          Place p = fragmentB(lane, i, 0);
          bs[i] = packed(b, &m.b[(k + p.row) * M::Columns + n * 8 + p.column],
                         M::Columns);
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
void expectOtherNumbers(Right right, Wrong wrong) {
  Matrices<Rows> good, bad;
  expectClean(shape(), [&](CpuBlock &b) { right(b, good); }, good.given());
  expectClean(shape(), [&](CpuBlock &b) { wrong(b, bad); }, bad.given());
  EXPECT_NE(good.c, bad.c);
}

/// Under each way to sum and some schedules, all bodies' numbers are those
/// of productByWarps.
template <int Rows>
void expectBitsOfMma(
    const std::vector<std::function<void(CpuBlock &, Matrices<Rows> &)>>
        &bodies) {
  for (SumOrder order : SumOrders)
    for (Schedule schedule : {Schedule::LatestFirst, Schedule::Random}) {
      Matrices<Rows> m;
      MachineOptions options = {
          .schedule = schedule, .order = order, .seed = 3};
      auto run = [&](auto body) {
        std::fill(m.c.begin(), m.c.end(), 0.0f);
        runClean(options, m, body);
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
