//===- ArtifactRunner.cpp - Steps of a loaded artifact --------------------===//

#include "kv/Runtime/Serving/ArtifactRunner.h"

#include <algorithm>

using namespace kv;

namespace {

constexpr std::string_view InputNames[] = {"tokens", "row_offsets",
                                           "logit_rows"};

std::unexpected<Error> fail(const auto &...parts) {
  return makeError(KV_STATUS_INVALID_ARGUMENT, parts...);
}

Expected<void> checkInputs(const Entry &entry) {
  for (std::string_view name : InputNames) {
    const Argument *input = entry.findInput(name);
    if (!input)
      return fail("entry forward has no input ", name);
    if (input->dtype != DType::I32 || input->shape.size() != 1)
      return fail("entry forward: input ", name, " is ",
                  dtypeName(input->dtype), " of rank ", input->shape.size(),
                  ", needed: i32 of rank 1");
  }
  for (const Argument &input : entry.inputs)
    if (input.kind == ArgumentKind::Input &&
        std::ranges::find(InputNames, input.name) == std::end(InputNames))
      return fail("entry forward: input ", input.name,
                  " is none that serving gives: tokens, row_offsets, "
                  "logit_rows");
  return {};
}

} // namespace

Expected<ForwardSignature> ForwardSignature::from(const Manifest &manifest) {
  if (manifest.collections.empty())
    return fail("the artifact has no collection, needed: one or more");
  ForwardSignature result;
  for (const Collection &collection : manifest.collections)
    result.cache.params.push_back(KVCacheParams::fromCollection(collection));
  int64_t longest = manifest.model.maxSeqLen;
  if (longest < 1 || longest > INT32_MAX)
    return fail("model.max_seq_len is ", longest, ", allowed: 1 to ",
                INT32_MAX);
  if (Expected<void> valid = result.cache.validate(); !valid)
    return std::unexpected(valid.error());
  result.maxSeqLen = manifest.maxSeqLen();
  const Entry *entry = manifest.findEntry("forward");
  if (!entry)
    return fail("the artifact has no entry forward");
  if (Expected<void> valid = checkInputs(*entry); !valid)
    return std::unexpected(valid.error());
  for (const KVCacheParams &one : result.cache.params)
    if (Expected<void> valid = one.validate(*entry); !valid)
      return std::unexpected(valid.error());
  const Argument *logits = entry->findOutput("logits");
  if (!logits || entry->outputs.size() != 1)
    return fail("entry forward has ", entry->outputs.size(),
                " outputs, needed: logits alone");
  if (logits->dtype != DType::F32 || logits->shape.size() != 2 ||
      !logits->shape[1].isStatic() || logits->shape[1].size < 1)
    return fail("entry forward: output logits is ", dtypeName(logits->dtype),
                " of rank ", logits->shape.size(),
                ", needed: f32 [R, vocabulary]");
  result.vocabSize = logits->shape[1].size;
  if (manifest.model.vocabSize != 0 &&
      manifest.model.vocabSize != result.vocabSize)
    return fail("model.vocab_size is ", manifest.model.vocabSize,
                ", output logits has ", result.vocabSize);
  return result;
}

Expected<std::unique_ptr<ArtifactRunner>>
ArtifactRunner::create(Model model, const ForwardSignature &signature) {
  Expected<Invocation> forward = model.prepare("forward");
  if (!forward)
    return std::unexpected(forward.error());
  std::unique_ptr<ArtifactRunner> runner(
      new ArtifactRunner(model, *forward, signature.vocabSize));
  Expected<void> status;
  auto slot = [&](std::string_view name) {
    Expected<int> found = runner->forward.slot(name);
    if (!found && status)
      status = std::unexpected(found.error());
    return found.value_or(-1);
  };
  runner->tokens = slot("tokens");
  runner->rowOffsets = slot("row_offsets");
  runner->logitRows = slot("logit_rows");
  runner->output = slot("logits");
  for (const KVCacheParams &one : signature.cache.params) {
    auto cacheSlot = [&](ArgumentKind kind) {
      const Argument *argument =
          runner->forward.entry().findInput(kind, one.name);
      return argument ? slot(argument->name) : -1;
    };
    runner->caches.push_back(
        {.blocks = cacheSlot(ArgumentKind::Blocks),
         .cacheLengths = cacheSlot(ArgumentKind::CacheLengths),
         .lookupTable = cacheSlot(ArgumentKind::LookupTable),
         .maxLengths = cacheSlot(ArgumentKind::MaxLengths),
         .scales = cacheSlot(ArgumentKind::Scales)});
  }
  if (status)
    status = runner->growLogits(16);
  if (!status)
    return std::unexpected(status.error());
  return runner;
}

Expected<void> ArtifactRunner::growLogits(int64_t rows) {
  if (logits.data() && logits.shape()[0] >= rows)
    return {};
  Expected<Buffer> grown = Buffer::create(Device(), DType::F32, {rows, vocab});
  if (!grown)
    return std::unexpected(grown.error());
  logits = std::move(*grown);
  return {};
}

Expected<std::span<const float>> ArtifactRunner::run(const ModelStep &step) {
  int64_t rows = static_cast<int64_t>(step.logitRows.size());
  if (Expected<void> room = growLogits(rows); !room)
    return std::unexpected(room.error());
  auto bind = [&](int slot, std::span<const int32_t> values) {
    // Views are not const; entries only read their inputs.
    forward.bindHost(slot,
                     makeView(const_cast<int32_t *>(values.data()), DType::I32,
                              {static_cast<int64_t>(values.size())}));
  };
  bind(tokens, step.tokens);
  bind(rowOffsets, step.rowOffsets);
  bind(logitRows, step.logitRows);
  for (size_t i = 0; i < caches.size(); ++i) {
    const CacheSlots &slots = caches[i];
    const RaggedKVCacheInputs &inputs = step.kv[i];
    forward.bind(slots.blocks, inputs.blocks);
    if (step.hostTables) {
      forward.bindHost(slots.cacheLengths, inputs.cacheLengths);
      forward.bindHost(slots.lookupTable, inputs.lookupTable);
    } else {
      forward.bind(slots.cacheLengths, inputs.cacheLengths);
      forward.bind(slots.lookupTable, inputs.lookupTable);
    }
    if (slots.maxLengths >= 0)
      forward.bind(slots.maxLengths, inputs.maxLengths);
    if (slots.scales >= 0)
      forward.bind(slots.scales, inputs.scales);
  }
  forward.bindHost(output, makeView(logits.data(), DType::F32, {rows, vocab}));
  if (Expected<void> done = forward.execute(); !done)
    return std::unexpected(done.error());
  return std::span<const float>(logits.as<float>(), rows * vocab);
}
