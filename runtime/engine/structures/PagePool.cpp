//===- PagePool.cpp - Which pages are held, cached or blank ---------------===//

#include "PagePool.h"

using namespace kv;

bool PagePool::create(int32_t count, int32_t maxOpenSteps, size_t beside) {
  total = count;
  numSteps = static_cast<uint32_t>(maxOpenSteps) + 1;
  int32_t numLists = static_cast<int32_t>(FirstDeferred + 2 * numSteps);
  if (!records.create(count, beside) ||
      !lists.create(records, count, numLists) || !limits.create(records))
    return false;
  records[NullPage].node = NoContent;
  records[NullPage].state = Held;
  for (PageId page = count; page > NullPage; --page) {
    records[page].node = NoContent;
    settle(records[page], page, false);
  }
  return true;
}

Worth PagePool::releaseAll(std::span<const PageId> released, Ticket stamp,
                           Worth worth, bool stale) {
  // Most pages become cached at one priority: they join its list together.
  constexpr int32_t Most = 64;
  PageId joining[Most];
  int32_t count = 0;
  uint8_t priority = worth.priority;
  auto join = [&] {
    evictions.push(joining, count, priority);
    counts[Cached] += count;
    count = 0;
  };
  size_t size = released.size();
  for (size_t i = size - std::min<size_t>(size, PrefetchAhead); i < size; ++i)
    prefetchRecord(released[i]);
  bool isSpecial = stale || worth.until != 0;
  for (size_t at = size; at-- > 0;) {
    if (at >= PrefetchAhead)
      prefetchRecord(released[at - PrefetchAhead]);
    PageRecord &record = records[released[at]];
    Ticket last = std::max(record.stamp, stamp);
    if (isSpecial || record.holds != 1 || last > completed ||
        record.node == NoContent || record.priority > priority ||
        record.limit != 0) [[unlikely]] {
      join(); // before this one
      worth = release(released[at], stamp, worth, stale);
      priority = worth.priority;
      isSpecial |= worth.until != 0;
      continue;
    }
    record.holds = 0;
    record.stamp = last;
    record.priority = priority;
    record.state = Cached;
    joining[count++] = released[at];
    if (count == Most)
      join();
  }
  join();
  return worth;
}

/// The slow way of release(): the page's worth has a limit, before or after.
/// Stale pages are evicted first in any case, so they get no limit.
Worth PagePool::joinWorth(PageRecord &record, PageId page, Worth worth,
                          bool stale) {
  Worth most =
      Worth::most({record.priority, limits.until(page)}, worth.at(now()));
  record.priority = most.priority;
  if (stale)
    most.until = 0;
  // An equal limit is set again, after those of the descendants that were
  // released just before.
  if (most.until != limits.until(page) || worth.isRaised())
    limits.set(page, most.until);
  return most;
}

void PagePool::advance(Tick now) {
  limits.advance(now, [&](PageId page) {
    PageRecord &record = records[page];
    record.priority = Retention::Default;
    if (record.state == Cached) {
      lists.remove(page);
      evictions.push(page, record.priority);
    }
  });
}

void PagePool::clearContent(PageId page) {
  PageRecord &record = records[page];
  if (record.state == Cached) {
    lists.remove(page);
    --counts[Cached];
    record.node = NoContent;
    settle(record, page, false);
  }
  record.node = NoContent;
}

void PagePool::complete(Ticket ticket) {
  completed = ticket;
  for (PageLists::List list : {deferredStaleList(ticket), deferredList(ticket)})
    while (!lists.empty(list)) {
      PageId page = lists.front(list);
      lists.remove(page);
      --counts[Deferred];
      settle(records[page], page, list == deferredStaleList(ticket));
    }
}

void PagePool::makeStale() {
  limits.clear([](PageId) {});
  evictions.makeStale();
  for (uint32_t step = 0; step < numSteps; ++step)
    lists.append(FirstDeferred + numSteps + step, FirstDeferred + step);
}

const char *PagePool::check() const {
  int32_t seen[4] = {};
  for (PageId page = 1; page <= total; ++page) {
    const PageRecord &record = records[page];
    if ((record.holds > 0) != (record.state == Held))
      return "held and free at once";
    if (record.state == Blank && record.node != NoContent)
      return "a blank page has content";
    if (record.state == Cached && record.node == NoContent)
      return "a cached page has no content";
    if ((record.state == Deferred) !=
        (record.holds == 0 && record.stamp > completed))
      return "deferred is not what a free page of an open step is";
    ++seen[record.state];
  }
  for (State state : {Blank, Cached, Deferred})
    if (seen[state] != counts[state])
      return "the counts of free pages are wrong";
  int32_t listed[3] = {};
  bool misplaced = false;
  auto count = [&](State state) {
    return [&, state](PageId page) {
      ++listed[state];
      misplaced |= records[page].state != state;
      return true;
    };
  };
  lists.visit(BlankList, count(Blank));
  evictions.visit(count(Cached));
  for (PageLists::List list = FirstDeferred;
       list < FirstDeferred + 2 * numSteps; ++list) {
    lists.visit(list, count(Deferred));
    if (const char *fault = lists.check(list))
      return fault;
  }
  if (misplaced)
    return "a page is in the wrong list";
  for (State state : {Blank, Cached, Deferred})
    if (listed[state] != counts[state])
      return "a free page is in no list";
  if (const char *fault = lists.check(BlankList))
    return fault;
  if (const char *fault = limits.check(total))
    return fault;
  return evictions.check();
}
