//===- route-simulation.cpp - A router before many machines ---------------===//
//
// route-simulation TRACE MACHINES PAGES REQUESTS_AT_ONCE REPEATS [ROUTERS
// [STATES]]
//
// TRACE as cache-replay has it, with a page a block of 512 tokens; `-`: made up
// here, conversations whose turns go on, of 24 blocks in the middle. It is
// played REPEATS times, each time by other users: only the first two blocks of
// a prompt, an instruction of all, are the same. A machine keeps PAGES pages,
// evicts what was used least recently, and tells the router when it has
// computed a prompt. REQUESTS_AT_ONCE is how many are on their way: they are a
// machine's load meanwhile. With ROUTERS routers each has an equal part of the
// machines and of the users, and follows its own machines alone: no request
// costs more than with so many machines, and nothing is shared. With STATES
// the model has recurrent layers: a machine keeps so many states, each behind
// the end of a prompt, and a prefix is a hit up to one of them.
//
// Prints "name <tab> value": machines, requests, pages; pages hit where the
// router chose (routed), where a machine is chosen in turn (turns), and that
// one machine with all memory would hit (whole), each of all pages; requests
// whose hit was as predicted; microseconds of CPU time of choose() of a
// request: mean, and of the slowest hundredth; of all that the router does for
// a request with the events of it; the largest load of the mean's.
//
//===----------------------------------------------------------------------===//

#include "trace.h"

#include "kv/Runtime/Routing/PrefixRouter.h"

#include <algorithm>
#include <cstdio>
#include <deque>
#include <list>
#include <random>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

using namespace kv;
using namespace kv::benchmark;

namespace {

uint64_t mix(uint64_t hash, uint64_t with) {
  hash = (hash ^ with) * 0x9E3779B97F4A7C15ull;
  return hash ^ (hash >> 29);
}

/// Names of the full pages of a request of this user.
std::vector<uint64_t> pagesOf(const Request &request, uint64_t user) {
  std::vector<uint64_t> names;
  uint64_t hash = 1;
  size_t count = static_cast<size_t>(request.length / BlockTokens);
  for (size_t at = 0; at < std::min(count, request.blocks.size()); ++at) {
    hash = mix(hash, static_cast<uint64_t>(request.blocks[at]));
    if (at >= 2)
      hash = mix(hash, user + 1);
    names.push_back(hash);
  }
  return names;
}

std::vector<Request> madeUp() {
  std::mt19937 random(1);
  std::vector<Request> requests;
  std::vector<std::vector<int32_t>> open;
  int32_t next = 2;
  for (int i = 0; i < 20'000; ++i) {
    size_t which = random() % 3000;
    if (which >= open.size() || random() % 8 == 0) {
      open.push_back({0, 1});
      which = open.size() - 1;
    }
    std::vector<int32_t> &blocks = open[which];
    for (uint32_t more = 1 + random() % 12; more-- > 0;)
      blocks.push_back(next++);
    requests.push_back(
        {BlockTokens * static_cast<int64_t>(blocks.size()), blocks});
    if (blocks.size() > 200)
      blocks.resize(2);
  }
  return requests;
}

/// Least recently used goes first; of one request, its end.
class Cache {
public:
  explicit Cache(int64_t capacity) : capacity(capacity) {}

  int64_t hit(const std::vector<uint64_t> &pages) const {
    int64_t count = 0;
    while (count < std::ssize(pages) &&
           where.contains(pages[static_cast<size_t>(count)]))
      ++count;
    return count;
  }
  void serve(const std::vector<uint64_t> &pages, std::vector<uint64_t> &stored,
             std::vector<uint64_t> &removed) {
    stored.clear();
    removed.clear();
    for (size_t at = pages.size(); at-- > 0;) {
      auto [place, isNew] = where.try_emplace(pages[at]);
      if (!isNew)
        order.erase(place->second);
      else
        stored.push_back(pages[at]);
      place->second = order.insert(order.end(), pages[at]);
    }
    std::ranges::reverse(stored);
    while (std::ssize(order) > capacity) {
      removed.push_back(order.front());
      where.erase(order.front());
      order.pop_front();
    }
  }

private:
  int64_t capacity;
  std::list<uint64_t> order;
  std::unordered_map<uint64_t, std::list<uint64_t>::iterator> where;
};

/// States of a machine; the oldest goes first, and with its page.
class States {
public:
  int64_t hit(const std::vector<uint64_t> &pages, int64_t most) const {
    while (most > 0 && !known.contains(pages[static_cast<size_t>(most - 1)]))
      --most;
    return most;
  }
  void serve(const std::vector<uint64_t> &pages, size_t capacity,
             const std::vector<uint64_t> &lost, std::vector<uint64_t> &stored,
             std::vector<uint64_t> &removed) {
    stored.clear();
    removed.clear();
    for (uint64_t page : lost)
      if (known.erase(page))
        removed.push_back(page);
    if (!pages.empty() && known.insert(pages.back()).second) {
      order.push_back(pages.back());
      stored.push_back(pages.back());
    }
    while (known.size() > capacity) {
      if (known.erase(order.front()))
        removed.push_back(order.front());
      order.pop_front();
    }
  }

private:
  std::unordered_set<uint64_t> known;
  std::deque<uint64_t> order; // also of some that are gone
};

/// Machines behind routers, and what they would be without.
class Simulation {
public:
  Simulation(uint32_t machines, uint32_t numRouters, int64_t capacity,
             size_t numStates, size_t atOnce)
      : machines(machines), part(machines / numRouters), numStates(numStates),
        atOnce(atOnce), states(machines), routed(machines, Cache(capacity)),
        turns(machines, Cache(capacity)), whole(capacity * machines) {
    for (uint32_t i = 0; i < numRouters; ++i)
      routers.emplace_back(part);
  }

  void run(const std::vector<uint64_t> &prompt, uint32_t which) {
    PrefixRouter &router = routers[which];
    double start = cpuSeconds();
    PrefixRouter::Choice choice = router.choose(prompt);
    double chosen = cpuSeconds();
    uint32_t machine = which * part + choice.machine;
    begin(machine, std::max<int64_t>(std::ssize(prompt) - choice.hitPages, 1));
    double told = cpuSeconds();
    int64_t hit = serve(machine, prompt);
    double events = cpuSeconds();
    router.stored(choice.machine, stored);
    router.removed(choice.machine, removed);
    if (numStates > 0) {
      router.storedStates(choice.machine, storedStates);
      router.removedStates(choice.machine, removedStates);
    }
    double end = cpuSeconds();
    times.push_back(1e6 * (chosen - start));
    all += 1e6 * ((told - start) + (end - events));
    predicted += hit == choice.hitPages;
    hits += hit;
    pages += std::ssize(prompt);
    if (running.size() == atOnce)
      largest =
          std::max(largest, static_cast<double>(router.load(choice.machine)) *
                                machines / static_cast<double>(load));
    Cache &other = turns[static_cast<size_t>(requests++ % machines)];
    turnHits += other.hit(prompt);
    other.serve(prompt, stored, removed);
    wholeHits += whole.hit(prompt);
    whole.serve(prompt, stored, removed);
  }

  void print() {
    double sum = 0;
    for (double time : times)
      sum += time;
    std::ranges::sort(times);
    auto rate = [&](int64_t of) {
      return static_cast<double>(of) /
             static_cast<double>(std::max<int64_t>(pages, 1));
    };
    auto count = static_cast<double>(requests);
    std::printf("machines\t%u\nrequests\t%lld\npages\t%lld\n", machines,
                static_cast<long long>(requests),
                static_cast<long long>(pages));
    std::printf("routed\t%.4f\nturns\t%.4f\nwhole\t%.4f\n", rate(hits),
                rate(turnHits), rate(wholeHits));
    std::printf("predicted\t%.4f\n", static_cast<double>(predicted) / count);
    std::printf("choose\t%.3f\nchoose p99\t%.3f\nall\t%.3f\n", sum / count,
                times[times.size() * 99 / 100], all / count);
    std::printf("largest load\t%.2f\n", largest);
  }

private:
  struct Running {
    uint32_t machine; // of all
    int64_t load;
  };

  void begin(uint32_t machine, int64_t lacks) {
    addLoad(machine, lacks);
    running.push_back({machine, lacks});
    if (running.size() > atOnce) {
      addLoad(running.front().machine, -running.front().load);
      running.pop_front();
    }
  }

  void addLoad(uint32_t machine, int64_t pages) {
    routers[machine / part].addLoad(machine % part, pages);
    load += pages;
  }

  /// The pages that the machine had.
  int64_t serve(uint32_t machine, const std::vector<uint64_t> &prompt) {
    int64_t hit = routed[machine].hit(prompt);
    routed[machine].serve(prompt, stored, removed);
    if (numStates == 0)
      return hit;
    hit = states[machine].hit(prompt, hit);
    states[machine].serve(prompt, numStates, removed, storedStates,
                          removedStates);
    return hit;
  }

  uint32_t machines, part; // of all routers, of one
  size_t numStates, atOnce;
  std::vector<PrefixRouter> routers;
  std::vector<States> states;
  std::vector<Cache> routed, turns;
  Cache whole;
  std::deque<Running> running;
  std::vector<uint64_t> stored, removed, storedStates, removedStates;
  std::vector<double> times;
  double all = 0, largest = 0;
  int64_t requests = 0, pages = 0, hits = 0, turnHits = 0, wholeHits = 0;
  int64_t predicted = 0, load = 0;
};

} // namespace

int main(int argc, char **argv) {
  if (argc < 6 || argc > 8) {
    std::fprintf(stderr, "usage: route-simulation TRACE MACHINES PAGES "
                         "REQUESTS_AT_ONCE REPEATS [ROUTERS [STATES]]\n");
    return 2;
  }
  std::vector<Request> trace =
      std::string_view(argv[1]) == "-" ? madeUp() : readTrace(argv[1]);
  auto machines = static_cast<uint32_t>(std::atoll(argv[2]));
  int64_t capacity = std::atoll(argv[3]);
  auto atOnce = static_cast<size_t>(std::atoll(argv[4]));
  int64_t repeats = std::atoll(argv[5]);
  auto numRouters = static_cast<uint32_t>(argc > 6 ? std::atoll(argv[6]) : 1);
  if (trace.empty() || machines == 0) {
    std::fprintf(stderr, "route-simulation: %s: no request\n", argv[1]);
    return 1;
  }
  if (numRouters == 0 || machines % numRouters || repeats % numRouters) {
    std::fprintf(stderr,
                 "route-simulation: %u routers, allowed: a divisor of MACHINES "
                 "and of REPEATS\n",
                 numRouters);
    return 1;
  }
  auto numStates = static_cast<size_t>(argc > 7 ? std::atoll(argv[7]) : 0);
  Simulation simulation(machines, numRouters, capacity, numStates, atOnce);
  for (const Request &request : trace)
    for (int64_t user = 0; user < repeats; ++user)
      simulation.run(pagesOf(request, static_cast<uint64_t>(user)),
                     static_cast<uint32_t>(user) % numRouters);
  simulation.print();
  return 0;
}
