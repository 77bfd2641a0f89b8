//===- CacheEngine.cpp - Construction, sequences, steps -------------------===//

#include "CacheEngineImpl.h"

#include <algorithm>
#include <new>

using namespace kv;

//===----------------------------------------------------------------------===//
// Construction
//===----------------------------------------------------------------------===//

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
        inRange("maxOpenSteps", options.maxOpenSteps, 1, Steps::MostOpen - 1),
        inRange("maxScopes", options.maxScopes, 1, Many),
        inRange("maxScopeBytes", options.maxScopeBytes, 64, ScopeBytes::Most),
        // A last page may have to be copied in every group at once.
        inRange("maxPageOps", options.maxPageOps,
                options.maxPageOps ? options.groups.size() : 0, INT32_MAX),
        inRange("retentionTick", options.retentionTick, 1, int64_t(1) << 50)})
    if (!valid)
      return valid;
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
  isPlain = hasFullGroup && options.groups.size() == 1;
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
  // Every node of an engine with a full group has a page; a node of windows
  // only can outlive its page while a child does.
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
         rowStorage.create(rowPages * numGroups,
                           FixedArray<PageId>::Untouched) &&
         tagStorage.create(caches ? rowPages : 0,
                           FixedArray<uint64_t>::Untouched) &&
         unusedSlots.create(options.maxSequences) &&
         operations.create(numOperations) && issued.create(numOperations) &&
         evicted.create(caches ? (options.numPages + 1) / 2 : 0) &&
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
         rowStorage.bytes() + tagStorage.bytes() + unusedSlots.bytes() +
         operations.bytes() + issued.bytes() + hits.bytes() + sizeof(*this);
}

//===----------------------------------------------------------------------===//
// Sequences
//===----------------------------------------------------------------------===//

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
  const SequenceState &source = stateOf(sequence);
  if (Expected<void> possible = canKeep(source, tokens); !possible)
    return std::unexpected(possible.error());
  Expected<SequenceState *> taken = takeSlot(retention);
  if (!taken)
    return std::unexpected(taken.error());
  SequenceState &state = **taken;
  state.processed = tokens;
  state.held = static_cast<int32_t>(pagesFor(tokens));
  state.epoch = source.epoch;
  // What is to be copied for the source has not been copied for this one.
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
  int32_t kept = static_cast<int32_t>(pagesFor(tokens));
  if (kept < state.held)
    changed(state, kept);
  dropBehind(state, kept);
  int32_t full = static_cast<int32_t>(tokens / options.pageSize);
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
  // Only windows, which have passed that page.
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

void CacheEngineImpl::dropBehind(SequenceState &state, int32_t entries) {
  bool stale = isStale(state);
  int32_t numGroups = options.groups.size();
  // Two runs, from tail to head: the rest, then the prefix that is kept longer.
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
    // The groups' pages in turn, so that all of a prefix are of one age.
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

/// A victim's content leaves the index.
void CacheEngineImpl::forget(PageId page) {
  uint32_t node = pages.content(page);
  if (isPlain) {
    nodes.erase(node);
    return;
  }
  int32_t numGroups = options.groups.size();
  for (int32_t group = 0; group < numGroups; ++group) {
    if (nodes.page(node, group) != page)
      continue;
    nodes.setPage(node, group, NullPage);
    if (options.groups[group].isFull()) {
      // No prefix can end here or behind: the other groups' pages are useless.
      for (int32_t other = 0; other < numGroups; ++other)
        if (PageId useless = nodes.page(node, other); useless != NullPage)
          pages.clearContent(useless);
      nodes.erase(node);
      return;
    }
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
    nodes.erase(node);
    if (parent.isRoot())
      return;
    node = parent.id;
  }
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

Expected<CacheEngine::Step> CacheEngineImpl::beginStep() {
  if (!steps.canOpen())
    return makeError(KV_STATUS_INVALID_ARGUMENT,
                     "cache engine: ", steps.numOpen(),
                     " steps are open, allowed: ", steps.maxOpen());
  Ticket ticket = steps.open();
  std::span<const PageOp> batch(issued.begin(), numOps);
  std::copy_n(operations.begin(), numOps, issued.begin());
  for (const PageOp &op : batch)
    pages.clearWriter(op.target);
  numOps = numCopies = 0;
  if (options.log)
    options.log->command({.kind = Command::BeginStep});
  return Step{ticket, batch};
}

/// After a truncation, say, what the step writes over may still have to be
/// copied for another sequence.
bool CacheEngineImpl::comesTooEarly(const SequenceState &state) const {
  if (state.processed % options.pageSize == 0)
    return false;
  for (int32_t group = 0; group < options.groups.size(); ++group) {
    PageId tail = row(state, group)[state.processed / options.pageSize];
    if (pages.record(tail).stamp > steps.lastOpened())
      return true;
  }
  return false;
}

Expected<void> CacheEngineImpl::refuseJoin(const SequenceState &state,
                                           Ticket ticket) const {
  if (!steps.isOpen(ticket))
    return makeError(KV_STATUS_INVALID_ARGUMENT, "cache engine: step ", ticket,
                     " is not open");
  if (state.borrowsTail)
    return makeError(KV_STATUS_INVALID_ARGUMENT, "cache engine: sequence ",
                     state.slot,
                     " shares its last page, a reservation comes "
                     "before its next step");
  return makeError(KV_STATUS_INVALID_ARGUMENT, "cache engine: sequence ",
                   state.slot,
                   " has page operations that come with the next step, step ",
                   ticket, " is too early");
}

Expected<void> CacheEngineImpl::completeStep(Ticket ticket) {
  if (!steps.isOpen(ticket))
    return makeError(KV_STATUS_INVALID_ARGUMENT, "cache engine: step ", ticket,
                     " is not open");
  steps.complete(ticket);
  retire();
  if (options.log)
    options.log->command(
        {.kind = Command::CompleteStep, .a = static_cast<int64_t>(ticket)});
  return {};
}

void CacheEngineImpl::completeAllSteps() {
  for (Ticket ticket = steps.completedThrough() + 1;
       ticket <= steps.lastOpened(); ++ticket)
    steps.complete(ticket);
  retire();
  if (options.log)
    options.log->command({.kind = Command::CompleteAll});
}

void CacheEngineImpl::retire() {
  while (Ticket ticket = steps.retire())
    pages.complete(ticket);
}

Expected<void> CacheEngineImpl::setTime(int64_t nanoseconds) {
  constexpr int64_t Last = int64_t(1) << 62; // and a duration: no overflow
  if (nanoseconds < time || nanoseconds > Last)
    return makeError(KV_STATUS_INVALID_ARGUMENT, "cache engine: the time is ",
                     nanoseconds, " ns, allowed: ", time, " to ", Last);
  time = nanoseconds;
  pages.advance(time / options.retentionTick);
  if (options.log)
    options.log->command({.kind = Command::Time, .a = time});
  return {};
}

void CacheEngineImpl::resetPrefixes() {
  ++epoch;
  pages.makeStale();
  if (options.log)
    options.log->command({.kind = Command::Reset});
}

/// What of the prompt has not been logged: tokens, and images that begin there.
void CacheEngineImpl::logPrompt(SequenceState &state, const Prompt &prompt) {
  if (prompt.length() <= state.loggedTokens)
    return;
  for (const ImageSpan &image : prompt.images)
    if (image.begin >= state.loggedTokens && image.begin < prompt.length())
      options.log->command({.kind = Command::Image,
                            .sequence = state.slot,
                            .a = image.begin,
                            .b = image.length,
                            .scope = {.salt = image.hash}});
  options.log->command({.kind = Command::Tokens,
                        .sequence = state.slot,
                        .tokens = prompt.tokens.subspan(state.loggedTokens)});
  state.loggedTokens = prompt.length();
}
