//===- PromptLookup.h - Drafts from a request's own text --------*- C++ -*-===//

#ifndef KV_RUNTIME_SERVING_PROMPTLOOKUP_H
#define KV_RUNTIME_SERVING_PROMPTLOOKUP_H

#include <cstdint>
#include <span>
#include <vector>

namespace kv {

/// Appends up to `most` tokens that may follow `tokens`: those that follow the
/// earlier place where most of the last tokens stand, at least two. Of equally
/// good places the latest counts. A text that repeats itself goes on repeating.
void lookUpDrafts(std::span<const int32_t> tokens, int64_t most,
                  std::vector<int32_t> &drafts);

} // namespace kv

#endif // KV_RUNTIME_SERVING_PROMPTLOOKUP_H
