//===- PrefixRouter.cpp - Which machine a request goes to -----------------===//

#include "kv/Runtime/Routing/PrefixRouter.h"

#include "BlockMap.h"
#include "LoadOrder.h"

#include <climits>
#include <utility>

using namespace kv;

static bool has(const BlockMap &map, uint64_t block, uint32_t machine) {
  const MachineSet *machines = map.find(block);
  return machines && machines->contains(machine);
}

struct PrefixRouter::State {
  State(uint32_t machines, int64_t tierPercent)
      : tierPercent(tierPercent), counts(machines), stateCounts(machines),
        tierCounts(machines), order(machines) {}

  const int64_t tierPercent;
  BlockMap host, disk;
  bool hasTiers = false;
  BlockMap *mapOf(Tier tier) {
    return tier == Tier::Device ? &blocks
           : tier == Tier::Host ? &host
           : tier == Tier::Disk ? &disk
                                : nullptr;
  }
  bool isBeside(uint32_t machine, uint64_t block) const {
    return has(host, block, machine) || has(disk, block, machine);
  }
  int64_t &countOf(uint32_t machine, Tier tier) {
    return (tier == Tier::Device ? counts : tierCounts)[machine];
  }

  BlockMap blocks, states;
  bool hasStates = false;
  std::vector<int64_t> counts, stateCounts, tierCounts; // by machine
  LoadOrder order;
};

PrefixRouter::PrefixRouter(uint32_t machines, int64_t tierPercent)
    : state(std::make_unique<State>(machines, tierPercent)) {}
PrefixRouter::~PrefixRouter() = default;
PrefixRouter::PrefixRouter(PrefixRouter &&) noexcept = default;

uint32_t PrefixRouter::numMachines() const {
  return static_cast<uint32_t>(state->counts.size());
}

void PrefixRouter::stored(Machine machine, std::span<const uint64_t> blocks,
                          Tier tier) {
  BlockMap *map = state->mapOf(tier);
  if (!map)
    return;
  int64_t &count = state->countOf(machine, tier);
  state->hasTiers |= tier != Tier::Device;
  for (uint64_t block : blocks)
    count += map->insert(block, machine);
}

void PrefixRouter::removed(Machine machine, std::span<const uint64_t> blocks,
                           Tier tier) {
  BlockMap *map = state->mapOf(tier);
  if (!map)
    return;
  int64_t &count = state->countOf(machine, tier);
  for (uint64_t block : blocks)
    count -= map->erase(block, machine);
}

void PrefixRouter::storedStates(Machine machine,
                                std::span<const uint64_t> blocks) {
  state->hasStates = true;
  for (uint64_t block : blocks)
    state->stateCounts[machine] += state->states.insert(block, machine);
}

void PrefixRouter::removedStates(Machine machine,
                                 std::span<const uint64_t> blocks) {
  for (uint64_t block : blocks)
    state->stateCounts[machine] -= state->states.erase(block, machine);
}

void PrefixRouter::cleared(Machine machine) {
  if (std::exchange(state->counts[machine], 0) > 0)
    state->blocks.erase(machine);
  if (std::exchange(state->stateCounts[machine], 0) > 0)
    state->states.erase(machine);
  if (std::exchange(state->tierCounts[machine], 0) > 0) {
    state->host.erase(machine);
    state->disk.erase(machine);
  }
}

void PrefixRouter::setUsable(Machine machine, bool isUsable) {
  state->order.setUsable(machine, isUsable);
}

int64_t PrefixRouter::numBlocks() const { return state->blocks.size(); }

int64_t PrefixRouter::numBlocks(Machine machine) const {
  return state->counts[machine];
}

void PrefixRouter::addLoad(Machine machine, int64_t pages) {
  state->order.add(machine, pages);
}

int64_t PrefixRouter::load(Machine machine) const {
  return state->order.load(machine);
}

/// The first page in [least, end) of which isThere(page) is not true, if those
/// before it all are.
template <class IsThere>
static int64_t firstMissing(int64_t least, int64_t end, IsThere &&isThere) {
  while (least < end) {
    int64_t middle = least + (end - least) / 2;
    if (isThere(middle))
      least = middle + 1;
    else
      end = middle;
  }
  return least;
}

int64_t PrefixRouter::hit(Machine machine,
                          std::span<const uint64_t> prompt) const {
  int64_t pages = firstMissing(0, std::ssize(prompt), [&](int64_t page) {
    return has(state->blocks, prompt[page], machine);
  });
  while (state->hasStates && pages > 0 &&
         !has(state->states, prompt[pages - 1], machine))
    --pages;
  return pages;
}

int64_t PrefixRouter::tierHit(Machine machine, std::span<const uint64_t> prompt,
                              int64_t hit) const {
  int64_t pages = hit;
  while (state->hasTiers && !state->hasStates && pages < std::ssize(prompt) &&
         state->isBeside(machine, prompt[pages]))
    ++pages;
  return pages - hit;
}

/// The cheapest machine that choose() has seen so far.
struct PrefixRouter::Search {
  const PrefixRouter &router;
  std::span<const uint64_t> prompt;
  Choice best = {};
  int64_t least = INT64_MAX;

  void consider(Machine machine, int64_t pages, int64_t tierPages = 0);
  template <class Visit>
  void visitSome(const MachineSet &machines, Visit &&visit) const;
  void considerDevices();
  void considerTiers();
};

void PrefixRouter::Search::consider(Machine machine, int64_t pages,
                                    int64_t tierPages) {
  const State &state = *router.state;
  if (!state.order.isUsable(machine))
    return;
  int64_t lacks = std::ssize(prompt) - pages;
  int64_t cost =
      100 * (state.order.load(machine) + lacks) - state.tierPercent * tierPages;
  pages += tierPages;
  // Where it costs the same, the longer prefix leaves others their room.
  if (cost < least || (cost == least && pages > best.hitPages)) {
    least = cost;
    best = {machine, pages, tierPages, true};
  }
}

/// Calls visit(machine) for all of a few machines, and of many for the least
/// loaded one, unless that takes too many steps.
template <class Visit>
void PrefixRouter::Search::visitSome(const MachineSet &machines,
                                     Visit &&visit) const {
  if (machines.isListed())
    return machines.visit(visit);
  int left = 256;
  router.state->order.walk([&](Machine machine) {
    bool isThere = machines.contains(machine);
    if (isThere)
      visit(machine);
    return !isThere && --left > 0;
  });
}

/// Considers the machines that have the longest prefix, or half of it, and so
/// on.
void PrefixRouter::Search::considerDevices() {
  const State &state = *router.state;
  int64_t longest = firstMissing(0, std::ssize(prompt), [&](int64_t page) {
    return state.blocks.find(prompt[page]) != nullptr;
  });
  const BlockMap &map = state.hasStates ? state.states : state.blocks;
  int left = state.hasStates ? 8 : INT_MAX; // places where there are states
  for (int64_t pages = longest; pages > 0 && left > 0;
       pages = state.hasStates ? pages - 1 : pages / 2)
    if (const MachineSet *machines = map.find(prompt[pages - 1])) {
      visitSome(*machines, [&](Machine one) { consider(one, pages); });
      --left;
    }
}

/// Considers machines by their prefixes in tiers, and counts for each machine
/// how many pages it has where.
void PrefixRouter::Search::considerTiers() {
  const State &state = *router.state;
  int64_t most = firstMissing(0, std::ssize(prompt), [&](int64_t page) {
    return state.blocks.find(prompt[page]) || state.host.find(prompt[page]) ||
           state.disk.find(prompt[page]);
  });
  int left = 16; // machines
  auto look = [&](Machine machine) {
    if (left-- <= 0 || !state.order.isUsable(machine))
      return;
    int64_t pages = router.hit(machine, prompt);
    int64_t all = firstMissing(pages, most, [&](int64_t page) {
      return state.isBeside(machine, prompt[page]);
    });
    consider(machine, pages, all - pages);
  };
  for (int64_t pages = most; pages > 0 && left > 0; pages /= 2)
    for (const BlockMap *map : {&state.host, &state.disk})
      if (const MachineSet *machines = map->find(prompt[pages - 1]))
        visitSome(*machines, look);
}

PrefixRouter::Choice
PrefixRouter::choose(std::span<const uint64_t> prompt) const {
  Search search = {*this, prompt};
  // The least loaded of all computes everything.
  state->order.walk([&](Machine machine) {
    search.consider(machine, 0);
    return false;
  });
  search.considerDevices();
  if (state->hasTiers && !state->hasStates)
    search.considerTiers();
  Choice &best = search.best;
  if (best.isFound) {
    int64_t pages = hit(best.machine, prompt);
    best.tierPages = tierHit(best.machine, prompt, pages);
    best.hitPages = pages + best.tierPages;
  }
  return best;
}
