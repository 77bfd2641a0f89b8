//===- ForwardSignatureTest.cpp - Artifacts that serving can run ----------===//

#include "kv/Runtime/Serving/ArtifactRunner.h"

#include "test/unit/FakeModel.h"
#include "test/unit/Values.h"

#include <gtest/gtest.h>

#include <functional>

using namespace kv;
using namespace kv::test;

namespace {

/// One that can be served.
Manifest servable() {
  KVCacheParams params = fakeParams(4);
  Manifest manifest;
  manifest.model = {.vocabSize = 7, .maxSeqLen = 32};
  manifest.collections = {{params.name, params.geometry}};
  Entry forward = {.name = "forward", .inputs = params.symbolicInputs()};
  for (const char *name : {"tokens", "row_offsets", "logit_rows"})
    forward.inputs.push_back(
        {.name = name, .dtype = DType::I32, .shape = {{0, name}}});
  forward.outputs = {{.name = "logits",
                      .kind = ArgumentKind::Output,
                      .shape = {{0, "R"}, {7, ""}}}};
  manifest.entries = {forward};
  return manifest;
}

std::string refusal(const std::function<void(Manifest &, Entry &)> &change) {
  Manifest manifest = servable();
  change(manifest, manifest.entries[0]);
  return text(ForwardSignature::from(manifest));
}

} // namespace

TEST(ForwardSignature, OfWhatCanBeServed) {
  Expected<ForwardSignature> signature = ForwardSignature::from(servable());
  ASSERT_TRUE(signature) << text(signature);
  EXPECT_EQ(signature->vocabSize, 7);
  EXPECT_EQ(signature->maxSeqLen, 32);
  EXPECT_EQ(signature->cache.params.size(), 1u);
}

TEST(ForwardSignature, NamesWhatIsMissing) {
  EXPECT_EQ(refusal([](Manifest &of, Entry &) { of.collections.clear(); }),
            "the artifact has no collection, needed: one or more");
  for (int64_t length : {int64_t(0), int64_t(INT32_MAX) + 1})
    EXPECT_EQ(
        refusal([&](Manifest &of, Entry &) { of.model.maxSeqLen = length; }),
        concat("model.max_seq_len is ", length, ", allowed: 1 to 2147483647"));
  EXPECT_EQ(refusal([](Manifest &of, Entry &) { of.entries.clear(); }),
            "the artifact has no entry forward");
  EXPECT_EQ(refusal([](Manifest &, Entry &of) { of.inputs.pop_back(); }),
            "entry forward has no input logit_rows");
  EXPECT_EQ(refusal([](Manifest &, Entry &of) {
              of.inputs.back().dtype = DType::F32;
            }),
            "entry forward: input logit_rows is f32 of rank 1, needed: i32 of "
            "rank 1");
  EXPECT_EQ(refusal([](Manifest &, Entry &of) {
              of.inputs.back().shape.push_back({2, ""});
            }),
            "entry forward: input logit_rows is i32 of rank 2, needed: i32 of "
            "rank 1");
  EXPECT_EQ(refusal([](Manifest &, Entry &of) {
              of.inputs.push_back({.name = "images"});
            }),
            "entry forward: input images is none that serving gives: tokens, "
            "row_offsets, logit_rows, hidden_rows");
}

TEST(ForwardSignature, HasLogitsAlone) {
  EXPECT_EQ(refusal([](Manifest &, Entry &of) { of.outputs.clear(); }),
            "entry forward has 0 outputs, needed: logits alone");
  EXPECT_EQ(
      refusal([](Manifest &, Entry &of) { of.outputs[0].name = "other"; }),
      "entry forward has 1 outputs, needed: logits alone");
  EXPECT_EQ(refusal([](Manifest &, Entry &of) {
              of.outputs.push_back({.name = "hidden"});
            }),
            "entry forward has 2 outputs, needed: logits alone");
  // With an input that asks for them.
  auto embeds = [](Argument hidden) {
    return refusal([&](Manifest &, Entry &of) {
      of.inputs.push_back(
          {.name = "hidden_rows", .dtype = DType::I32, .shape = {{0, "E"}}});
      of.outputs.push_back(hidden);
    });
  };
  Argument hidden = {
      .name = "hidden", .dtype = DType::F32, .shape = {{0, "E"}, {5, ""}}};
  EXPECT_EQ(embeds(hidden), "no error");
  EXPECT_EQ(embeds({.name = "states"}), "entry forward has no output hidden");
  hidden.shape[1].size = 0;
  EXPECT_EQ(embeds(hidden), "entry forward: output hidden is f32 of rank 2, "
                            "needed: f32 [E, hidden size]");
  auto logits = [](const std::function<void(Argument &)> &change) {
    return refusal([&](Manifest &, Entry &of) { change(of.outputs[0]); });
  };
  EXPECT_EQ(logits([](Argument &of) { of.dtype = DType::BF16; }),
            "entry forward: output logits is bf16 of rank 2, needed: f32 [R, "
            "vocabulary]");
  EXPECT_EQ(logits([](Argument &of) { of.shape.pop_back(); }),
            "entry forward: output logits is f32 of rank 1, needed: f32 [R, "
            "vocabulary]");
  for (const Dimension &vocabulary : {Dimension{0, "V"}, Dimension{0, ""}})
    EXPECT_EQ(logits([&](Argument &of) { of.shape[1] = vocabulary; }),
              "entry forward: output logits is f32 of rank 2, needed: f32 [R, "
              "vocabulary]");
  EXPECT_EQ(refusal([](Manifest &of, Entry &) { of.model.vocabSize = 8; }),
            "model.vocab_size is 8, output logits has 7");
}
