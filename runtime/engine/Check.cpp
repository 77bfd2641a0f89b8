//===- Check.cpp - Every invariant of the engine --------------------------===//

#include "CacheEngineImpl.h"

#include <algorithm>

using namespace kv;

std::string CacheEngineImpl::check() const {
  int32_t numGroups = options.groups.size();
  std::vector<int32_t> holds(pages.numTotal() + 1);
  std::vector<int32_t> scopeUsers(scopes.capacity());
  std::vector<int32_t> stateHolds(std::max(states.numTotal(), 0) + 1);
  for (const SequenceState &state : sequences) {
    if (!state.isOpen)
      continue;
    auto wrong = [&](const auto &...what) {
      return concat("sequence ", state.slot, what...);
    };
    if (state.committed > state.held ||
        int64_t(state.committed) * options.pageSize > state.processed)
      return wrong(" has committed more than it processed");
    if (state.processed > int64_t(state.held) * options.pageSize)
      return wrong(" has processed more than it reserved");
    if (state.borrowsTail && pagesFor(state.processed) != state.held)
      return wrong(" borrows a page that is not its last");
    if (options.recurrent) {
      const SequenceStates &own = statesOf(state);
      if ((own.current == NullState) != (state.processed == 0))
        return wrong(" has processed ", state.processed,
                     " tokens and has the state ", own.current);
      for (StateId id : {own.current, own.spare})
        stateHolds[id] += id != NullState;
    }
    if (state.scope != ScopeTable::None)
      ++scopeUsers[state.scope];
    for (int32_t group = 0; group < numGroups; ++group) {
      const PageId *ids = row(state, group);
      int64_t needed =
          options.groups[group].skippable(state.processed) / options.pageSize;
      if (state.firstHeld[group] > std::min<int64_t>(needed, state.held))
        return wrong(" has given up page ", state.firstHeld[group] - 1,
                     " of group ", group, ", which it needs");
      for (int32_t page = 0; page < state.held; ++page) {
        PageId id = ids[page];
        if (page < state.firstHeld[group]) {
          if (id != NullPage)
            return wrong(" has page ", id, " behind its window");
          continue;
        }
        if (id <= NullPage || id > pages.numTotal())
          return wrong(" holds page ", id, " of ", pages.numTotal());
        ++holds[id];
        if (page < state.committed && pages.content(id) == PagePool::NoContent)
          return wrong("'s committed page ", id, " has no content");
      }
    }
    if (hasFullGroup && state.indexes && !nodes.isLive(state.tip))
      return wrong("'s last committed node is gone");
  }

  int32_t named = 0;
  for (PageId page = 1; page <= pages.numTotal(); ++page) {
    if (pages.holds(page) != holds[page])
      return concat("page ", page, " has ", pages.holds(page),
                    " holds, sequences hold it ", holds[page], " times");
    uint32_t node = pages.content(page);
    if (node == PagePool::NoContent)
      continue;
    ++named;
    bool names = false;
    for (int32_t group = 0; group < numGroups; ++group)
      names |= nodes.page(node, group) == page;
    if (!nodes.isUsed(node) || !names)
      return concat("page ", page, " has node ", node, ", which has others");
  }
  if (pages.holds(NullPage) != 0)
    return "the null page is held";
  if (const char *fault = pages.check())
    return fault;
  if (const char *fault =
          options.recurrent ? states.check(stateHolds) : nullptr)
    return fault;
  if (!options.prefixCaching)
    return {};
  if (const char *fault = nodes.check())
    return fault;

  int32_t slots = 0;
  std::vector<uint32_t> children(nodes.numIds());
  for (uint32_t node = hasFullGroup ? 1 : 0; node < nodes.numIds(); ++node) {
    if (!nodes.isUsed(node))
      continue;
    if (hasFullGroup &&
        nodes.page(node, namingGroup) != static_cast<PageId>(node))
      return concat("node ", node, " does not have the id of its page ",
                    nodes.page(node, namingGroup));
    bool hasFull = !hasFullGroup, hasAny = false;
    for (int32_t group = 0; group < numGroups; ++group) {
      PageId page = nodes.page(node, group);
      hasAny |= page != NullPage;
      slots += page != NullPage;
      hasFull |= page != NullPage && options.groups[group].isFull();
      if (page != NullPage && pages.content(page) != node)
        return concat("node ", node, " has page ", page, ", which has node ",
                      pages.content(page));
    }
    if (!hasFull ||
        (!hasAny && nodes.countsChildren() && nodes.numChildren(node) == 0))
      return concat("node ", node, " lives without a reason");
    NodeRef parent = nodes.parent(node);
    if (!nodes.isLive(parent))
      return concat("node ", node, " has lost its parent");
    if (parent.isRoot())
      ++scopeUsers[parent.scope()];
    else
      ++children[parent.id];
    if (nodes.images(node) != PrefixIndex::NoImages)
      ++scopeUsers[nodes.images(node)];
  }
  if (slots != named)
    return concat(named, " pages have content, nodes have ", slots, " pages");
  for (uint32_t node = 0; nodes.countsChildren() && node < nodes.numIds();
       ++node)
    if (nodes.isUsed(node) && nodes.numChildren(node) != children[node])
      return concat("node ", node, " counts ", nodes.numChildren(node),
                    " children of ", children[node]);
  for (int32_t scope = 0; scope < scopes.capacity(); ++scope)
    if (scopes.references(scope) != scopeUsers[scope])
      return concat("scope ", scope, " has ", scopes.references(scope),
                    " references of ", scopeUsers[scope]);

  // Pages of full groups are evicted after all pages of longer prefixes.
  std::vector<bool> gone(pages.numTotal() + 1);
  std::string fault;
  auto evict = [&](PageId page) {
    gone[page] = true;
    NodeRef parent = nodes.parent(pages.content(page));
    if (parent.isRoot())
      return true;
    for (int32_t group = 0; group < numGroups; ++group)
      if (options.groups[group].isFull() &&
          nodes.page(pages.content(page), group) == page &&
          gone[nodes.page(parent.id, group)])
        fault = concat("page ", page, " is evicted after its parent");
    return fault.empty();
  };
  pages.eviction().visit(evict);
  return fault;
}
