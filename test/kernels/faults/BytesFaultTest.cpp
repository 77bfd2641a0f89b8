//===- BytesFaultTest.cpp - Mistakes with products of 8 bits --------------===//

#include "FaultRun.h"

using namespace kv::cuda;
using namespace kv::cuda::test;

namespace {

using Decode = ByteDecodeConfig<Bf16, F8E4M3, 64>;
using Prefill = BytePrefillConfig<Bf16, F8E4M3, 64>;

AttentionCase ordinary(int added = 1) {
  AttentionCase c;
  c.heads = 1;
  c.sequences = {{300, added}, {130, added}};
  return c;
}

} // namespace

TEST(BytesFault, WeightsInOwnOrder) {
  expectSeen<Fault::WeightsInOwnOrder, Decode>(ordinary(), nullptr);
}
TEST(BytesFault, WeightsNotDivided) {
  expectSeen<Fault::WeightsNotDivided, Decode>(ordinary(), nullptr);
}
TEST(BytesFault, UnscaledQueries) {
  BodyFixture<Decode> fixture(ordinary());
  fixture.enlargeQueries(-12);
  ASSERT_TRUE(fixture.check(fixture.run())) << "without the mistake";
  fixture.expectSeen(fixture.run<Fault::UnscaledQueries>(), nullptr);
}
TEST(BytesFault, UnclearedWeights) {
  expectSeen<Fault::UnclearedWeights, Decode>(ordinary(), "nobody wrote");
}
TEST(BytesFault, MissingMaximaBarrier) {
  expectSeen<Fault::MissingMaximaBarrier, Decode>(ordinary(), "shared memory");
}
TEST(BytesFault, MissingQueriesBarrier) {
  expectSeen<Fault::MissingQueriesBarrier, Decode>(ordinary(), "shared memory");
}
TEST(BytesFault, MissingWait) {
  expectSeen<Fault::MissingWait, Prefill>(ordinary(20), "reads under the copy");
}
TEST(BytesFault, WaitOneShort) {
  expectSeen<Fault::WaitOneShort, Prefill>(ordinary(20),
                                           "reads under the copy");
}
TEST(BytesFault, MissingStageBarrier) {
  expectSeen<Fault::MissingStageBarrier, Prefill>(ordinary(20), "race");
}
