//===- CacheEngine.h - Reuse, reserve, commit, evict ------------*- C++ -*-===//
//
// The bookkeeping of a paged KV cache: which sequence has which pages, which
// prefixes are cached, and what is evicted next. The engine touches no device
// memory: what must happen to the bytes of a page it returns as page operations
// (PageOps.h), and its caller, normally a cache manager, executes them.
//
//   auto sequence = engine->open();
//   engine->reserve(*sequence, prompt, {.length = n});   // may take over a hit
//   CacheEngine::Step step = *engine->beginStep();
//   engine->join(*sequence, step.ticket);
//   ... execute step.ops, then the model ...
//   engine->commit(*sequence, prompt, n);       // full pages become findable
//   engine->completeStep(step.ticket);    // its pages may be given to others
//
// One thread calls an engine; nothing is locked. After create() a call that
// succeeds allocates no memory and costs O(pages touched). A call that fails
// changes nothing.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_ENGINE_CACHEENGINE_H
#define KV_RUNTIME_ENGINE_CACHEENGINE_H

#include "kv/Runtime/Base/Error.h"
#include "kv/Runtime/Engine/CacheEvents.h"
#include "kv/Runtime/Engine/CommandLog.h"
#include "kv/Runtime/Engine/Groups.h"
#include "kv/Runtime/Engine/Metrics.h"
#include "kv/Runtime/Engine/PageOps.h"
#include "kv/Runtime/Engine/Scope.h"
#include "kv/Runtime/Engine/Sequence.h"
#include "kv/Runtime/Engine/States.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace kv {

/// The interface; create() returns the one implementation, which is in
/// runtime/engine/CacheEngineImpl.h.
class CacheEngine {
public:
  /// Most usable pages of an engine.
  static constexpr int32_t MostPages = INT32_MAX / 2;
  /// Most ticks (Options::retentionTick) that a raised priority lasts.
  static constexpr int64_t MostRetentionTicks = 4094;

  struct Options {
    /// Usable pages; the null page comes on top. 1 to MostPages.
    int32_t numPages = 0;
    /// Tokens of a page, 1 to 2^20.
    int32_t pageSize = 0;
    CacheGroups groups = CacheGroups();
    /// Whether there are recurrent layers in addition to the groups: then
    /// sequences have states (States.h). An engine has two states for each
    /// sequence, and `snapshots` more that are kept for later ones, 0 to 2^20.
    bool recurrent = false;
    int32_t snapshots = 0;
    /// Most sequences that are open at the same time, 1 to 2^20.
    int32_t maxSequences = 16;
    /// Most tokens of one sequence; 0: as many as the pool holds. The engine
    /// sets aside maxSequences rows of page ids of this length.
    int64_t maxTokens = 0;
    bool prefixCaching = true;
    /// Whether a sequence goes on holding its own page when commit() replaces
    /// that page by an equal one, because somebody outside of the engine uses
    /// the page's id. Needs full groups, and no recurrent layers.
    bool keepReplaced = false;
    /// Secret key of the tags by which prefixes are found. The key should be
    /// unpredictable where requests come from strangers. Engines that follow
    /// one command log need the same key.
    uint64_t key = 0;
    /// For tests, which let tags collide: replaces the function that makes the
    /// tag of a prefix from the tag of the prefix that is one page shorter and
    /// the tokens of the last page. Null: a keyed hash.
    uint64_t (*tagFunction)(uint64_t key, uint64_t parent,
                            std::span<const int32_t> tokens) = nullptr;
    /// Most steps that have begun and not completed, 1 to 63.
    int32_t maxOpenSteps = 8;
    /// Most different scopes that have pages or open sequences at the same
    /// time, image contents of pages included; 1 to 2^20. Sequences beyond them
    /// run without prefix caching.
    int32_t maxScopes = 256;
    /// Most bytes of a scope, or of the images on one page, with their framing;
    /// 64 to 4096.
    int32_t maxScopeBytes = 256;
    /// Most page copies that wait for one step, at least one for each group; 0:
    /// maxSequences times the number of groups.
    int32_t maxPageOps = 0;
    /// Nanoseconds, 1 to 2^50. Raised priorities end at multiples of it.
    int64_t retentionTick = 1'000'000'000;
    /// Receives every call that changes the engine, and outlives it; null: no
    /// one receives them.
    CommandSink *log = nullptr;
    /// Hears what enters and leaves the prefix index, and outlives the engine;
    /// null: no one hears.
    CacheEventSink *events = nullptr;
    /// Whether EngineMetrics::lookedUp is counted: costs each new sequence an
    /// explain() of its prompt, without its allocation.
    bool explainMisses = false;
  };

  /// Errors: INVALID_ARGUMENT if an option is out of its range, OUT_OF_MEMORY.
  static Expected<std::unique_ptr<CacheEngine>> create(const Options &options);

  CacheEngine(const CacheEngine &) = delete;
  CacheEngine &operator=(const CacheEngine &) = delete;
  virtual ~CacheEngine();

  //===--------------------------------------------------------------------===//
  // Sequences
  //===--------------------------------------------------------------------===//

  /// Opens an empty sequence. Errors: maxSequences are open; the scope is
  /// longer than maxScopeBytes; a priority above Retention::Highest; a duration
  /// that is negative or longer than MostRetentionTicks.
  virtual Expected<Sequence> open(const Scope &scope,
                                  const Retention &retention) = 0;
  Expected<Sequence> open(const Scope &scope = {}) {
    return open(scope, Retention());
  }

  /// Pages that the sequence releases from now on get this retention. Errors:
  /// those of open().
  virtual Expected<void> setRetention(Sequence &sequence,
                                      const Retention &retention) = 0;

  /// The demand of a reservation, in tokens; no number is negative.
  struct Demand {
    /// Tokens of the sequence, known or still to be generated, that need pages.
    int64_t length = 0;
    /// Most new tokens this call reserves, counted from the computed prefix
    /// (hits included). Chunked prefill reserves what its next step computes.
    int64_t chunk = INT64_MAX;
    /// Draft tokens after the reserved ones: speculative decoding writes their
    /// slots before it knows whether they are accepted.
    int64_t draft = 0;
    /// Tokens after the hit that are not computed but loaded from another tier.
    /// The tokens of `chunk` come in addition; both kinds are committed alike.
    int64_t loaded = 0;
    /// Whether a cached prefix may be taken over.
    bool reuse = true;
    /// Most pages of that prefix: the caller keeps a payload with each page,
    /// and later pages lack it.
    int64_t mostHit = INT32_MAX;

    /// What a command of the kind Reserve has recorded.
    static Demand of(const Command &command);

    /// Most new tokens that this call reserves, those that are loaded included.
    int64_t most() const {
      return chunk > INT64_MAX - loaded ? INT64_MAX : chunk + loaded;
    }
  };

  enum class Verdict {
    Fits,
    Wait, // enough pages become free when open steps, or the next one, complete
    Full, // enough pages become free only if another sequence gives some back
    Never // the sequence does not fit even if it is the only one
  };

  /// The pages that a reservation would take. Pages of all groups are counted.
  struct Plan {
    int32_t hitPages = 0; // pages of the cached prefix, counted in one group
    int32_t revivedPages = 0; // pages of the hit that no sequence holds now
    int32_t newPages = 0;     // blank or evicted pages, targets of copies too
    Verdict verdict = Verdict::Full;

    bool fits() const { return verdict == Verdict::Fits; }
  };

  /// Plans the pages of a sequence whose tokens are `prompt`. A hit is the
  /// longest cached prefix that every group accepts, without the page of the
  /// prompt's last token, which is always computed. A sequence takes over a hit
  /// only while all pages that it holds are committed. Changes nothing.
  virtual Plan plan(const Sequence &sequence, const Prompt &prompt,
                    const Demand &demand) const = 0;

  /// Tokens that fit into the sequence's own pages. A shared last page counts
  /// only as far as it is filled: reserve() replaces it by a copy before the
  /// sequence writes to it. The same holds of a shared state.
  virtual int64_t room(const Sequence &sequence) const = 0;

  /// Whether a reservation for `tokens` tokens, drafts included, changes
  /// nothing: the sequence has pages of its own for them, and no hit can be
  /// taken over, since the last page is not full.
  virtual bool hasRoom(const Sequence &sequence, int64_t tokens) const = 0;

  /// Does what plan() returns, if it fits; otherwise changes nothing, not even
  /// how recently pages were used. A hit raises the sequence's processed
  /// tokens. A shared last page that will be written to is replaced by a copy.
  virtual Plan reserve(Sequence &sequence, const Prompt &prompt,
                       const Demand &demand) = 0;

  /// The first `processed` tokens of `prompt` have been computed: newly full
  /// pages become findable, and pages that windows have passed are released. If
  /// another sequence has committed an equal page meanwhile, that one replaces
  /// this sequence's copy. Draft tokens count once they are accepted. Errors:
  /// OUT_OF_RANGE if `processed` is less than before, or more than the prompt's
  /// length or room().
  virtual Expected<void> commit(Sequence &sequence, const Prompt &prompt,
                                int64_t processed) = 0;

  /// Prefetches what commit() with these arguments reads. Called for a whole
  /// batch first, its cache misses overlap. Has no visible effect.
  virtual void prefetchCommit(Sequence &sequence, const Prompt &prompt,
                              int64_t processed) const = 0;

  /// Opens a second sequence with the first `tokens` processed tokens of
  /// `sequence`. Both share the pages; a last page that is not full is copied
  /// by the reserve() of the one that writes to it. Errors: more tokens than
  /// processed; tokens that a window has passed; maxSequences are open.
  virtual Expected<Sequence> fork(const Sequence &sequence, int64_t tokens,
                                  const Retention &retention) = 0;
  Expected<Sequence> fork(const Sequence &sequence, int64_t tokens) {
    return fork(sequence, tokens, Retention());
  }

  /// Keeps the first `tokens` processed tokens and releases all pages after
  /// them: for rejected drafts, preempted tails, edited prompts. From there on
  /// the prompt may differ. Errors: those of fork(), but for maxSequences.
  virtual Expected<void> truncate(Sequence &sequence, int64_t tokens) = 0;

  /// Releases all pages, from the last to the first, and closes the sequence:
  /// the handle is empty then.
  virtual void release(Sequence &sequence) = 0;

  //===--------------------------------------------------------------------===//
  // States of recurrent layers (Options::recurrent). A hit is then the longest
  // prefix that every group accepts and of which there is a snapshot. A
  // snapshot is made where a step ends with a full page: at nextSnapshot(), and
  // of generated tokens. A sequence can be forked and truncated at 0 and at its
  // processed tokens only. The states' memory is read and written by steps
  // alone, which a device runs in order: it may be given on while a step is
  // open.
  //===--------------------------------------------------------------------===//

  /// The number of tokens with which the sequence's next steps should end, so
  /// that the state there is kept: where its prompt parts from one that was
  /// computed before, and the end of the prompt's last page that can be a hit.
  /// INT64_MAX: there is no such place ahead.
  virtual int64_t nextSnapshot(const Sequence &sequence) const = 0;
  /// The state after `tokens` tokens is kept as well when the sequence comes by
  /// there: because the prompt parts there from one that was computed elsewhere
  /// (`isJunction`), or because that state is loaded, not computed.
  virtual void keepState(Sequence &sequence, int64_t tokens,
                         bool isJunction) = 0;
  /// For the step that the sequence joins next; reserve() must have come
  /// before.
  virtual StatePlaces statePlaces(const Sequence &sequence) const = 0;
  /// Usable states: ids are 1 to numStates(). 0 without recurrent layers.
  virtual int32_t numStates() const = 0;
  virtual StateCounts stateCounts() const = 0;

  //===--------------------------------------------------------------------===//
  // Steps
  //===--------------------------------------------------------------------===//

  struct Step {
    Ticket ticket;
    /// To be executed before the step, in any order. Valid until the next
    /// beginStep().
    std::span<const PageOp> ops;
  };

  /// Begins a step: something that will read and write pages on the device.
  /// Error: maxOpenSteps are open.
  virtual Expected<Step> beginStep() = 0;

  /// The step will read and write the sequence's pages: no other sequence gets
  /// them before it completes, even if they are released. O(1). Errors: the
  /// step is not open; a reservation is missing, since the sequence shares its
  /// last page; operations on its pages, or its last page, wait for a later
  /// step.
  virtual Expected<void> join(Sequence &sequence, Ticket ticket) = 0;

  /// The device has finished the step and its page operations, or the step was
  /// cancelled before it started. Takes effect once all earlier steps have
  /// completed as well. Error: the step is not open.
  virtual Expected<void> completeStep(Ticket ticket) = 0;

  /// Completes every open step: the device has been synchronised.
  virtual void completeAllSteps() = 0;

  //===--------------------------------------------------------------------===//
  // All sequences
  //===--------------------------------------------------------------------===//

  /// Sets the engine's time, its only clock: nanoseconds of any clock that
  /// starts at 0 or later. Raised priorities whose duration is over end now.
  /// Error: earlier than the last time, or later than 2^62.
  virtual Expected<void> setTime(int64_t nanoseconds) = 0;

  /// Forgets every cached prefix, in O(1), snapshots in O(states). Open
  /// sequences keep their pages but commit no more; cached pages are the first
  /// to be evicted.
  virtual void resetPrefixes() = 0;

  /// Why a page of a prompt would have to be computed, or Hit.
  enum class Reason {
    Hit,
    NeverSeen,      // never computed, or its eviction has been forgotten
    Evicted,        // was cached
    OtherScope,     // is cached for another model, adapter, tenant or epoch
    GroupLacksIt,   // a window group has evicted its pages of the prefix, or
                    // there is no snapshot of its state
    AlwaysComputed, // the page of the last token, or not a full page
    OtherTier, // is loaded from a tier outside of the devices (Demand::loaded)
    WithoutPayload // is cached, after Demand::mostHit
  };
  static constexpr size_t NumReasons = 8;

  /// For each page of a prompt, why a new sequence of this scope would or would
  /// not find it. For diagnosis: allocates and costs O(scopes * pages). Changes
  /// nothing. Counted for all sequences with Options::explainMisses.
  virtual std::vector<Reason> explain(const Scope &scope,
                                      const Prompt &prompt) const = 0;

  //===--------------------------------------------------------------------===//
  // Figures
  //===--------------------------------------------------------------------===//

  /// Usable pages by state. Deferred pages become blank or cached once the step
  /// that may still touch them completes.
  struct PageCounts {
    int32_t held = 0, cached = 0, blank = 0, deferred = 0;

    int32_t free() const { return cached + blank + deferred; }
    int32_t total() const { return held + free(); }
  };
  virtual PageCounts pageCounts() const = 0;

  /// Most tokens of a sequence.
  virtual int64_t maxTokens() const = 0;
  virtual const EngineMetrics &metrics() const = 0;
  /// Host memory of the bookkeeping that grows with numPages, in bytes.
  virtual size_t poolBytes() const = 0;
  /// Host memory of all bookkeeping, in bytes.
  virtual size_t totalBytes() const = 0;

  /// Compares all bookkeeping and returns the first contradiction, or an empty
  /// string. For tests and for managers with runtime checks: O(pages).
  virtual std::string check() const = 0;

protected:
  CacheEngine() = default;
};

} // namespace kv

#endif // KV_RUNTIME_ENGINE_CACHEENGINE_H
