//===- Commit.cpp - Computed pages become findable ------------------------===//

#include "CacheEngineImpl.h"

#include <algorithm>

using namespace kv;

Expected<void> CacheEngineImpl::refuseCommit(const SequenceState &state,
                                             const Prompt &prompt,
                                             int64_t processed) const {
  return makeError(KV_STATUS_OUT_OF_RANGE, "cache engine: ", processed,
                   " tokens have been computed, allowed: ", state.processed,
                   " to ", mostProcessed(state, prompt));
}

void CacheEngineImpl::hashAndPrefetch(SequenceState &state,
                                      const Prompt &prompt,
                                      int64_t processed) const {
  int64_t full =
      std::min(processed, mostProcessed(state, prompt)) / options.pageSize;
  if (full <= state.committed || !canCommit(state))
    return;
  hashPages(state, prompt, full);
  prefetchNodes(state, state.committed,
                static_cast<int32_t>(
                    std::min<int64_t>(full, state.committed + PrefetchBatch)));
}

void CacheEngineImpl::prefetchNodes(const SequenceState &state, int32_t page,
                                    int32_t end) const {
  for (; page < end; ++page) {
    nodes.prefetchBucket(state.tags[page]);
    if (hasFullGroup)
      nodes.prefetchNode(row(state, namingGroup)[page]);
  }
}

Expected<void> CacheEngineImpl::commitMore(SequenceState &state,
                                           const Prompt &prompt,
                                           int64_t processed) {
  bool advances = options.recurrent && processed > state.processed;
  if (options.log) {
    logPrompt(state, prompt);
    options.log->command({.kind = Command::Commit,
                          .sequence = state.slot,
                          .a = processed,
                          .prompt = prompt.length()});
  }
  state.processed = processed;
  int32_t lowest = INT32_MAX;
  if (int64_t full = processed / options.pageSize;
      full > state.committed && canCommit(state)) {
    hashPages(state, prompt, full);
    int32_t page = state.committed;
    while (page < full && state.indexes) {
      int32_t end =
          static_cast<int32_t>(std::min<int64_t>(full, page + PrefetchBatch));
      prefetchNodes(state, page, end);
      while (page < end && state.indexes) {
        if (isPlain && prompt.images.empty())
          page = commitNew(state, prompt, page, end);
        if (page < end)
          lowest = std::min(lowest, commitPage(state, prompt, page++));
      }
    }
  }
  if (advances)
    advanceState(state, prompt);
  if (hasWindow)
    lowest = std::min(lowest, passWindows(state));
  if (lowest < INT32_MAX)
    changed(state, lowest);
  return {};
}

/// Commits the pages [page, end) of an engine with one full group and without
/// images, as long as they are new. Returns the first page that commitPage()
/// has to handle, or `end`.
int32_t CacheEngineImpl::commitNew(SequenceState &state, const Prompt &prompt,
                                   int32_t page, int32_t end) {
  // In a register; if it were in memory, each page would wait for the stores of
  // the page before it.
  NodeRef tip = state.tip;
  int32_t first = page;
  for (; page < end; ++page) {
    PageId own = state.rows[page];
    // From a page on that stops this loop, commitPage() does the work, page by
    // page.
    if (pages.content(own) != PagePool::NoContent ||
        nodes.findOrInsert(state.tags[page], tip, PrefixIndex::NoImages,
                           pageTokens(prompt, page),
                           own) != static_cast<uint32_t>(own))
      break;
    nodes.setPage(own, 0, own);
    pages.setContent(own, own);
    tip = nodes.ref(own);
  }
  state.tip = tip;
  state.committed = page;
  counters.committedPages += page - first;
  return page;
}

/// Commits one page of each group. Returns the page's index if an id in a row
/// changed, INT32_MAX otherwise.
int32_t CacheEngineImpl::commitPage(SequenceState &state, const Prompt &prompt,
                                    int32_t page) {
  uint32_t images = PrefixIndex::NoImages;
  // Without a full group, the node of the last committed page can be gone.
  bool possible = hasFullGroup || nodes.isLive(state.tip);
  if (!prompt.images.empty()) {
    images = imagesOn(prompt, page);
    possible &= images != UnknownImages || scopes.size() < scopes.capacity();
  }
  uint32_t node = possible ? nodes.find(state.tags[page], state.tip, images,
                                        pageTokens(prompt, page))
                           : PrefixIndex::NoNode;
  int32_t numGroups = options.groups.size();
  bool isNew = node == PrefixIndex::NoNode;
  if (isNew) {
    for (int32_t group = 0; group < numGroups; ++group)
      possible &= pages.content(row(state, group)[page]) == PagePool::NoContent;
    if (!possible || nodes.isFull()) {
      // Pages after this one could not be found either.
      state.indexes = false;
      ++counters.uncommittedPages;
      return INT32_MAX;
    }
    uint32_t interned = images;
    if (images == UnknownImages)
      interned = scopes.intern(
          ScopeBytes::of(prompt.images, int64_t(page) * options.pageSize,
                         int64_t(page + 1) * options.pageSize));
    if (images == UnknownImages && interned == ScopeTable::None) {
      state.indexes = false;
      ++counters.uncommittedPages;
      return INT32_MAX;
    }
    node = nodes.insert(
        state.tags[page], state.tip, interned, pageTokens(prompt, page),
        hasFullGroup ? row(state, namingGroup)[page] : PrefixIndex::NoNode);
    if (images == UnknownImages)
      scopes.release(interned); // the node refers to them now
  }
  bool swapped = false;
  uint32_t added = 0; // groups in which the node gets its page here
  for (int32_t group = 0; group < numGroups; ++group) {
    PageId &own = row(state, group)[page];
    PageId twin = nodes.page(node, group);
    if (twin == own)
      continue;
    if (twin == NullPage) { // a window's, evicted before the node
      if (pages.content(own) != PagePool::NoContent)
        continue;
      pages.setContent(own, node);
      nodes.setPage(node, group, own);
      added |= 1u << group;
      continue;
    }
    pages.hold(twin);
    if (state.replaced)
      state.replaced[int64_t(group) * maxPages + page] = own;
    else
      pages.release(own, state.stamp, {}, false);
    own = twin;
    swapped = true;
  }
  if (options.events && (isNew || added)) [[unlikely]]
    announce(node, isNew ? 0 : added);
  state.tip = nodes.ref(node);
  ++state.committed;
  ++(swapped ? counters.twinPages : counters.committedPages);
  return swapped ? page : INT32_MAX;
}

/// Releases the pages that no later token sees. Returns the lowest index of a
/// page whose entry changed, or INT32_MAX.
int32_t CacheEngineImpl::passWindows(SequenceState &state) {
  int32_t lowest = INT32_MAX;
  for (int32_t group = 0; group < options.groups.size(); ++group) {
    int32_t passed = static_cast<int32_t>(std::min<int64_t>(
        options.groups[group].skippable(state.processed) / options.pageSize,
        state.held));
    PageId *ids = row(state, group);
    for (int32_t &page = state.firstHeld[group]; page < passed; ++page) {
      pages.release(ids[page], state.stamp, worthOf(state, page),
                    isStale(state));
      ids[page] = NullPage;
      lowest = std::min(lowest, page);
    }
  }
  return lowest;
}
