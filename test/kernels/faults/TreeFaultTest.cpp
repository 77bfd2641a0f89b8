//===- TreeFaultTest.cpp - Mistakes with trees are seen -------------------===//

#include "test/kernels/attention/BodyCase.h"

using namespace kv::cuda;
using namespace kv::cuda::test;

namespace {

using Small = AttentionConfig<Bf16, Bf16, 64, 1, 4>;

/// Trees behind a leaf's edge, and of several tiles.
AttentionCase trees() {
  AttentionCase c;
  c.trees = true;
  c.heads = 1;
  c.sequences = {{300, 12}, {100, 40}};
  return c;
}

template <Fault F> void expectSeen(const AttentionCase &c) {
  BodyFixture<Small> fixture(c);
  ASSERT_TRUE(fixture.check(fixture.run())) << "without the mistake";
  fixture.expectSeen(fixture.template run<F>(), nullptr);
}

} // namespace

TEST(TreeFault, TreeInSight) {
  // The last nodes stand behind a leaf that holds the first ones.
  AttentionCase c = trees();
  c.sequences = {{100, 64}};
  expectSeen<Fault::TreeInSight>(c);
}
TEST(TreeFault, PathOneBitOff) { expectSeen<Fault::PathOneBitOff>(trees()); }
TEST(TreeFault, PathOfAnotherRow) {
  AttentionCase c = trees();
  c.group = 1; // rows of a token share its path
  expectSeen<Fault::PathOfAnotherRow>(c);
}
TEST(TreeFault, WindowByRow) {
  AttentionCase c = trees();
  c.mask = KV_MASK_SLIDING;
  c.window = 64;
  expectSeen<Fault::WindowByRow>(c);
}
