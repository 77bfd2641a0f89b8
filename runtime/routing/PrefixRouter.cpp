//===- PrefixRouter.cpp - Which machine a request goes to -----------------===//

#include "kv/Runtime/Routing/PrefixRouter.h"

#include "BlockMap.h"
#include "LoadOrder.h"

#include <utility>

using namespace kv;

struct PrefixRouter::State {
  explicit State(uint32_t machines)
      : counts(machines), stateCounts(machines), order(machines) {}

  BlockMap blocks, states;
  bool hasStates = false;
  std::vector<int64_t> counts, stateCounts; // by machine
  LoadOrder order;
};

PrefixRouter::PrefixRouter(uint32_t machines)
    : state(std::make_unique<State>(machines)) {}
PrefixRouter::~PrefixRouter() = default;
PrefixRouter::PrefixRouter(PrefixRouter &&) noexcept = default;

uint32_t PrefixRouter::numMachines() const {
  return static_cast<uint32_t>(state->counts.size());
}

void PrefixRouter::stored(Machine machine, std::span<const uint64_t> blocks) {
  for (uint64_t block : blocks)
    state->counts[machine] += state->blocks.insert(block, machine);
}

void PrefixRouter::removed(Machine machine, std::span<const uint64_t> blocks) {
  for (uint64_t block : blocks)
    state->counts[machine] -= state->blocks.erase(block, machine);
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
  auto isIn = [&](const BlockMap &map, int64_t page) {
    const MachineSet *machines = map.find(prompt[page]);
    return machines && machines->contains(machine);
  };
  int64_t pages = firstMissing(0, std::ssize(prompt), [&](int64_t page) {
    return isIn(state->blocks, page);
  });
  while (state->hasStates && pages > 0 && !isIn(state->states, pages - 1))
    --pages;
  return pages;
}

PrefixRouter::Choice
PrefixRouter::choose(std::span<const uint64_t> prompt) const {
  // Of many machines with the same prefix, that many are looked at.
  constexpr int Steps = 256;
  const LoadOrder &order = state->order;
  Choice best;
  int64_t least = INT64_MAX;
  auto consider = [&](Machine machine, int64_t pages) {
    int64_t cost = order.load(machine) + std::ssize(prompt) - pages;
    // Where it costs the same, the longer prefix leaves others their room.
    if (cost < least || (cost == least && pages > best.hitPages)) {
      least = cost;
      best = {machine, pages, true};
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
  if (best.isFound)
    best.hitPages = hit(best.machine, prompt);
  return best;
}
