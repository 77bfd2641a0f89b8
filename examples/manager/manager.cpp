// manager.cpp: a paged cache manager around a model of your own.
//
// The model is one induction head over 16 tokens. The key of a position marks
// the token before it, the value marks its own token. A query with the newest
// token thus finds what followed that token last time.

#include "kv/Runtime/Manager/PagedKVCacheManager.h"

#include <cstdio>
#include <vector>

using namespace kv;

constexpr int64_t Page = 4, Vocabulary = 16;

/// The key (plane 0) or value (plane 1) of a position: the lookup table names
/// the page, and blocks are [pages, planes, layers, tokens, heads, dim].
float *at(const RaggedKVCacheInputs &in, int64_t row, int plane,
          int64_t position) {
  auto *table = static_cast<const int32_t *>(in.lookupTable.data);
  int64_t page = table[row * in.lookupTable.strides[0] + position / Page];
  return static_cast<float *>(in.blocks.data) + page * in.blocks.strides[0] +
         plane * in.blocks.strides[1] + position % Page * in.blocks.strides[3];
}

/// One step of a sequence: writes the active tokens, returns the next token.
int32_t forward(const RaggedKVCacheInputs &in, int64_t row,
                const TextGenerationContext &context) {
  std::span<const int32_t> tokens = context.tokens();
  int64_t end = context.processed() + context.active();
  for (int64_t p = context.processed(); p < end; ++p)
    for (int32_t token = 0; token < Vocabulary; ++token) {
      at(in, row, 0, p)[token] = p > 0 && tokens[p - 1] == token;
      at(in, row, 1, p)[token] = tokens[p] == token;
    }
  const float *value = at(in, row, 1, 0);
  for (int64_t p = 0; p < end; ++p) // hard attention: the last match wins
    if (at(in, row, 0, p)[tokens[end - 1]] == 1)
      value = at(in, row, 1, p);
  return int32_t(std::max_element(value, value + Vocabulary) - value);
}

int fail(const Error &error) {
  std::fprintf(stderr, "%s\n", error.message.c_str());
  return 1;
}

int main() {
  KVCacheParams params = {.enablePrefixCaching = true};
  params.geometry = {.dtype = KV_DTYPE_F32, .layers = 1, .heads = 1};
  params.geometry.dim = Vocabulary, params.geometry.page = Page;
  auto manager = PagedKVCacheManager::create(
      params, {.maxBatchSize = 2, .maxSeqLen = 64, .numPages = 32});
  if (!manager)
    return fail(manager.error());
  std::vector<int32_t> prompts[] = {{3, 1, 4, 1, 5, 9, 2, 6, 5, 3},
                                    {3, 1, 4, 1, 5, 9, 2, 6, 7, 4}};
  for (RequestId id : {0, 1}) {
    TextGenerationContext context(id, prompts[id]);
    const TextGenerationContext *batch[] = {&context};
    (void)(*manager)->claim(id); // alloc() refuses what is not claimed
    for (int step = 0; step < 6; ++step) {
      auto taken = (*manager)->alloc(context); // skips what the cache has
      if (!taken)
        return fail(taken.error().error);
      if (step == 0)
        std::printf("%d tokens from the cache, %d computed, then",
                    int(taken->cachedTokens), int(context.active()));
      auto inputs = (*manager)->runtimeInputs(batch);
      if (!inputs)
        return fail(inputs.error());
      prompts[id].push_back(forward((*inputs)[0], 0, context));
      std::printf(" %d", prompts[id].back());
      context.update(prompts[id]);
      (void)(*manager)->step(batch);
    }
    std::printf("\n");
    (void)(*manager)->release(id); // its full pages stay in the prefix index
  }
}
