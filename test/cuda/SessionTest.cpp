//===- SessionTest.cpp - A whole artifact on a CUDA device ----------------===//

#include "SessionFixture.h"
#include "kv/Runtime/C/Runtime.h"

#include <dlpack/dlpack.h>

using namespace kv;
using namespace kv::test;
TEST_F(CudaSession, AModelWrittenByHand) {
  Serving serving(load());
  std::vector<std::vector<int32_t>> sequences = {
      {5, 80, 3, 3, 41, 7, 22, 60, 90, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, {17}};
  std::vector<std::unique_ptr<TextGenerationContext>> contexts;
  std::vector<TextGenerationContext *> batch;
  for (size_t i = 0; i < sequences.size(); ++i) {
    contexts.push_back(
        std::make_unique<TextGenerationContext>(RequestId(i), sequences[i]));
    batch.push_back(contexts.back().get());
    ASSERT_TRUE(serving.manager->claim(RequestId(i)));
  }
  for (int step = 0; step < 6; ++step) {
    for (TextGenerationContext *context : batch)
      ASSERT_TRUE(serving.manager->alloc(*context));
    fake::Counters before = fake::counters();
    std::vector<Row> logits = serving.step(batch);
    fake::Counters after = fake::counters();
    // Tables and lengths; tokens, offsets and rows; logits.
    EXPECT_EQ(after.copies - before.copies, 4);
    EXPECT_EQ(after.pageableCopies, before.pageableCopies);
    if (step > 1) {
      EXPECT_EQ(after.allocations, before.allocations);
      EXPECT_EQ(after.heuristics, before.heuristics);
    }
    for (size_t i = 0; i < sequences.size(); ++i) {
      expectNear(logits[i], reference(weights, sequences[i]).back());
      sequences[i].push_back(best(logits[i]));
      contexts[i]->update(sequences[i]);
    }
    std::vector<const TextGenerationContext *> done(batch.begin(), batch.end());
    ASSERT_TRUE(serving.manager->step(done));
  }
}

/// Two row offsets on a device, as another framework gives them.
static DLManagedTensor offsetsAt(void *data, int32_t device) {
  static int64_t shape[] = {2};
  DLManagedTensor given = {};
  given.dl_tensor.data = data;
  given.dl_tensor.device = {kDLCUDA, device};
  given.dl_tensor.dtype = {kDLInt, 32, 1};
  given.dl_tensor.ndim = 1;
  given.dl_tensor.shape = shape;
  return given;
}

// In C: tokens from the host, row offsets as a tensor on the device, logits as
// another that nobody has bound, which is waited for when it is asked for.
TEST_F(CudaSession, AModelFromC) {
  auto ok = [](int32_t status) {
    EXPECT_EQ(status, KV_STATUS_OK) << kvErrorMessage();
  };
  TemporaryFile file(weights.file(/*packed=*/false));
  KvSessionOptions sessionOptions = {};
  sessionOptions.device = "cuda:0";
  KvSession *own = nullptr;
  KvModel *model = nullptr;
  KvManager *manager = nullptr;
  KvInvocation *forward = nullptr;
  KvRequest *request = nullptr;
  ok(kvSessionCreate(&sessionOptions, &own));
  ok(kvSessionLoad(own, KV_CUDA_ARTIFACT, &model));
  ok(kvModelBindWeights(model, file.path().c_str()));
  KvManagerOptions options = {};
  options.numPages = 12;
  ok(kvModelCreateManager(model, &options, &manager));
  const char *place = nullptr;
  ok(kvManagerGetDevice(manager, 0, &place));
  EXPECT_STREQ(place, "cuda:0");
  ok(kvModelPrepare(model, "forward", &forward));
  ok(kvInvocationSetManager(forward, manager, 0));

  std::vector<int32_t> tokens = {5, 80, 3, 41}, rows = {3};
  ok(kvRequestCreate(1, tokens.data(), 4, &request));
  const KvRequest *batch[] = {request};
  KvAllocation allocation;
  ok(kvManagerClaim(manager, 1, -1));
  ok(kvManagerAlloc(manager, request, 1, &allocation));
  ok(kvManagerRuntimeInputs(manager, batch, 1, 1));

  Tensor<int32_t> offsets(device, DType::I32, {2}, {0, 4});
  ASSERT_TRUE(backend.synchronize());
  int64_t four[] = {4}, one[] = {1};
  DLManagedTensor given = offsetsAt(offsets.view()->data, 1);
  EXPECT_NE(kvInvocationBindDLPack(forward, "row_offsets", &given, 0), 0);
  EXPECT_STREQ(kvErrorMessage(),
               "entry forward: row_offsets: the tensor lies on the DLPack "
               "device 2:1, the session runs on cuda:0");
  given.dl_tensor.device.device_id = 0;
  static int deleted;
  deleted = 0;
  given.deleter = [](DLManagedTensor *) { ++deleted; };
  ok(kvInvocationBindDLPack(forward, "row_offsets", &given, 1));
  ok(kvInvocationBind(forward, "tokens", KV_DTYPE_I32, four, 1, tokens.data()));
  ok(kvInvocationBind(forward, "logit_rows", KV_DTYPE_I32, one, 1,
                      rows.data()));
  ok(kvInvocationExecute(forward));
  EXPECT_GT(fake::pending(), 0) << "the step is queued";
  DLManagedTensor *logits = nullptr;
  ok(kvInvocationGetOutputDLPack(forward, "logits", &logits));
  ASSERT_NE(logits, nullptr);
  EXPECT_EQ(fake::pending(), 0) << "what is exported is there";
  EXPECT_EQ(logits->dl_tensor.device.device_type, kDLCUDA);
  Row got(Vocab);
  backend.copyToHost(got.data(), logits->dl_tensor.data, Vocab * sizeof(float));
  ASSERT_TRUE(backend.synchronize());
  expectNear(got, reference(weights, tokens).back());

  // A token that the table lacks is found on the device.
  tokens[2] = Vocab;
  ok(kvInvocationExecute(forward));
  EXPECT_EQ(kvInvocationWait(forward), KV_STATUS_OUT_OF_RANGE);
  EXPECT_STREQ(kvErrorMessage(),
               "embedding: row 2 has the id 96, which is outside the table");

  EXPECT_EQ(deleted, 0);
  kvInvocationDestroy(forward);
  EXPECT_EQ(deleted, 1);
  kvManagerDestroy(manager);
  kvRequestDestroy(request);
  kvModelDestroy(model);
  kvSessionDestroy(own);
  logits->deleter(logits);
}

// Ids lie on the device: the host hears of a wrong one when it waits for the
// logits, and the next step is as good as ever.
TEST_F(CudaSession, ATokenOutsideTheTable) {
  Serving serving(load());
  std::vector<int32_t> prompt = {1, 2, Vocab, 3};
  TextGenerationContext context(1, prompt);
  ASSERT_TRUE(serving.manager->claim(1));
  ASSERT_TRUE(serving.manager->alloc(context));
  const TextGenerationContext *batch[] = {&context};
  std::vector<int32_t> offsets = {0, 4}, rows = {3};
  auto run = [&] {
    auto inputs = serving.manager->runtimeInputs(batch);
    EXPECT_TRUE(inputs);
    auto logits = serving.runner->run({.tokens = prompt,
                                       .rowOffsets = offsets,
                                       .logitRows = rows,
                                       .kv = *inputs});
    return logits ? "no error" : logits.error().message;
  };
  EXPECT_EQ(run(), concat("entry forward: embedding: row 2 has the id ", Vocab,
                          ", which is outside the table"));
  prompt[2] = 5;
  EXPECT_EQ(run(), "no error");
}

// A hit's pages are a copy on the device, or the same pages.
TEST_F(CudaSession, PrefixesAndForks) {
  Serving serving(load(), /*prefixCache=*/true);
  std::vector<int32_t> prompt(40);
  for (int i = 0; i < 40; ++i)
    prompt[i] = i * 7 % Vocab;
  Row expected = reference(weights, prompt).back();
  for (RequestId id : {1, 2}) {
    TextGenerationContext context(id, prompt);
    TextGenerationContext *batch[] = {&context};
    ASSERT_TRUE(serving.manager->claim(id));
    auto allocated = serving.manager->alloc(context);
    ASSERT_TRUE(allocated);
    EXPECT_EQ(allocated->cachedTokens, id == 1 ? 0 : 32);
    expectNear(serving.step(batch)[0], expected);
    context.advance();
    const TextGenerationContext *done[] = {&context};
    ASSERT_TRUE(serving.manager->step(done));
    ASSERT_TRUE(serving.manager->release(id));
  }
}

// Two steps are queued before the first has run: each reads what was staged
// for it.
TEST_F(CudaSession, TwoStepsInFlight) {
  Serving serving(load());
  std::vector<int32_t> prompt = {1, 2, 3, 4, 5, 6};
  TextGenerationContext a(1, std::span(prompt).first(4)), b(2, prompt);
  for (TextGenerationContext *context : {&a, &b}) {
    ASSERT_TRUE(serving.manager->claim(context->id()));
    ASSERT_TRUE(serving.manager->alloc(*context));
  }
  ASSERT_TRUE(backend.synchronize());
  auto inputs = [&](const TextGenerationContext &context) {
    const TextGenerationContext *batch[] = {&context};
    return (*serving.manager->runtimeInputs(batch))[0];
  };
  auto read = [&](const void *table) {
    int32_t page = -1;
    backend.copyToHost(&page, table, sizeof page);
    return page;
  };
  // What the first step would read, and the second, when their turn comes.
  auto kept = *device.allocate(2 * sizeof(int32_t));
  auto *seen = kept.as<int32_t>();
  ASSERT_TRUE(backend.synchronize());
  RaggedKVCacheInputs first = inputs(a);
  backend.copyOnDevice(seen, first.lookupTable.data, sizeof(int32_t));
  RaggedKVCacheInputs second = inputs(b);
  backend.copyOnDevice(seen + 1, second.lookupTable.data, sizeof(int32_t));
  EXPECT_GT(fake::pending(), 0) << "neither has run";
  // The third has the first one's memory: its copy must be over.
  RaggedKVCacheInputs third = inputs(b);
  EXPECT_EQ(third.lookupTable.data, first.lookupTable.data);
  EXPECT_EQ(read(seen), (*serving.manager->getReqBlocks(1))[0]);
  EXPECT_EQ(read(seen + 1), (*serving.manager->getReqBlocks(2))[0]);
  EXPECT_EQ(read(third.lookupTable.data),
            (*serving.manager->getReqBlocks(2))[0]);
}

// A loop of several steps on the device: lengths go there once, before the
// first. Later ones cost no call of the driver at all, and one queued copy
// where a step has computed something else than was to be expected.
TEST_F(CudaSession, TheStepsOfALoopWaitForNothing) {
  Serving serving(load());
  constexpr int32_t Steps = 6;
  std::vector<int32_t> longer = {1, 2, 3, 4, 5, 6}, shorter = {7, 8};
  TextGenerationContext a(1, longer), b(2, shorter);
  const TextGenerationContext *batch[] = {&a, &b};
  for (TextGenerationContext *context : {&a, &b}) {
    ASSERT_TRUE(serving.manager->claim(context->id()));
    ASSERT_TRUE(serving.manager->alloc(*context, Steps));
  }
  auto kept = *device.allocate(Steps * 2 * sizeof(int32_t));
  ASSERT_TRUE(backend.synchronize());
  // What each step would read when its turn comes: nothing runs before the
  // end.
  for (bool expected : {true, false}) {
    auto made = serving.manager->runtimeInputs(batch, Steps);
    ASSERT_TRUE(made) << made.error().message;
    std::vector<std::vector<int32_t>> computed = {{6, 2}};
    for (int32_t step = 1; step < Steps; ++step)
      computed.push_back({1, 1});
    if (!expected)
      computed = {{4, 2}, {1, 0}, {1, 1}, {0, 1}, {1, 1}, {1, 1}};
    std::vector<int32_t> wanted, lengths = {0, 0};
    for (int32_t step = 0; step < Steps; ++step) {
      wanted.insert(wanted.end(), lengths.begin(), lengths.end());
      backend.copyOnDevice(kept.as<int32_t>() + 2 * step,
                           (*made)[0].cacheLengths.data, 2 * sizeof(int32_t));
      if (step + 1 == Steps)
        break;
      int32_t offsets[] = {0, computed[step][0],
                           computed[step][0] + computed[step][1]};
      lengths[0] += computed[step][0];
      lengths[1] += computed[step][1];
      int64_t pending = fake::pending();
      fake::Counters before = fake::counters();
      ASSERT_TRUE(serving.manager->incrementCacheLengths(*made, offsets));
      fake::Counters after = fake::counters();
      bool corrects = !expected && step < 4 && step != 2;
      EXPECT_EQ(after.synchronizations, before.synchronizations);
      EXPECT_EQ(after.pageableCopies, before.pageableCopies);
      EXPECT_EQ(after.allocations, before.allocations);
      EXPECT_EQ(after.copies - before.copies, corrects) << step;
      EXPECT_EQ(fake::pending() - pending, corrects) << step;
    }
    std::vector<int32_t> seen(2 * Steps);
    backend.copyToHost(seen.data(), kept.data(), seen.size() * sizeof(int32_t));
    ASSERT_TRUE(backend.synchronize());
    EXPECT_EQ(seen, wanted);
  }
}

TEST_F(CudaSession, PackedWeightsAreUnpacked) {
  Serving serving(load(/*packed=*/true));
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_TRUE(notes[0].ends_with(
      ": 1 packed weights (32768 bytes) were unpacked to row_major at load; a "
      "file that stores them row-major loads faster"))
      << notes[0];
  EXPECT_TRUE(notes[0].starts_with("/")) << "who logs says that it is a note";
  std::vector<int32_t> prompt = {1, 2, 3};
  TextGenerationContext context(1, prompt);
  TextGenerationContext *batch[] = {&context};
  ASSERT_TRUE(serving.manager->claim(1));
  ASSERT_TRUE(serving.manager->alloc(context));
  expectNear(serving.step(batch)[0], reference(weights, prompt).back());
}

TEST_F(CudaSession, Refusals) {
  auto onCpu = *InferenceSession::create({.threads = 1});
  EXPECT_EQ(loadError("", "", onCpu),
            ": manifest: target.kind is \"cuda\", this session runs cpu");
  EXPECT_EQ(loadError("\"cuda\"", "\"gpus\"", session),
            ": manifest: target.kind is \"gpus\", this session runs cuda");
  EXPECT_EQ(loadError("\"abi_version\": 2", "\"abi_version\": 7", session),
            ": manifest: abi_version is 7, this runtime has version 2: "
            "compile the model again");
  EXPECT_EQ(loadError("x86-64\"", "z86-64\"", session),
            ": manifest: target.cpu is \"z86-64\", expected one of x86-64, "
            "x86-64-v2, x86-64-v3, x86-64-v4, x86-64-v4-vnni, "
            "x86-64-v4-amx");
  EXPECT_EQ(loadError("KVKERNEL", "KVKITCHN", session),
            ": section .kv.kernels: it does not begin with KVKERNEL");
  EXPECT_EQ(
      loadError(".kv.kernels", ".kv.teapots", session),
      ": no section .kv.kernels: not an artifact of kv-compile for a GPU");
  EXPECT_EQ(loadError("kv_store", "kv_stair", session),
            ": kernel image kv_movers (compute_80): it has no kernel kv_store: "
            "compile the model again");
  auto turing = InferenceSession::create(
      {.device = {Device::Kind::CUDA, 4}, .threads = 1});
  ASSERT_TRUE(turing);
  EXPECT_TRUE(
      loadError("", "", *turing)
          .ends_with(
              "this GPU is Fake 7.5 (sm_75): compile the model for this chip"));
}
