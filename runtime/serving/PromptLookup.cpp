//===- PromptLookup.cpp - Drafts from a request's own text ----------------===//

#include "kv/Runtime/Serving/PromptLookup.h"

#include <algorithm>

using namespace kv;

void kv::lookUpDrafts(std::span<const int32_t> tokens, int64_t most,
                      std::vector<int32_t> &drafts) {
  // Longer matches are no better, and the search ends at the first of these.
  constexpr int64_t LeastMatch = 2, MostMatch = 8;
  int64_t size = static_cast<int64_t>(tokens.size());
  int64_t longest = LeastMatch - 1, next = 0; // next: the place after the match
  for (int64_t end = size - 1; end > longest && longest < MostMatch; --end) {
    int64_t match = 0;
    while (match < std::min(end, MostMatch) &&
           tokens[end - 1 - match] == tokens[size - 1 - match])
      ++match;
    if (match > longest) {
      longest = match;
      next = end;
    }
  }
  if (next == 0)
    return;
  // Behind the last token the text goes on with what was copied.
  for (int64_t i = 0; i < most; ++i)
    drafts.push_back(tokens[next + i % (size - next)]);
}
