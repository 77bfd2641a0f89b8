//===- PagePool.h - Which pages are held, cached or blank -------*- C++ -*-===//
//
// Bookkeeping of one device's pages; the memory itself is elsewhere. Facts are
// kept apart: *held* (how many references), *content* (which node of the prefix
// index names what the page holds, if any) and *stamp* (the last step that may
// still touch it). A page is
//
//   held      in use, with or without content: never evicted;
//   cached    not held, its step complete, with content: may be evicted;
//   blank     not held, its step complete, without content;
//   deferred  not held, its step not complete: nobody's until it is.
//
// All but held pages are free; blank and cached ones are available at once. The
// step that a copy waits for may be the next one, which has not begun: its
// number is known, so the copy's source and target are stamped with it.
//
// Single writer, no lock; nothing is allocated after create(); O(1) each.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_ENGINE_PAGEPOOL_H
#define KV_RUNTIME_ENGINE_PAGEPOOL_H

#include "Eviction.h"
#include "PageLists.h"
#include "PriorityLimits.h"

#include <algorithm>
#include <span>

namespace kv {

class PagePool {
public:
  /// The content of a page that no node names.
  static constexpr uint32_t NoContent = UINT32_MAX;
  enum State : uint8_t { Blank, Cached, Deferred, Held };

  PagePool() : evictions(lists, FirstEviction) {}

  /// `count` usable pages, with the ids 1 .. count, all blank; `beside` bytes
  /// behind each record are left to others. False: no memory.
  [[nodiscard]] bool create(int32_t count, int32_t maxOpenSteps,
                            size_t beside = 0);

  int32_t numTotal() const { return total; }
  /// Pages that nobody holds.
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
  /// Whether a hold would take it from the available pages.
  bool isAvailable(PageId page) const { return records[page].state <= Cached; }

  /// Takes a blank page, lowest id first on a new pool, and holds it once.
  /// NullPage if there is none: the caller then evicts.
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

  /// Takes up to `count` of the pages to evict next out of their lists, and
  /// returns how many. Each is then passed to takeVictim().
  int32_t removeVictims(PageId *to, int32_t count) {
    return evictions.take(to, count);
  }

  /// Holds a cached page that is in no list any more, and whose content has
  /// been removed from the index.
  void takeVictim(PageId page) {
    assert(state(page) == Cached && "not a victim");
    records[page].node = NoContent;
    take(page, Cached);
  }

  /// Adds a reference to a page that is held or has content.
  void hold(PageId page) {
    PageRecord &record = records[page];
    if (record.holds++ == 0)
      leaveFree(record, page);
  }

  /// Drops a reference by someone whose last step was `stamp`, and to whom the
  /// page is worth so much. With the last one the page becomes free; `stale`
  /// content, which nobody can find, goes before any other. Returns what it is
  /// worth now: no less than that must be what is before it.
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

  /// release() of each, the last first, and each worth what those behind it are
  /// at least. Returns what the first is worth.
  Worth releaseAll(std::span<const PageId> pages, Ticket stamp, Worth worth,
                   bool stale);

  /// A step that has not begun will touch a held page.
  void stamp(PageId page, Ticket ticket) {
    records[page].stamp = std::max(records[page].stamp, ticket);
  }

  /// For held pages: the queued operation that writes it.
  void setWriter(PageId page, uint32_t op) { records[page].position = op + 1; }
  void clearWriter(PageId page) {
    if (records[page].state == Held)
      records[page].position = 0;
  }
  /// Its index, or -1.
  int64_t writer(PageId page) const {
    return int64_t(records[page].position) - 1;
  }

  /// Gives a held page its content.
  void setContent(PageId page, uint32_t node) {
    assert(state(page) == Held && "content is given while held");
    records[page].node = node;
  }

  /// Forgets a page's content. A cached page becomes blank.
  void clearContent(PageId page);

  /// Steps up to `ticket` are complete; the one before it was so already.
  /// Deferred pages become blank or cached in the order of their release.
  void complete(Ticket ticket);

  /// The content of all free pages has become worth nothing. O(1), but for the
  /// pages whose priority has a limit.
  void makeStale();

  /// It is `now`: priorities whose limit is reached are over. O(1) for each.
  void advance(Tick now);
  Tick now() const { return limits.now(); }
  /// When its priority ends; 0: never.
  Tick limit(PageId page) const { return limits.until(page); }

  const Eviction &eviction() const { return evictions; }
  void prefetchRecord(PageId page) const { prefetch(&records[page]); }
  /// What hold() of a free page looks at behind the record.
  void prefetchList(PageId page) const {
    if (records[page].state != Held)
      lists.prefetchChunk(records[page]);
  }

  /// What the records' memory has beside them.
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
  int32_t counts[3] = {}; // by State
  uint32_t numSteps = 1;  // that a page may wait for: open, and the next
  Ticket completed = 0;
};

} // namespace kv

#endif // KV_RUNTIME_ENGINE_PAGEPOOL_H
