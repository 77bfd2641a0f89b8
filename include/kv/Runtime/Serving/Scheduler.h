//===- Scheduler.h - Which requests take part in a step ---------*- C++ -*-===//
//
// Continuous batching. Every step is one ragged batch: the running requests
// that decode, then prefill chunks of the other running requests, then newly
// admitted requests, up to limits of requests and of tokens.
//
// Requests wait by priority, then by the tokens computed for their tenant, then
// by arrival (the virtual token counter of Sheng et al., "Fairness in Serving
// Large Language Models", OSDI 2024). A tenant that begins to wait is not owed
// the turns of the time before. It begins level with the tenant that has waited
// longest, so that a stream of new tenants starves nobody.
//
// If a running request needs a page and its replica has none, the newest
// request that runs there is preempted: it releases its pages and waits in its
// place to be admitted and computed again, on any replica. The oldest request
// always makes progress.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_SERVING_SCHEDULER_H
#define KV_RUNTIME_SERVING_SCHEDULER_H

#include "kv/Runtime/Manager/KVCacheManager.h"
#include "kv/Runtime/Serving/GenerationRequest.h"

#include <chrono>
#include <deque>
#include <map>

namespace kv {

struct ActiveRequest;

/// Whose requests share a turn.
struct Tenant {
  /// Tokens of the steps that had its requests, or more (level()).
  int64_t computed = 0;
  int64_t requests = 0;                // that have not ended
  std::deque<ActiveRequest *> waiting; // by priority, then by arrival
};

/// A request that has arrived and has not been answered completely.
struct ActiveRequest {
  ActiveRequest(const GenerationRequest &request, RequestId id,
                int64_t maxTokens);

  int64_t promptTokens() const {
    return static_cast<int64_t>(request->tokens.size());
  }
  /// Tokens of the prompt and the answer, without drafts.
  int64_t knownTokens() const {
    return static_cast<int64_t>(tokens.size()) - drafts;
  }
  int64_t newTokens() const { return knownTokens() - promptTokens(); }
  /// Whether its next step computes its last token, and drafts after it.
  bool decodes() const { return context.vouched() - context.processed() == 1; }
  /// Until its first step, or until now.
  double queueSeconds() const {
    return std::chrono::duration<double>(
               begun.value_or(std::chrono::steady_clock::now()) - arrived)
        .count();
  }

  /// Gives the context a payload of so many bytes, which its pages keep.
  void setPayload(size_t bytes) {
    payload = std::vector<std::byte>(bytes);
    context.setPayload(payload);
  }

  /// Appends the first `count` of the proposed tokens as drafts.
  void addDrafts(int64_t count);
  void dropDrafts();

  const GenerationRequest *request;
  /// The prompt, the generated tokens and, during a step, its drafts. Their
  /// address never changes.
  std::vector<int32_t> tokens;
  int64_t drafts = 0; // of `tokens` the last ones
  /// Drafts for the next step, which takes as many as it has room for.
  std::vector<int32_t> proposed;
  static constexpr int64_t MostDrafts = 64;
  /// Most drafts that the server proposes: more after right ones, few after
  /// wrong ones.
  int64_t trust = MostDrafts;
  TextGenerationContext context;  // of `tokens`; ids ascend by arrival
  int64_t maxTokens;              // of prompt and answer together
  int64_t cachedTokens = -1;      // hit of the first admission; -1 before it
  int64_t promptLogits = 0;       // prompt positions that were passed on
  std::vector<std::byte> payload; // of the prompt, while it is computed
  /// Of an embedding: the sum of the hidden states so far, of as many prompt
  /// positions.
  std::vector<double> hiddenSum;
  int64_t hiddenCount = 0;
  bool stopped = false;     // a stop token was drawn
  int32_t replica = 0;      // while it runs
  Tenant *tenant = nullptr; // the scheduler's
  std::chrono::steady_clock::time_point arrived =
      std::chrono::steady_clock::now();
  std::optional<std::chrono::steady_clock::time_point> begun; // its first step
};

class Scheduler {
public:
  struct Options {
    int32_t maxBatch = 16;        // most requests of a step
    int64_t maxBatchTokens = 512; // most tokens of a step
    int32_t ngram = 0;            // most drafts of a prompt lookup; 0: none
    int32_t draftLength = 4;      // most drafts of a draft model
  };

  /// A request that cannot be computed further, and why.
  struct Failure {
    ActiveRequest *request;
    std::string message;
  };

  Scheduler(KVCacheManager &manager, const Options &options);

  /// Checks that the request, with all tokens that it may generate, fits into
  /// the manager's pages if it is the only one. The error's message is a
  /// sentence without its subject, the request.
  Expected<void> canEverFit(const ActiveRequest &request) const;

  /// Whether caches of these parameters can take back drafts that were not
  /// accepted.
  static bool canDraft(const MultiKVCacheParams &params);
  /// Checks options that depend on the cache. The error's message begins with
  /// an option's name.
  static Expected<void> check(const Options &options,
                              const MultiKVCacheParams &params);

  /// Adds a request that has arrived. The request must outlive its finish(),
  /// and its id must be larger than those of all earlier ones.
  void add(ActiveRequest &request);

  /// Chooses the requests of the next step, in the order of their replicas.
  /// Their pages are reserved, and their active tokens limited to what the step
  /// computes. Requests that decode get the proposed drafts for which there is
  /// room: all drafts together are at most half of a step, and preempt nobody.
  /// Empty only if no request waits or runs, if all have failed, or
  /// while those that run wait for their pages to be loaded (isLoading()).
  std::span<ActiveRequest *const> schedule();

  /// Requests that the last schedule() has given up and released. Valid until
  /// the next one.
  std::span<const Failure> failures() const { return failed; }

  /// Releases a request that has been answered or given up.
  void finish(ActiveRequest &request);

  /// Whether a running request was left out of the last step since its pages
  /// are on their way from a disk.
  bool isLoading() const { return loading > 0; }
  bool idle() const { return tenants.empty(); }
  int64_t numPreemptions() const { return preemptions; }
  size_t numRunning() const { return running.size(); }
  size_t numWaiting() const;

private:
  bool reserve(ActiveRequest &request, int64_t chunk);
  void join(ActiveRequest &request, const Allocation &allocation);
  /// Most pages that a prompt whose pages are reserved up to a token will yet
  /// take.
  int64_t pagesAhead(const TextGenerationContext &context,
                     int64_t reserved) const;
  void decodeOrContinue(bool decode);
  void wait(ActiveRequest &request);
  /// The least Tenant::computed of one that begins to wait with the request.
  int64_t level(const ActiveRequest &request) const;
  /// The request that begins next; null: none waits.
  ActiveRequest *nextWaiting() const;
  void admit();
  /// The batch in the order of its replicas, each one's requests in their
  /// order.
  void groupByReplica();
  void preempt(ActiveRequest &request);
  void fail(ActiveRequest &request, std::string message);
  void leave(ActiveRequest &request);
  /// Requests that run on a replica, and the newest of them.
  int64_t numRunning(int32_t replica) const;
  ActiveRequest &newest(int32_t replica) const;

  KVCacheManager &manager;
  Options options;
  /// Windows give pages back between chunks only: prompts reserve chunk by
  /// chunk, where otherwise they reserve all of their pages at once.
  bool reservesChunks;
  std::map<std::string, Tenant> tenants; // that have requests
  int64_t lastLevel = 0; // Tenant::computed of the one admitted last
  std::vector<ActiveRequest *> running; // by arrival
  std::vector<ActiveRequest *> batch;
  std::vector<Failure> failed;
  int64_t budget = 0; // tokens that the step has room for
  bool preempted = false;
  int64_t loading = 0; // requests that the step leaves out
  int64_t preemptions = 0;
};

} // namespace kv

#endif // KV_RUNTIME_SERVING_SCHEDULER_H
