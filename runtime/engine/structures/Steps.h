//===- Steps.h - Which steps are over on the device -------------*- C++ -*-===//
//
// A step is open from the moment its runtime inputs are made until the device
// has finished it. Steps may complete in any order, but take effect in the
// order in which they were opened: what the engine does never depends on which
// of two steps was reported first.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_ENGINE_STRUCTURES_STEPS_H
#define KV_RUNTIME_ENGINE_STRUCTURES_STEPS_H

#include "kv/Runtime/Engine/PageOps.h"

#include <bitset>
#include <cstdint>

namespace kv {

class Steps {
public:
  static constexpr int32_t MostOpen = 64;

  explicit Steps(int32_t maxOpen) : most(maxOpen) {}

  int32_t maxOpen() const { return most; }
  int32_t numOpen() const { return static_cast<int32_t>(last - through); }
  Ticket lastOpened() const { return last; }
  /// This step and all before it have taken effect.
  Ticket completedThrough() const { return through; }

  bool canOpen() const { return numOpen() < most; }
  Ticket open() {
    ++last;
    done.reset(last % MostOpen);
    return last;
  }

  bool isOpen(Ticket ticket) const {
    return ticket > through && ticket <= last && !done[ticket % MostOpen];
  }
  void complete(Ticket ticket) { done.set(ticket % MostOpen); }
  /// If the oldest open step is complete, it takes effect and is returned;
  /// otherwise 0.
  Ticket retire() {
    return through < last && done[(through + 1) % MostOpen] ? ++through : 0;
  }

private:
  std::bitset<MostOpen> done; // by ticket modulo MostOpen
  Ticket last = 0;
  Ticket through = 0;
  int32_t most;
};

} // namespace kv

#endif // KV_RUNTIME_ENGINE_STRUCTURES_STEPS_H
