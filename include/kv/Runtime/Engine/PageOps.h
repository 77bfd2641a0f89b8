//===- PageOps.h - What must happen to memory before a step -----*- C++ -*-===//
//
// The engine knows no memory. What it needs done to pages it asks for; the
// manager does it on the device's stream before the step that the operations
// came with.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_ENGINE_PAGEOPS_H
#define KV_RUNTIME_ENGINE_PAGEOPS_H

#include <cstdint>

namespace kv {

/// Index of a page in the blocks buffer, as lookup tables store it.
using PageId = int32_t;

/// Never handed out, always zero: what unused table entries point to.
inline constexpr PageId NullPage = 0;

/// Operations of one step read no page that another of them writes: they may
/// run in any order and at the same time.
struct PageOp {
  enum Kind : uint16_t {
    Copy,    // source to target, the whole page
    ZeroFill // target
  };
  Kind kind;
  uint16_t group;
  PageId source; // NullPage for ZeroFill
  PageId target;
  int32_t tokens; // of a copy: as many positions matter, from the first

  bool operator==(const PageOp &) const = default;
};

} // namespace kv

#endif // KV_RUNTIME_ENGINE_PAGEOPS_H
