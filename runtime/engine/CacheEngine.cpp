//===- CacheEngine.cpp - Creates an engine --------------------------------===//

#include "CacheEngineImpl.h"

#include <algorithm>
#include <new>

using namespace kv;

static Expected<void> validateOptions(const CacheEngine::Options &options) {
  auto inRange = [](std::string_view name, int64_t value, int64_t least,
                    int64_t most) -> Expected<void> {
    if (value < least || value > most)
      return makeError(KV_STATUS_INVALID_ARGUMENT, "cache engine: ", name,
                       " is ", value, ", allowed: ", least, " to ", most);
    return {};
  };
  for (const CacheGroup &group : options.groups)
    if (Expected<void> valid =
            inRange("a group's window", group.window, 0, INT32_MAX);
        !valid)
      return valid;
  constexpr int64_t Many = 1 << 20;
  for (Expected<void> valid :
       {inRange("numPages", options.numPages, 1, CacheEngine::MostPages),
        inRange("pageSize", options.pageSize, 1, Many),
        inRange("maxSequences", options.maxSequences, 1, Many),
        inRange("maxTokens", options.maxTokens, 0, INT32_MAX),
        inRange("snapshots", options.snapshots, 0,
                options.recurrent ? Many : 0),
        inRange("maxOpenSteps", options.maxOpenSteps, 1, Steps::MostOpen - 1),
        inRange("maxScopes", options.maxScopes, 1, Many),
        inRange("maxScopeBytes", options.maxScopeBytes, 64, ScopeBytes::Most),
        // One reservation may have to copy a last page in every group.
        inRange("maxPageOps", options.maxPageOps,
                options.maxPageOps ? options.groups.size() : 0, INT32_MAX),
        inRange("retentionTick", options.retentionTick, 1, int64_t(1) << 50)})
    if (!valid)
      return valid;
  if (options.keepReplaced &&
      (options.recurrent ||
       !std::ranges::all_of(options.groups, &CacheGroup::isFull)))
    return makeError(KV_STATUS_INVALID_ARGUMENT,
                     "cache engine: keepReplaced with windows or recurrent "
                     "layers, allowed: with full groups alone");
  return {};
}

CacheEngineImpl::CacheEngineImpl(const Options &wanted)
    : options(wanted), steps(wanted.maxOpenSteps) {
  for (int32_t group = 0; group < options.groups.size(); ++group) {
    bool isFull = options.groups[group].isFull();
    if (isFull && !hasFullGroup)
      namingGroup = group;
    hasFullGroup |= isFull;
    hasWindow |= !isFull;
  }
  isPlain = hasFullGroup && options.groups.size() == 1 && !options.recurrent;
  maxPages = options.numPages;
  if (options.maxTokens > 0) {
    int64_t wantedPages = pagesFor(options.maxTokens);
    // Without a full group a sequence may be longer than the pool.
    maxPages = static_cast<int32_t>(
        hasFullGroup ? std::min<int64_t>(wantedPages, maxPages) : wantedPages);
  }
  if (options.maxPageOps == 0)
    options.maxPageOps = static_cast<int32_t>(std::min<int64_t>(
        int64_t(options.maxSequences) * options.groups.size(), 1 << 20));
}

CacheEngine::~CacheEngine() = default;

bool CacheEngineImpl::allocateMemory() {
  int32_t numGroups = options.groups.size();
  size_t rowPages = size_t(options.maxSequences) * maxPages;
  bool zeroFills = std::ranges::any_of(
      options.groups, [](const CacheGroup &group) { return group.zeroFill; });
  size_t numOperations =
      size_t(options.maxPageOps) + (zeroFills ? options.numPages : 0);
  // In an engine with a full group every node has a page. With windows only, a
  // node can outlive its pages while it has a child.
  int64_t numNodes = int64_t(options.numPages) * (hasFullGroup ? 1 : 2);
  bool caches = options.prefixCaching, together = caches && hasFullGroup;
  size_t beside =
      together ? PrefixIndex::nodeBytes(options.pageSize, numGroups) : 0;
  return pages.create(options.numPages, options.maxOpenSteps, beside) &&
         scopes.create(caches ? options.maxScopes : 1, options.maxScopeBytes,
                       options.key) &&
         nodes.create({.capacity = static_cast<int32_t>(caches ? numNodes : 0),
                       .pageSize = options.pageSize,
                       .numGroups = numGroups,
                       .key = options.key,
                       .tagFunction = options.tagFunction,
                       .nodes = together ? pages.beside() : nullptr,
                       .pitch = pages.pitch()},
                      scopes) &&
         sequences.create(options.maxSequences) &&
         (!options.recurrent ||
          (sequenceStates.create(options.maxSequences) &&
           states.create(2 * options.maxSequences + options.snapshots,
                         caches ? numNodes + 1 : 0))) &&
         rowStorage.create(rowPages * numGroups,
                           FixedArray<PageId>::Untouched) &&
         replacedStorage.create(options.keepReplaced ? rowPages * numGroups : 0,
                                FixedArray<PageId>::Untouched) &&
         tagStorage.create(caches ? rowPages : 0,
                           FixedArray<uint64_t>::Untouched) &&
         unusedSlots.create(options.maxSequences) &&
         operations.create(numOperations) && issued.create(numOperations) &&
         evicted.create(caches ? std::max(options.numPages / 2, 256) : 0) &&
         explained.create(caches && options.explainMisses ? maxPages : 0) &&
         hits.create(caches ? maxPages : 0);
}

Expected<std::unique_ptr<CacheEngine>>
CacheEngine::create(const Options &options) {
  return CacheEngineImpl::create(options);
}

Expected<std::unique_ptr<CacheEngineImpl>>
CacheEngineImpl::create(const Options &options) {
  if (Expected<void> valid = validateOptions(options); !valid)
    return std::unexpected(valid.error());
  std::unique_ptr<CacheEngineImpl> engine(new (std::nothrow)
                                              CacheEngineImpl(options));
  if (!engine || !engine->allocateMemory())
    return makeError(KV_STATUS_OUT_OF_MEMORY,
                     "cache engine: no memory for the bookkeeping of ",
                     options.numPages, " pages and ", options.maxSequences,
                     " sequences");
  for (int32_t slot = options.maxSequences; slot-- > 0;) {
    SequenceState &state = engine->sequences[slot];
    state.slot = slot;
    state.pitch = engine->maxPages;
    size_t first = size_t(slot) * engine->maxPages;
    state.rows = engine->rowStorage.begin() + first * options.groups.size();
    if (options.keepReplaced)
      state.replaced =
          engine->replacedStorage.begin() + first * options.groups.size();
    if (options.prefixCaching)
      state.tags = engine->tagStorage.begin() + first;
    engine->unusedSlots[engine->numUnusedSlots++] = slot;
  }
  return engine;
}

CacheEngine::PageCounts CacheEngineImpl::pageCounts() const {
  return {.held = pages.numUsed(),
          .cached = pages.numCached(),
          .blank = pages.numBlank(),
          .deferred = pages.numDeferred()};
}

size_t CacheEngineImpl::poolBytes() const {
  return pages.bytes() + nodes.bytes() + evicted.bytes();
}

size_t CacheEngineImpl::totalBytes() const {
  return poolBytes() + scopes.totalBytes() + sequences.bytes() +
         rowStorage.bytes() + replacedStorage.bytes() + tagStorage.bytes() +
         unusedSlots.bytes() + operations.bytes() + issued.bytes() +
         hits.bytes() + states.bytes() + sequenceStates.bytes() +
         explained.bytes() + sizeof(*this);
}
