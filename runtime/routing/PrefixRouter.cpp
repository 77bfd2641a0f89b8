//===- PrefixRouter.cpp - Which machine a request goes to -----------------===//

#include "kv/Runtime/Routing/PrefixRouter.h"

#include "BlockMap.h"
#include "LoadOrder.h"

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

PrefixRouter::Choice
PrefixRouter::choose(std::span<const uint64_t> prompt) const {
  // Of many machines with the same prefix, that many are looked at.
  constexpr int Steps = 256;
  // Of those with a prefix beside their devices, that many in all.
  constexpr int TierSteps = 16;
  const LoadOrder &order = state->order;
  Choice best;
  int64_t least = INT64_MAX;
  auto consider = [&](Machine machine, int64_t pages, int64_t tierPages = 0) {
    int64_t cost = 100 * (order.load(machine) + std::ssize(prompt) - pages) -
                   state->tierPercent * tierPages;
    pages += tierPages;
    // Where it costs the same, the longer prefix leaves others their room.
    if (cost < least || (cost == least && pages > best.hitPages)) {
      least = cost;
      best = {machine, pages, tierPages, true};
    }
  };
  auto considerAll = [&](const MachineSet &machines, int64_t pages) {
    if (machines.isListed()) {
      machines.visit([&](Machine machine) {
        if (order.isUsable(machine))
          consider(machine, pages);
      });
      return;
    }
    int left = Steps;
    order.walk([&](Machine machine) {
      bool isThere = machines.contains(machine);
      if (isThere)
        consider(machine, pages);
      return !isThere && --left > 0;
    });
  };
  // As for devices, but of each machine it is seen how much it has where.
  auto considerTiers = [&] {
    int64_t end = std::ssize(prompt);
    int64_t most = firstMissing(0, end, [&](int64_t page) {
      return state->blocks.find(prompt[page]) ||
             state->host.find(prompt[page]) || state->disk.find(prompt[page]);
    });
    int left = TierSteps;
    auto look = [&](Machine machine) {
      if (left-- <= 0 || !order.isUsable(machine))
        return;
      int64_t pages = hit(machine, prompt);
      int64_t all = firstMissing(pages, most, [&](int64_t page) {
        return state->isBeside(machine, prompt[page]);
      });
      consider(machine, pages, all - pages);
    };
    for (int64_t pages = most; pages > 0 && left > 0; pages /= 2)
      for (const BlockMap *map : {&state->host, &state->disk})
        if (const MachineSet *machines = map->find(prompt[pages - 1])) {
          if (machines->isListed()) {
            machines->visit(look);
            continue;
          }
          int steps = Steps;
          order.walk([&](Machine machine) {
            bool isThere = machines->contains(machine);
            if (isThere)
              look(machine);
            return !isThere && --steps > 0;
          });
        }
  };
  // The least loaded of all computes everything; others have the longest prefix
  // that there is, or half of it, and so on.
  order.walk([&](Machine machine) {
    consider(machine, 0);
    return false;
  });
  int64_t longest = firstMissing(0, std::ssize(prompt), [&](int64_t page) {
    return state->blocks.find(prompt[page]) != nullptr;
  });
  if (state->hasStates) {
    int left = 8; // places where there are states
    for (int64_t pages = longest; pages > 0 && left > 0; --pages)
      if (const MachineSet *machines = state->states.find(prompt[pages - 1])) {
        considerAll(*machines, pages);
        --left;
      }
  } else {
    for (int64_t pages = longest; pages > 0; pages /= 2)
      if (const MachineSet *machines = state->blocks.find(prompt[pages - 1]))
        considerAll(*machines, pages);
  }
  if (state->hasTiers && !state->hasStates)
    considerTiers();
  if (best.isFound) {
    int64_t pages = hit(best.machine, prompt);
    best.tierPages = tierHit(best.machine, prompt, pages);
    best.hitPages = pages + best.tierPages;
  }
  return best;
}
