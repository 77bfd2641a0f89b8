//===- PageLoader.h - Pages that a paged manager does not compute -*- C++ -*-=//
//
// All that a paged manager does with its tiers. Looks for the pages of a prompt
// after those that the devices have, and loads them into pages that the request
// has reserved. Gives up pages that do not come in time. Stores the pages that
// requests have computed.
//
// A request that loads passes these stages:
//
//   None     find() says that a store is asked:   ask()    -> Asking
//            find() says that there are records:  begin()  -> Loading
//   Asking   the store has answered, or too late: resume(), find()  -> None
//   Loading  all has come, or too late:           resume() -> None
//
// giveUp() leads from every stage to None: what has not come is computed.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_MANAGER_PAGELOADER_H
#define KV_RUNTIME_MANAGER_PAGELOADER_H

#include "PageTiers.h"

#include "kv/Runtime/Manager/PagedKVCacheManager.h"
#include "runtime/engine/CacheEngineImpl.h"

namespace kv {

class PageLoader {
public:
  /// A claimed request: its number below `requests`, and what it consists of.
  struct LoadRequest {
    size_t index;
    CacheEngineImpl &engine;
    CacheMemory &memory;
    PagedKVCacheManager::Figures &figures;
    Sequence &sequence;
  };
  enum class LoadStage {
    None,
    Asking, // a store is asked for pages; the request has pages to compute in
    Loading // pages and a state are on their way to those that it has reserved
  };

  /// For `requests` requests on replicas with memory like `memory`. Null
  /// without a connector. Errors: options that the connector does not have, or
  /// that it lacks; those of PageTiers::create().
  static Expected<std::unique_ptr<PageLoader>>
  create(const MultiKVCacheParams &params, const PagedOptions &options,
         const Device &device, const CacheMemory &memory, size_t requests,
         int64_t payloadBytes);

  //===--- Requests -------------------------------------------------------===//

  void open(size_t request, const TextGenerationContext &context) {
    tiers->open(request, context.scope(), context.payload());
  }
  /// The index of a request that is not claimed, now that of this context.
  size_t openUnclaimed(const TextGenerationContext &context) {
    open(states.size(), context);
    return states.size();
  }
  /// Request `to` has the first `tokens` tokens of `from`.
  void fork(size_t from, size_t to, int64_t tokens) {
    tiers->fork(from, to, tokens / pageSize);
  }
  /// From `tokens` on, the tokens may differ. Pages that were to be loaded are
  /// gone.
  void truncate(const LoadRequest &request, int64_t tokens);
  /// The request lets go of its pages.
  void release(const LoadRequest &request);
  /// No record is found any more, and what is being loaded ends with what has
  /// come. Errors: those of the connector.
  Expected<void> reset();

  //===--- Loads ----------------------------------------------------------===//

  /// The plan of a reservation, with what can be loaded if that fits too;
  /// hitPages counts both.
  CacheEngine::Plan plan(size_t request, const CacheEngineImpl &engine,
                         const Sequence &sequence, const Prompt &prompt,
                         CacheEngine::Demand demand);
  /// Calls plans(), which returns whether it called plan(), again and again
  /// until no store is asked any more, or time is up.
  template <class Fn> void untilAnswered(Fn &&plans) {
    int64_t until = deadline();
    while (plans() && tiers->awaitsAnswer() && waitUntil(until))
      ;
  }
  /// Says which pages after a prompt's hits have records.
  void explain(const TextGenerationContext &context,
               const CacheEngineImpl &engine,
               std::span<CacheEngine::Reason> reasons);

  LoadStage stage(size_t request) const { return states[request].stage; }
  /// Goes on with what ask() or begin() has begun. False: the request still
  /// waits; if `waits`, the call itself waits. After a load, the context has
  /// skipped the tokens that have come. After an answer, find() is next; a
  /// request with records then has only its committed pages.
  bool resume(const LoadRequest &request, TextGenerationContext &context,
              bool waits);
  struct Found {
    int64_t known = 0;    // pages that the devices or records have
    bool isAsked = false; // a store has not answered, and there is time left
  };
  /// Sets demand.loaded to the number of tokens that have records, after those
  /// that the devices have. With recurrent layers, the last of them has a
  /// state. 0 if a store is asked, since all is loaded at once. If `waits`,
  /// waits for its answer.
  Found find(const LoadRequest &request, const Prompt &prompt,
             CacheEngine::Demand &demand, bool waits);
  /// The request, which has reserved pages to compute in, waits for a store.
  /// The request had processed `before` tokens when the reservation began.
  void ask(const LoadRequest &request, int64_t before) {
    states[request.index].stage = LoadStage::Asking;
    states[request.index].processedBefore = before;
  }
  /// Begins to load `tokens` tokens after the committed ones, to pages that are
  /// reserved; resume() does it.
  void begin(const LoadRequest &request, int64_t tokens, int64_t before);
  /// The argument `before` of the latest ask() or begin().
  int64_t processedBefore(size_t request) const {
    return states[request].processedBefore;
  }
  /// The reason why a request waits, in words.
  std::string awaited(size_t request) const;
  /// Pages that have not come are computed, and not loaded later.
  void giveUp(const LoadRequest &request);

  //===--- Records --------------------------------------------------------===//

  /// The request has taken over committed pages that others have computed.
  void tookOver(const LoadRequest &request) {
    states[request.index].hitEnd = request.sequence.committedPages();
  }
  /// The pages of a request from `first` on, and its state, will be written.
  void willWrite(const LoadRequest &request, int64_t first);
  /// Commits what the context has processed, and copies the pages that this
  /// completes, and their state, to records.
  Expected<void> commit(const LoadRequest &request,
                        const TextGenerationContext &context);

  /// Waits until a record has come. False: it takes longer.
  bool wait(int64_t nanoseconds) {
    return tiers->wait(std::chrono::nanoseconds(nanoseconds));
  }
  const TierMetrics &metrics() const { return tiers->metrics(); }
  int64_t hostBytes() const { return tiers->hostBytes(); }

private:
  struct State {
    LoadStage stage = LoadStage::None;
    int64_t until = 0; // when it is given up; of steady_clock
    /// Loading: the records [next, end), of which those below `asked` have been
    /// asked for. First come records of pages, up to pagesEnd, then those of
    /// the state after them. Pages below `committed` are committed: with a
    /// state none is before all have come.
    int64_t next = 0, asked = 0, end = 0, pagesEnd = 0, committed = 0;
    int64_t processedBefore = 0; // tokens
    /// Pages, of the last hit or load, after which there is a state.
    int64_t hitEnd = 0;
  };
  /// The end of the prefix, from some page on, that can be loaded, and of the
  /// run of pages of which there are records.
  struct Loadable {
    int64_t end, known;
  };

  PageLoader(const MultiKVCacheParams &params, int64_t mostWait,
             const CacheMemory &memory, size_t requests)
      : pageSize(params.pageSize()), mostWait(mostWait),
        hasStates(memory.stateParts() > 0), states(requests) {}

  /// When what begins now is given up; of steady_clock.
  int64_t deadline() const;
  /// Waits until a record or an answer has come. False: it is too late.
  bool waitUntil(int64_t until);
  Loadable findRecords(size_t request, const CacheEngineImpl &engine,
                       const Prompt &prompt, int64_t first);
  /// As find(), of any request, without waiting. Returns Found::known.
  int64_t findLoads(size_t request, const CacheEngineImpl &engine,
                    const Sequence &sequence, const Prompt &prompt,
                    CacheEngine::Demand &demand);
  bool isAnswered(const LoadRequest &request, const Prompt &prompt);
  bool load(const LoadRequest &request, TextGenerationContext &context,
            bool waits);
  /// Copies the state of the request's committed pages to records, if it is a
  /// snapshot: `ifPlanned`, not if it will soon be superseded by the next one.
  void storeState(const LoadRequest &request, bool ifPlanned);
  void touchRecords(const LoadRequest &request);

  int64_t pageSize, mostWait;
  bool hasStates;
  std::unique_ptr<PageTiers> tiers;
  std::vector<State> states; // by index of the request
};

} // namespace kv

#endif // KV_RUNTIME_MANAGER_PAGELOADER_H
