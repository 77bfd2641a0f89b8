//===- ModelRunner.h - One step of a text-generation model ------*- C++ -*-===//

#ifndef KV_RUNTIME_SERVING_MODELRUNNER_H
#define KV_RUNTIME_SERVING_MODELRUNNER_H

#include "kv/Kernels/Sample.h"
#include "kv/Runtime/Manager/KVCacheManager.h"

#include <span>

namespace kv {

/// The inputs of one ragged batch on one replica. Sequence b owns the tokens
/// rowOffsets[b] .. rowOffsets[b + 1].
struct ModelStep {
  std::span<const int32_t> tokens;     // [T]
  std::span<const int32_t> rowOffsets; // [B + 1]
  std::span<const int32_t> logitRows;  // [R]: rows of `tokens`, may be empty
  /// [E]: rows of `tokens` whose hidden states are wanted; none where the
  /// runner's hiddenSize() is 0.
  std::span<const int32_t> hiddenRows = {};
  /// The caches: shard by shard, and for each shard one for each collection, in
  /// the order of the parameters.
  std::span<const RaggedKVCacheInputs> kv;
  int32_t replica = 0;
  bool hostTables = false; // lengths and tables of `kv` lie in host memory
};

/// Executes steps: by an entry of an artifact, or by a function of a test.
class ModelRunner {
public:
  virtual ~ModelRunner() = default;

  virtual int64_t vocabSize() const = 0;
  /// Elements of a hidden state: of what the head makes logits of. 0: steps
  /// give none.
  virtual int64_t hiddenSize() const { return 0; }
  /// Those of the latest step [E, hiddenSize], in host memory.
  virtual std::span<const float> hidden() const { return {}; }

  /// Executes the step and waits for it. Returns logits [R, vocabSize] in host
  /// memory, valid until the next call.
  virtual Expected<std::span<const float>> run(const ModelStep &step) = 0;

  /// No step follows before a request comes, however long that takes: called
  /// after a step that leaves none.
  virtual void rest() {}

  /// Whether the runner chooses tokens where it computes logits, so that no
  /// logits come to the host.
  virtual bool canChoose() const { return false; }
  /// Executes the step, chooses a token from each of its R rows of logits, as
  /// choices [R] say, and waits. Returns tokens [R], valid until the next call;
  /// negative where there is none to choose (RowSampler). Only if canChoose().
  virtual Expected<std::span<const int32_t>>
  choose(const ModelStep &step, std::span<const sampling::Choice> choices) {
    return makeError(KV_STATUS_UNSUPPORTED, "the runner chooses no tokens");
  }
};

} // namespace kv

#endif // KV_RUNTIME_SERVING_MODELRUNNER_H
