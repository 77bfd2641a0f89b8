//===- ArtifactRunner.cpp - Steps of a loaded artifact --------------------===//

#include "kv/Runtime/Serving/ArtifactRunner.h"

#include <algorithm>

using namespace kv;

namespace {

constexpr int64_t MostRowsAtFirst = 16;

constexpr std::string_view InputNames[] = {"tokens", "row_offsets",
                                           "logit_rows", "hidden_rows"};

std::unexpected<Error> fail(const auto &...parts) {
  return makeError(KV_STATUS_INVALID_ARGUMENT, parts...);
}

Expected<void> checkInputs(const Entry &entry) {
  for (std::string_view name : InputNames) {
    const Argument *input = entry.findInput(name);
    if (!input && name == "hidden_rows")
      continue;
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
                  "logit_rows, hidden_rows");
  return {};
}

/// The elements of a row of an output f32 [rows, columns].
Expected<int64_t> columnsOf(const Entry &entry, std::string_view name,
                            std::string_view needed) {
  const Argument *output = entry.findOutput(name);
  if (!output)
    return fail("entry forward has no output ", name);
  if (output->dtype != DType::F32 || output->shape.size() != 2 ||
      !output->shape[1].isStatic() || output->shape[1].size < 1)
    return fail("entry forward: output ", name, " is ",
                dtypeName(output->dtype), " of rank ", output->shape.size(),
                ", needed: f32 ", needed);
  return output->shape[1].size;
}

/// Makes room for as many rows; by doubling, since a step that is kept as a
/// graph is known by its addresses.
Expected<void> growRows(Buffer &buffer, const Device &device, int64_t rows,
                        int64_t columns) {
  int64_t have = buffer.data() ? buffer.shape()[0] : 0;
  if (have >= rows)
    return {};
  Expected<Buffer> grown =
      Buffer::create(device, DType::F32, {std::max(rows, 2 * have), columns});
  if (!grown)
    return std::unexpected(grown.error());
  buffer = std::move(*grown);
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
  bool embeds = entry->findInput("hidden_rows");
  if (!entry->findOutput("logits") || entry->outputs.size() != 1u + embeds)
    return fail("entry forward has ", entry->outputs.size(),
                " outputs, needed: logits", embeds ? " and hidden" : " alone");
  Expected<int64_t> columns = columnsOf(*entry, "logits", "[R, vocabulary]");
  if (!columns)
    return std::unexpected(columns.error());
  result.vocabSize = *columns;
  if (embeds) {
    columns = columnsOf(*entry, "hidden", "[E, hidden size]");
    if (!columns)
      return std::unexpected(columns.error());
    result.hiddenSize = *columns;
  }
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
      new ArtifactRunner(model, *forward, signature));
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
  if (signature.hiddenSize) {
    runner->hiddenRows = slot("hidden_rows");
    runner->hiddenOutput = slot("hidden");
  }
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
    status = growRows(runner->logits, Device(), MostRowsAtFirst, runner->vocab);
  if (status)
    status = runner->prepareSample();
  if (!status)
    return std::unexpected(status.error());
  return runner;
}

/// The entry `sample` of docs/reference/module.md, if tokens are to be chosen
/// by it: on a CPU the host's own sampler has the logits where they are.
Expected<void> ArtifactRunner::prepareSample() {
  if (model.device().kind == Device::Kind::CPU ||
      !model.manifest().findEntry("sample"))
    return {};
  Expected<Invocation> prepared = model.prepare("sample");
  if (!prepared)
    return std::unexpected(prepared.error());
  for (auto [name, slot] : {std::pair("logits", &sampleSlots.logits),
                            {"temperature", &sampleSlots.temperature},
                            {"top_k", &sampleSlots.topK},
                            {"top_p", &sampleSlots.topP},
                            {"min_p", &sampleSlots.minP},
                            {"seed", &sampleSlots.seed},
                            {"index", &sampleSlots.index},
                            {"tokens", &sampleSlots.tokens}}) {
    Expected<int> found = prepared->slot(name);
    if (!found)
      return std::unexpected(found.error());
    *slot = *found;
  }
  sample = std::move(*prepared);
  return {};
}

Expected<void> ArtifactRunner::bindInputs(const ModelStep &step) {
  auto bind = [&](int slot, std::span<const int32_t> values) {
    // Views are not const; entries only read their inputs.
    forward.bindHost(slot,
                     makeView(const_cast<int32_t *>(values.data()), DType::I32,
                              {static_cast<int64_t>(values.size())}));
  };
  bind(tokens, step.tokens);
  bind(rowOffsets, step.rowOffsets);
  bind(logitRows, step.logitRows);
  if (hiddenWidth) {
    auto rows = static_cast<int64_t>(step.hiddenRows.size());
    if (Expected<void> room =
            growRows(hiddenStates, Device(), std::max(rows, MostRowsAtFirst),
                     hiddenWidth);
        !room)
      return room;
    bind(hiddenRows, step.hiddenRows);
    hiddenElements = rows * hiddenWidth;
    KvTensorView states =
        makeView(hiddenStates.data(), DType::F32, {rows, hiddenWidth});
    if (rows)
      forward.bindHost(hiddenOutput, states);
    else // nothing to wait for
      forward.bind(hiddenOutput, states);
  }
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
  return {};
}

Expected<std::span<const float>> ArtifactRunner::run(const ModelStep &step) {
  int64_t rows = static_cast<int64_t>(step.logitRows.size());
  if (Expected<void> room = growRows(logits, Device(), rows, vocab); !room)
    return std::unexpected(room.error());
  if (Expected<void> bound = bindInputs(step); !bound)
    return std::unexpected(bound.error());
  forward.bindHost(output, makeView(logits.data(), DType::F32, {rows, vocab}));
  if (Expected<void> done = forward.execute(); !done)
    return std::unexpected(done.error());
  return std::span<const float>(logits.as<float>(), rows * vocab);
}

Expected<std::span<const int32_t>>
ArtifactRunner::choose(const ModelStep &step,
                       std::span<const sampling::Choice> choices) {
  int64_t rows = static_cast<int64_t>(step.logitRows.size());
  if (Expected<void> room = growRows(deviceLogits, model.device(),
                                     std::max(rows, MostRowsAtFirst), vocab);
      !room)
    return std::unexpected(room.error());
  KvTensorView onDevice =
      makeView(deviceLogits.data(), DType::F32, {rows, vocab});
  sample->bind(sampleSlots.logits, onDevice);
  auto bind = [&]<class T>(int slot, DType type, std::vector<T> &list,
                           auto value) {
    list.clear();
    for (const sampling::Choice &choice : choices)
      list.push_back(static_cast<T>(value(choice)));
    sample->bindHost(slot, makeView(list.data(), type, {rows}));
  };
  using Choice = sampling::Choice;
  bind(sampleSlots.temperature, DType::F32, lists.temperature,
       [](const Choice &c) { return c.temperature; });
  bind(sampleSlots.topK, DType::I32, lists.topK,
       [](const Choice &c) { return c.topK; });
  bind(sampleSlots.topP, DType::F32, lists.topP,
       [](const Choice &c) { return c.topP; });
  bind(sampleSlots.minP, DType::F32, lists.minP,
       [](const Choice &c) { return c.minP; });
  bind(sampleSlots.seed, DType::I64, lists.seed,
       [](const Choice &c) { return c.seed; });
  bind(sampleSlots.index, DType::I32, lists.index,
       [](const Choice &c) { return c.index; });
  lists.tokens.resize(choices.size());
  sample->bindHost(sampleSlots.tokens,
                   makeView(lists.tokens.data(), DType::I32, {rows}));

  // All copies stand before the step, and nothing between the two entries.
  Expected<void> done = bindInputs(step);
  forward.bind(output, onDevice);
  if (done)
    done = sample->upload();
  if (done)
    done = forward.execute();
  if (done)
    done = sample->execute();
  if (!done)
    return std::unexpected(done.error());
  return std::span<const int32_t>(lists.tokens);
}
