//===- DraftModel.h - Drafts of a smaller model -----------------*- C++ -*-===//
//
// A model with the same vocabulary, and a cache of its own, guesses what the
// generator's model will draw. Each guess takes a step of the smaller model for
// all requests together, and is its likeliest token.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_SERVING_DRAFTMODEL_H
#define KV_RUNTIME_SERVING_DRAFTMODEL_H

#include "kv/Runtime/Manager/PagedKVCacheManager.h"
#include "kv/Runtime/Serving/ModelRunner.h"
#include "kv/Runtime/Serving/Scheduler.h"

#include <functional>
#include <unordered_map>

namespace kv {

class Model;
struct ForwardSignature;

class DraftModel {
public:
  /// For requests of a generator with these options: maxBatch, maxBatchTokens
  /// and draftLength count. The manager has one replica, and no states.
  /// `log` hears once that a step has failed.
  DraftModel(std::unique_ptr<ModelRunner> runner,
             std::unique_ptr<PagedKVCacheManager> manager,
             const Scheduler::Options &options,
             std::function<void(std::string_view)> log = {});

  /// Of a model with bound weights. Its cache has room for all requests, but at
  /// most 1 GiB. Error: why it cannot guess for the model `served`.
  static Expected<std::unique_ptr<DraftModel>>
  create(Model model, const ForwardSignature &served,
         const Scheduler::Options &options);

  /// Fills the `proposed` tokens of requests that decode. A long prompt is
  /// computed in chunks, one a call, before the first guess. A request for
  /// which there is no room gets none, and after a step that has failed none
  /// of its requests gets any more.
  void propose(std::span<ActiveRequest *const> requests);
  /// The request is over.
  void forget(RequestId id);

private:
  /// What the cache has of a request: its tokens, and guesses after them.
  struct Guessed {
    std::vector<int32_t> tokens;
    TextGenerationContext context;
    ActiveRequest *request = nullptr;
    int64_t wanted = 0; // guesses
  };

  Guessed *prepare(ActiveRequest &request);
  Expected<void> step();
  /// The latest step has failed.
  void giveUp(const Error &error);
  /// Chooses the likeliest token of each text's last row.
  Expected<std::span<const int32_t>> choose(const ModelStep &step);

  std::unique_ptr<ModelRunner> runner;
  std::unique_ptr<PagedKVCacheManager> manager;
  Scheduler::Options options;
  std::function<void(std::string_view)> log;
  bool hasFailed = false;
  /// Null: its request gets no more guesses.
  std::unordered_map<RequestId, std::unique_ptr<Guessed>> texts;
  sampling::RowSampler sampler;

  // A step's, kept to be filled again.
  std::vector<Guessed *> batch;
  std::vector<const TextGenerationContext *> contexts;
  std::vector<int32_t> tokens, rowOffsets, logitRows, chosen;
};

} // namespace kv

#endif // KV_RUNTIME_SERVING_DRAFTMODEL_H
