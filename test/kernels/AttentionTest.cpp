//===- AttentionTest.cpp - The attention body against the truth -----------===//

#include "AttentionCase.h"

using namespace kv::cuda;
using namespace kv::cuda::test;

TEST(Attention, Decode) {
  AttentionCase c;
  c.sequences = {{200, 1}, {0, 1}, {5, 0}, {1500, 1}};
  AttentionFixture<DecodeBf16> fixture(c);
  EXPECT_TRUE(fixture.check(fixture.run()));
}

TEST(Attention, Prefill) {
  AttentionCase c;
  c.sequences = {{200, 30}, {0, 100}, {5, 0}, {1500, 1}};
  AttentionFixture<PrefillBf16> fixture(c);
  EXPECT_TRUE(fixture.check(fixture.run()));
}
