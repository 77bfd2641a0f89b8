//===- PageOps.h - What must happen to memory before a step -----*- C++ -*-===//
//
// The engine touches no device memory. The engine returns operations on the
// bytes of pages. Its caller executes them on the device's stream, before the
// step that they were returned with.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_ENGINE_PAGEOPS_H
#define KV_RUNTIME_ENGINE_PAGEOPS_H

#include <cstdint>

namespace kv {

/// Index of a page in the blocks buffer, as lookup tables store it.
using PageId = int32_t;

/// The page that unused table entries point to: all zero, and never reserved.
inline constexpr PageId NullPage = 0;

/// Identifies a step. Counted from 1; 0 is before every step.
using Ticket = uint64_t;

/// No operation of a step reads a page that another one of the step writes:
/// they may run in any order, and at the same time.
struct PageOp {
  enum Kind : uint16_t {
    Copy,    // source to target, the whole page
    ZeroFill // the target
  };
  Kind kind;
  uint16_t group; // whose components of the page are meant
  PageId source;  // NullPage for ZeroFill
  PageId target;
  int32_t tokens; // Copy: leading positions of the page that hold tokens

  bool operator==(const PageOp &) const = default;
};

} // namespace kv

#endif // KV_RUNTIME_ENGINE_PAGEOPS_H
