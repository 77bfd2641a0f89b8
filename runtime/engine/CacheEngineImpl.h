//===- CacheEngineImpl.h - The cache engine inside --------------*- C++ -*-===//
//
// Where pool, index, groups, steps and sequences meet. The managers of this
// tree use the engine through this class instead of the interface: it is final,
// so what most decode steps do (reserve within the last page, commit within a
// page, join) is inline here and costs no call.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_ENGINE_CACHEENGINEIMPL_H
#define KV_RUNTIME_ENGINE_CACHEENGINEIMPL_H

#include "runtime/engine/structures/FixedArray.h"
#include "runtime/engine/structures/PagePool.h"
#include "runtime/engine/structures/PrefixIndex.h"
#include "runtime/engine/structures/ScopeTable.h"
#include "runtime/engine/structures/SequenceState.h"
#include "runtime/engine/structures/StatePool.h"
#include "runtime/engine/structures/Steps.h"

#include "kv/Runtime/Engine/CacheEngine.h"

#include <algorithm>

namespace kv {

class CacheEngineImpl final : public CacheEngine {
public:
  static Expected<std::unique_ptr<CacheEngineImpl>>
  create(const Options &options);

  using CacheEngine::fork;
  using CacheEngine::open;
  Expected<Sequence> open(const Scope &scope,
                          const Retention &retention) override;
  Expected<void> setRetention(Sequence &sequence,
                              const Retention &retention) override;
  Plan plan(const Sequence &sequence, const Prompt &prompt,
            const Demand &demand) const override;
  int64_t room(const Sequence &sequence) const override {
    return room(stateOf(sequence));
  }
  bool hasRoom(const Sequence &sequence, int64_t tokens) const override {
    return hasRoom(stateOf(sequence), tokens, /*drafts=*/0);
  }
  Plan reserve(Sequence &sequence, const Prompt &prompt,
               const Demand &demand) override;
  Expected<void> commit(Sequence &sequence, const Prompt &prompt,
                        int64_t processed) override;
  void prefetchCommit(Sequence &sequence, const Prompt &prompt,
                      int64_t processed) const override;
  Expected<Sequence> fork(const Sequence &sequence, int64_t tokens,
                          const Retention &retention) override;
  Expected<void> truncate(Sequence &sequence, int64_t tokens) override;
  void release(Sequence &sequence) override;
  int64_t nextSnapshot(const Sequence &sequence) const override;
  void keepState(Sequence &sequence, int64_t tokens, bool isJunction) override;
  StatePlaces statePlaces(const Sequence &sequence) const override {
    return options.recurrent ? places(stateOf(sequence)) : StatePlaces();
  }
  int32_t numStates() const override { return states.numTotal(); }
  StateCounts stateCounts() const override { return states.counts(); }

  Expected<Step> beginStep() override;
  Expected<void> join(Sequence &sequence, Ticket ticket) override;
  Expected<void> completeStep(Ticket ticket) override;
  void completeAllSteps() override;

  Expected<void> setTime(int64_t nanoseconds) override;
  void resetPrefixes() override;
  std::vector<Reason> explain(const Scope &scope,
                              const Prompt &prompt) const override;

  PageCounts pageCounts() const override;
  int64_t maxTokens() const override {
    return int64_t(maxPages) * options.pageSize;
  }
  const EngineMetrics &metrics() const override { return counters; }
  size_t poolBytes() const override;
  size_t totalBytes() const override;
  std::string check() const override;

  /// Whether a reservation may take over pages of other sequences, or load
  /// them, after those that the sequence has.
  bool canTakeOver(const Sequence &sequence) const {
    return canTakeOver(stateOf(sequence));
  }

  /// A snapshot of the prefix of `pages` committed pages, and what a record of
  /// it needs to know.
  struct Snapshot {
    StateId id = NullState; // NullState: there is none
    bool isPlanned = false; // where nextSnapshot() was, not among what follows
    bool isSuperseded = false;
    std::span<const int32_t> tokens; // of the last page
  };
  Snapshot snapshotAt(const Sequence &sequence, int32_t pages) const;
  /// Whether a state can be loaded to where the next step will write: nothing
  /// is lost if only a part of it comes.
  bool canLoadState(const Sequence &sequence) const {
    StatePlaces own = places(stateOf(sequence));
    return statesOf(stateOf(sequence)).written == NullState &&
           (own.read == NullState || own.write != own.read);
  }

  /// The first `count` pages, of the first full group, of the hit that the
  /// last plan() has found.
  std::span<const uint32_t> lastHit(int32_t count) const {
    return {hits.begin(), static_cast<size_t>(count)};
  }

  const PagePool &pool() const { return pages; }
  const PrefixIndex &index() const { return nodes; }
  const ScopeTable &scopeTable() const { return scopes; }
  int32_t numGroups() const { return options.groups.size(); }
  /// Whether a used node's prefix can be found: all nodes before it are there,
  /// and its scope is of this epoch. O(pages of the prefix).
  bool isFindable(uint32_t node) const;
  bool hasSnapshot(uint32_t node) const { return states.at(node) != NullState; }

private:
  /// In place of an id of images: no node has these.
  static constexpr uint32_t UnknownImages = PrefixIndex::NoImages - 1;

  explicit CacheEngineImpl(const Options &options);
  [[nodiscard]] bool allocateMemory();

  PageId *row(const SequenceState &state, int32_t group) const {
    return state.rows + int64_t(group) * maxPages;
  }
  const int32_t *pageTokens(const Prompt &prompt, int64_t page) const {
    return prompt.tokens.data() + page * options.pageSize;
  }
  int64_t pagesFor(int64_t tokens) const {
    return (tokens + options.pageSize - 1) / options.pageSize;
  }
  bool isStale(const SequenceState &state) const {
    return state.epoch != epoch;
  }

  // CacheEngine.cpp
  Expected<SequenceState *> takeSlot(const Retention &retention);
  Sequence handle(SequenceState &state);
  Expected<void> canKeep(const SequenceState &state, int64_t tokens) const;
  NodeRef tipAt(const SequenceState &state, int32_t committed) const;
  Expected<void> validate(const Retention &retention) const;
  Worth worthOf(const SequenceState &state, int32_t page) const;
  void dropBehind(SequenceState &state, int32_t entries);
  void dropReplaced(SequenceState &state, int32_t entries);
  void clearReplaced(SequenceState &state, int32_t begin, int32_t end);
  void forget(PageId page);
  void changed(SequenceState &state, int32_t from);
  void retire();

  // Events.cpp; not inline, so that engines without events pay nothing.
  [[gnu::noinline]] void announceRun(const SequenceState &state,
                                     const Prompt &prompt, int32_t page,
                                     int32_t end) const;
  [[gnu::noinline]] void announce(uint32_t node, uint32_t restored) const;
  Expected<void> commitAndTell(SequenceState &state, const Prompt &prompt,
                               int64_t processed);
  [[gnu::noinline]] void announceAll() const;
  bool isCurrent(NodeRef root) const; // of a live scope
  void logPrompt(SequenceState &state, const Prompt &prompt);

  // Lookup.cpp
  bool canTakeOver(const SequenceState &state) const;
  void hashPages(SequenceState &state, const Prompt &prompt,
                 int64_t count) const;
  uint32_t imagesOn(const Prompt &prompt, int64_t page) const;
  int32_t match(SequenceState &state, const Prompt &prompt, int64_t most) const;
  void explainPages(uint32_t own, uint64_t rootTag, const Prompt &prompt,
                    std::span<Reason> reasons) const;
  void countReasons(const SequenceState &state, const Prompt &prompt,
                    const Demand &demand);
  size_t evictedSlot(uint64_t tag) const {
    return static_cast<size_t>(((tag >> 32) * evicted.size()) >> 32);
  }

  // Most decode steps need only what is inline; the rest is in the .cpp files.
  bool hasRoom(const SequenceState &state, int64_t tokens,
               int64_t drafts) const;
  int64_t room(const SequenceState &state) const {
    return state.borrowsTail || lacksState(state)
               ? state.processed
               : int64_t(state.held) * options.pageSize;
  }
  bool fillsPage(const SequenceState &state, int64_t processed) const {
    return processed >= int64_t(state.committed + 1) * options.pageSize;
  }
  int64_t mostProcessed(const SequenceState &state, const Prompt &prompt) const;
  Expected<void> commitMore(SequenceState &state, const Prompt &prompt,
                            int64_t processed);
  [[gnu::cold]] Expected<void> refuseCommit(const SequenceState &state,
                                            const Prompt &prompt,
                                            int64_t processed) const;
  bool comesTooEarly(const SequenceState &state) const;
  [[gnu::cold]] Expected<void> refuseJoin(const SequenceState &state,
                                          Ticket ticket) const;

  // States.cpp
  SequenceStates &statesOf(const SequenceState &state) const {
    return sequenceStates[state.slot];
  }
  StatePlaces places(const SequenceState &state) const;
  bool lacksState(const SequenceState &state) const {
    return options.recurrent && places(state).write == NullState;
  }
  void chooseSnapshots(SequenceState &state, const Prompt &prompt,
                       int32_t found);
  void takeState(SequenceState &state, StateId snapshot);
  void reserveState(SequenceState &state);
  void advanceState(SequenceState &state, const Prompt &prompt);
  void releaseStates(SequenceState &state);
  Expected<void> canKeepState(const SequenceState &state, int64_t tokens) const;
  void forkState(SequenceState &source, SequenceState &fork);
  void eraseNode(uint32_t node) {
    if (options.recurrent && states.at(node) != NullState) [[unlikely]]
      forgetSnapshot(node);
    nodes.erase(node);
  }
  StateId takeState();
  void forgetSnapshot(uint32_t node);
  /// In events, snapshots are one more group, after those of pages.
  uint32_t stateGroup() const { return 1u << options.groups.size(); }

  // Reserve.cpp
  Plan reserveMore(Sequence &sequence, const Prompt &prompt,
                   const Demand &demand);
  Plan makePlan(SequenceState &state, const Prompt &prompt,
                const Demand &demand) const;
  int32_t tailCopies(const SequenceState &state) const;
  void takeHits(SequenceState &state, int32_t end);
  void copyTail(SequenceState &state);
  void queue(SequenceState &state, const PageOp &op);
  void allocate(PageId *to, int32_t count);
  void evict(PageId *to, int32_t count);

  // Commit.cpp
  bool canCommit(const SequenceState &state) const {
    return state.indexes && !isStale(state);
  }
  void hashAndPrefetch(SequenceState &state, const Prompt &prompt,
                       int64_t processed) const;
  void prefetchNodes(const SequenceState &state, int32_t page,
                     int32_t end) const;
  int32_t commitNew(SequenceState &state, const Prompt &prompt, int32_t page,
                    int32_t end);
  int32_t commitPage(SequenceState &state, const Prompt &prompt, int32_t page);
  int32_t passWindows(SequenceState &state);

  // Check.cpp; they return the first contradiction, or nothing.
  struct Census;
  std::string checkSequence(const SequenceState &state, Census &census) const;
  std::string checkPages(Census &census) const;
  std::string checkNode(uint32_t node, Census &census) const;
  std::string checkCounts(const Census &census) const;
  std::string checkEviction() const;

  Options options;
  int32_t maxPages = 0; // of a sequence, in each group
  /// First full group, or -1; its page ids double as node ids.
  int32_t namingGroup = -1;
  bool hasFullGroup = false;
  bool hasWindow = false;
  /// One full group and no states, as most models have: lookups, commits and
  /// evictions then take shorter paths.
  bool isPlain = false;
  uint32_t epoch = 0;
  int64_t time = 0; // nanoseconds

  PagePool pages;
  ScopeTable scopes;
  PrefixIndex nodes;
  Steps steps;
  EngineMetrics counters;

  StatePool states; // empty without recurrent layers

  FixedArray<SequenceState> sequences;
  FixedArray<SequenceStates> sequenceStates; // by slot
  FixedArray<PageId> rowStorage;
  FixedArray<PageId> replacedStorage; // empty without keepReplaced
  FixedArray<uint64_t> tagStorage;
  FixedArray<int32_t> unusedSlots; // a stack of indices of `sequences`
  int32_t numUnusedSlots = 0;
  uint64_t lastSerial = 0;

  FixedArray<PageOp> operations; // queued for the next step
  FixedArray<PageOp> issued;     // of the last step; its caller reads them
  int32_t numOps = 0, numCopies = 0;

  /// For explainPages(): tags of evicted pages by evictedSlot(). A later page
  /// takes the place of an earlier one.
  FixedArray<uint64_t> evicted;
  FixedArray<Reason> explained;      // written by countReasons()
  mutable FixedArray<uint32_t> hits; // ids of nodes, written by match()
  /// Written by match(): the pages that it would have returned if there were a
  /// snapshot at every page.
  mutable int32_t found = 0;
};

//===----------------------------------------------------------------------===//
// What most decode steps do
//===----------------------------------------------------------------------===//

inline bool CacheEngineImpl::hasRoom(const SequenceState &state, int64_t tokens,
                                     int64_t drafts) const {
  return tokens <= int64_t(state.held) * options.pageSize - drafts &&
         state.held != state.committed && !state.borrowsTail &&
         !lacksState(state);
}

inline CacheEngine::Plan CacheEngineImpl::reserve(Sequence &sequence,
                                                  const Prompt &prompt,
                                                  const Demand &demand) {
  if (hasRoom(stateOf(sequence), demand.length, demand.draft) && !options.log)
      [[likely]]
    return {.verdict = Verdict::Fits};
  return reserveMore(sequence, prompt, demand);
}

inline int64_t CacheEngineImpl::mostProcessed(const SequenceState &state,
                                              const Prompt &prompt) const {
  return std::min(prompt.length(), room(state));
}

inline Expected<void> CacheEngineImpl::commit(Sequence &sequence,
                                              const Prompt &prompt,
                                              int64_t processed) {
  SequenceState &state = stateOf(sequence);
  if (processed < state.processed || processed > mostProcessed(state, prompt))
      [[unlikely]]
    return refuseCommit(state, prompt, processed);
  if (fillsPage(state, processed) || hasWindow || options.recurrent ||
      options.log) [[unlikely]]
    return options.events ? commitAndTell(state, prompt, processed)
                          : commitMore(state, prompt, processed);
  state.processed = processed;
  return {};
}

inline void CacheEngineImpl::prefetchCommit(Sequence &sequence,
                                            const Prompt &prompt,
                                            int64_t processed) const {
  if (fillsPage(stateOf(sequence), processed))
    hashAndPrefetch(stateOf(sequence), prompt, processed);
}

inline Expected<void> CacheEngineImpl::join(Sequence &sequence, Ticket ticket) {
  SequenceState &state = stateOf(sequence);
  if (!steps.isOpen(ticket) || state.borrowsTail ||
      state.stamp > steps.lastOpened() ||
      (numOps > 0 && comesTooEarly(state)) || lacksState(state)) [[unlikely]]
    return refuseJoin(state, ticket);
  if (options.recurrent)
    statesOf(state).written = places(state).write;
  state.stamp = std::max(state.stamp, ticket);
  if (options.log)
    options.log->command({.kind = Command::Join,
                          .sequence = state.slot,
                          .a = static_cast<int64_t>(ticket)});
  return {};
}

} // namespace kv

#endif // KV_RUNTIME_ENGINE_CACHEENGINEIMPL_H
