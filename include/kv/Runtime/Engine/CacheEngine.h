//===- CacheEngine.h - Reuse, reserve, commit, evict ------------*- C++ -*-===//
//
// The one place where pool, index, groups, steps and sequences meet. Managers
// are facades on it. It knows no memory: what must happen to pages it asks for
// (PageOps.h).
//
//   auto sequence = engine->open();
//   engine->reserve(*sequence, prompt, {.length = n});   // takes over a prefix
//   CacheEngine::Step step = engine->beginStep();
//   engine->join(*sequence, step.ticket);
//   ... run step.ops, then the model ...
//   engine->commit(*sequence, prompt, n);        // full pages become findable
//   engine->completeStep(step.ticket);     // what it touched can be used again
//
// Single writer, no lock. After create() a call that succeeds allocates no
// memory and costs O(pages touched). A call that fails changes nothing.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_ENGINE_CACHEENGINE_H
#define KV_RUNTIME_ENGINE_CACHEENGINE_H

#include "kv/Runtime/Engine/CommandLog.h"
#include "kv/Runtime/Engine/FixedArray.h"
#include "kv/Runtime/Engine/Groups.h"
#include "kv/Runtime/Engine/Metrics.h"
#include "kv/Runtime/Engine/PageOps.h"
#include "kv/Runtime/Engine/PagePool.h"
#include "kv/Runtime/Engine/PrefixIndex.h"
#include "kv/Runtime/Engine/Scope.h"
#include "kv/Runtime/Engine/ScopeTable.h"
#include "kv/Runtime/Engine/Sequence.h"
#include "kv/Runtime/Engine/SequenceState.h"
#include "kv/Runtime/Engine/Steps.h"
#include "kv/Runtime/Error.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace kv {

class CacheEngine {
public:
  /// Usable pages: node numbers keep a bit for roots; one page id is the null
  /// page's.
  static constexpr int32_t MostPages = INT32_MAX / 2;

  struct Options {
    int32_t numPages = 0; // usable pages, without the null page
    int32_t pageSize = 0; // tokens
    CacheGroups groups = CacheGroups();
    int32_t maxSequences = 16; // open at a time
    /// Of one sequence; 0: as many as the pool holds. Memory for the ids of
    /// such a sequence's pages is set aside maxSequences times.
    int64_t maxTokens = 0;
    bool prefixCaching = true;
    /// Of the index's tags. Should be unpredictable where requests come from
    /// strangers; managers that share a log share it.
    uint64_t key = 0;
    /// For tests: replaces the tags, so that all collide, say.
    TagFunction tagFunction = nullptr;
    int32_t maxOpenSteps = 8; // begun and not completed, at most 64
    /// Distinct scopes with pages or open sequences. Beyond that, sequences run
    /// without prefix caching.
    int32_t maxScopes = 256;
    /// Of one scope or of the images on one page, framing included.
    int32_t maxScopeBytes = 256;
    /// Copies that may wait for one step, at least one a group; 0: maxSequences
    /// times groups.
    int32_t maxPageOps = 0;
    /// Nanoseconds of the engine's time: priorities end at its multiples, at
    /// most PriorityLimits::Most of them ahead.
    int64_t retentionTick = 1'000'000'000;
    /// Hears every call that changes something; null: none.
    CommandSink *log = nullptr;
  };

  /// Errors: an option out of range; no memory.
  static Expected<std::unique_ptr<CacheEngine>> create(const Options &options);
  ~CacheEngine();

  //===--------------------------------------------------------------------===//
  // Sequences
  //===--------------------------------------------------------------------===//

  /// Starts an empty sequence. Errors: maxSequences are open; the scope is
  /// longer than maxScopeBytes; a priority above Retention::Highest; a duration
  /// that is negative or beyond PriorityLimits::Most ticks.
  Expected<Sequence> open(const Scope &scope = {},
                          const Retention &retention = {});

  /// From now on the sequence's pages are released with this retention. Errors:
  /// open()'s.
  Expected<void> setRetention(Sequence &sequence, const Retention &retention);

  /// What a reservation asks for: numbers of tokens, not negative.
  struct Demand {
    /// Pages for so many tokens in all, known or to come.
    int64_t length = 0;
    /// But for at most so many beyond the computed prefix, hits included:
    /// chunked prefill reserves what it is about to compute.
    int64_t chunk = INT64_MAX;
    /// And for so many draft tokens behind those: slots that are written before
    /// it is known whether they count.
    int64_t draft = 0;
    /// Whether cached prefixes may be taken over.
    bool reuse = true;
  };

  enum class Verdict {
    Fits,
    Wait, // enough pages come back with open steps, or with the next one
    Full, // only releasing or preempting another sequence helps
    Never // not even alone
  };

  /// What a reservation would take. Pages of all groups are counted.
  struct Plan {
    int32_t hitPages = 0;     // of the prefix: positions, not groups
    int32_t revivedPages = 0; // pages of the hit that nobody holds at present
    int32_t newPages = 0;     // blank or evicted, those copied to included
    Verdict verdict = Verdict::Full;

    bool fits() const { return verdict == Verdict::Fits; }
  };

  /// Plans pages for a sequence whose tokens are `prompt`. The longest cached
  /// prefix that every group accepts counts, but never all of the prompt: at
  /// least one token is left to compute. A sequence takes a hit only while it
  /// holds nothing beyond its committed pages. Changes nothing.
  Plan plan(const Sequence &sequence, const Prompt &prompt,
            const Demand &demand) const;

  /// Tokens that the sequence has pages of its own for. A last page that is to
  /// be copied before it is written to, which a reservation sees to, is no
  /// room.
  int64_t room(const Sequence &sequence) const { return room(*sequence.state); }

  /// Whether the sequence has all that is demanded and nothing can be gained:
  /// then reserve() changes nothing. A page that is not full cannot be followed
  /// by a hit.
  bool hasRoom(const Sequence &sequence, const Demand &demand) const {
    return hasRoom(*sequence.state, demand);
  }

  /// Does what plan() says, if it fits; otherwise changes nothing, recency
  /// included. A hit raises the sequence's processed tokens. A last page that
  /// is shared and will be written to is replaced by a copy.
  Plan reserve(Sequence &sequence, const Prompt &prompt, const Demand &demand);

  /// The first `processed` tokens of `prompt` have been computed: makes newly
  /// full pages findable, and lets go what windows have passed. A page that
  /// another sequence committed meanwhile replaces this sequence's own copy.
  /// Draft tokens count only once accepted. Errors: `processed` is less than
  /// before, more than the prompt, or more than was reserved.
  Expected<void> commit(Sequence &sequence, const Prompt &prompt,
                        int64_t processed);

  /// Brings what such a commit() looks at near, so that those of a batch do not
  /// wait for memory one after the other. Changes nothing that can be seen.
  void prefetchCommit(Sequence &sequence, const Prompt &prompt,
                      int64_t processed) const;

  /// A second sequence with the first `tokens` processed tokens of this one. It
  /// shares the pages; a last page that is not full is copied when one of the
  /// two is about to write to it. Errors: more tokens than processed; tokens
  /// that a window has passed; maxSequences are open.
  Expected<Sequence> fork(const Sequence &sequence, int64_t tokens,
                          const Retention &retention = {});

  /// Takes back all but the first `tokens` processed tokens, and all pages
  /// behind them: rejected drafts, preemption of a tail, an edited turn. The
  /// prompt may be another one from there on. Errors as fork().
  Expected<void> truncate(Sequence &sequence, int64_t tokens);

  /// Gives every page back, the last first, and leaves the handle empty.
  void release(Sequence &sequence);

  //===--------------------------------------------------------------------===//
  // Steps
  //===--------------------------------------------------------------------===//

  struct Step {
    Ticket ticket;
    /// To be run before the step, in any order. Valid until the next beginStep.
    std::span<const PageOp> ops;
  };

  /// Something that reads and writes pages is about to start. Error:
  /// maxOpenSteps are open.
  Expected<Step> beginStep();

  /// The step touches the sequence's pages. Those are given to nobody else
  /// before it completes, however they are released. O(1). Errors: not open;
  /// a last page that is shared, since nothing was reserved behind it; page
  /// operations of its own, or on its last page, that come with a later step.
  Expected<void> join(Sequence &sequence, Ticket ticket);

  /// The step and its operations are over on the device, or it was given up
  /// before it started. Takes effect when all earlier steps have completed,
  /// too. Error: not open.
  Expected<void> completeStep(Ticket ticket);

  /// Completes every step, after a synchronisation of the device.
  void completeAllSteps();

  //===--------------------------------------------------------------------===//
  // All sequences
  //===--------------------------------------------------------------------===//

  /// Time only ever arrives here: nanoseconds of any clock that begins at 0 or
  /// later. Priorities whose duration is over end now. Error: before the last,
  /// or after 2^62.
  Expected<void> setTime(int64_t nanoseconds);

  /// Forgets every prefix: O(1). Sequences keep their pages and no longer
  /// commit; cached pages become the first to be evicted.
  void resetPrefixes();

  /// Why a page of a prompt would be computed, or Hit.
  enum class Reason {
    Hit,
    NeverSeen,     // or so long ago that its eviction is forgotten
    Evicted,       // was in the index
    OtherScope,    // is in the index for another model, adapter, tenant, epoch
    GroupLacksIt,  // a window group has given its part of the prefix up
    AlwaysComputed // the page of the last token, or not a full page
  };

  /// For each page of a prompt, what a new sequence of this scope would find.
  /// Changes nothing; allocates, and costs O(scopes x pages): a diagnosis.
  std::vector<Reason> explain(const Scope &scope, const Prompt &prompt) const;

  //===--------------------------------------------------------------------===//
  // Figures
  //===--------------------------------------------------------------------===//

  int32_t pageSize() const { return options.pageSize; }
  const CacheGroups &groups() const { return options.groups; }
  bool prefixCaching() const { return options.prefixCaching; }
  int64_t maxTokens() const { return int64_t(maxPages) * options.pageSize; }
  const PagePool &pool() const { return pages; }
  const PrefixIndex &index() const { return nodes; }
  const EngineMetrics &metrics() const { return counters; }
  /// Bookkeeping that grows with the pages: bytes.
  size_t poolBytes() const;
  /// Bookkeeping in all: bytes.
  size_t totalBytes() const;

  /// Compares all bookkeeping. Returns the first contradiction, or an empty
  /// string. For tests and managers with runtime checks: O(pages).
  std::string check() const;

private:
  friend class Sequence;

  /// The number of images that no node has.
  static constexpr uint32_t UnknownImages = PrefixIndex::NoImages - 1;

  explicit CacheEngine(const Options &options);
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
  Expected<void> canKeep(const SequenceState &state, int64_t tokens) const;
  NodeRef tipAt(const SequenceState &state, int32_t committed) const;
  Expected<void> validate(const Retention &retention) const;
  Worth worthOf(const SequenceState &state, int32_t page) const;
  void dropBehind(SequenceState &state, int32_t entries);
  void forget(PageId page);
  void changed(SequenceState &state, int32_t from);
  void retire();
  void logPrompt(SequenceState &state, const Prompt &prompt);

  // Lookup.cpp
  void hashPages(SequenceState &state, const Prompt &prompt,
                 int64_t count) const;
  uint32_t imagesOn(const Prompt &prompt, int64_t page) const;
  int32_t match(SequenceState &state, const Prompt &prompt) const;

  // What most decode steps do is inline; the rest is here.
  bool hasRoom(const SequenceState &state, const Demand &demand) const;
  int64_t room(const SequenceState &state) const {
    return state.borrowsTail ? state.processed
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

  Options options;
  int32_t maxPages = 0;     // of a sequence, a group
  int32_t namingGroup = -1; // its pages' numbers are the nodes'; a full one
  bool hasFullGroup = false;
  bool hasWindow = false;
  bool isPlain = false; // one full group: most models, so they have short ways
  uint32_t epoch = 0;
  int64_t time = 0; // nanoseconds

  PagePool pages;
  ScopeTable scopes;
  PrefixIndex nodes;
  Steps steps;
  EngineMetrics counters;

  FixedArray<SequenceState> sequences;
  FixedArray<PageId> rowStorage;
  FixedArray<uint64_t> tagStorage;
  FixedArray<int32_t> unusedSlots; // a stack
  int32_t numUnusedSlots = 0;
  uint64_t lastSerial = 0;

  FixedArray<PageOp> operations; // that wait for the next step
  FixedArray<PageOp> issued;     // those of the last step
  int32_t numOps = 0, numCopies = 0;

  FixedArray<uint64_t> evicted; // a ring of tags, for explain()
  size_t nextEvicted = 0;
  mutable FixedArray<uint32_t> hits; // nodes: scratch of match()
};

//===----------------------------------------------------------------------===//
// What most decode steps do
//===----------------------------------------------------------------------===//

inline bool CacheEngine::hasRoom(const SequenceState &state,
                                 const Demand &demand) const {
  return demand.length <=
             int64_t(state.held) * options.pageSize - demand.draft &&
         state.held != state.committed && !state.borrowsTail;
}

inline CacheEngine::Plan CacheEngine::reserve(Sequence &sequence,
                                              const Prompt &prompt,
                                              const Demand &demand) {
  if (hasRoom(*sequence.state, demand) && !options.log) [[likely]]
    return {.verdict = Verdict::Fits};
  return reserveMore(sequence, prompt, demand);
}

inline int64_t CacheEngine::mostProcessed(const SequenceState &state,
                                          const Prompt &prompt) const {
  return std::min(prompt.length(), room(state));
}

inline Expected<void> CacheEngine::commit(Sequence &sequence,
                                          const Prompt &prompt,
                                          int64_t processed) {
  SequenceState &state = *sequence.state;
  if (processed < state.processed || processed > mostProcessed(state, prompt))
      [[unlikely]]
    return refuseCommit(state, prompt, processed);
  if (fillsPage(state, processed) || hasWindow || options.log) [[unlikely]]
    return commitMore(state, prompt, processed);
  state.processed = processed;
  return {};
}

inline void CacheEngine::prefetchCommit(Sequence &sequence,
                                        const Prompt &prompt,
                                        int64_t processed) const {
  if (fillsPage(*sequence.state, processed))
    hashAndPrefetch(*sequence.state, prompt, processed);
}

inline Expected<void> CacheEngine::join(Sequence &sequence, Ticket ticket) {
  SequenceState &state = *sequence.state;
  if (!steps.isOpen(ticket) || state.borrowsTail ||
      state.stamp > steps.lastOpened() || (numOps > 0 && comesTooEarly(state)))
      [[unlikely]]
    return refuseJoin(state, ticket);
  state.stamp = std::max(state.stamp, ticket);
  if (options.log)
    options.log->command({.kind = Command::Join,
                          .sequence = state.slot,
                          .a = static_cast<int64_t>(ticket)});
  return {};
}

} // namespace kv

#endif // KV_RUNTIME_ENGINE_CACHEENGINE_H
