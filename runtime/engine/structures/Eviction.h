//===- Eviction.h - Which cached page goes next -----------------*- C++ -*-===//
//
// First the stale pages, whose prefixes have been forgotten; then the pages of
// the lowest priority; within a priority, the least recently released page. A
// page must be evicted before its parent, or it could not be found any more.
// Callers of release() see to that: they release a sequence's pages from the
// last to the first, and give each page at least the worth of those after it.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_ENGINE_STRUCTURES_EVICTION_H
#define KV_RUNTIME_ENGINE_STRUCTURES_EVICTION_H

#include "PageLists.h"

namespace kv {

class Eviction {
public:
  static constexpr int32_t NumPriorities = 128;
  static constexpr int32_t NumLists = NumPriorities + 1;

  /// Uses the lists [first, first + NumLists) of `lists`, which outlives this.
  Eviction(PageLists &lists, PageLists::List first)
      : lists(lists), stale(first) {}

  void push(PageId page, uint8_t priority) {
    lists.pushBack(list(priority), page);
    inUse[priority / 64] |= uint64_t(1) << priority % 64;
  }

  /// push() of each.
  void push(const PageId *pages, int32_t count, uint8_t priority) {
    lists.pushBack(list(priority), pages, count);
    inUse[priority / 64] |= uint64_t(1) << priority % 64;
  }

  /// Adds a page of a forgotten prefix.
  void pushStale(PageId page) { lists.pushBack(stale, page); }

  /// The page to evict next; NullPage if none is cached.
  PageId victim() {
    if (!lists.empty(stale))
      return lists.front(stale);
    for (int32_t word = 0; word < 2; ++word)
      while (inUse[word]) {
        int32_t bit = std::countr_zero(inUse[word]);
        if (PageLists::List at = list(word * 64 + bit); !lists.empty(at))
          return lists.front(at);
        inUse[word] &= inUse[word] - 1; // empty: O(1), amortised
      }
    return NullPage;
  }

  /// Removes up to `count` of the pages to evict next, and returns how many.
  int32_t take(PageId *to, int32_t count) {
    int32_t taken = lists.takeFront(stale, to, count);
    for (int32_t word = 0; word < 2; ++word)
      while (taken < count && inUse[word]) {
        int32_t bit = std::countr_zero(inUse[word]);
        taken +=
            lists.takeFront(list(word * 64 + bit), to + taken, count - taken);
        if (taken < count)
          inUse[word] &= inUse[word] - 1; // empty
      }
    return taken;
  }

  /// Calls `visit(page)` in the order of eviction until it returns false.
  template <class Visit> void visit(Visit &&visit) const {
    bool going = true;
    auto guarded = [&](PageId page) { return going = visit(page); };
    lists.visit(stale, guarded);
    for (int32_t word = 0; word < 2; ++word)
      for (uint64_t left = inUse[word]; left && going; left &= left - 1)
        lists.visit(list(word * 64 + std::countr_zero(left)), guarded);
  }

  /// Makes all cached pages stale; their order is kept. O(priorities).
  void makeStale() {
    for (int32_t word = 0; word < 2; ++word)
      for (; inUse[word]; inUse[word] &= inUse[word] - 1)
        lists.append(stale, list(word * 64 + std::countr_zero(inUse[word])));
  }

  /// The first contradiction, or null. For tests.
  const char *check() const {
    for (PageLists::List at = stale; at < stale + NumLists; ++at)
      if (const char *fault = lists.check(at))
        return fault;
    return nullptr;
  }

private:
  PageLists::List list(int32_t priority) const { return stale + 1 + priority; }

  PageLists &lists;
  PageLists::List stale;
  uint64_t inUse[2] = {}; // bit p: the list of priority p may have pages
};

} // namespace kv

#endif // KV_RUNTIME_ENGINE_STRUCTURES_EVICTION_H
