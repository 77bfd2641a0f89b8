//===- Reserve.cpp - Plans, hits, new pages, eviction ---------------------===//

#include "CacheEngineImpl.h"

#include <algorithm>

using namespace kv;

//===----------------------------------------------------------------------===//
// Planning
//===----------------------------------------------------------------------===//

/// Pages that must be copied before this sequence writes to its last page.
int32_t CacheEngineImpl::tailCopies(const SequenceState &state) const {
  if (!state.borrowsTail)
    return 0;
  int32_t copies = 0;
  for (int32_t group = 0; group < options.groups.size(); ++group) {
    PageId tail = row(state, group)[state.held - 1];
    copies +=
        pages.holds(tail) > 1 || pages.content(tail) != PagePool::NoContent;
  }
  return copies;
}

CacheEngine::Plan CacheEngineImpl::makePlan(SequenceState &state,
                                            const Prompt &prompt,
                                            const Demand &demand) const {
  Plan plan;
  // More than any pool has, and far from the end of 64 bits.
  constexpr int64_t TooMany = int64_t(1) << 56;
  if (demand.length > TooMany || demand.draft > TooMany) {
    plan.verdict = Verdict::Never;
    return plan;
  }
  int32_t pageSize = options.pageSize, numGroups = options.groups.size();
  int64_t chunk = demand.most();
  found = state.committed;
  int32_t end =
      demand.reuse ? match(state, prompt, demand.mostHit) : state.committed;
  plan.hitPages = end - state.committed;
  bool hit = plan.hitPages > 0;
  int64_t have = hit ? end : state.held;
  int64_t computed = hit ? int64_t(end) * pageSize : state.processed;

  int64_t whole = demand.length + demand.draft;
  int64_t now =
      computed + demand.draft + std::min(demand.length - computed, chunk);
  int64_t fresh = std::max<int64_t>(pagesFor(now) - have, 0);
  int32_t copies = now > state.processed ? tailCopies(state) : 0;
  int64_t wanted = fresh * numGroups + copies;
  plan.newPages = static_cast<int32_t>(std::min<int64_t>(wanted, INT32_MAX));

  // The pages that this sequence would take alone, on the whole way to the last
  // token.
  int64_t alone =
      mostPages(std::span(options.groups.begin(), numGroups), pageSize,
                demand.length, std::max<int64_t>(chunk, 1), demand.draft,
                std::min(computed, demand.length));
  int64_t revivedAvailable = 0;
  // Pages that the window of the longer prefix does not reach: the hit gives
  // them back, at once or with a step that is open.
  int64_t passed = 0, passedAvailable = 0;
  for (int32_t group = 0; hit && group < numGroups; ++group) {
    int64_t first = options.groups[group].skippable(computed) / pageSize;
    for (int64_t page = std::max<int64_t>(state.committed, first); page < end;
         ++page) {
      PageId cached = nodes.page(hits[page - state.committed], group);
      plan.revivedPages += pages.holds(cached) == 0;
      revivedAvailable += pages.isAvailable(cached);
    }
    const PageId *ids = row(state, group);
    for (int64_t page = state.firstHeld[group];
         page < std::min<int64_t>(first, state.committed); ++page) {
      const PageRecord &record = pages.record(ids[page]);
      bool isLast = record.holds == 1;
      passed += isLast;
      passedAvailable += isLast && std::max(record.stamp, state.stamp) <=
                                       steps.completedThrough();
    }
  }
  if (alone > pages.numTotal() || pagesFor(std::max(whole, now)) > maxPages)
    plan.verdict = Verdict::Never;
  else if (wanted + revivedAvailable <= pages.numAvailable() + passedAvailable)
    plan.verdict = numCopies + copies <= options.maxPageOps ? Verdict::Fits
                                                            : Verdict::Wait;
  else if (wanted + plan.revivedPages <= pages.numFree() + passed)
    plan.verdict = Verdict::Wait;
  else
    plan.verdict = Verdict::Full;
  return plan;
}

CacheEngine::Plan CacheEngineImpl::plan(const Sequence &sequence,
                                        const Prompt &prompt,
                                        const Demand &demand) const {
  return makePlan(stateOf(sequence), prompt, demand);
}

//===----------------------------------------------------------------------===//
// Taking
//===----------------------------------------------------------------------===//

/// Command::d of a reservation.
static int64_t recordedReuse(const CacheEngine::Demand &demand) {
  if (!demand.reuse || demand.mostHit <= 0)
    return 0;
  return demand.mostHit < INT32_MAX ? 1 + demand.mostHit : 1;
}

CacheEngine::Demand CacheEngine::Demand::of(const Command &command) {
  return {.length = command.a,
          .chunk = command.b,
          .draft = command.c,
          .reuse = command.d != 0,
          .mostHit = command.d > 1 ? command.d - 1 : INT32_MAX};
}

CacheEngine::Plan CacheEngineImpl::reserveMore(Sequence &sequence,
                                               const Prompt &prompt,
                                               const Demand &demand) {
  SequenceState &state = stateOf(sequence);
  if (options.log) {
    logPrompt(state, prompt);
    options.log->command({.kind = Command::Reserve,
                          .sequence = state.slot,
                          .a = demand.length,
                          // Loaded tokens need pages like computed ones.
                          .b = demand.most(),
                          .c = demand.draft,
                          .d = recordedReuse(demand),
                          .prompt = prompt.length()});
  }
  Plan plan = makePlan(state, prompt, demand);
  if (!plan.fits()) {
    ++(plan.verdict == Verdict::Wait   ? counters.refusedWait
       : plan.verdict == Verdict::Full ? counters.refusedFull
                                       : counters.refusedNever);
    return plan;
  }
  if (demand.reuse && state.indexes && state.held == state.committed)
    counters.promptPages += std::max<int64_t>(
        (prompt.length() - 1) / options.pageSize - state.committed, 0);
  if (options.explainMisses && demand.reuse && state.held == 0 &&
      canCommit(state))
    countReasons(state, prompt, demand);
  // Hits are held before anything is evicted: they may be the oldest pages.
  if (options.recurrent && (plan.hitPages > 0 || state.processed == 0))
    chooseSnapshots(state, prompt, found);
  if (plan.hitPages > 0)
    takeHits(state, state.committed + plan.hitPages);
  if (options.recurrent && demand.length > state.processed)
    reserveState(state);
  int32_t copies = 0;
  if (state.borrowsTail &&
      demand.draft + std::min(demand.length - state.processed, demand.chunk) >
          0) {
    copies = tailCopies(state);
    copyTail(state);
  }
  int32_t numGroups = options.groups.size();
  int32_t fresh = (plan.newPages - copies) / numGroups;
  for (int32_t group = 0; group < numGroups; ++group) {
    PageId *to = row(state, group) + state.held;
    allocate(to, fresh);
    if (options.groups[group].zeroFill)
      for (int32_t i = 0; i < fresh; ++i)
        queue(state, {PageOp::ZeroFill, static_cast<uint16_t>(group), NullPage,
                      to[i], 0});
  }
  clearReplaced(state, state.held, state.held + fresh);
  state.held += fresh;
  counters.newPages += plan.newPages;
  return plan;
}

/// Takes over the pages of the nodes that match() found, up to the page `end`.
void CacheEngineImpl::takeHits(SequenceState &state, int32_t end) {
  int32_t committed = state.committed, count = end - committed;
  for (int32_t group = 0; group < options.groups.size(); ++group) {
    PageId *ids = row(state, group);
    int32_t first = static_cast<int32_t>(
        options.groups[group].skippable(int64_t(end) * options.pageSize) /
        options.pageSize);
    for (int32_t i = std::max(first - committed, 0); i < count; ++i) {
      if (i + PrefetchAhead < count)
        pages.prefetchList(nodes.page(hits[i + PrefetchAhead], group));
      PageId page = nodes.page(hits[i], group);
      pages.hold(page);
      ids[committed + i] = page;
    }
    if (first <= state.firstHeld[group])
      continue;
    // The window at the end of the longer prefix does not reach these pages.
    for (int32_t page = state.firstHeld[group];
         page < std::min(first, committed); ++page)
      pages.release(ids[page], state.stamp, worthOf(state, page), false);
    std::fill(ids + state.firstHeld[group], ids + first, NullPage);
    if (state.firstHeld[group] < committed)
      changed(state, state.firstHeld[group]);
    state.firstHeld[group] = first;
  }
  clearReplaced(state, committed, end);
  state.tip = nodes.ref(hits[count - 1]);
  if (options.recurrent)
    takeState(state, states.at(hits[count - 1]));
  state.committed = state.held = end;
  state.processed = int64_t(end) * options.pageSize;
  counters.hitPages += count;
  counters.hitLength.add(count);
}

/// Replaces the shared last page by a copy, in each group where it is shared.
void CacheEngineImpl::copyTail(SequenceState &state) {
  int32_t tail = state.held - 1;
  for (int32_t group = 0; group < options.groups.size(); ++group) {
    PageId &own = row(state, group)[tail];
    if (pages.holds(own) == 1 && pages.content(own) == PagePool::NoContent)
      continue; // no other sequence holds it any more
    PageId fresh;
    allocate(&fresh, 1);
    PageOp op = {PageOp::Copy, static_cast<uint16_t>(group), own, fresh,
                 static_cast<int32_t>(state.processed % options.pageSize)};
    // Operations of one step do not wait for each other. If the page to copy is
    // itself the target of a queued operation, that operation is repeated for
    // the copy.
    if (int64_t writer = pages.writer(own); writer >= 0) {
      op.kind = operations[writer].kind;
      op.source = operations[writer].source;
    }
    queue(state, op);
    state.floor =
        Worth::most(state.floor.at(pages.now()), worthOf(state, tail));
    state.floor = pages.release(own, state.stamp, state.floor, isStale(state));
    own = fresh;
    changed(state, tail);
  }
  state.borrowsTail = false;
}

/// Queues an operation for the next step. Until that step completes, neither
/// the target nor the source is given to another sequence: the target is
/// stamped with it here, and the source is released with the sequence's stamp.
void CacheEngineImpl::queue(SequenceState &state, const PageOp &op) {
  Ticket next = steps.lastOpened() + 1;
  state.stamp = std::max(state.stamp, next);
  pages.stamp(op.target, next);
  pages.setWriter(op.target, numOps);
  operations[numOps++] = op;
  if (op.kind == PageOp::Copy) {
    ++numCopies;
    ++counters.copiedPages;
  } else {
    ++counters.zeroedPages;
  }
}

//===----------------------------------------------------------------------===//
// Eviction
//===----------------------------------------------------------------------===//

/// Takes `count` pages: blank ones first, then evicted ones. With several
/// groups an eviction can make further pages blank, so pages are evicted one by
/// one.
void CacheEngineImpl::allocate(PageId *to, int32_t count) {
  for (int32_t i = 0; i < count;) {
    if ((to[i] = pages.takeBlank()) != NullPage) {
      ++i;
      continue;
    }
    int32_t victims = isPlain ? std::min(count - i, PrefetchBatch) : 1;
    evict(to + i, victims);
    i += victims;
  }
}

void CacheEngineImpl::evict(PageId *to, int32_t count) {
  [[maybe_unused]] int32_t removed = pages.removeVictims(to, count);
  assert(removed == count && "a plan that fits has victims");
  if (count > 1) {
    for (int32_t i = 0; i < count; ++i)
      pages.prefetchRecord(to[i]);
    for (int32_t i = 0; i < count; ++i)
      nodes.prefetchBucket(nodes.tag(pages.content(to[i])));
  }
  for (int32_t i = 0; i < count; ++i) {
    const PageRecord &record = pages.record(to[i]);
    uint64_t tag = nodes.tag(record.node);
    evicted[evictedSlot(tag)] = tag;
    counters.evictedIdle.add(steps.lastOpened() - record.stamp);
    forget(to[i]);
    pages.takeVictim(to[i]);
  }
  counters.evictedPages += count;
  if (options.events && isPlain)
    options.events->removed({to, static_cast<size_t>(count)}, 1);
}
