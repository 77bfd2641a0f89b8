//===- RankedRunner.h - Steps that several ranks compute --------*- C++ -*-===//
//
// Rank 0 alone has requests, a scheduler and a cache manager: one decision, and
// so the same pages on every rank. The other ranks have the memory of a cache
// and do what rank 0 says, step by step.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_SERVING_RANKEDRUNNER_H
#define KV_RUNTIME_SERVING_RANKEDRUNNER_H

#include "kv/Runtime/Device/Communicator.h"
#include "kv/Runtime/Manager/CacheMemory.h"
#include "kv/Runtime/Serving/ModelRunner.h"

#include <functional>

namespace kv {

/// Rank 0's runner: gives every step to the other ranks, and runs it. The
/// arguments must outlive the runner. Without ranks it is the own runner. All
/// ranks run a step with lengths and tables in host memory, so that devices
/// that keep steps see equal ones on all ranks.
class RankedRunner : public ModelRunner {
public:
  /// `lost` is called once the ranks are apart, with what went wrong, and need
  /// not return: no later step can run.
  RankedRunner(ModelRunner &own, Communicator *ranks,
               std::function<void(const Error &)> lost)
      : own(own), ranks(ranks), lost(std::move(lost)) {}

  int64_t vocabSize() const override { return own.vocabSize(); }
  /// Errors: those of the own runner; those of Communicator.
  Expected<std::span<const float>> run(const ModelStep &step) override;
  /// The other ranks wait for the next step without a limit; otherwise they
  /// take a rank 0 that gives them none for lost.
  void rest() override;
  /// Several ranks bring logits to the host: all of them run the same work.
  bool canChoose() const override { return !ranks && own.canChoose(); }
  Expected<std::span<const int32_t>>
  choose(const ModelStep &step,
         std::span<const sampling::Choice> choices) override {
    return own.choose(step, choices);
  }

  /// Notes page operations of the manager, which the other ranks do before the
  /// next step (PagedKVCacheManager::Options::pageOps).
  void addPageOps(int32_t replica, std::span<const PageOp> ops);

  /// Tells the other ranks that there are no more steps.
  Expected<void> finish();

private:
  /// Gives `message` to the other ranks.
  Expected<void> send();

  ModelRunner &own;
  Communicator *ranks;
  std::function<void(const Error &)> lost;
  std::vector<int32_t> pageOps;          // as they are sent
  std::vector<RaggedKVCacheInputs> host; // of the step that runs
  std::vector<std::byte> message;
};

/// The loop of the other ranks: runs the steps of rank 0 on caches of their
/// own, on `device`, until it finishes. A step's error that is not one of
/// Communicator is rank 0's as well, who reports it. Errors: those of
/// Communicator; no memory.
Expected<void> followSteps(ModelRunner &own, Communicator &ranks,
                           const MultiKVCacheParams &params,
                           const Device &device = {});

/// Whether `digest` is the same number on all ranks. Error: that `what`
/// differs, with the ranks that have another one than rank 0.
Expected<void> checkAgreement(Communicator &ranks, std::string_view what,
                              uint64_t digest);

} // namespace kv

#endif // KV_RUNTIME_SERVING_RANKEDRUNNER_H
