//===- ModelRunner.h - One step of a text-generation model ------*- C++ -*-===//

#ifndef KV_RUNTIME_SERVING_MODELRUNNER_H
#define KV_RUNTIME_SERVING_MODELRUNNER_H

#include "kv/Runtime/Manager/KVCacheManager.h"

#include <span>

namespace kv {

/// The inputs of one ragged batch on one replica. Sequence b owns the tokens
/// rowOffsets[b] .. rowOffsets[b + 1].
struct ModelStep {
  std::span<const int32_t> tokens;     // [T]
  std::span<const int32_t> rowOffsets; // [B + 1]
  std::span<const int32_t> logitRows;  // [R]: rows of `tokens`, may be empty
  /// Shard by shard, and for each the collections in the parameters' order.
  std::span<const RaggedKVCacheInputs> kv;
  int32_t replica = 0;
};

/// What executes steps: an artifact's entry, or a test's function.
class ModelRunner {
public:
  virtual ~ModelRunner() = default;

  virtual int64_t vocabSize() const = 0;

  /// Runs the step. Returns logits [R, vocabSize], valid until the next call.
  virtual Expected<std::span<const float>> run(const ModelStep &step) = 0;
};

} // namespace kv

#endif // KV_RUNTIME_SERVING_MODELRUNNER_H
