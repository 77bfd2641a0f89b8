//===- FollowAll.h - Until followers know what publishers tell --*- C++ -*-===//

#ifndef KV_TEST_UNIT_EVENTS_FOLLOWALL_H
#define KV_TEST_UNIT_EVENTS_FOLLOWALL_H

#include "kv/Runtime/Events/EventPublisher.h"
#include "runtime/routing/Follower.h"

#include <thread>
#include <vector>

namespace kv::test {

/// Takes what the publishers tell until each one's follower knows all of it,
/// also that a publisher has begun anew. False: that takes more than a minute.
inline bool followAll(const std::vector<std::unique_ptr<Follower>> &followers,
                      const std::vector<const EventPublisher *> &publishers) {
  using Clock = std::chrono::steady_clock;
  std::vector<int64_t> asked;
  for (const EventPublisher *publisher : publishers)
    asked.push_back(publisher->figures().requests);
  auto isTold = [&](size_t i) {
    // A publisher looks at its queue before it answers a question; the first
    // one may have been under way.
    EventPublisher::Figures told = publishers[i]->figures();
    return told.requests >= asked[i] + 2 && followers[i]->isCurrent() &&
           followers[i]->next() >= told.batches + told.gaps;
  };
  Clock::time_point end = Clock::now() + std::chrono::minutes(1);
  for (size_t i = 0; i < publishers.size(); ++i)
    while (!isTold(i)) {
      if (Clock::now() >= end)
        return false;
      for (const auto &follower : followers)
        follower->step();
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  return true;
}

} // namespace kv::test

#endif // KV_TEST_UNIT_EVENTS_FOLLOWALL_H
