//===- TilesTest.cpp - The prefill kernels that copy tiles ----------------===//
//
// They give the bits of the other kernels, whatever the pages, the batch, the
// mask and the hand-out are.
//
//===----------------------------------------------------------------------===//

#include "AttentionCase.h"

using namespace kv::cuda;
using namespace kv::cuda::test;

namespace {

Results run(const AttentionKernel &kernel, const AttentionCase &c) {
  return withFixture(kernel, c, [](auto &fixture) { return fixture.run(); });
}

::testing::AssertionResult same(const Results &a, const Results &b) {
  for (const Results *r : {&a, &b})
    if (!r->reports.empty())
      return ::testing::AssertionFailure() << r->reports[0];
  if (a.out.size() != b.out.size() || a.lse.size() != b.lse.size())
    return ::testing::AssertionFailure() << "results of two sizes";
  for (size_t i = 0; i < a.out.size(); ++i)
    if (std::memcmp(&a.out[i], &b.out[i], sizeof(float)))
      return ::testing::AssertionFailure()
             << "element " << i << ": " << a.out[i] << " and " << b.out[i];
  if (std::memcmp(a.lse.data(), b.lse.data(), a.lse.size() * sizeof(float)))
    return ::testing::AssertionFailure() << "lse differs";
  return ::testing::AssertionSuccess();
}

} // namespace

TEST(AttentionTiles, BitsOfTheOtherPrefill) {
  for (const AttentionKernel &tiles : TileKernels) {
    AttentionCase c;
    c.sequences = {{150, 20}};
    EXPECT_TRUE(check(tiles, c)) << tiles.name;
    EXPECT_TRUE(
        same(run(tiles, c), run(kernelFor(tiles.type, tiles.headDim, true), c)))
        << tiles.name;
  }
}
