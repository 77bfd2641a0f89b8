//===- Worth.h - How long a page is worth keeping ---------------*- C++ -*-===//

#ifndef KV_RUNTIME_ENGINE_WORTH_H
#define KV_RUNTIME_ENGINE_WORTH_H

#include "kv/Runtime/Engine/Sequence.h"

#include <algorithm>
#include <cstdint>

namespace kv {

/// Time in units of CacheEngine::Options::retentionTick.
using Tick = int64_t;

/// What a release says of a page. Higher priorities are evicted later; one
/// above the default may end.
struct Worth {
  uint8_t priority = Retention::Lowest;
  Tick until = 0; // the default from then on; 0: for good

  bool isRaised() const { return priority > Retention::Default; }

  /// What is left of it at a time.
  Worth at(Tick now) const {
    return until == 0 || now < until ? *this : Worth{Retention::Default};
  }

  /// The most of two that are not over: the higher priority, for as long as
  /// either raises it. At any time it is worth no less than each, which keeps a
  /// page's parent behind it in the order of eviction.
  static Worth most(Worth a, Worth b) {
    Worth both = a.priority >= b.priority ? a : b;
    if (a.isRaised() && b.isRaised())
      both.until = a.until && b.until ? std::max(a.until, b.until) : 0;
    return both;
  }
};

} // namespace kv

#endif // KV_RUNTIME_ENGINE_WORTH_H
