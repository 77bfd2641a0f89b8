//===- Scheduler.h - Which requests take part in a step ---------*- C++ -*-===//
//
// Continuous batching. Every step is one ragged batch: the running requests
// that decode, then prefill chunks of those that do not yet, then newly
// admitted ones, up to a number of requests and of tokens.
//
// When a running request needs a page and its replica has none, the newest
// request that runs there is preempted: its pages go back, and it waits, before
// all that came later, to be admitted and computed again, on any replica. The
// oldest always makes progress.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_SERVING_SCHEDULER_H
#define KV_RUNTIME_SERVING_SCHEDULER_H

#include "kv/Runtime/Manager/KVCacheManager.h"
#include "kv/Runtime/Serving/GenerationRequest.h"

#include <deque>

namespace kv {

/// A request that has arrived and is not yet answered.
struct ActiveRequest {
  ActiveRequest(const GenerationRequest &request, RequestId id,
                int64_t maxTokens);

  int64_t promptTokens() const {
    return static_cast<int64_t>(request->tokens.size());
  }
  int64_t newTokens() const {
    return static_cast<int64_t>(tokens.size()) - promptTokens();
  }

  const GenerationRequest *request;
  /// The prompt and what was generated; never moves.
  std::vector<int32_t> tokens;
  TextGenerationContext context; // looks at `tokens`; its id orders by arrival
  int64_t maxTokens;             // prompt and answer together
  int64_t cachedTokens = -1;     // of the first admission; -1 before it
  int64_t promptLogits = 0;      // positions whose logits were given out
  bool stopped = false;          // drew a stop token
  int32_t replica = 0;           // while it runs
};

class Scheduler {
public:
  struct Options {
    int32_t maxBatch = 16;        // requests a step
    int64_t maxBatchTokens = 512; // tokens a step
  };

  /// A request that cannot go on, and why.
  struct Failure {
    ActiveRequest *request;
    std::string message;
  };

  Scheduler(KVCacheManager &manager, const Options &options);

  /// Whether the request, with all the tokens that it may generate, fits the
  /// manager when it is alone. The error is a sentence without a subject.
  Expected<void> canEverFit(const ActiveRequest &request) const;

  /// The request has arrived; it must outlive its finish(). Ids ascend.
  void add(ActiveRequest &request);

  /// Chooses the next step: requests with pages reserved and their active
  /// tokens limited, in the order of their replicas. Empty only if nothing
  /// waits or runs, or if everything failed.
  std::span<ActiveRequest *const> schedule();

  /// Requests that schedule() gave up, already released; valid until it is
  /// called again.
  std::span<const Failure> failures() const { return failed; }

  /// The request is answered: its pages go back.
  void finish(ActiveRequest &request);

  bool idle() const { return running.empty() && waiting.empty(); }
  int64_t numPreemptions() const { return preemptions; }

private:
  bool reserve(ActiveRequest &request, int64_t chunk);
  /// Most pages that a prompt whose pages are reserved up to a token will yet
  /// take.
  int64_t pagesAhead(const TextGenerationContext &context,
                     int64_t reserved) const;
  void decodeOrContinue(bool decode);
  void admit();
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
  std::deque<ActiveRequest *> waiting;  // by arrival
  std::vector<ActiveRequest *> running; // by arrival
  std::vector<ActiveRequest *> batch;
  std::vector<Failure> failed;
  int64_t budget = 0; // tokens that the step can still take
  bool preempted = false;
  int64_t preemptions = 0;
};

} // namespace kv

#endif // KV_RUNTIME_SERVING_SCHEDULER_H
