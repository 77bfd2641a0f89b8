//===- PagePool.h - Which pages are held, cached or blank -------*- C++ -*-===//
//
// The bookkeeping of a replica's pages; their memory is elsewhere. Three facts
// of a page are independent: the number of sequences that hold it, its
// *content*, and its *stamp*. The content is the node of the prefix index that
// says which tokens the page holds, if any. The stamp is the last step that may
// still touch it. So a page is
//
//   held      by a sequence, with or without content: never evicted;
//   cached    not held, its stamped step complete, with content: evictable;
//   blank     not held, its stamped step complete, without content;
//   deferred  not held, its stamped step not complete: of no sequence yet.
//
// All pages but the held ones are free; blank and cached pages are available at
// once. A copy that is queued for the next step stamps its source and target
// with that step's ticket, which is known before the step begins.
//
// One thread, no lock; nothing is allocated after create(); every operation is
// O(1) for each page unless it says otherwise.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_ENGINE_STRUCTURES_PAGEPOOL_H
#define KV_RUNTIME_ENGINE_STRUCTURES_PAGEPOOL_H

#include "Eviction.h"
#include "PageLists.h"
#include "PriorityLimits.h"

#include "kv/Runtime/Engine/Metrics.h"

#include <algorithm>
#include <span>

namespace kv {

class PagePool {
public:
  /// The content of a page that no node names.
  static constexpr uint32_t NoContent = UINT32_MAX;
  enum State : uint8_t { Blank, Cached, Deferred, Held };

  PagePool() : evictions(lists, FirstEviction) {}

  /// `count` usable pages with the ids 1 to count, all blank. `beside` bytes
  /// after each record belong to the caller (`beside()`). False: no memory.
  [[nodiscard]] bool create(int32_t count, int32_t maxOpenSteps,
                            size_t beside = 0);

  // Any thread may ask for these; one figure may be seen earlier than another.
  int32_t numTotal() const { return total; }
  /// Pages that no sequence holds.
  int32_t numFree() const {
    return counts[Blank] + numCached() + numDeferred();
  }
  int32_t numUsed() const { return total - numFree(); }
  int32_t numBlank() const { return counts[Blank]; }
  int32_t numCached() const { return counts[Cached]; }
  int32_t numDeferred() const { return counts[Deferred]; }
  int32_t numAvailable() const { return counts[Blank] + counts[Cached]; }

  const PageRecord &record(PageId page) const { return records[page]; }
  int32_t holds(PageId page) const { return records[page].holds; }
  uint32_t content(PageId page) const { return records[page].node; }
  State state(PageId page) const { return State(records[page].state); }
  /// Whether the page is blank or cached.
  bool isAvailable(PageId page) const { return records[page].state <= Cached; }

  /// Takes a blank page and holds it once; a new pool gives the lowest ids
  /// first. NullPage if there is none: the caller then evicts.
  PageId takeBlank() {
    if (lists.empty(BlankList))
      return NullPage;
    PageId page = lists.back(BlankList);
    lists.remove(page);
    take(page, Blank);
    return page;
  }

  /// The cached page to evict next; NullPage if none.
  PageId victim() { return evictions.victim(); }

  /// Takes up to `count` of the pages to evict next out of their lists and
  /// returns how many. The caller passes each of them to takeVictim().
  int32_t removeVictims(PageId *to, int32_t count) {
    return evictions.take(to, count);
  }

  /// Holds a page of removeVictims() once, whose node the caller has removed
  /// from the index.
  void takeVictim(PageId page) {
    assert(state(page) == Cached && "not a victim");
    records[page].node = NoContent;
    take(page, Cached);
  }

  /// Adds a holder to a page that is held or has content.
  void hold(PageId page) {
    PageRecord &record = records[page];
    if (record.holds++ == 0)
      leaveFree(record, page);
  }

  /// Removes a holder, whose last step was `stamp` and to whom the page has the
  /// given worth. Without holders the page is free; if its content is `stale`,
  /// so that no lookup finds it, it is evicted before all others. Returns the
  /// page's worth now: the page before it in the sequence must be released with
  /// at least that.
  Worth release(PageId page, Ticket stamp, Worth worth, bool stale = false) {
    PageRecord &record = records[page];
    assert(record.holds > 0 && "released twice");
    record.stamp = std::max(record.stamp, stamp);
    if (record.limit == 0 && worth.until == 0) [[likely]]
      worth.priority = record.priority =
          std::max(record.priority, worth.priority);
    else
      worth = joinWorth(record, page, worth, stale);
    if (--record.holds == 0)
      becomeFree(record, page, stale);
    return worth;
  }

  /// Releases each of the pages, from the last to the first, and each with at
  /// least the worth of those after it. Returns the worth of the first.
  Worth releaseAll(std::span<const PageId> pages, Ticket stamp, Worth worth,
                   bool stale);

  /// The step `ticket`, which may not have begun, will touch a held page.
  void stamp(PageId page, Ticket ticket) {
    records[page].stamp = std::max(records[page].stamp, ticket);
  }

  /// For held pages: `op` is the index of the queued operation that writes it.
  void setWriter(PageId page, uint32_t op) { records[page].position = op + 1; }
  void clearWriter(PageId page) {
    if (records[page].state == Held)
      records[page].position = 0;
  }
  /// The index of the queued operation that writes a held page, or -1.
  int64_t writer(PageId page) const {
    return int64_t(records[page].position) - 1;
  }

  /// Gives a held page its content.
  void setContent(PageId page, uint32_t node) {
    assert(state(page) == Held && "content is given while held");
    records[page].node = node;
  }

  /// Removes a page's content. A cached page becomes blank.
  void clearContent(PageId page);

  /// The step `ticket` is complete; all before it were. The pages deferred to
  /// it become blank or cached in the order in which they were released.
  void complete(Ticket ticket);

  /// The content of all free pages has become stale. O(1), and O(1) for each
  /// page whose priority has a limit.
  void makeStale();

  /// Sets the time: priorities whose limit is reached end. O(ticks passed +
  /// limits reached).
  void advance(Tick now);
  Tick now() const { return limits.now(); }
  /// The tick at which the page's priority ends; 0: never.
  Tick limit(PageId page) const { return limits.until(page); }

  const Eviction &eviction() const { return evictions; }
  void prefetchRecord(PageId page) const { prefetch(&records[page]); }
  /// Prefetches what hold() of a free page reads besides the record.
  void prefetchList(PageId page) const {
    if (records[page].state != Held)
      lists.prefetchChunk(records[page]);
  }

  /// `PageRecords::beside()` and `PageRecords::pitch()`.
  std::byte *beside() const { return records.beside(); }
  size_t pitch() const { return records.pitch(); }

  size_t bytes() const {
    return records.bytes() + lists.bytes() + limits.bytes();
  }

  /// The first contradiction, or null. For tests: O(pages).
  const char *check() const;

private:
  static constexpr PageLists::List BlankList = 0, FirstEviction = 1,
                                   FirstDeferred =
                                       FirstEviction + Eviction::NumLists;
  PageLists::List deferredList(Ticket ticket) const {
    return FirstDeferred + static_cast<uint32_t>(ticket % numSteps);
  }
  PageLists::List deferredStaleList(Ticket ticket) const {
    return deferredList(ticket) + numSteps;
  }

  void take(PageId page, State from) {
    PageRecord &record = records[page];
    --counts[from];
    record.state = Held;
    record.holds = 1;
    record.priority = 0;
    record.position = 0;
    if (record.limit != 0) [[unlikely]]
      limits.set(page, 0);
  }
  void leaveFree(PageRecord &record, PageId page) {
    assert((record.node != NoContent || record.state == Deferred) &&
           "a blank page is taken, not held");
    lists.remove(page);
    --counts[record.state];
    record.state = Held;
    record.position = 0;
  }
  Worth joinWorth(PageRecord &record, PageId page, Worth worth, bool stale);
  void becomeFree(PageRecord &record, PageId page, bool stale) {
    if (record.stamp > completed) {
      record.state = Deferred;
      lists.pushBack(stale ? deferredStaleList(record.stamp)
                           : deferredList(record.stamp),
                     page);
      ++counts[Deferred];
      return;
    }
    settle(record, page, stale);
  }
  void settle(PageRecord &record, PageId page, bool stale) {
    if (record.node == NoContent) {
      record.state = Blank;
      lists.pushBack(BlankList, page);
    } else {
      record.state = Cached;
      if (stale)
        evictions.pushStale(page);
      else
        evictions.push(page, record.priority);
    }
    ++counts[record.state];
  }

  PageRecords records;
  PageLists lists;
  Eviction evictions;
  PriorityLimits limits;
  int32_t total = 0;
  Gauge counts[3];       // by State
  uint32_t numSteps = 1; // that a page may be deferred to: open or next
  Ticket completed = 0;
};

} // namespace kv

#endif // KV_RUNTIME_ENGINE_STRUCTURES_PAGEPOOL_H
