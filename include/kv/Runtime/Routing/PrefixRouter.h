//===- PrefixRouter.h - Which machine a request goes to ---------*- C++ -*-===//
//
// Sends a request to the machine that will compute its prompt first. The events
// of the machines tell which prefixes each has in its cache
// (docs/guides/routing.md), and the router counts the load of each. Pages are
// known by the hashes of their prefixes, which are equal in all processes.
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

  /// Told twice is told once. `blocks`: hashes of prefixes. Pages in a store
  /// that machines share belong to no machine, and are not counted.
  void stored(Machine machine, std::span<const uint64_t> blocks,
              Tier tier = Tier::Device);
  void removed(Machine machine, std::span<const uint64_t> blocks,
               Tier tier = Tier::Device);
  /// The machine has stored or removed states of recurrent layers after these
  /// prefixes. Once any machine has told of a state, a prefix is a hit only up
  /// to a state.
  void storedStates(Machine machine, std::span<const uint64_t> blocks);
  void removedStates(Machine machine, std::span<const uint64_t> blocks);
  /// The machine has nothing any more. O(1) if it had nothing, else O(all
  /// blocks).
  void cleared(Machine machine);
  /// Whether it may be chosen: one that is not heard of may not.
  void setUsable(Machine machine, bool isUsable);

  /// Prefixes that any device has; those that a machine's has.
  int64_t numBlocks() const;
  int64_t numBlocks(Machine machine) const;

  /// Pages of the prompt that the machine has, from the first page on without a
  /// gap. The count is exact if the machine gives up a page after the pages
  /// that follow it, as ours do; otherwise it may be too small or too large.
  /// O(log pages); with states, one more look at each page after the last
  /// state.
  int64_t hit(Machine machine, std::span<const uint64_t> prompt) const;
  /// Pages after those that the machine would load from its host memory and
  /// disk. Of models with recurrent layers, none. O(these pages): tiers may
  /// lose a page before the pages that follow it.
  int64_t tierHit(Machine machine, std::span<const uint64_t> prompt,
                  int64_t hit) const;

  //===--- Where a request goes -------------------------------------------===//

  struct Choice {
    Machine machine = 0;
    int64_t hitPages = 0;  // those that are loaded included
    int64_t tierPages = 0; // of these, the last ones: they are loaded
    bool isFound = false;  // false: no machine can be used
  };
  /// The machine that will have computed the prompt first. Candidates are the
  /// machines with the longest prefix, with shorter ones, or with none. The
  /// cost of a machine is its load, the pages of the prompt that it lacks, and
  /// a share of those that it loads; the least cost wins. O(log pages),
  /// whatever the number of machines. Of many machines with the same prefix,
  /// the least loaded is searched for in a bounded number of steps.
  Choice choose(std::span<const uint64_t> prompt) const;

  /// The load of a machine, in pages that are computed in the same time. A
  /// request adds the pages that it lacks and the cost of its answer, and takes
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
