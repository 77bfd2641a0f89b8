// cache: the engine by itself, then a manager, with installed headers only.

#include "kv/Runtime/Engine/CacheEngine.h"
#include "kv/Runtime/Manager/PagedKVCacheManager.h"

#include <cstdio>
#include <vector>

int main() {
  auto engine = kv::CacheEngine::create({.numPages = 8, .pageSize = 4});
  if (!engine)
    return 1;
  std::vector<int32_t> prompt = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  for (int run = 0; run < 2; ++run) {
    kv::Expected<kv::Sequence> sequence = (*engine)->open();
    if (!sequence)
      return 1;
    kv::CacheEngine::Plan plan =
        (*engine)->reserve(*sequence, prompt, {.length = 9});
    if (!plan.fits() || !(*engine)->commit(*sequence, prompt, 9))
      return 1;
    std::printf("run %d: %d pages hit, %zu held\n", run, plan.hitPages,
                sequence->pages().size());
  }
  kv::CacheEngine::PageCounts counts = (*engine)->pageCounts();
  std::printf("%d pages cached of %d\n", counts.cached, counts.total());

  kv::KVCacheParams params = {.geometry = {.dtype = KV_DTYPE_F32,
                                           .layers = 1,
                                           .heads = 1,
                                           .dim = 8,
                                           .page = 4},
                              .enablePrefixCaching = true};
  auto manager = kv::PagedKVCacheManager::create(
      params, {.maxBatchSize = 1, .maxSeqLen = 16, .numPages = 8});
  if (!manager) {
    std::fprintf(stderr, "%s\n", manager.error().message.c_str());
    return 1;
  }
  kv::TextGenerationContext context(7, prompt);
  if (!(*manager)->claim(7) || !(*manager)->alloc(context))
    return 1;
  std::printf("request 7: %zu blocks\n", (*manager)->getReqBlocks(7)->size());
}
