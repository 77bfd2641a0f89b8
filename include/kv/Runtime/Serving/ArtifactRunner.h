//===- ArtifactRunner.h - Steps of a loaded artifact ------------*- C++ -*-===//

#ifndef KV_RUNTIME_SERVING_ARTIFACTRUNNER_H
#define KV_RUNTIME_SERVING_ARTIFACTRUNNER_H

#include "kv/Runtime/Serving/ModelRunner.h"
#include "kv/Runtime/Session/InferenceSession.h"

namespace kv {

/// The facts of a text-generation artifact that serving needs, known before its
/// weights are loaded: its collections, and an entry `forward` as
/// docs/reference/module.md has it.
struct ForwardSignature {
  MultiKVCacheParams cache;
  int64_t vocabSize = 0;
  int64_t hiddenSize = 0; // 0: the entry gives no hidden states
  int64_t maxSeqLen = 0;

  /// Errors name the field, what the manifest has and what is needed.
  static Expected<ForwardSignature> from(const Manifest &manifest);
};

/// Runs the entry `forward` of a model whose weights are bound.
class ArtifactRunner : public ModelRunner {
public:
  static Expected<std::unique_ptr<ArtifactRunner>>
  create(Model model, const ForwardSignature &signature);

  int64_t vocabSize() const override { return vocab; }
  int64_t hiddenSize() const override { return hiddenWidth; }
  std::span<const float> hidden() const override {
    return {hiddenStates.as<float>(), static_cast<size_t>(hiddenElements)};
  }
  Expected<std::span<const float>> run(const ModelStep &step) override;
  /// On a device, by the entry `sample`, if the artifact has one.
  bool canChoose() const override { return sample.has_value(); }
  Expected<std::span<const int32_t>>
  choose(const ModelStep &step,
         std::span<const sampling::Choice> choices) override;

private:
  ArtifactRunner(Model model, Invocation forward,
                 const ForwardSignature &signature)
      : model(std::move(model)), forward(std::move(forward)),
        vocab(signature.vocabSize), hiddenWidth(signature.hiddenSize) {}

  Expected<void> bindInputs(const ModelStep &step);
  Expected<void> prepareSample();

  Model model;
  Invocation forward;
  int64_t vocab, hiddenWidth, hiddenElements = 0;
  int tokens = 0, rowOffsets = 0, logitRows = 0, output = 0;
  int hiddenRows = 0, hiddenOutput = 0;
  struct CacheSlots { // -1: no such argument
    int blocks, cacheLengths, lookupTable, maxLengths, scales;
  };
  std::vector<CacheSlots> caches; // by collection
  Buffer logits;                  // [rows so far needed, vocab], on the host
  Buffer deviceLogits;            // the same where they are chosen from
  Buffer hiddenStates; // [rows so far needed, hiddenWidth], on the host

  std::optional<Invocation> sample; // the entry, where tokens are chosen
  struct SampleSlots {
    int logits, temperature, topK, topP, minP, seed, index, tokens;
  } sampleSlots = {};
  struct Lists { // [R] each, on the host
    std::vector<float> temperature, topP, minP;
    std::vector<int32_t> topK, index, tokens;
    std::vector<int64_t> seed;
  } lists;
};

} // namespace kv

#endif // KV_RUNTIME_SERVING_ARTIFACTRUNNER_H
