//===- EngineModel.h - The cache engine, slow and plain ---------*- C++ -*-===//
//
// What the engine should do, said with maps and linear searches. A node is the
// text of its whole prefix; a page is a number of the model's own, and the test
// keeps which of the engine's it is.
//
//===----------------------------------------------------------------------===//

#ifndef KV_TEST_UNIT_ENGINE_ENGINEMODEL_H
#define KV_TEST_UNIT_ENGINE_ENGINEMODEL_H

#include "kv/Runtime/Engine/CacheEngine.h"

#include <map>

namespace kv::test {

struct EngineModel {
  enum State { Blank, Held, Cached, Deferred };
  struct Node {
    std::vector<int> pages; // by group, -1: none
    int children = 0;
    std::string parent; // empty: a root
  };
  using NodeAt = std::map<std::string, Node>::iterator;
  /// A priority, and the tick at which one above the default ends; 0: never.
  struct Value {
    int priority = 0;
    int64_t until = 0;

    bool isRaised() const { return priority > Retention::Default; }
    int64_t end() const {
      return !isRaised() ? 0 : until == 0 ? INT64_MAX : until;
    }
    Value with(Value other) const {
      int64_t last = std::max(end(), other.end());
      return {std::max(priority, other.priority), last == INT64_MAX ? 0 : last};
    }
  };
  struct Page {
    State state = Blank;
    int holds = 0, group = 0;
    Value value = {};
    int64_t limited = 0; // when it got its limit
    uint64_t stamp = 0;
    bool stale = false; // of a forgotten epoch, as seen when nobody held it
    int64_t order = 0;  // of release, or of eviction once cached
    int64_t born = 0;   // differs each time that it is allocated
    bool named = false;
    NodeAt node = {};
  };
  struct Request {
    bool open = false;
    std::string scope;
    int epoch = 0, held = 0, committed = 0;
    Value floor = {};
    int64_t processed = 0;
    uint64_t stamp = 0;
    bool borrows = false, indexes = false;
    Retention retention;
    std::vector<std::vector<int>> rows; // [group][page], -1: passed
    std::vector<int> first;
    std::vector<std::pair<int64_t, int>> replaced = {}; // (place, page)
    std::vector<std::string> keys =
        {}; // of the prompt's pages, as far as built
  };

  CacheEngine::Options options;
  bool hasFull = false;
  int64_t maxPages, nodeCapacity;
  std::vector<Page> pages;
  std::map<std::string, Node> nodes;
  std::vector<Request> requests;
  int epoch = 0;
  uint64_t opened = 0, completed = 0;
  std::vector<bool> done;
  int64_t time = 0, clock = 0, evictions = 0, copies = 0, copiesQueued = 0;
  std::vector<NodeAt> found; // nodes of a plan's hit

  EngineModel(const CacheEngine::Options &options, int64_t maxPages)
      : options(options), maxPages(maxPages), pages(options.numPages),
        requests(options.maxSequences), done(1) {
    for (const CacheGroup &group : options.groups)
      hasFull |= group.isFull();
    nodeCapacity = int64_t(options.numPages) * (hasFull ? 1 : 2);
  }

  int numGroups() const { return options.groups.size(); }
  int64_t pagesFor(int64_t tokens) const {
    return (tokens + options.pageSize - 1) / options.pageSize;
  }
  int64_t firstNeeded(int group, int64_t position) const {
    return options.groups[group].skippable(position) / options.pageSize;
  }
  int count(State state) const {
    return std::ranges::count(pages, state, &Page::state);
  }

  /// The text of a prompt up to a page's end: its scope, epoch, tokens, images.
  const std::string &key(Request &request, const Prompt &prompt, int64_t page) {
    while (static_cast<int64_t>(request.keys.size()) <= page) {
      int64_t at = request.keys.size(), begin = at * options.pageSize,
              end = begin + options.pageSize;
      std::string text = at == 0 ? concat(request.scope, "/", request.epoch)
                                 : request.keys.back();
      text += '|';
      text.append(reinterpret_cast<const char *>(prompt.tokens.data() + begin),
                  4 * options.pageSize);
      for (const ImageSpan &image : prompt.images)
        if (image.begin < end && image.begin + image.length > begin)
          text += concat("I", image.begin - begin, ",", image.length, ",",
                         std::string(image.hash));
      request.keys.push_back(std::move(text));
    }
    return request.keys[page];
  }

  //===--------------------------------------------------------------------===//
  // Pages
  //===--------------------------------------------------------------------===//

  void settle(Page &page) {
    page.state = page.named ? Cached : Blank;
    page.stale &= page.named;
    page.order = ++clock;
  }
  void hold(int at) {
    Page &page = pages[at];
    page.state = Held;
    page.stale = false;
    ++page.holds;
  }
  int64_t now() const { return time / options.retentionTick; }
  Value valid(Value value) const {
    return value.until > 0 && value.until <= now()
               ? Value{.priority = Retention::Default}
               : value;
  }
  /// Returns what the page is worth then.
  Value drop(int at, uint64_t stamp, Value value, bool stale) {
    Page &page = pages[at];
    page.stamp = std::max(page.stamp, stamp);
    Value given = valid(value);
    page.value = page.value.with(given);
    if (stale)
      page.value.until = 0;
    if (given.isRaised() && page.value.until > 0)
      page.limited = ++clock;
    if (--page.holds > 0)
      return page.value;
    page.stale = stale;
    if (page.stamp <= completed) {
      settle(page);
    } else {
      page.state = Deferred;
      page.order = ++clock;
    }
    return page.value;
  }
  void unname(int at) {
    Page &page = pages[at];
    page.named = false;
    if (page.state == Cached)
      settle(page);
  }
  void forget(int at) {
    NodeAt node = pages[at].node;
    int group = pages[at].group;
    node->second.pages[group] = -1;
    unname(at);
    if (options.groups[group].isFull()) {
      for (int other : node->second.pages)
        if (other >= 0)
          unname(other);
      erase(node);
    } else if (!hasFull) {
      while (std::ranges::max(node->second.pages) < 0 &&
             node->second.children == 0) {
        NodeAt parent = nodes.find(node->second.parent);
        erase(node);
        if (parent == nodes.end())
          break;
        node = parent;
      }
    }
  }
  void erase(NodeAt node) {
    if (NodeAt parent = nodes.find(node->second.parent); parent != nodes.end())
      --parent->second.children;
    nodes.erase(node);
  }
  /// In the order of eviction.
  std::vector<int> cached() const {
    std::vector<int> result;
    for (size_t at = 0; at < pages.size(); ++at)
      if (pages[at].state == Cached)
        result.push_back(static_cast<int>(at));
    std::ranges::sort(result, {}, [&](int at) {
      const Page &page = pages[at];
      return std::tuple(!page.stale, page.stale ? 0 : page.value.priority,
                        page.order);
    });
    return result;
  }
  int allocate(int group) {
    auto blank = std::ranges::find(pages, Blank, &Page::state);
    int at = static_cast<int>(blank - pages.begin());
    if (blank == pages.end()) {
      at = cached().front();
      forget(at);
      ++evictions;
    }
    uint64_t stamp = pages[at].stamp;
    pages[at] = {.state = Held,
                 .holds = 1,
                 .group = group,
                 .stamp = stamp,
                 .born = ++clock};
    return at;
  }

  //===--------------------------------------------------------------------===//
  // Sequences
  //===--------------------------------------------------------------------===//

  void open(int slot, std::string scope, const Retention &retention) {
    requests[slot] = {.open = true,
                      .scope = std::move(scope),
                      .epoch = epoch,
                      .indexes = options.prefixCaching,
                      .retention = retention,
                      .rows = std::vector<std::vector<int>>(numGroups()),
                      .first = std::vector<int>(numGroups())};
  }
  Value value(const Request &request, int64_t page) const {
    const Retention &keep = request.retention;
    bool isPrefix = page * options.pageSize < keep.prefixTokens;
    Value result = {isPrefix ? keep.prefixPriority : keep.priority};
    int64_t duration = isPrefix ? keep.prefixDuration : keep.duration,
            tick = options.retentionTick;
    if (duration > 0 && result.isRaised())
      result.until = (time + duration + tick - 1) / tick;
    return result;
  }
  int tailCopies(const Request &request) const {
    int result = 0;
    for (int group = 0; request.borrows && group < numGroups(); ++group) {
      const Page &tail = pages[request.rows[group].back()];
      result += tail.holds > 1 || tail.named;
    }
    return result;
  }

  /// Finds the nodes of the longest cached prefix that goes on where a request
  /// is. Returns how many pages the request has with it.
  int64_t findPrefix(Request &request, const Prompt &prompt,
                     const CacheEngine::Demand &demand) {
    int64_t size = options.pageSize, best = request.committed;
    found.clear();
    if (!demand.reuse || !request.indexes || request.epoch != epoch ||
        request.borrows || request.held != request.committed ||
        request.processed != request.committed * size)
      return best;
    int64_t last =
        std::min({(prompt.length() - 1) / size, maxPages, demand.mostHit});
    for (int64_t length = request.committed + 1; length <= last; ++length) {
      NodeAt node = nodes.find(key(request, prompt, length - 1));
      if (node == nodes.end())
        break;
      found.push_back(node);
      bool all = true;
      for (int group = 0; group < numGroups(); ++group)
        for (int64_t page = firstNeeded(group, length * size); page < length;
             ++page)
          all &=
              page < request.committed
                  ? page >= request.first[group]
                  : found[page - request.committed]->second.pages[group] >= 0;
      if (all)
        best = length;
    }
    found.resize(best - request.committed);
    return best;
  }

  CacheEngine::Plan plan(Request &request, const Prompt &prompt,
                         const CacheEngine::Demand &demand) {
    int64_t best = findPrefix(request, prompt, demand);
    CacheEngine::Plan plan;
    plan.hitPages = static_cast<int32_t>(best - request.committed);
    int64_t have = plan.hitPages ? best : request.held;
    int64_t computed =
        plan.hitPages ? best * options.pageSize : request.processed;
    int64_t now = computed + demand.draft +
                  std::min(demand.length - computed, demand.chunk);
    int64_t whole = std::max(demand.length + demand.draft, now);
    int64_t fresh = std::max<int64_t>(pagesFor(now) - have, 0);
    int copy = now > request.processed ? tailCopies(request) : 0;
    plan.newPages = static_cast<int32_t>(fresh * numGroups() + copy);
    // Every moment of the way to the last token, when nobody else is there.
    int64_t alone = 0, available = 0, passed = 0, passedAvailable = 0;
    int64_t from = std::min(computed, demand.length);
    for (int64_t at = from; at <= std::max(from, demand.length - 1); ++at) {
      int64_t most = 0;
      for (int group = 0; group < numGroups(); ++group)
        most += pagesFor(std::min(at + std::min(demand.chunk, demand.length),
                                  demand.length) +
                         demand.draft) -
                firstNeeded(group, at);
      alone = std::max(alone, most);
    }
    for (int group = 0; group < numGroups(); ++group) {
      int64_t first = firstNeeded(group, computed);
      // A hit gives back what the window of the longer prefix does not reach.
      for (int64_t page = request.first[group];
           plan.hitPages > 0 &&
           page < std::min<int64_t>(first, request.committed);
           ++page) {
        const Page &own = pages[request.rows[group][page]];
        if (own.holds > 1)
          continue;
        ++passed;
        passedAvailable += std::max(own.stamp, request.stamp) <= completed;
      }
      for (int64_t page = std::max<int64_t>(first, request.committed);
           page < request.committed + plan.hitPages; ++page) {
        const Page &hit =
            pages[found[page - request.committed]->second.pages[group]];
        plan.revivedPages += hit.holds == 0;
        available += hit.state == Cached;
      }
    }
    int64_t free = count(Blank) + count(Cached), later = count(Deferred);
    if (alone > options.numPages || pagesFor(whole) > maxPages)
      plan.verdict = CacheEngine::Verdict::Never;
    else if (plan.newPages + available <= free + passedAvailable)
      plan.verdict = copiesQueued + copy <= options.maxPageOps
                         ? CacheEngine::Verdict::Fits
                         : CacheEngine::Verdict::Wait;
    else
      plan.verdict = plan.newPages + plan.revivedPages <= free + later + passed
                         ? CacheEngine::Verdict::Wait
                         : CacheEngine::Verdict::Full;
    return plan;
  }

  CacheEngine::Plan reserve(int slot, const Prompt &prompt,
                            const CacheEngine::Demand &demand) {
    Request &request = requests[slot];
    if (demand.length + demand.draft <=
            int64_t(request.held) * options.pageSize &&
        request.held != request.committed && !request.borrows)
      return {.verdict = CacheEngine::Verdict::Fits};
    CacheEngine::Plan result = plan(request, prompt, demand);
    if (!result.fits())
      return result;
    int64_t committed = request.committed, end = committed + result.hitPages;
    for (int group = 0; result.hitPages > 0 && group < numGroups(); ++group) {
      std::vector<int> &row = request.rows[group];
      int64_t first = firstNeeded(group, end * options.pageSize);
      row.resize(end, -1);
      for (int64_t page = std::max(first, committed); page < end; ++page) {
        row[page] = found[page - committed]->second.pages[group];
        hold(row[page]);
      }
      for (int64_t page = request.first[group];
           page < std::min(first, committed); ++page) {
        drop(row[page], request.stamp, value(request, page), false);
        row[page] = -1;
      }
      request.first[group] =
          static_cast<int>(std::max<int64_t>(request.first[group], first));
    }
    if (result.hitPages > 0) {
      request.committed = request.held = static_cast<int>(end);
      request.processed = end * options.pageSize;
    }
    int64_t fresh = result.newPages;
    int64_t length = demand.draft +
                     std::min(demand.length - request.processed, demand.chunk);
    if (request.borrows && length > 0) {
      fresh -= tailCopies(request);
      for (int group = 0; group < numGroups(); ++group) {
        int &own = request.rows[group].back();
        if (pages[own].holds == 1 && !pages[own].named)
          continue;
        int copied = allocate(group);
        ++copies;
        touchNext(request, own, copied);
        request.floor =
            valid(request.floor).with(value(request, request.held - 1));
        request.floor =
            drop(own, request.stamp, request.floor, request.epoch != epoch);
        own = copied;
      }
      request.borrows = false;
    }
    for (int group = 0; group < numGroups(); ++group)
      for (int64_t i = 0; i < fresh / numGroups(); ++i) {
        int page = allocate(group);
        request.rows[group].push_back(page);
        if (options.groups[group].zeroFill)
          touchNext(request, -1, page);
      }
    request.held += static_cast<int>(fresh / numGroups());
    return result;
  }
  /// An operation of the next step has these pages.
  void touchNext(Request &request, int source, int target) {
    uint64_t next = opened + 1;
    request.stamp = std::max(request.stamp, next);
    pages[target].stamp = next;
    if (source >= 0) {
      pages[source].stamp = std::max(pages[source].stamp, next);
      ++copiesQueued;
    }
  }

  void commit(int slot, const Prompt &prompt, int64_t processed) {
    Request &request = requests[slot];
    request.processed = processed;
    bool stale = request.epoch != epoch;
    while (request.indexes && !stale &&
           int64_t(request.committed + 1) * options.pageSize <= processed) {
      int page = request.committed;
      std::string text = key(request, prompt, page);
      NodeAt node = nodes.find(text);
      if (node == nodes.end()) {
        if (static_cast<int64_t>(nodes.size()) == nodeCapacity) {
          request.indexes = false;
          break;
        }
        std::string parent = page > 0 ? request.keys[page - 1] : "";
        node = nodes
                   .insert({text,
                            {.pages = std::vector<int>(numGroups(), -1),
                             .parent = parent}})
                   .first;
        if (page > 0)
          ++nodes.at(parent).children;
      }
      for (int group = 0; group < numGroups(); ++group) {
        int &own = request.rows[group][page], &twin = node->second.pages[group];
        if (twin < 0) {
          twin = own;
          pages[own].named = true;
          pages[own].node = node;
        } else if (twin != own) {
          hold(twin);
          if (options.keepReplaced)
            request.replaced.emplace_back(page, own);
          else
            drop(own, request.stamp, {}, false);
          own = twin;
        }
      }
      ++request.committed;
    }
    for (int group = 0; group < numGroups(); ++group) {
      int &first = request.first[group];
      for (; first <
             std::min<int64_t>(firstNeeded(group, processed), request.held);
           ++first) {
        int &page = request.rows[group][first];
        drop(page, request.stamp, value(request, first), stale);
        page = -1;
      }
    }
  }

  bool canKeep(const Request &request, int64_t tokens) const {
    bool can = tokens >= 0 && tokens <= request.processed;
    for (int group = 0; can && group < numGroups(); ++group)
      for (int64_t page = firstNeeded(group, tokens); page < pagesFor(tokens);
           ++page)
        can &= request.rows[group][page] >= 0;
    return can;
  }

  /// Whether a step that has begun is too early for a request: operations on
  /// its pages, or on the one that it would write to, come with the next.
  bool waits(const Request &request) const {
    bool waiting = request.stamp > opened;
    for (int group = 0;
         request.processed % options.pageSize != 0 && group < numGroups();
         ++group)
      if (int tail = request.rows[group][request.processed / options.pageSize];
          tail >= 0)
        waiting |= pages[tail].stamp > opened;
    return waiting;
  }

  void fork(int slot, int into, int64_t tokens, const Retention &retention) {
    const Request &source = requests[slot];
    Request request = source;
    int64_t full = tokens / options.pageSize;
    request.processed = tokens;
    request.held = static_cast<int>(pagesFor(tokens));
    request.committed =
        static_cast<int>(std::min<int64_t>(source.committed, full));
    request.borrows = tokens % options.pageSize != 0;
    request.floor = {};
    request.replaced.clear();
    request.stamp = source.stamp > opened ? source.stamp : 0;
    request.retention = retention;
    request.keys.resize(std::min<size_t>(request.keys.size(), full));
    for (int group = 0; group < numGroups(); ++group) {
      std::vector<int> &row = request.rows[group];
      row.resize(request.held);
      request.first[group] = static_cast<int>(
          std::min<int64_t>(firstNeeded(group, tokens), request.held));
      std::fill_n(row.begin(), request.first[group], -1);
      for (int page : row)
        if (page >= 0)
          hold(page);
    }
    requests[into] = std::move(request);
  }

  void dropReplaced(Request &request, int64_t entries) {
    std::erase_if(request.replaced, [&](const auto &place) {
      if (place.first >= entries)
        drop(place.second, request.stamp, {}, false);
      return place.first >= entries;
    });
  }

  void dropBehind(Request &request, int64_t entries) {
    dropReplaced(request, entries);
    Value most = valid(request.floor);
    for (int64_t page = request.held - 1; page >= entries; --page) {
      most = most.with(value(request, page));
      for (int group = numGroups(); group-- > 0;)
        if (int at = request.rows[group][page]; at >= 0)
          most = drop(at, request.stamp, most, request.epoch != epoch);
    }
    request.floor = most;
    request.held = static_cast<int>(std::min<int64_t>(request.held, entries));
    for (int group = 0; group < numGroups(); ++group) {
      request.rows[group].resize(request.held);
      request.first[group] = std::min(request.first[group], request.held);
    }
  }

  void truncate(int slot, int64_t tokens) {
    Request &request = requests[slot];
    int64_t full = tokens / options.pageSize;
    bool sameTail =
        request.borrows && full == request.processed / options.pageSize;
    dropReplaced(request, full);
    dropBehind(request, pagesFor(tokens));
    request.committed =
        static_cast<int>(std::min<int64_t>(request.committed, full));
    request.processed = tokens;
    request.keys.resize(std::min<size_t>(request.keys.size(), full));
    request.borrows = false;
    for (int group = 0; tokens % options.pageSize && group < numGroups();
         ++group) {
      const Page &tail = pages[request.rows[group].back()];
      request.borrows |= sameTail || tail.holds > 1 || tail.named;
    }
  }

  void release(int slot) {
    dropBehind(requests[slot], 0);
    requests[slot].open = false;
  }

  //===--------------------------------------------------------------------===//
  // Steps
  //===--------------------------------------------------------------------===//

  bool canBegin() const {
    return opened - completed < static_cast<uint64_t>(options.maxOpenSteps);
  }
  void begin() {
    ++opened;
    done.push_back(false);
    copiesQueued = 0;
  }
  bool isOpen(uint64_t ticket) const {
    return ticket > completed && ticket <= opened && !done[ticket];
  }
  void complete(uint64_t ticket) {
    done[ticket] = true;
    while (completed < opened && done[completed + 1]) {
      ++completed;
      std::vector<int> waiting;
      for (size_t at = 0; at < pages.size(); ++at)
        if (pages[at].state == Deferred && pages[at].stamp == completed)
          waiting.push_back(static_cast<int>(at));
      std::ranges::sort(waiting, {}, [&](int at) {
        return std::tuple(!pages[at].stale, pages[at].order);
      });
      for (int at : waiting)
        settle(pages[at]);
    }
  }

  /// Returns how many cached pages fall to the default.
  int64_t setTime(int64_t to) {
    int64_t fallen = 0;
    time = to;
    std::vector<Page *> over;
    for (Page &page : pages)
      if (page.value.until > 0 && page.value.until <= now())
        over.push_back(&page);
    std::ranges::sort(over, {}, [](const Page *page) {
      return std::pair(page->value.until, page->limited);
    });
    for (Page *page : over) {
      page->value = {.priority = Retention::Default};
      if (page->state == Cached) {
        page->order = ++clock;
        ++fallen;
      }
    }
    return fallen;
  }

  void reset() {
    ++epoch;
    for (Page &page : pages)
      page.value.until = 0;
    for (int at : cached()) {
      pages[at].stale = true;
      pages[at].order = ++clock;
    }
    // Deferred ones queue up behind those that were stale before.
    std::vector<Page *> waiting;
    for (Page &page : pages)
      if (page.state == Deferred && !page.stale)
        waiting.push_back(&page);
    std::ranges::sort(waiting, {}, &Page::order);
    for (Page *page : waiting) {
      page->stale = true;
      page->order = ++clock;
    }
  }
};

} // namespace kv::test

#endif // KV_TEST_UNIT_ENGINE_ENGINEMODEL_H
