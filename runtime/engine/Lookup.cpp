//===- Lookup.cpp - Finds cached prefixes, and explains misses ------------===//

#include "CacheEngineImpl.h"

#include <algorithm>

using namespace kv;

/// True if an image overlaps [begin, end). Called for every page; a prompt
/// without images costs one comparison.
static bool hasImages(const Prompt &prompt, int64_t begin, int64_t end) {
  for (const ImageSpan &image : prompt.images)
    if (image.begin < end && image.begin + image.length > begin)
      return true;
  return false;
}

void CacheEngineImpl::hashPages(SequenceState &state, const Prompt &prompt,
                                int64_t count) const {
  int32_t from = state.knownTags;
  if (count <= from)
    return;
  int32_t pageSize = options.pageSize;
  uint64_t above = from == 0 ? scopes.tag(state.scope) : state.tags[from - 1];
  if (prompt.images.empty()) {
    nodes.childTags(above,
                    prompt.tokens.subspan(int64_t(from) * pageSize,
                                          (count - from) * pageSize),
                    state.tags + from);
  } else {
    for (int64_t page = from; page < count; ++page) {
      int64_t begin = page * pageSize, end = begin + pageSize;
      if (hasImages(prompt, begin, end))
        above =
            nodes.withImages(above, ScopeBytes::of(prompt.images, begin, end));
      above = nodes.childTag(above, prompt.tokens.subspan(begin, pageSize));
      state.tags[page] = above;
    }
  }
  state.knownTags = static_cast<int32_t>(count);
}

/// The id of the images on a page: NoImages if there are none, UnknownImages if
/// no node has such images.
uint32_t CacheEngineImpl::imagesOn(const Prompt &prompt, int64_t page) const {
  int64_t begin = page * options.pageSize, end = begin + options.pageSize;
  if (!hasImages(prompt, begin, end))
    return PrefixIndex::NoImages;
  uint32_t known = scopes.find(ScopeBytes::of(prompt.images, begin, end));
  return known == ScopeTable::None ? UnknownImages : known;
}

bool CacheEngineImpl::canTakeOver(const SequenceState &state) const {
  return canCommit(state) && !state.borrowsTail &&
         state.held == state.committed &&
         state.processed == int64_t(state.committed) * options.pageSize;
}

/// Finds the longest cached prefix, of at most `most` pages, that every group
/// accepts and returns its length in pages, committed pages included. Writes
/// the nodes after the committed pages to `hits`.
int32_t CacheEngineImpl::match(SequenceState &state, const Prompt &prompt,
                               int64_t most) const {
  int32_t committed = state.committed;
  found = committed;
  if (!canTakeOver(state))
    return committed;
  // The last token is always computed, since its logits are needed.
  int64_t last = std::min<int64_t>(
      {(prompt.length() - 1) / options.pageSize, maxPages, most});
  if (last <= committed)
    return committed;
  hashPages(state, prompt, last);

  int32_t numGroups = options.groups.size();
  std::array<int32_t, CacheGroups::Most> run;
  for (int32_t group = 0; group < numGroups; ++group)
    run[group] = committed - state.firstHeld[group];

  const uint64_t *tags = state.tags;
  NodeRef tip = state.tip;
  int32_t accepted = committed;
  uint32_t candidates[PrefetchBatch];
  // The first batch is small, since many prompts miss on their first page.
  int64_t batchEnd = committed, batch = 4, batchBegin = committed;
  for (int64_t page = committed; page < last; ++page) {
    if (page == batchEnd) {
      batchBegin = page;
      batchEnd = std::min(last, page + batch);
      batch = std::min<int64_t>(4 * batch, PrefetchBatch);
      for (int64_t next = page; next < batchEnd; ++next)
        nodes.prefetchBucket(tags[next]);
      for (int64_t next = page; next < batchEnd; ++next)
        if (uint32_t id = candidates[next - page] = nodes.candidate(tags[next]);
            id != PrefixIndex::NoNode)
          nodes.prefetchNode(id);
    }
    uint32_t node = candidates[page - batchBegin];
    if (node == PrefixIndex::NoNode)
      break; // no node has the upper half of the tag
    uint32_t images =
        prompt.images.empty() ? PrefixIndex::NoImages : imagesOn(prompt, page);
    const int32_t *tokens = pageTokens(prompt, page);
    if (!nodes.is(node, tags[page], tip, images, tokens)) [[unlikely]] {
      node = nodes.find(tags[page], tip, images, tokens);
      if (node == PrefixIndex::NoNode)
        break;
    }
    hits[page - committed] = node;
    tip = nodes.ref(node);
    if (isPlain) {
      accepted = static_cast<int32_t>(page) + 1;
      continue;
    }
    bool all = true;
    for (int32_t group = 0; group < numGroups; ++group) {
      PageId cached = nodes.page(node, group);
      run[group] = cached == NullPage ? 0 : run[group] + 1;
      all &=
          options.groups[group].accepts(page + 1, run[group], options.pageSize);
    }
    if (!all)
      continue;
    found = static_cast<int32_t>(page) + 1;
    if (!options.recurrent || states.at(node) != NullState)
      accepted = found;
  }
  return accepted;
}

//===----------------------------------------------------------------------===//
// Explanation of misses
//===----------------------------------------------------------------------===//

std::vector<CacheEngine::Reason>
CacheEngineImpl::explain(const Scope &scope, const Prompt &prompt) const {
  int64_t last = std::max<int64_t>((prompt.length() - 1) / options.pageSize, 0);
  std::vector<Reason> reasons(pagesFor(prompt.length()),
                              Reason::AlwaysComputed);
  if (!options.prefixCaching) {
    std::fill_n(reasons.begin(), last, Reason::NeverSeen);
    return reasons;
  }
  ScopeBytes bytes = ScopeBytes::of(scope, epoch);
  explainPages(scopes.find(bytes), scopes.tagOf(bytes), prompt,
               {reasons.data(), static_cast<size_t>(last)});
  return reasons;
}

/// Explains the first pages of a prompt in the scope `own` (or None, if no
/// sequence or node has it), whose tag is `rootTag`.
void CacheEngineImpl::explainPages(uint32_t own, uint64_t rootTag,
                                   const Prompt &prompt,
                                   std::span<Reason> reasons) const {
  int64_t last = static_cast<int64_t>(reasons.size()),
          pageSize = options.pageSize;
  // Calls visit(page, tag, node or NoNode) until it returns false.
  auto walk = [&](uint64_t above, NodeRef tip, bool exists, auto &&visit) {
    for (int64_t page = 0; page < last; ++page) {
      int64_t begin = page * pageSize, end = begin + pageSize;
      if (hasImages(prompt, begin, end))
        above =
            nodes.withImages(above, ScopeBytes::of(prompt.images, begin, end));
      above = nodes.childTag(above, prompt.tokens.subspan(begin, pageSize));
      uint32_t node = exists ? nodes.find(above, tip, imagesOn(prompt, page),
                                          pageTokens(prompt, page))
                             : PrefixIndex::NoNode;
      exists = node != PrefixIndex::NoNode;
      if (exists)
        tip = nodes.ref(node);
      if (!visit(page, above, node))
        return;
    }
  };

  int64_t accepted = 0;
  std::array<int64_t, CacheGroups::Most> run = {};
  bool known = own != ScopeTable::None;
  walk(rootTag, known ? nodes.root(own) : NodeRef(), known,
       [&](int64_t page, uint64_t tag, uint32_t node) {
         reasons[page] = evicted[evictedSlot(tag)] == tag ? Reason::Evicted
                                                          : Reason::NeverSeen;
         if (node == PrefixIndex::NoNode)
           return true;
         reasons[page] = Reason::GroupLacksIt;
         bool all = true;
         for (int32_t group = 0; group < options.groups.size(); ++group) {
           bool there = nodes.page(node, group) != NullPage;
           run[group] = there ? run[group] + 1 : 0;
           all &= options.groups[group].accepts(page + 1, run[group],
                                                options.pageSize);
         }
         if (all && (!options.recurrent || states.at(node) != NullState))
           accepted = page + 1;
         return true;
       });
  std::fill_n(reasons.begin(), accepted, Reason::Hit);
  if (accepted == last)
    return;
  for (uint32_t other = 0; other < static_cast<uint32_t>(scopes.capacity());
       ++other)
    if (other != own && scopes.isLive(other))
      walk(scopes.tag(other), nodes.root(other), true,
           [&](int64_t page, uint64_t, uint32_t node) {
             if (node == PrefixIndex::NoNode)
               return false;
             if (reasons[page] == Reason::NeverSeen)
               reasons[page] = Reason::OtherScope;
             return true;
           });
}

/// Counts why pages of a new sequence's prompt are no hits, or are.
void CacheEngineImpl::countReasons(const SequenceState &state,
                                   const Prompt &prompt, const Demand &demand) {
  int64_t last =
      std::min<int64_t>((prompt.length() - 1) / options.pageSize, maxPages);
  std::span<Reason> reasons(explained.begin(),
                            static_cast<size_t>(std::max<int64_t>(last, 0)));
  explainPages(state.scope, scopes.tag(state.scope), prompt, reasons);
  auto missed = std::ranges::find_if(
      reasons, [](Reason reason) { return reason != Reason::Hit; });
  if (missed - reasons.begin() > demand.mostHit) {
    std::fill(reasons.begin() + demand.mostHit, missed, Reason::WithoutPayload);
    missed = reasons.begin() + demand.mostHit;
  }
  std::fill_n(missed,
              std::min<int64_t>(demand.loaded / options.pageSize,
                                reasons.end() - missed),
              Reason::OtherTier);
  for (Reason reason : reasons)
    ++counters.lookedUp[static_cast<size_t>(reason)];
}
