//===- Check.cpp - Every invariant of the engine --------------------------===//

#include "CacheEngineImpl.h"

#include <algorithm>

using namespace kv;

/// The holds of sequences and nodes, counted here, to be compared with the
/// counts that pages, states, nodes and scopes keep themselves.
struct CacheEngineImpl::Census {
  std::vector<int32_t> holds, stateHolds, scopeUsers;
  std::vector<uint32_t> children;
  int32_t named = 0; // pages with content
  int32_t slots = 0; // pages of nodes
};

std::string CacheEngineImpl::check() const {
  Census census{.holds = std::vector<int32_t>(pages.numTotal() + 1),
                .stateHolds =
                    std::vector<int32_t>(std::max(states.numTotal(), 0) + 1),
                .scopeUsers = std::vector<int32_t>(scopes.capacity()),
                .children = std::vector<uint32_t>(nodes.numIds())};
  for (const SequenceState &state : sequences)
    if (state.isOpen)
      if (std::string fault = checkSequence(state, census); !fault.empty())
        return concat("sequence ", state.slot, fault);
  if (std::string fault = checkPages(census); !fault.empty())
    return fault;
  if (!options.prefixCaching)
    return {};
  if (const char *fault = nodes.check())
    return fault;
  for (uint32_t node = hasFullGroup ? 1 : 0; node < nodes.numIds(); ++node)
    if (nodes.isUsed(node))
      if (std::string fault = checkNode(node, census); !fault.empty())
        return concat("node ", node, fault);
  if (std::string fault = checkCounts(census); !fault.empty())
    return fault;
  return checkEviction();
}

std::string CacheEngineImpl::checkSequence(const SequenceState &state,
                                           Census &census) const {
  if (state.committed > state.held ||
      int64_t(state.committed) * options.pageSize > state.processed)
    return " has committed more than it processed";
  if (state.processed > int64_t(state.held) * options.pageSize)
    return " has processed more than it reserved";
  if (state.borrowsTail && pagesFor(state.processed) != state.held)
    return " borrows a page that is not its last";
  if (options.recurrent) {
    const SequenceStates &own = statesOf(state);
    if ((own.current == NullState) != (state.processed == 0))
      return concat(" has processed ", state.processed,
                    " tokens and has the state ", own.current);
    for (StateId id : {own.current, own.spare})
      census.stateHolds[id] += id != NullState;
  }
  if (state.scope != ScopeTable::None)
    ++census.scopeUsers[state.scope];
  for (int32_t group = 0; group < numGroups(); ++group) {
    const PageId *ids = row(state, group);
    int64_t needed =
        options.groups[group].skippable(state.processed) / options.pageSize;
    if (state.firstHeld[group] > std::min<int64_t>(needed, state.held))
      return concat(" has given up page ", state.firstHeld[group] - 1,
                    " of group ", group, ", which it needs");
    for (int32_t page = 0; page < state.held; ++page) {
      PageId id = ids[page];
      if (page < state.firstHeld[group]) {
        if (id != NullPage)
          return concat(" has page ", id, " behind its window");
        continue;
      }
      if (id <= NullPage || id > pages.numTotal())
        return concat(" holds page ", id, " of ", pages.numTotal());
      ++census.holds[id];
      if (state.replaced)
        ++census.holds[state.replaced[int64_t(group) * maxPages + page]];
      if (page < state.committed && pages.content(id) == PagePool::NoContent)
        return concat("'s committed page ", id, " has no content");
    }
  }
  if (hasFullGroup && state.indexes && !nodes.isLive(state.tip))
    return "'s last committed node is gone";
  return {};
}

std::string CacheEngineImpl::checkPages(Census &census) const {
  for (PageId page = 1; page <= pages.numTotal(); ++page) {
    if (pages.holds(page) != census.holds[page])
      return concat("page ", page, " has ", pages.holds(page),
                    " holds, sequences hold it ", census.holds[page], " times");
    uint32_t node = pages.content(page);
    if (node == PagePool::NoContent)
      continue;
    ++census.named;
    bool names = false;
    for (int32_t group = 0; group < numGroups(); ++group)
      names |= nodes.page(node, group) == page;
    if (!nodes.isUsed(node) || !names)
      return concat("page ", page, " has node ", node, ", which has others");
  }
  if (pages.holds(NullPage) != 0)
    return "the null page is held";
  if (const char *fault = pages.check())
    return fault;
  if (const char *fault =
          options.recurrent ? states.check(census.stateHolds) : nullptr)
    return fault;
  return {};
}

std::string CacheEngineImpl::checkNode(uint32_t node, Census &census) const {
  if (hasFullGroup &&
      nodes.page(node, namingGroup) != static_cast<PageId>(node))
    return concat(" does not have the id of its page ",
                  nodes.page(node, namingGroup));
  bool hasFull = !hasFullGroup, hasAny = false;
  for (int32_t group = 0; group < numGroups(); ++group) {
    PageId page = nodes.page(node, group);
    if (page == NullPage)
      continue;
    hasAny = true;
    ++census.slots;
    hasFull |= options.groups[group].isFull();
    if (pages.content(page) != node)
      return concat(" has page ", page, ", which has node ",
                    pages.content(page));
  }
  if (!hasFull ||
      (!hasAny && nodes.countsChildren() && nodes.numChildren(node) == 0))
    return " lives without a reason";
  NodeRef parent = nodes.parent(node);
  if (!nodes.isLive(parent))
    return " has lost its parent";
  if (parent.isRoot())
    ++census.scopeUsers[parent.scope()];
  else
    ++census.children[parent.id];
  if (nodes.images(node) != PrefixIndex::NoImages)
    ++census.scopeUsers[nodes.images(node)];
  return {};
}

std::string CacheEngineImpl::checkCounts(const Census &census) const {
  if (census.slots != census.named)
    return concat(census.named, " pages have content, nodes have ",
                  census.slots, " pages");
  for (uint32_t node = 0; nodes.countsChildren() && node < nodes.numIds();
       ++node)
    if (nodes.isUsed(node) && nodes.numChildren(node) != census.children[node])
      return concat("node ", node, " counts ", nodes.numChildren(node),
                    " children of ", census.children[node]);
  for (int32_t scope = 0; scope < scopes.capacity(); ++scope)
    if (scopes.references(scope) != census.scopeUsers[scope])
      return concat("scope ", scope, " has ", scopes.references(scope),
                    " references of ", census.scopeUsers[scope]);
  return {};
}

/// Pages of full groups are evicted after all pages of longer prefixes.
std::string CacheEngineImpl::checkEviction() const {
  std::vector<bool> gone(pages.numTotal() + 1);
  std::string fault;
  auto evict = [&](PageId page) {
    gone[page] = true;
    NodeRef parent = nodes.parent(pages.content(page));
    if (parent.isRoot())
      return true;
    for (int32_t group = 0; group < numGroups(); ++group)
      if (options.groups[group].isFull() &&
          nodes.page(pages.content(page), group) == page &&
          gone[nodes.page(parent.id, group)])
        fault = concat("page ", page, " is evicted after its parent");
    return fault.empty();
  };
  pages.eviction().visit(evict);
  return fault;
}
