//===- PrefixRouter.h - Which machine a request goes to ---------*- C++ -*-===//
//
// Knows which machine has which prefix in its cache, as their events tell
// (docs/guides/routing.md), and how much each has to do; sends a request where
// it is done first. Pages are known by the hashes of their prefixes, which are
// equal in all processes.
//
// One thread at a time.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_ROUTING_PREFIXROUTER_H
#define KV_RUNTIME_ROUTING_PREFIXROUTER_H

#include "kv/Runtime/Engine/CacheEvents.h"

#include <cstdint>
#include <memory>
#include <span>

namespace kv {

class PrefixRouter {
public:
  using Machine = uint32_t;

  /// Of `machines` machines, 0 to machines - 1, which have nothing. A page that
  /// is loaded from a machine's host memory or disk counts as `tierPercent`
  /// hundredths of one that its device has: 0 to 100.
  explicit PrefixRouter(uint32_t machines, int64_t tierPercent = 75);
  ~PrefixRouter();
  PrefixRouter(PrefixRouter &&) noexcept;

  uint32_t numMachines() const;

  //===--- What machines have ---------------------------------------------===//

  /// Told twice is told once. `blocks`: hashes of prefixes. What a store that
  /// machines share has belongs to no machine, and is not counted.
  void stored(Machine machine, std::span<const uint64_t> blocks,
              Tier tier = Tier::Device);
  void removed(Machine machine, std::span<const uint64_t> blocks,
               Tier tier = Tier::Device);
  /// The same of states of recurrent layers behind these prefixes. Once any
  /// machine has told of one, a prefix is a hit only up to a state.
  void storedStates(Machine machine, std::span<const uint64_t> blocks);
  void removedStates(Machine machine, std::span<const uint64_t> blocks);
  /// It has nothing any more. O(1) if it had nothing, else O(all blocks).
  void cleared(Machine machine);
  /// Whether it may be chosen: one that is not heard of may not.
  void setUsable(Machine machine, bool isUsable);

  /// Prefixes that any device has; those that a machine's has.
  int64_t numBlocks() const;
  int64_t numBlocks(Machine machine) const;

  /// Pages of the prompt that the machine has, from the first on without a
  /// gap, if it gives up what hangs on a page before the page, as ours do;
  /// else maybe fewer or more. O(log pages); with states a look at each page
  /// behind the last state more.
  int64_t hit(Machine machine, std::span<const uint64_t> prompt) const;
  /// Pages behind those that the machine would load from its host memory and
  /// disk. Of models with recurrent layers, none. O(these pages): tiers may
  /// lose a page before what hangs on it.
  int64_t tierHit(Machine machine, std::span<const uint64_t> prompt,
                  int64_t hit) const;

  //===--- Where a request goes -------------------------------------------===//

  struct Choice {
    Machine machine = 0;
    int64_t hitPages = 0;  // those that are loaded included
    int64_t tierPages = 0; // of these, the last ones: they are loaded
    bool isFound = false;  // false: no machine can be used
  };
  /// The machine that has computed the prompt first: of those that have the
  /// longest prefix, shorter ones, or none, the one with the least sum of its
  /// load and of the pages of the prompt that it lacks, or a share of those
  /// that it loads. O(log pages), whatever the number of machines; of many that
  /// have the same prefix, the least loaded is searched for in a bounded number
  /// of steps.
  Choice choose(std::span<const uint64_t> prompt) const;

  /// What a machine has to do, in pages that are computed in the same time: a
  /// request adds those that it lacks, and what its answer may cost, and takes
  /// them away when it is over.
  void addLoad(Machine machine, int64_t pages);
  int64_t load(Machine machine) const;

private:
  struct State;
  struct Search;
  std::unique_ptr<State> state;
};

} // namespace kv

#endif // KV_RUNTIME_ROUTING_PREFIXROUTER_H
