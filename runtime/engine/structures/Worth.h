//===- Worth.h - How long a page is worth keeping ---------------*- C++ -*-===//

#ifndef KV_RUNTIME_ENGINE_STRUCTURES_WORTH_H
#define KV_RUNTIME_ENGINE_STRUCTURES_WORTH_H

#include "kv/Runtime/Engine/Sequence.h"

#include <algorithm>
#include <cstdint>

namespace kv {

/// Time in units of CacheEngine::Options::retentionTick.
using Tick = int64_t;

/// How long a page is worth keeping, as its releases say. Higher priorities are
/// evicted later; one above the default may end.
struct Worth {
  uint8_t priority = Retention::Lowest;
  Tick until = 0; // when the default priority applies again; 0: never

  bool isRaised() const { return priority > Retention::Default; }

  /// The worth that is left at the tick `now`.
  Worth at(Tick now) const {
    return until == 0 || now < until ? *this : Worth{Retention::Default};
  }

  /// The higher of two worths that have not ended: the higher priority, for as
  /// long as either of them is raised. At no time is it less than either of the
  /// two, so a page's parent is evicted after the page.
  static Worth most(Worth a, Worth b) {
    Worth both = a.priority >= b.priority ? a : b;
    if (a.isRaised() && b.isRaised())
      both.until = a.until && b.until ? std::max(a.until, b.until) : 0;
    return both;
  }
};

} // namespace kv

#endif // KV_RUNTIME_ENGINE_STRUCTURES_WORTH_H
