//===- CacheEngine.cpp - Reuse, reserve, commit, evict --------------------===//

#include "kv/Runtime/CacheEngine.h"

#include "kv/Runtime/Error.h"

#include <algorithm>
#include <cassert>

using namespace kv;

CacheEngine::CacheEngine(const Options &options)
    : options(options), pages(options.numPages),
      nodes(options.prefixCaching ? options.numPages : 0, options.pageSize,
            options.key, options.tagFunction) {
  hits.reserve(options.numPages);
}

void CacheEngine::open(Sequence &sequence, int32_t maxPages) const {
  assert(sequence.held.empty() && "still open");
  sequence.held.reserve(maxPages);
  sequence.tip = nodes.root();
  sequence.epoch = nodes.currentEpoch();
  sequence.processed = 0;
  sequence.committed = 0;
}

void CacheEngine::match(const Sequence &sequence,
                        std::span<const int32_t> tokens) const {
  hits.clear();
  if (!options.prefixCaching || sequence.epoch != nodes.currentEpoch() ||
      sequence.held.size() != static_cast<size_t>(sequence.committed))
    return;
  // The last token is always computed: its logits are wanted.
  int64_t last = (static_cast<int64_t>(tokens.size()) - 1) / options.pageSize;
  NodeRef tip = sequence.tip;
  for (int64_t page = sequence.committed; page < last; ++page) {
    std::optional<NodeRef> next = nodes.find(tip, pageTokens(tokens, page));
    if (!next)
      return;
    hits.push_back(*next);
    tip = *next;
  }
}

CacheEngine::Plan CacheEngine::plan(const Sequence &sequence,
                                    std::span<const int32_t> tokens,
                                    const Demand &demand) const {
  hits.clear();
  if (demand.reuse)
    match(sequence, tokens);
  Plan plan;
  plan.hitPages = static_cast<int32_t>(hits.size());
  for (NodeRef node : hits)
    plan.revivedPages += pages.holds(nodes.page(node.id)) == 0;
  int64_t have = static_cast<int64_t>(sequence.held.size()) + plan.hitPages;
  int64_t computed =
      hits.empty() ? sequence.processed : have * options.pageSize;
  int64_t length = computed + std::min(demand.length - computed, demand.chunk);
  int64_t needed = (length + options.pageSize - 1) / options.pageSize;
  int64_t fresh = std::max<int64_t>(needed - have, 0);
  plan.fits = fresh + plan.revivedPages <= pages.numFree();
  plan.newPages = static_cast<int32_t>(std::min<int64_t>(fresh, INT32_MAX));
  return plan;
}

CacheEngine::Plan CacheEngine::reserve(Sequence &sequence,
                                       std::span<const int32_t> tokens,
                                       const Demand &demand) {
  Plan result = plan(sequence, tokens, demand);
  if (!result.fits)
    return result;
  // Hits are held before anything is evicted: they may be the oldest pages.
  for (NodeRef node : hits) {
    PageId page = nodes.page(node.id);
    pages.hold(page);
    sequence.held.push_back(page);
  }
  if (!hits.empty()) {
    sequence.tip = hits.back();
    sequence.committed += result.hitPages;
    sequence.processed = int64_t(sequence.committed) * options.pageSize;
  }
  for (int32_t i = 0; i < result.newPages; ++i)
    sequence.held.push_back(allocate());
  return result;
}

PageId CacheEngine::allocate() {
  if (PageId page = pages.takeBlank(); page != NullPage)
    return page;
  PageId victim = pages.victim();
  assert(victim != NullPage && "a plan that fits has a victim");
  uint32_t node = pages.content(victim);
  assert((nodes.numChildren(node) == 0 || !nodes.isCurrent(node)) &&
         "a leaf goes before its parent");
  nodes.erase(node);
  pages.clearContent(victim);
  ++evictions;
  return pages.takeBlank();
}

void CacheEngine::commit(Sequence &sequence, std::span<const int32_t> tokens,
                         int64_t processed) {
  assert(processed <= static_cast<int64_t>(tokens.size()));
  assert(processed <=
         static_cast<int64_t>(sequence.held.size()) * options.pageSize);
  sequence.processed = processed;
  if (!options.prefixCaching || sequence.epoch != nodes.currentEpoch())
    return;
  int64_t full = processed / options.pageSize;
  for (int64_t i = sequence.committed; i < full; ++i) {
    std::span<const int32_t> content = pageTokens(tokens, i);
    PageId &own = sequence.held[i];
    if (std::optional<NodeRef> twin = nodes.find(sequence.tip, content)) {
      PageId page = nodes.page(twin->id);
      pages.hold(page);
      pages.release(own);
      own = page;
      sequence.tip = *twin;
    } else {
      sequence.tip = nodes.insert(sequence.tip, content, own);
      pages.setContent(own, sequence.tip.id);
    }
    ++sequence.committed;
  }
}

void CacheEngine::release(Sequence &sequence) {
  for (size_t i = sequence.held.size(); i-- > 0;) {
    PageId page = sequence.held[i];
    uint32_t node = pages.content(page);
    if (pages.release(page) && node != PagePool::NoContent &&
        !nodes.isCurrent(node)) {
      // Nobody can find a page of an older epoch: no reason to keep it.
      nodes.erase(node);
      pages.clearContent(page);
    }
  }
  sequence.held.clear();
  sequence.processed = 0;
  sequence.committed = 0;
}

std::string
CacheEngine::check(std::span<const Sequence *const> sequences) const {
  std::vector<int32_t> holds(pages.numTotal() + 1);
  for (const Sequence *sequence : sequences) {
    if (sequence->committed > static_cast<int32_t>(sequence->held.size()) ||
        int64_t(sequence->committed) * options.pageSize > sequence->processed)
      return "a sequence has committed more than it processed";
    for (PageId page : sequence->held) {
      if (page <= NullPage || page > pages.numTotal())
        return concat("a sequence holds page ", page, " of ", pages.numTotal());
      ++holds[page];
    }
    for (int32_t i = 0; i < sequence->committed; ++i)
      if (pages.content(sequence->held[i]) == PagePool::NoContent)
        return concat("committed page ", sequence->held[i], " has no content");
  }
  int32_t used = 0, named = 0, cached = 0;
  for (PageId page = 1; page <= pages.numTotal(); ++page) {
    if (pages.holds(page) != holds[page])
      return concat("page ", page, " has ", pages.holds(page),
                    " holds, sequences hold it ", holds[page], " times");
    used += holds[page] > 0;
    uint32_t node = pages.content(page);
    if (node == PagePool::NoContent)
      continue;
    ++named;
    cached += holds[page] == 0;
    if (nodes.page(node) != page)
      return concat("page ", page, " has node ", node, ", which has page ",
                    nodes.page(node));
  }
  if (pages.holds(NullPage) != 0)
    return "the null page is held";
  if (named != nodes.size())
    return concat(named, " pages have content, the index has ", nodes.size(),
                  " nodes");
  if (used + pages.numFree() != pages.numTotal() || cached != pages.numCached())
    return concat(used, " used + ", pages.numFree(), " free pages of ",
                  pages.numTotal(), "; ", pages.numCached(), " cached, ",
                  cached, " counted");

  std::vector<bool> seen(pages.numTotal() + 1);
  int32_t listed = 0;
  for (PageId page = pages.victim(); page != NullPage;
       page = pages.nextVictim(page)) {
    if (seen[page] || holds[page] != 0)
      return concat("page ", page, " is wrongly on the eviction list");
    seen[page] = true;
    ++listed;
    uint32_t node = pages.content(page);
    if (node == PagePool::NoContent)
      return concat("page ", page, " on the eviction list has no content");
    NodeRef parent = nodes.parent(node);
    if (nodes.isCurrent(node) && parent.id != PrefixIndex::RootId &&
        (!nodes.isLive(parent) || seen[nodes.page(parent.id)]))
      return concat("page ", page, " is evicted after its parent");
  }
  if (listed != cached)
    return concat(listed, " pages on the eviction list, ", cached,
                  " are cached");
  return {};
}
