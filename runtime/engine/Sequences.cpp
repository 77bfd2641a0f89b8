//===- Sequences.cpp - Opens, forks, truncates and releases ---------------===//

#include "CacheEngineImpl.h"

#include <algorithm>
#include <utility>

using namespace kv;

void Sequence::release() {
  if (view)
    engine->release(*this);
}

const Retention &Sequence::retention() const {
  return stateOf(*this).retention;
}

Sequence CacheEngineImpl::handle(SequenceState &state) {
  Sequence sequence;
  sequence.engine = this;
  sequence.view = &state;
  return sequence;
}

Expected<void> CacheEngineImpl::validate(const Retention &retention) const {
  uint8_t most = std::max(retention.priority, retention.prefixPriority);
  if (most > Retention::Highest)
    return makeError(KV_STATUS_INVALID_ARGUMENT, "cache engine: a priority of ",
                     int(most), ", allowed: 0 to ", int(Retention::Highest));
  static_assert(MostRetentionTicks == PriorityLimits::Most - 1,
                "a duration is rounded up to whole ticks");
  int64_t longest = MostRetentionTicks * options.retentionTick;
  for (int64_t duration : {retention.duration, retention.prefixDuration})
    if (duration < 0 || duration > longest)
      return makeError(KV_STATUS_INVALID_ARGUMENT,
                       "cache engine: a priority lasts ", duration,
                       " ns, allowed: 0 (for good) to ", longest);
  return {};
}

Expected<SequenceState *>
CacheEngineImpl::takeSlot(const Retention &retention) {
  if (Expected<void> valid = validate(retention); !valid)
    return std::unexpected(valid.error());
  if (numUnusedSlots == 0)
    return makeError(KV_STATUS_OUT_OF_MEMORY, "cache engine: all ",
                     options.maxSequences, " sequences are in use");
  SequenceState &state = sequences[unusedSlots[--numUnusedSlots]];
  state.processed = 0;
  state.held = state.committed = 0;
  state.stamp = 0;
  state.serial = ++lastSerial;
  state.revision = 0;
  state.changedFrom = 0;
  state.epoch = epoch;
  state.isOpen = true;
  state.borrowsTail = false;
  state.floor = {};
  state.knownTags = 0;
  state.retention = retention;
  state.firstHeld.fill(0);
  state.loggedTokens = 0;
  return &state;
}

Expected<Sequence> CacheEngineImpl::open(const Scope &scope,
                                         const Retention &retention) {
  ScopeBytes bytes = ScopeBytes::of(scope, epoch);
  if (bytes.size() > static_cast<size_t>(options.maxScopeBytes))
    return makeError(KV_STATUS_INVALID_ARGUMENT, "cache engine: a scope of ",
                     bytes.size(), " bytes, allowed: ", options.maxScopeBytes);
  Expected<SequenceState *> state = takeSlot(retention);
  if (!state)
    return std::unexpected(state.error());
  (*state)->scope =
      options.prefixCaching ? scopes.intern(bytes) : ScopeTable::None;
  (*state)->indexes = (*state)->scope != ScopeTable::None;
  if ((*state)->indexes)
    (*state)->tip = nodes.root((*state)->scope);
  if (options.log)
    options.log->command({.kind = Command::Open,
                          .sequence = (*state)->slot,
                          .scope = scope,
                          .retention = retention});
  return handle(**state);
}

Expected<void> CacheEngineImpl::setRetention(Sequence &sequence,
                                             const Retention &retention) {
  if (Expected<void> valid = validate(retention); !valid)
    return valid;
  stateOf(sequence).retention = retention;
  if (options.log)
    options.log->command({.kind = Command::SetRetention,
                          .sequence = sequence.slot(),
                          .retention = retention});
  return {};
}

Expected<void> CacheEngineImpl::canKeep(const SequenceState &state,
                                        int64_t tokens) const {
  if (tokens < 0 || tokens > state.processed)
    return makeError(KV_STATUS_OUT_OF_RANGE, "cache engine: ", tokens,
                     " tokens are to be kept, allowed: 0 to ", state.processed);
  if (Expected<void> possible = canKeepState(state, tokens); !possible)
    return possible;
  for (int32_t group = 0; group < options.groups.size(); ++group) {
    int64_t first = options.groups[group].skippable(tokens) / options.pageSize;
    if (first < state.firstHeld[group] && first < pagesFor(tokens))
      return makeError(KV_STATUS_OUT_OF_RANGE, "cache engine: ", tokens,
                       " tokens cannot be kept, the window of group ", group,
                       " has passed page ", first);
  }
  return {};
}

Expected<Sequence> CacheEngineImpl::fork(const Sequence &sequence,
                                         int64_t tokens,
                                         const Retention &retention) {
  SequenceState &source = stateOf(sequence);
  if (Expected<void> possible = canKeep(source, tokens); !possible)
    return std::unexpected(possible.error());
  Expected<SequenceState *> taken = takeSlot(retention);
  if (!taken)
    return std::unexpected(taken.error());
  SequenceState &state = **taken;
  state.processed = tokens;
  state.held = static_cast<int32_t>(pagesFor(tokens));
  state.epoch = source.epoch;
  // Copies that the source waits for have not been made for the fork either.
  if (source.stamp > steps.lastOpened())
    state.stamp = source.stamp;
  state.borrowsTail = tokens % options.pageSize != 0;
  for (int32_t group = 0; group < options.groups.size(); ++group) {
    const PageId *from = row(source, group);
    PageId *to = row(state, group);
    int32_t first = static_cast<int32_t>(
        options.groups[group].skippable(tokens) / options.pageSize);
    first = std::min(first, state.held);
    state.firstHeld[group] = first;
    std::fill_n(to, first, NullPage);
    for (int32_t page = first; page < state.held; ++page) {
      pages.hold(from[page]);
      to[page] = from[page];
    }
  }
  clearReplaced(state, 0, state.held);
  state.scope = source.scope;
  state.indexes = source.indexes;
  if (state.scope != ScopeTable::None) {
    scopes.refer(state.scope);
    int32_t full = static_cast<int32_t>(tokens / options.pageSize);
    state.committed = std::min(source.committed, full);
    state.tip = tipAt(source, state.committed);
    state.knownTags = std::min(source.knownTags, full);
    std::copy_n(source.tags, state.knownTags, state.tags);
  }
  forkState(source, state);
  state.loggedTokens = std::min(tokens, source.loggedTokens);
  if (options.log)
    options.log->command({.kind = Command::Fork,
                          .sequence = source.slot,
                          .a = tokens,
                          .b = state.slot,
                          .retention = retention});
  return handle(state);
}

Expected<void> CacheEngineImpl::truncate(Sequence &sequence, int64_t tokens) {
  SequenceState &state = stateOf(sequence);
  if (Expected<void> possible = canKeep(state, tokens); !possible)
    return possible;
  if (options.recurrent && tokens == 0)
    releaseStates(state);
  int32_t kept = static_cast<int32_t>(pagesFor(tokens));
  if (kept < state.held)
    changed(state, kept);
  int32_t full = static_cast<int32_t>(tokens / options.pageSize);
  dropReplaced(state, full); // also of a page that will have other tokens
  dropBehind(state, kept);
  if (full < state.committed) {
    state.tip = tipAt(state, full);
    state.committed = full;
  }
  bool wasBorrowed =
      state.borrowsTail &&
      tokens / options.pageSize == state.processed / options.pageSize;
  state.processed = tokens;
  state.knownTags = std::min(state.knownTags, full);
  state.borrowsTail = false;
  if (tokens % options.pageSize != 0)
    for (int32_t group = 0; group < options.groups.size(); ++group) {
      PageId tail = row(state, group)[kept - 1];
      state.borrowsTail |= wasBorrowed || pages.holds(tail) > 1 ||
                           pages.content(tail) != PagePool::NoContent;
    }
  for (int32_t group = 0; group < options.groups.size(); ++group)
    state.firstHeld[group] = std::min(state.firstHeld[group], kept);
  state.loggedTokens = std::min(state.loggedTokens, tokens);
  if (options.log)
    options.log->command(
        {.kind = Command::Truncate, .sequence = state.slot, .a = tokens});
  return {};
}

NodeRef CacheEngineImpl::tipAt(const SequenceState &state,
                               int32_t committed) const {
  if (committed == state.committed)
    return state.tip;
  if (committed == 0)
    return nodes.root(state.scope);
  for (int32_t group = 0; group < options.groups.size(); ++group)
    if (PageId page = row(state, group)[committed - 1]; page != NullPage)
      return nodes.ref(pages.content(page));
  // There are only windows, and they have passed that page.
  NodeRef tip = state.tip;
  for (int32_t page = state.committed; page > committed && nodes.isLive(tip);
       --page)
    tip = nodes.parent(tip.id);
  return tip;
}

void CacheEngineImpl::release(Sequence &sequence) {
  SequenceState &state = stateOf(sequence);
  sequence.view = nullptr;
  sequence.engine = nullptr;
  dropBehind(state, 0);
  if (options.recurrent)
    releaseStates(state);
  if (state.scope != ScopeTable::None)
    scopes.release(state.scope);
  state.isOpen = false;
  unusedSlots[numUnusedSlots++] = state.slot;
  if (options.log)
    options.log->command({.kind = Command::Release, .sequence = state.slot});
}

Worth CacheEngineImpl::worthOf(const SequenceState &state, int32_t page) const {
  const Retention &retention = state.retention;
  bool isPrefix = int64_t(page) * options.pageSize < retention.prefixTokens;
  Worth worth = {isPrefix ? retention.prefixPriority : retention.priority};
  int64_t duration = isPrefix ? retention.prefixDuration : retention.duration;
  if (duration > 0 && worth.isRaised())
    worth.until = (time + duration - 1) / options.retentionTick + 1;
  return worth;
}

/// The pages [begin, end) of the sequence are new: they have replaced none.
void CacheEngineImpl::clearReplaced(SequenceState &state, int32_t begin,
                                    int32_t end) {
  for (int32_t group = 0; state.replaced && group < numGroups(); ++group) {
    PageId *ids = state.replaced + int64_t(group) * maxPages;
    std::fill(ids + begin, ids + end, NullPage);
  }
}

/// Releases the replaced pages from `entries` on. No node names them.
void CacheEngineImpl::dropReplaced(SequenceState &state, int32_t entries) {
  for (int32_t group = 0; state.replaced && group < numGroups(); ++group)
    for (int32_t page = state.held; page-- > entries;)
      if (PageId own = std::exchange(
              state.replaced[int64_t(group) * maxPages + page], NullPage))
        pages.release(own, state.stamp, {}, false);
}

void CacheEngineImpl::dropBehind(SequenceState &state, int32_t entries) {
  dropReplaced(state, entries);
  bool stale = isStale(state);
  int32_t numGroups = options.groups.size();
  // From the last page to the first: those after the retention's prefix, then
  // those of the prefix.
  int64_t most = int64_t(state.held) * options.pageSize;
  int32_t prefix = std::max(static_cast<int32_t>(pagesFor(std::clamp<int64_t>(
                                state.retention.prefixTokens, 0, most))),
                            entries);
  int32_t page = state.held;
  for (int32_t end : {prefix, entries}) {
    if (page > end)
      state.floor =
          Worth::most(state.floor.at(pages.now()), worthOf(state, page - 1));
    if (numGroups == 1) {
      int32_t first = std::max(end, state.firstHeld[0]);
      if (page > first)
        state.floor = pages.releaseAll(
            {row(state, 0) + first, static_cast<size_t>(page - first)},
            state.stamp, state.floor, stale);
      page = std::min(page, end);
      continue;
    }
    // The groups in turn, so that the pages of one prefix are equally recent.
    while (page-- > end)
      for (int32_t group = numGroups; group-- > 0;) {
        const PageId *ids = row(state, group);
        int32_t first = state.firstHeld[group];
        if (page >= first + PrefetchAhead)
          pages.prefetchRecord(ids[page - PrefetchAhead]);
        if (page >= first)
          state.floor =
              pages.release(ids[page], state.stamp, state.floor, stale);
      }
    page = end;
  }
  state.held = std::min(state.held, entries);
}

void CacheEngineImpl::changed(SequenceState &state, int32_t from) {
  ++state.revision;
  state.changedFrom = from;
}

/// Removes the content of a page that is evicted from the index.
void CacheEngineImpl::forget(PageId page) {
  uint32_t node = pages.content(page);
  if (isPlain) {
    eraseNode(node);
    return;
  }
  int32_t numGroups = options.groups.size();
  for (int32_t group = 0; group < numGroups; ++group) {
    if (nodes.page(node, group) != page)
      continue;
    nodes.setPage(node, group, NullPage);
    uint32_t lost = 1u << group;
    if (options.groups[group].isFull()) {
      // No prefix can be found here or after it any more: the pages of the
      // other groups are useless.
      for (int32_t other = 0; other < numGroups; ++other)
        if (PageId useless = nodes.page(node, other); useless != NullPage) {
          pages.clearContent(useless);
          lost |= 1u << other;
        }
      eraseNode(node);
    }
    if (options.events) {
      int32_t id = static_cast<int32_t>(node);
      options.events->removed({&id, 1}, lost);
    }
    if (options.groups[group].isFull())
      return;
  }
  if (hasFullGroup)
    return;
  for (;;) {
    for (int32_t group = 0; group < numGroups; ++group)
      if (nodes.page(node, group) != NullPage)
        return;
    if (nodes.numChildren(node) > 0)
      return;
    NodeRef parent = nodes.parent(node);
    eraseNode(node);
    if (parent.isRoot())
      return;
    node = parent.id;
  }
}
