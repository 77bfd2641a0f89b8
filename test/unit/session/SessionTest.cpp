//===- SessionTest.cpp - Loading and running an artifact ------------------===//

#include "SafetensorsWriter.h"
#include "kv/Runtime/Device/Buffer.h"
#include "kv/Runtime/Session/InferenceSession.h"
#include "test/unit/TemporaryFile.h"

#include <gtest/gtest.h>
#include <numeric>

using namespace kv;
using namespace kv::test;

namespace {

constexpr int64_t N = 32, K = 3;

std::vector<float> weight() {
  std::vector<float> values(N * K);
  std::iota(values.begin(), values.end(), 1.0f);
  return values;
}

std::vector<float> bias() {
  std::vector<float> values(N);
  std::iota(values.begin(), values.end(), 1000.0f);
  return values;
}

/// By the formula of docs/reference/artifact.md.
std::vector<float> packedWeight() {
  std::vector<float> packed(N * K);
  for (int64_t n = 0; n < N; ++n)
    for (int64_t k = 0; k < K; ++k)
      packed[((n / 16) * K + k) * 16 + n % 16] = weight()[n * K + k];
  return packed;
}

class Session : public ::testing::Test {
protected:
  std::vector<std::string> notes;
  InferenceSession session = *InferenceSession::create(
      {.threads = 2,
       .log = [this](std::string_view note) { notes.emplace_back(note); }});

  /// What loading a changed copy of the artifact says, after the file's name.
  std::string loadError(std::string_view from, std::string_view to) {
    TemporaryFile file(replaced(readWhole(KV_TINY_ARTIFACT), from, to));
    auto model = session.load(file.path());
    if (model)
      return "no error";
    EXPECT_TRUE(model.error().message.starts_with(file.path().string()));
    return model.error().message.substr(file.path().string().size());
  }

  std::string bindError(const SafetensorsWriter &weights) {
    TemporaryFile file(weights.bytes());
    auto model = session.load(KV_TINY_ARTIFACT);
    auto bound = model->bindWeights(file.path());
    return bound ? "no error"
                 : bound.error().message.substr(file.path().string().size());
  }

  /// Runs forward and compares with weight() and bias().
  void checkForward(Model &model) {
    std::vector<int32_t> tokens = {3, 0, -7, 100, 5}, rows(5);
    std::vector<float> logits(5 * N);
    auto done = model.execute(
        "forward", std::vector<NamedTensor>{
                       {"logits", makeView(logits.data(), DType::F32, {5, N})},
                       {"tokens", makeView(tokens.data(), DType::I32, {5})},
                       {"rows", makeView(rows.data(), DType::I32, {5})}});
    ASSERT_TRUE(done) << done.error().message;
    for (int64_t t = 0; t < 5; ++t)
      for (int64_t n = 0; n < N; ++n) {
        float expected = bias()[n];
        for (int64_t k = 0; k < K; ++k)
          expected += weight()[n * K + k] * float(tokens[t] + k);
        ASSERT_EQ(logits[t * N + n], expected) << t << " " << n;
      }
  }
};

TEST(InferenceSession, RunsOnNoVirtualDevice) {
  auto session =
      InferenceSession::create({.device = *Device::parse("virtual:sm_90a")});
  ASSERT_FALSE(session);
  EXPECT_EQ(session.error().message, "device virtual:sm_90a runs nothing: it "
                                     "is there to be compiled for");
}

TEST_F(Session, RunsPackedWeights) {
  TemporaryFile file(SafetensorsWriter()
                         .add("packed", {2, K, 16}, packedWeight())
                         .add("bias", {N}, bias())
                         .add("unused", "U8", {1}, "x")
                         .metadata("layout.packed", "n16k")
                         .bytes());
  auto model = session.load(KV_TINY_ARTIFACT);
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->threads(), 2u);
  EXPECT_EQ(model->manifest().model.name, "tiny");
  auto bound = model->bindWeights(file.path());
  ASSERT_TRUE(bound) << bound.error().message;
  EXPECT_EQ(model->weightsBytes(), (N * K + N) * sizeof(float));
  EXPECT_TRUE(notes.empty());
  checkForward(*model);
}

TEST_F(Session, PacksAtLoadWithANote) {
  TemporaryFile file(SafetensorsWriter()
                         .add("packed", {N, K}, weight())
                         .add("bias", {N}, bias())
                         .bytes());
  auto model = session.load(KV_TINY_ARTIFACT);
  ASSERT_TRUE(model->bindWeights(file.path()));
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0],
            concat(file.path().string(),
                   ": 1 row-major weights (384 bytes) were packed to n16k at "
                   "load; a file that stores them packed loads faster"));
  checkForward(*model);
}

// Files need not align their data.
TEST_F(Session, UnalignedData) {
  for (size_t slack : {0, 1, 2, 3}) {
    SafetensorsWriter writer;
    writer.add("packed", {N, K}, weight()).add("bias", {N}, bias());
    TemporaryFile file(writer.bytes(slack));
    auto model = session.load(KV_TINY_ARTIFACT);
    ASSERT_TRUE(model->bindWeights(file.path()));
    checkForward(*model);
  }
}

TEST_F(Session, WrongAbiVersion) {
  EXPECT_EQ(loadError("\"abi_version\": 2", "\"abi_version\": 7"),
            ": manifest: abi_version is 7, this runtime has version 2: "
            "compile the model again");
}

TEST_F(Session, UnknownKind) {
  EXPECT_EQ(loadError("kv.max_lengths\", \"c", "kv.min_lengths\", \"c"),
            ": manifest: entries[3].inputs[1].kind is \"kv.min_lengths\", "
            "expected one of input, weight, kv.blocks, kv.cache_lengths, "
            "kv.lookup_table, kv.max_lengths, kv.scales");
}

TEST_F(Session, CpuLevel) {
  EXPECT_EQ(loadError("x86-64-v2", "x86-64-v9"),
            ": manifest: target.cpu is \"x86-64-v9\", expected one of "
            "x86-64, x86-64-v2, x86-64-v3, x86-64-v4, x86-64-v4-vnni, "
            "x86-64-v4-amx");
  EXPECT_EQ(loadError("\"cpu\", \"t", "\"gpu\", \"t"),
            ": manifest: target.kind is \"gpu\", this session runs cpu");
  EXPECT_TRUE(checkCpuLevel("x86-64-v3", "x86-64-v4"));
  EXPECT_TRUE(checkCpuLevel("x86-64-v3", "x86-64-v3"));
  EXPECT_TRUE(checkCpuLevel("x86-64-v4", "x86-64-v4-vnni"));
  EXPECT_FALSE(checkCpuLevel("x86-64-v4-vnni", "x86-64-v4"));
  EXPECT_EQ(checkCpuLevel("x86-64-v4", "x86-64-v3").error().message,
            "target.cpu is x86-64-v4, this machine has x86-64-v3: compile the "
            "model for this level");
  EXPECT_TRUE(checkCpuLevel("x86-64", hostCpuLevel()));
}

TEST_F(Session, MissingSymbol) {
  EXPECT_EQ(loadError("\"kv_entry_hog\"", "\"kv_entry_dog\""),
            ": entry hog: the symbol kv_entry_dog is not in the file");
}

TEST_F(Session, NoSuchFile) {
  EXPECT_EQ(session.load("/nowhere/m.so").error().message,
            "/nowhere/m.so: No such file or directory");
}

TEST_F(Session, MissingWeight) {
  EXPECT_EQ(bindError(SafetensorsWriter().add("packed", {N, K}, weight())),
            ": weight bias: not in the file; the artifact wants f32[32] "
            "(row_major)");
}

TEST_F(Session, WrongShape) {
  EXPECT_EQ(bindError(SafetensorsWriter()
                          .add("packed", {N, K}, weight())
                          .add("bias", {4, 8}, bias())),
            ": weight bias: the file holds F32[4, 8] (row_major), the "
            "artifact wants f32[32] (row_major)");
  EXPECT_EQ(bindError(SafetensorsWriter()
                          .add("packed", {K, N}, weight())
                          .add("bias", {N}, bias())),
            ": weight packed: the file holds F32[3, 32] (row_major), the "
            "artifact wants f32[2, 3, 16] (n16k) or f32[32, 3] (row_major)");
}

TEST_F(Session, WrongElementType) {
  EXPECT_EQ(bindError(SafetensorsWriter()
                          .add("packed", {N, K}, weight())
                          .add("bias", "BF16", {N}, std::string(64, 'x'))),
            ": weight bias: the file holds BF16[32] (row_major), the "
            "artifact wants f32[32] (row_major)");
}

TEST_F(Session, WrongLayout) {
  EXPECT_EQ(bindError(SafetensorsWriter()
                          .add("packed", {N, K}, weight())
                          .add("bias", {N}, bias())
                          .metadata("layout.bias", "n16k")),
            ": weight bias: the file holds F32[32] (n16k), the artifact "
            "wants f32[32] (row_major)");
  // Of the packed shape, but not said to be packed.
  EXPECT_EQ(bindError(SafetensorsWriter()
                          .add("packed", {2, K, 16}, packedWeight())
                          .add("bias", {N}, bias())),
            ": weight packed: the file holds F32[2, 3, 16] (row_major), the "
            "artifact wants f32[2, 3, 16] (n16k) or f32[32, 3] (row_major)");
}

TEST_F(Session, WeightsComeFirst) {
  auto model = session.load(KV_TINY_ARTIFACT);
  EXPECT_EQ(model->prepare("forward").error().message,
            concat(KV_TINY_ARTIFACT, ": entry forward: weight packed is not "
                                     "bound; call bindWeights first"));
  EXPECT_EQ(model->prepare("backward").error().message,
            concat(KV_TINY_ARTIFACT, ": no entry \"backward\", there are: "
                                     "forward, fail, hog, caches"));
  EXPECT_TRUE(model->prepare("fail"));
}

class Forward : public Session {
protected:
  TemporaryFile file{SafetensorsWriter()
                         .add("packed", {N, K}, weight())
                         .add("bias", {N}, bias())
                         .bytes()};
  Model model = *session.load(KV_TINY_ARTIFACT);
  Invocation forward = prepared();

  Invocation prepared() {
    EXPECT_TRUE(model.bindWeights(file.path()));
    return *model.prepare("forward");
  }
};

TEST_F(Forward, StepByStep) {
  int tokens = *forward.slot("tokens"), rows = *forward.slot("rows");
  int logits = *forward.slot("logits");
  for (int64_t count : {1, 40, 7, 0}) {
    std::vector<int32_t> ids(count, 2);
    std::vector<float> out(count * N);
    forward.bind(tokens, makeView(ids.data(), DType::I32, {count}));
    forward.bind(rows, makeView(ids.data(), DType::I32, {count}));
    forward.bind(logits, makeView(out.data(), DType::F32, {count, N}));
    auto done = forward.execute();
    ASSERT_TRUE(done) << done.error().message;
    for (int64_t t = 0; t < count; ++t)
      ASSERT_EQ(out[t * N], 1000.0f + 1 * 2 + 2 * 3 + 3 * 4);
  }
  EXPECT_GE(model.context().arena().peak(), size_t(40 * N * 4));
}

TEST_F(Forward, NamesAndSlots) {
  EXPECT_EQ(forward.slot("packed").error().message,
            "entry forward: no input or output \"packed\"; it has tokens, "
            "rows, logits");
  EXPECT_EQ(forward.execute().error().message,
            "entry forward: not bound: tokens, rows, logits");
}

TEST_F(Forward, ArgumentsAreChecked) {
  std::vector<int32_t> ids(5);
  std::vector<float> out(5 * N, 7.0f);
  auto done = model.execute(
      "forward", std::vector<NamedTensor>{
                     {"tokens", makeView(ids.data(), DType::I32, {5})},
                     {"rows", makeView(ids.data(), DType::I32, {4})},
                     {"logits", makeView(out.data(), DType::F32, {5, N})}});
  EXPECT_EQ(done.error().message,
            "entry forward: argument 1 (rows) is i32[4], expected the size 5 "
            "in dimension 0, as dimension 0 of argument 0 (tokens)");
  EXPECT_EQ(out, std::vector<float>(5 * N, 7.0f));
}

TEST_F(Session, ErrorsOfAnEntry) {
  auto model = session.load(KV_TINY_ARTIFACT);
  auto done = model->execute("fail", {});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, KV_STATUS_OUT_OF_RANGE);
  EXPECT_EQ(done.error().message, "entry fail: token 7 is out of range");
  done = model->execute("hog", {});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, KV_STATUS_OUT_OF_MEMORY);
}

// What a caller holds keeps alive what it needs.
TEST_F(Session, Lifetimes) {
  std::optional<Invocation> fail;
  {
    auto other = *InferenceSession::create({.threads = 2});
    fail = *other.load(KV_TINY_ARTIFACT)->prepare("fail");
  }
  EXPECT_EQ(fail->execute().error().message,
            "entry fail: token 7 is out of range");
}

class CountingExecutor final : public Executor {
public:
  void parallelFor(int64_t count, int64_t, Body body, void *env) override {
    ++loops;
    for (int64_t i = 0; i < count; ++i)
      body(env, i, i + 1);
  }
  unsigned threads() const override { return 5; }
  int loops = 0;
};

TEST_F(Session, CallersExecutor) {
  auto executor = std::make_shared<CountingExecutor>();
  session = *InferenceSession::create({.executor = executor});
  EXPECT_EQ(session.threads(), 5u);
  TemporaryFile file(SafetensorsWriter()
                         .add("packed", {N, K}, weight())
                         .add("bias", {N}, bias())
                         .bytes());
  auto model = session.load(KV_TINY_ARTIFACT);
  ASSERT_TRUE(model->bindWeights(file.path()));
  int before = executor->loops;
  checkForward(*model);
  EXPECT_EQ(executor->loops, before + 1);
}

} // namespace
