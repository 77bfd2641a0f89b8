//===- Masks.h - Which keys a query sees ------------------------*- C++ -*-===//
//
// With every mask of KvMask, a query sees one interval of key positions, and
// neither end of this interval falls when the query's position grows. The
// attention plan and the kernels rely on both facts.
//
//===----------------------------------------------------------------------===//

#ifndef KV_DEFINITION_MASKS_H
#define KV_DEFINITION_MASKS_H

#include "kv/ABI/Context.h"
#include "kv/Definition/HostDevice.h"

namespace kv::plan {

/// Key positions [first, last); empty when first >= last.
struct Keys {
  int64_t first;
  int64_t last;
};

/// The keys that the query at `position` sees in a sequence of `length` keys.
/// `window` is at least 1 for the masks that have one. Without Chunks, of masks
/// that have none.
template <bool Chunks = true>
KV_HD constexpr Keys visibleKeys(int32_t mask, int64_t window, int64_t position,
                                 int64_t length) {
  Keys keys{0, length};
  if (mask == KV_MASK_CAUSAL || mask == KV_MASK_SLIDING ||
      mask == KV_MASK_CHUNKED_CAUSAL)
    keys.last = position + 1;
  if (mask == KV_MASK_SLIDING || mask == KV_MASK_SLIDING_NONCAUSAL)
    keys.first = position + 1 - window;
  if (Chunks && (mask == KV_MASK_CHUNKED || mask == KV_MASK_CHUNKED_CAUSAL))
    keys.first = position / window * window;
  // Not first + window, which could overflow: a window may be any i64.
  if (Chunks && mask == KV_MASK_CHUNKED)
    keys.last = window > length - keys.first ? length : keys.first + window;
  return {greater<int64_t>(keys.first, 0), lesser(keys.last, length)};
}

} // namespace kv::plan

#endif // KV_DEFINITION_MASKS_H
