//===- CSessionTest.c - Artifacts, run from C -----------------------------===//

#include "CHistory.h"

#include <dlpack/dlpack.h>

static char empty[4096];

// A model, its manager, `forward`, and a request of the tokens 1, 2, ...
typedef struct {
  KvModel *model;
  KvManager *manager;
  KvInvocation *forward;
  KvRequest *request;
  int32_t tokens[64], offsets[2], rows[1];
} Run;

static void start(Run *run, int32_t count) {
  run->model = loadAlone();
  run->manager = managerOf(run->model);
  OK(kvModelPrepare(run->model, "forward", &run->forward));
  for (int32_t i = 0; i < 64; ++i)
    run->tokens[i] = i + 1;
  OK(kvRequestCreate(1, run->tokens, count, &run->request));
  OK(kvManagerClaim(run->manager, 1, -1));
}

static void end(Run *run) {
  // In the order that needs the most care: what is used goes first.
  kvModelDestroy(run->model);
  kvManagerDestroy(run->manager);
  kvRequestDestroy(run->request);
  kvInvocationDestroy(run->forward);
}

static void bindStep(Run *run, int32_t first, int32_t count) {
  run->offsets[0] = 0;
  run->offsets[1] = count;
  run->rows[0] = count - 1;
  int64_t shape[] = {count}, two[] = {2}, one[] = {1};
  OK(kvInvocationBind(run->forward, "tokens", KV_DTYPE_I32, shape, 1,
                      run->tokens + first));
  OK(kvInvocationBind(run->forward, "row_offsets", KV_DTYPE_I32, two, 1,
                      run->offsets));
  OK(kvInvocationBind(run->forward, "logit_rows", KV_DTYPE_I32, one, 1,
                      run->rows));
}

static void makeInputs(Run *run) {
  const KvRequest *batch[] = {run->request};
  KvAllocation allocation;
  OK(kvManagerAlloc(run->manager, run->request, 1, &allocation));
  OK(kvManagerRuntimeInputs(run->manager, batch, 1, 1));
}

//===----------------------------------------------------------------------===//
// What is there
//===----------------------------------------------------------------------===//

static void sessions(void) {
  KvSessionOptions options;
  memset(&options, 0, sizeof options);
  KvSession *session = NULL;
  options.threads = 2;
  options.mapWeights = 1;
  options.arenaBytes = 1 << 20;
  OK(kvSessionCreate(&options, &session));
  EXPECT(kvSessionThreads(session) == 2);
  EXPECT(kvSessionThreads(NULL) == 0);
  KvModel *model = load(session);
  EXPECT(kvModelWeightsBytes(model) == 4 * Vocab);
  EXPECT(kvModelWeightsBytes(NULL) == 0);
  kvModelDestroy(model);
  KvModel *none = NULL;
  FAILS(kvSessionLoad(session, "/nowhere/model.so", &none), Invalid,
        "/nowhere/model.so: No such file or directory");
  EXPECT(none == NULL);
  FAILS(kvSessionLoad(session, NULL, &none), Invalid,
        "kvSessionLoad: artifact is null");
  FAILS(kvSessionLoad(NULL, "a", &none), Invalid,
        "kvSessionLoad: session is null");
  kvSessionDestroy(session);
  session = NULL;
  options.threads = -1;
  FAILS(kvSessionCreate(&options, &session), Invalid,
        "kvSessionCreate: -1 threads, allowed: 0 (one for each core) to 4096");
  options.threads = 4097;
  FAILS(kvSessionCreate(&options, &session), Invalid,
        "session: 4097 threads, allowed: 0 (one for each core) to 4096");
  options.threads = 0;
  options.arenaBytes = -1;
  FAILS(kvSessionCreate(&options, &session), Invalid,
        "kvSessionCreate: an arena of -1 bytes, allowed: 0 (the device's "
        "default) or more");
  options.arenaBytes = 0;
  options.device = "virtual:sm_90a";
  FAILS(kvSessionCreate(&options, &session), KV_STATUS_UNSUPPORTED,
        "device virtual:sm_90a runs nothing: it is there to be compiled for");
  EXPECT(session == NULL);
  FAILS(kvSessionCreate(NULL, NULL), Invalid,
        "kvSessionCreate: session is null");
}

static void manifests(void) {
  KvManifest *manifest = NULL;
  OK(kvManifestRead(KV_HISTORY_ARTIFACT, &manifest));
  KvManifestInfo info;
  OK(kvManifestGetInfo(manifest, &info));
  EXPECT(info.abiVersion == KV_ABI_VERSION && info.numTargetChips == 0);
  EXPECT(strcmp(info.producer, "by hand") == 0);
  EXPECT(strcmp(info.targetKind, "cpu") == 0);
  EXPECT(strcmp(info.targetCpu, "x86-64-v2") == 0);
  EXPECT(strcmp(info.modelName, "history") == 0);
  EXPECT(strstr(info.modelJson, "\"vocab_size\"") != NULL);
  EXPECT(info.modelVocabSize == Vocab && info.modelMaxSeqLen == 64);
  EXPECT(info.numCollections == 1 && info.numEntries == 1);
  KvEntryInfo entry;
  OK(kvManifestGetEntry(manifest, 0, &entry));
  EXPECT(strcmp(entry.name, "forward") == 0);
  EXPECT(strcmp(entry.symbol, "kv_entry_forward") == 0);
  EXPECT(entry.numInputs == 8 && entry.numOutputs == 1);
  FAILS(kvManifestGetEntry(manifest, 1, &entry), Invalid,
        "entry 1, allowed: 0 to 0");
  KvArgument argument;
  OK(kvManifestGetInput(manifest, "forward", 3, &argument));
  EXPECT(strcmp(argument.name, "kv.blocks") == 0 && argument.rank == 6);
  EXPECT(strcmp(argument.kind, "kv.blocks") == 0);
  EXPECT(strcmp(argument.collection, "kv") == 0);
  EXPECT(argument.dtype == KV_DTYPE_F32 && !argument.onHost);
  EXPECT(argument.sizes[0] == -1 && argument.sizes[3] == 4);
  EXPECT(strcmp(argument.symbols[0], "kv.pages") == 0);
  EXPECT(argument.symbols[3] == NULL);
  OK(kvManifestGetInput(manifest, "forward", 6, &argument));
  EXPECT(argument.onHost == 1);
  OK(kvManifestGetInput(manifest, "forward", 7, &argument));
  EXPECT(strcmp(argument.kind, "weight") == 0 && argument.collection == NULL);
  EXPECT(strcmp(argument.layout, "row_major") == 0);
  OK(kvManifestGetOutput(manifest, "forward", 0, &argument));
  EXPECT(strcmp(argument.symbols[0], "R") == 0 && argument.sizes[1] == Vocab);
  FAILS(kvManifestGetInput(manifest, "forward", -1, &argument), Invalid,
        "entry forward: input -1, allowed: 0 to 7");
  FAILS(kvManifestGetOutput(manifest, "forward", 1, &argument), Invalid,
        "entry forward: output 1, allowed: 0 to 0");
  FAILS(kvManifestGetInput(manifest, "backward", 0, &argument), Invalid,
        "no entry \"backward\", there are: forward");
  FAILS(kvManifestGetInput(manifest, NULL, 0, &argument), Invalid,
        "kvManifestGetInput: entry is null");
  KvCacheSpec spec;
  OK(kvManifestGetCacheSpec(manifest, &spec));
  EXPECT(spec.numCollections == 1 && !spec.enablePrefixCaching);
  EXPECT(strcmp(spec.collections[0].name, "kv") == 0);
  int64_t tokens = 0;
  OK(kvPageSize(&spec, &tokens));
  EXPECT(tokens == 4);
  kvManifestDestroy(manifest);
  FAILS(kvManifestRead(weights, &manifest), Invalid,
        (snprintf(empty, sizeof empty, "%s: not an ELF file", weights), empty));
}

static void managers(void) {
  KvModel *model = loadAlone();
  const KvManifest *manifest = NULL;
  OK(kvModelGetManifest(model, &manifest));
  KvManager *manager = managerOf(model);
  EXPECT(kvManagerMaxSeqLen(manager) == 64);
  EXPECT(kvManagerTotalNumPages(manager) == 16);
  kvManagerDestroy(manager);
  // More than one call says: two replicas, no prefixes.
  KvCacheSpec spec;
  OK(kvManifestGetCacheSpec(manifest, &spec));
  spec.numDevices = spec.dataParallelDegree = 2;
  KvManagerOptions options;
  memset(&options, 0, sizeof options);
  options.numPages = 8;
  options.maxSeqLen = 32;
  OK(kvManagerCreate(&spec, &options, &manager));
  EXPECT(kvManagerNumReplicas(manager) == 2);
  kvManagerDestroy(manager);
  FAILS(kvModelCreateManager(model, NULL, &manager), Invalid,
        "kvModelCreateManager: options is null");
  options.numPages = 0;
  EXPECT(kvModelCreateManager(model, &options, &manager) == Invalid);
  EXPECT(strlen(kvErrorMessage()) > 0);
  kvModelDestroy(model);
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

// Prompts in one step or token by token: the last logits are the same, since
// the entry reads the history from the manager's pages.
static void cachesAreShared(void) {
  float logits[2][Vocab];
  for (int way = 0; way < 2; ++way) {
    Run run;
    start(&run, way == 0 ? 6 : 1);
    int64_t shape[] = {1, Vocab};
    OK(kvInvocationSetManager(run.forward, run.manager, 0));
    OK(kvInvocationBind(run.forward, "logits", KV_DTYPE_F32, shape, 2,
                        logits[way]));
    for (int32_t at = 0; at < 6; at += way == 0 ? 6 : 1) {
      makeInputs(&run);
      bindStep(&run, at, way == 0 ? 6 : 1);
      OK(kvInvocationExecute(run.forward));
      OK(kvInvocationWait(run.forward));
      OK(kvRequestAdvance(run.request));
      OK(kvRequestAppend(run.request, run.tokens + at + 1, 1));
      const KvRequest *batch[] = {run.request};
      OK(kvManagerStep(run.manager, batch, 1));
    }
    KvTensorView view;
    OK(kvInvocationGetOutput(run.forward, "logits", &view));
    EXPECT(view.data == logits[way]);
    struct DLManagedTensor *tensor = NULL;
    FAILS(kvInvocationGetOutputDLPack(run.forward, "logits", &tensor), Invalid,
          "entry forward: logits lies in the memory that it is bound to");
    end(&run);
  }
  EXPECT(memcmp(logits[0], logits[1], sizeof logits[0]) == 0);
}

// What numbers rows is looked at before a row is read.
static void rowsAreChecked(void) {
  Run run;
  start(&run, 3);
  OK(kvInvocationSetManager(run.forward, run.manager, 0));
  makeInputs(&run);
  bindStep(&run, 0, 3);
  run.rows[0] = 3;
  FAILS(kvInvocationExecute(run.forward), KV_STATUS_OUT_OF_RANGE,
        "entry forward: logit_rows: element 0 is 3, allowed: 0 to 2");
  run.rows[0] = -1;
  FAILS(kvInvocationExecute(run.forward), KV_STATUS_OUT_OF_RANGE,
        "entry forward: logit_rows: element 0 is -1, allowed: 0 to 2");
  run.rows[0] = 2;
  OK(kvInvocationExecute(run.forward));
  end(&run);
}

static void outputsAreMade(void) {
  Run run;
  start(&run, 3);
  OK(kvInvocationSetManager(run.forward, run.manager, 0));
  makeInputs(&run);
  bindStep(&run, 0, 3);
  KvTensorView view;
  FAILS(kvInvocationGetOutput(run.forward, "logits", &view), Invalid,
        "entry forward: no outputs: it has not been executed");
  OK(kvInvocationExecute(run.forward));
  OK(kvInvocationGetOutput(run.forward, "logits", &view));
  EXPECT(view.rank == 2 && view.sizes[0] == 1 && view.sizes[1] == Vocab);
  const void *first = view.data;
  // Nobody else looks at it: the next execution writes to the same memory.
  OK(kvInvocationExecute(run.forward));
  OK(kvInvocationGetOutput(run.forward, "logits", &view));
  EXPECT(view.data == first);
  struct DLManagedTensor *tensor = NULL;
  OK(kvInvocationGetOutputDLPack(run.forward, "logits", &tensor));
  EXPECT(tensor->dl_tensor.data == first);
  EXPECT(tensor->dl_tensor.dtype.code == kDLFloat);
  float before[Vocab];
  memcpy(before, first, sizeof before);
  run.tokens[2] = 40;
  OK(kvInvocationExecute(run.forward));
  OK(kvInvocationGetOutput(run.forward, "logits", &view));
  EXPECT(view.data != first);
  EXPECT(memcmp(view.data, before, sizeof before) != 0);
  EXPECT(memcmp(first, before, sizeof before) == 0);
  FAILS(kvInvocationGetOutput(run.forward, "tokens", &view), Invalid,
        "entry forward: no output \"tokens\", there are: logits");
  end(&run);
  // It outlives everything.
  EXPECT(memcmp(tensor->dl_tensor.data, before, sizeof before) == 0);
  tensor->deleter(tensor);
}

//===----------------------------------------------------------------------===//
// DLPack
//===----------------------------------------------------------------------===//

static int deleted = 0;

static void countDeletion(struct DLManagedTensor *tensor) {
  (void)tensor;
  ++deleted;
}

// As DLPack 1.x has it.
struct DLManagedTensorVersioned {
  uint32_t major, minor;
  void *context;
  void (*deleter)(struct DLManagedTensorVersioned *);
  uint64_t flags;
  DLTensor dl_tensor;
};

static void countVersioned(struct DLManagedTensorVersioned *tensor) {
  (void)tensor;
  ++deleted;
}

static DLTensor tensorOf(void *data, DLDataTypeCode code, uint8_t bits,
                         int64_t *shape, int rank) {
  DLTensor tensor;
  memset(&tensor, 0, sizeof tensor);
  tensor.data = data;
  tensor.device.device_type = kDLCPU;
  tensor.dtype.code = (uint8_t)code;
  tensor.dtype.bits = bits;
  tensor.dtype.lanes = 1;
  tensor.shape = shape;
  tensor.ndim = rank;
  return tensor;
}

// Three tokens of another type, place or shape.
static void refusesTokens(KvInvocation *forward,
                          struct DLManagedTensor managed) {
#define REFUSED(text)                                                          \
  FAILS(kvInvocationBindDLPack(forward, "tokens", &managed, 1), Invalid,       \
        "entry forward: tokens: the tensor " text)
  DLTensor *tensor = &managed.dl_tensor;
  tensor->dtype.code = kDLFloat;
  REFUSED("has the element type f32, expected i32");
  tensor->dtype.code = 9;
  REFUSED("has the element type the DLPack type 9 of 32 bits, expected i32");
  tensor->dtype.code = kDLInt;
  tensor->dtype.bits = 64;
  REFUSED("has the element type i64, expected i32");
  tensor->dtype.bits = 32;
  tensor->device.device_type = kDLCUDA;
  REFUSED("lies on the DLPack device 2:0, the session runs on cpu:0");
  tensor->device.device_type = kDLCPU;
  int64_t strides[] = {2};
  tensor->strides = strides;
  REFUSED("has the stride 2 in dimension 0, expected 1 (dense, row-major)");
  tensor->ndim = 9;
  REFUSED("has rank 9, allowed: 0 to 8");
  tensor->ndim = 0;
  REFUSED("has rank 0, expected 1");
#undef REFUSED
}

static void dlpackIn(void) {
  Run run;
  start(&run, 3);
  OK(kvInvocationSetManager(run.forward, run.manager, 0));
  makeInputs(&run);
  bindStep(&run, 0, 3);
  OK(kvInvocationExecute(run.forward));
  KvTensorView view;
  OK(kvInvocationGetOutput(run.forward, "logits", &view));
  float expected[Vocab];
  memcpy(expected, view.data, sizeof expected);

  int32_t copy[] = {9, 1, 2, 3};
  int64_t shape[] = {3}, strides[] = {1};
  struct DLManagedTensor owned = {tensorOf(copy, kDLInt, 32, shape, 1), NULL,
                                  &countDeletion};
  owned.dl_tensor.byte_offset = 4;
  owned.dl_tensor.strides = strides;
  int32_t none[] = {0, 0, 0};
  struct DLManagedTensor lent = {tensorOf(none, kDLInt, 32, shape, 1), NULL,
                                 &countDeletion};
  OK(kvInvocationBindDLPack(run.forward, "tokens", &lent, 0));
  OK(kvInvocationBindDLPack(run.forward, "tokens", &owned, 1));
  EXPECT(deleted == 0);
  OK(kvInvocationExecute(run.forward));
  OK(kvInvocationGetOutput(run.forward, "logits", &view));
  EXPECT(memcmp(view.data, expected, sizeof expected) == 0);

  struct DLManagedTensorVersioned versioned = {
      1, 1, NULL, &countVersioned, 1, tensorOf(copy + 1, kDLInt, 32, shape, 1)};
  OK(kvInvocationBindDLPackVersioned(run.forward, "tokens", &versioned, 1));
  EXPECT(deleted == 1);
  OK(kvInvocationExecute(run.forward));
  OK(kvInvocationGetOutput(run.forward, "logits", &view));
  EXPECT(memcmp(view.data, expected, sizeof expected) == 0);

  // What fails takes nothing.
  versioned.major = 2;
  FAILS(kvInvocationBindDLPackVersioned(run.forward, "tokens", &versioned, 1),
        Invalid,
        "kvInvocationBindDLPackVersioned: tokens: a tensor of DLPack 2.1, "
        "allowed: 1.x");
  versioned.major = 1;
  int64_t rows[] = {1, Vocab};
  versioned.dl_tensor = tensorOf(expected, kDLFloat, 32, rows, 2);
  FAILS(kvInvocationBindDLPackVersioned(run.forward, "logits", &versioned, 1),
        Invalid,
        "entry forward: logits: the tensor is read-only, and the entry writes "
        "to it");
  refusesTokens(run.forward, lent);
  EXPECT(deleted == 1);
  end(&run);
  EXPECT(deleted == 2);
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

static void refusesWeights(void) {
  KvSession *session = NULL;
  OK(kvSessionCreate(NULL, &session));
  KvModel *model = NULL;
  OK(kvSessionLoad(session, KV_HISTORY_ARTIFACT, &model));
  KvInvocation *none = NULL;
  char wrong[4096], text[8192];
  snprintf(
      text, sizeof text,
      "%s: entry forward: weight bias is not bound; call bindWeights first",
      KV_HISTORY_ARTIFACT);
  FAILS(kvModelPrepare(model, "forward", &none), Invalid, text);
  writeWeights(wrong, "other", Vocab);
  snprintf(text, sizeof text,
           "%s: weight bias: not in the file; the artifact wants f32[50] "
           "(row_major)",
           wrong);
  FAILS(kvModelBindWeights(model, wrong), Invalid, text);
  remove(wrong);
  writeWeights(wrong, "bias", 7);
  snprintf(text, sizeof text,
           "%s: weight bias: the file holds F32[7] (row_major), the artifact "
           "wants f32[50] (row_major)",
           wrong);
  FAILS(kvModelBindWeights(model, wrong), Invalid, text);
  remove(wrong);
  // What failed has changed nothing.
  OK(kvModelBindWeights(model, weights));
  snprintf(text, sizeof text, "%s: no entry \"backward\", there are: forward",
           KV_HISTORY_ARTIFACT);
  FAILS(kvModelPrepare(model, "backward", &none), Invalid, text);
  FAILS(kvModelPrepare(model, NULL, &none), Invalid,
        "kvModelPrepare: entry is null");
  FAILS(kvModelBindWeights(NULL, weights), Invalid,
        "kvModelBindWeights: model is null");
  EXPECT(none == NULL);
  kvModelDestroy(model);
  kvSessionDestroy(session);
}

static void refusesArguments(void) {
  Run run;
  start(&run, 3);
  int64_t shape[] = {3}, two[] = {2, 2}, wide[] = {1, Vocab + 1};
  float numbers[2 * Vocab];
  FAILS(
      kvInvocationBind(run.forward, "tokens", KV_DTYPE_F32, shape, 1, numbers),
      Invalid,
      "entry forward: tokens: the tensor has the element type f32, expected "
      "i32");
  FAILS(kvInvocationBind(run.forward, "tokens", 99, shape, 1, numbers), Invalid,
        "entry forward: tokens: the tensor has the element type unknown, "
        "expected i32");
  FAILS(kvInvocationBind(run.forward, "tokens", KV_DTYPE_I32, two, 2, numbers),
        Invalid, "entry forward: tokens: the tensor has rank 2, expected 1");
  FAILS(kvInvocationBind(run.forward, "tokens", KV_DTYPE_I32, two, 9, numbers),
        Invalid, "kvInvocationBind: tokens: rank 9, allowed: 0 to 8");
  FAILS(kvInvocationBind(run.forward, "tokens", KV_DTYPE_I32, NULL, 1, numbers),
        Invalid, "kvInvocationBind: tokens: rank 1, and shape is null");
  const char *inputs = "; it has tokens, row_offsets, logit_rows, kv.blocks, "
                       "kv.cache_lengths, kv.lookup_table, kv.max_lengths, "
                       "logits";
  char text[512];
  for (int i = 0; i < 2; ++i) {
    const char *name = i ? "bias" : "token";
    snprintf(text, sizeof text, "entry forward: no input or output \"%s\"%s",
             name, inputs);
    FAILS(kvInvocationBind(run.forward, name, KV_DTYPE_I32, shape, 1, numbers),
          Invalid, text);
  }
  FAILS(kvInvocationExecute(run.forward), Invalid,
        "entry forward: not bound: tokens, row_offsets, logit_rows, kv.blocks, "
        "kv.cache_lengths, kv.lookup_table, kv.max_lengths");
  FAILS(kvInvocationSetManager(run.forward, run.manager, 1), Invalid,
        "kvInvocationSetManager: device 1, allowed: 0 to 0");
  FAILS(kvInvocationSetManager(run.forward, NULL, 0), Invalid,
        "kvInvocationSetManager: manager is null");
  OK(kvInvocationSetManager(run.forward, run.manager, 0));
  FAILS(kvInvocationExecute(run.forward), Invalid,
        "input: no runtime inputs have been made");
  makeInputs(&run);
  bindStep(&run, 0, 3);
  OK(kvInvocationBind(run.forward, "logits", KV_DTYPE_F32, wide, 2, numbers));
  FAILS(kvInvocationExecute(run.forward), Invalid,
        "entry forward: argument 8 (logits) is f32[1, 51], expected the size "
        "50 in dimension 1");
  KvTensorView view;
  EXPECT(kvInvocationGetOutput(run.forward, "logits", &view) == Invalid);
  FAILS(kvInvocationExecute(NULL), Invalid,
        "kvInvocationExecute: invocation is null");

  // A manager of another cache.
  const KvManifest *manifest = NULL;
  OK(kvModelGetManifest(run.model, &manifest));
  KvCacheSpec spec;
  OK(kvManifestGetCacheSpec(manifest, &spec));
  KvCollectionSpec other = spec.collections[0];
  other.page = 8;
  spec.collections = &other;
  KvManagerOptions options;
  memset(&options, 0, sizeof options);
  options.numPages = options.maxSeqLen = 8;
  KvManager *manager = NULL;
  OK(kvManagerCreate(&spec, &options, &manager));
  FAILS(kvInvocationSetManager(run.forward, manager, 0), Invalid,
        "entry forward: dimension 3 of kv.blocks is 4, the cache manager gives "
        "8");
  kvManagerDestroy(manager);
  end(&run);
}

int main(void) {
  writeWeights(weights, "bias", Vocab);
  sessions();
  manifests();
  managers();
  cachesAreShared();
  rowsAreChecked();
  outputsAreMade();
  dlpackIn();
  refusesWeights();
  refusesArguments();
  remove(weights);
  return report();
}
