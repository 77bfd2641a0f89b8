//===- FaultRun.h - A body with a planted mistake ---------------*- C++ -*-===//

#ifndef KV_TEST_KERNELS_FAULTS_FAULTRUN_H
#define KV_TEST_KERNELS_FAULTS_FAULTRUN_H

#include "test/kernels/attention/BodyCase.h"

namespace kv::cuda::test {

inline constexpr Schedule Schedules[] = {
    Schedule::LatestFirst, Schedule::OldestFirst, Schedule::Random};

/// Runs the body with a mistake under every schedule; each run must be found
/// bad.
template <Fault F, class Config>
void expectSeen(AttentionCase c, const char *text) {
  for (Schedule schedule : Schedules) {
    c.machine.schedule = schedule;
    BodyFixture<Config> fixture(c);
    ASSERT_TRUE(fixture.check(fixture.run())) << "without the mistake";
    fixture.expectSeen(fixture.template run<F>(), text);
  }
}

} // namespace kv::cuda::test

#endif // KV_TEST_KERNELS_FAULTS_FAULTRUN_H
