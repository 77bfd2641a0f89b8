//===- CInterfaceTest.c - The C interface, used from C --------------------===//

#include "CExpect.h"

#include "kv/Runtime/C/CacheManager.h"

#include <dlpack/dlpack.h>
#include <stdlib.h>
#include <string.h>

static KvCollectionSpec collection(void) {
  KvCollectionSpec spec;
  memset(&spec, 0, sizeof(spec));
  spec.dtype = KV_DTYPE_F32;
  spec.layers = spec.heads = spec.dim = 1;
  spec.page = 2;
  return spec;
}

static KvCacheSpec cache(const KvCollectionSpec *collections, int32_t count) {
  KvCacheSpec spec;
  memset(&spec, 0, sizeof(spec));
  spec.collections = collections;
  spec.numCollections = count;
  spec.enablePrefixCaching = 1;
  return spec;
}

static KvManagerOptions options(void) {
  KvManagerOptions result;
  memset(&result, 0, sizeof(result));
  result.maxSeqLen = 16;
  result.numPages = 8;
  result.enableRuntimeChecks = 1;
  return result;
}

static KvRequest *request(uint64_t id, int32_t first, int64_t count) {
  int32_t tokens[16];
  for (int64_t i = 0; i < count; ++i)
    tokens[i] = first + (int32_t)i;
  KvRequest *result = NULL;
  OK(kvRequestCreate(id, tokens, count, &result));
  return result;
}

// A step, and what scenarios (test/conformance) do not ask.
static void serves(void) {
  KvCollectionSpec one = collection();
  KvCacheSpec spec = cache(&one, 1);
  KvManagerOptions given = options();
  given.maxSteps = 2;
  KvManager *manager = NULL;
  OK(kvManagerCreate(&spec, &given, &manager));
  const char *device = NULL;
  FAILS(kvManagerGetDevice(manager, 1, &device), Invalid,
        "kvManagerGetDevice: device 1, allowed: 0 to 0");
  KvRequest *a = request(7, 0, 5);
  const KvRequest *batch[] = {a};
  OK(kvManagerClaim(manager, 7, -1));
  KvAllocation allocation;
  OK(kvManagerAlloc(manager, a, 2, &allocation));
  EXPECT(allocation.refusal == KV_REFUSAL_NONE);
  const int32_t *pages = NULL;
  int64_t count = 0;
  OK(kvManagerGetReqBlocks(manager, 7, &pages, &count));

  KvTensorView view;
  FAILS(kvManagerGetInput(manager, 0, 0, KV_COMPONENT_BLOCKS, &view), Invalid,
        "input: no runtime inputs have been made");
  OK(kvManagerRuntimeInputs(manager, batch, 1, 2));
  OK(kvManagerGetInput(manager, 0, 0, KV_COMPONENT_LOOKUP_TABLE, &view));
  EXPECT(view.rank == 2 && view.sizes[0] == 1 && view.dtype == KV_DTYPE_I32);
  EXPECT(memcmp(view.data, pages, 3 * sizeof(int32_t)) == 0);
  OK(kvManagerGetInput(manager, 0, 0, KV_COMPONENT_SCALES, &view));
  EXPECT(view.data == NULL);
  FAILS(kvManagerGetInput(manager, 1, 0, 0, &view), Invalid,
        "input: device 1, allowed: 0 to 0");
  FAILS(kvManagerGetInput(manager, 0, 2, 0, &view), Invalid,
        "input: collection 2, allowed: 0 to 0");
  FAILS(kvManagerGetInput(manager, 0, 0, 5, &view), Invalid,
        "input: component 5, allowed: 0 to 4");
  int32_t empty = -1;
  FAILS(kvManagerIsCacheEmpty(manager, 1, &empty), Invalid,
        "input: device 1, allowed: 0 to 0");

  OK(kvRequestAdvance(a));
  int32_t more = 50;
  OK(kvRequestAppend(a, &more, 1));
  EXPECT(kvRequestTokens(a)[5] == 50 && kvRequestTokens(NULL) == NULL);
  EXPECT(kvRequestId(a) == 7);
  OK(kvManagerStep(manager, batch, 1));

  /* Drafts with branches behind the last token; two of the four are kept. */
  int32_t drafts[] = {60, 61, 62}, path[] = {0, 2};
  OK(kvRequestAppend(a, drafts, 3));
  OK(kvManagerAlloc(manager, a, 1, &allocation));
  OK(kvManagerRuntimeInputs(manager, batch, 1, 1));
  FAILS(kvManagerAcceptPath(manager, a, path, -1), Invalid,
        "kvManagerAcceptPath: -1 indices, allowed: 0 or more");
  FAILS(kvManagerAcceptPath(manager, a, NULL, 1), Invalid,
        "kvManagerAcceptPath: 1 indices at null");
  FAILS(kvManagerAcceptPath(manager, a, path, 0), Invalid,
        "request 7: the accepted path is empty, allowed: 1 to 4 of its active "
        "tokens");
  OK(kvManagerAcceptPath(manager, a, path, 2));
  EXPECT(kvRequestLength(a) == 7 && kvRequestProcessed(a) == 7 &&
         kvRequestTokens(a)[5] == 50 && kvRequestTokens(a)[6] == 61);
  OK(kvManagerStep(manager, batch, 1));
  KvMetrics metrics;
  OK(kvManagerGetMetrics(manager, &metrics));
  EXPECT(metrics.promptTokens == 9 && metrics.cacheHitRate == 0);
  kvRequestDestroy(a);
  kvManagerDestroy(manager);
}

static void sharesMemory(void) {
  KvCollectionSpec both[2] = {collection(), collection()};
  both[1].name = "q";
  both[1].dtype = KV_DTYPE_I8;
  both[1].dim = 8;
  both[1].scaleGroup = 4;
  both[1].scaleDType = KV_DTYPE_F8E8M0FNU;
  KvCacheSpec spec = cache(both, 2);
  KvManagerOptions given = options();
  KvManager *manager = NULL;
  OK(kvManagerCreate(&spec, &given, &manager));
  OK(kvManagerRuntimeInputs(manager, NULL, 0, 1));
  struct DLManagedTensor *tensor = NULL, *scales = NULL;
  FAILS(kvManagerGetInputDLPack(manager, 0, 0, KV_COMPONENT_SCALES, &tensor),
        Invalid, "input: collection 0 has no scales");
  OK(kvManagerGetInputDLPack(manager, 0, 1, KV_COMPONENT_BLOCKS, &tensor));
  OK(kvManagerGetInputDLPack(manager, 0, 1, KV_COMPONENT_SCALES, &scales));
  KvTensorView view;
  OK(kvManagerGetInput(manager, 0, 1, KV_COMPONENT_BLOCKS, &view));
  kvManagerDestroy(manager); // the tensors keep the memory

  const DLTensor *blocks = &tensor->dl_tensor;
  EXPECT(blocks->data == view.data && blocks->ndim == 6);
  EXPECT(blocks->shape[0] == 9 && blocks->shape[5] == 8);
  EXPECT(blocks->strides[4] == 8 && blocks->strides[5] == 1);
  EXPECT(blocks->dtype.code == kDLInt && blocks->dtype.bits == 8 &&
         blocks->dtype.lanes == 1);
  EXPECT(blocks->device.device_type == kDLCPU);
  EXPECT(scales->dl_tensor.dtype.code == kDLUInt);
  EXPECT(scales->dl_tensor.shape[5] == 2);
  memset(blocks->data, 1, 9 * 2 * 2 * 8);
  scales->deleter(scales);
  tensor->deleter(tensor);
}

static void symbols(void) {
  KvCollectionSpec one = collection();
  KvCacheSpec spec = cache(&one, 1);
  spec.numDevices = spec.dataParallelDegree = 2;
  const char *devices[] = {"virtual:sm_90a", "virtual:sm_90a:1"};
  KvManagerOptions given = options();
  given.devices = devices;
  given.numDevices = 2;
  KvManager *manager = NULL;
  OK(kvManagerCreate(&spec, &given, &manager));
  int64_t count = 0;
  OK(kvManagerNumFreeBlocks(manager, -1, &count));
  EXPECT(count == 1000 && kvManagerPoolBytes(manager) == 0);
  int32_t inputs = 0;
  KvSymbolicInputs *list = NULL;
  OK(kvManagerSymbolicInputs(manager, 0, 0, &list));
  EXPECT(kvSymbolicInputsNumDevices(list) == 2);
  OK(kvSymbolicInputsCount(list, 1, &inputs));
  EXPECT(inputs == 4);
  KvArgument input;
  OK(kvSymbolicInputsGet(list, 1, 2, &input));
  EXPECT(strcmp(input.name, "replica_1.kv.lookup_table") == 0);
  EXPECT(strcmp(input.kind, "kv.lookup_table") == 0);
  EXPECT(input.rank == 2 && input.sizes[0] == -1 && !input.onHost);
  EXPECT(strcmp(input.symbols[1], "replica_1.kv.pitch") == 0);
  OK(kvSymbolicInputsGet(list, 0, 3, &input));
  EXPECT(input.onHost && input.sizes[1] == 2 && input.symbols[1] == NULL);
  FAILS(kvSymbolicInputsCount(list, 2, &inputs), Invalid,
        "symbolic input: device 2, allowed: 0 to 1");
  FAILS(kvSymbolicInputsGet(list, 0, 4, &input), Invalid,
        "symbolic input 4, allowed: 0 to 3");
  kvSymbolicInputsDestroy(list);
  OK(kvManagerSymbolicInputs(manager, 1, 7, &list));
  EXPECT(kvSymbolicInputsNumDevices(list) == 1);
  OK(kvSymbolicInputsGet(list, 0, 0, &input));
  EXPECT(strcmp(input.name, "replica_0.kv.blocks") == 0 && input.sizes[2] == 7);
  kvSymbolicInputsDestroy(list);
  FAILS(kvManagerSymbolicInputs(manager, 3, 0, &list), Invalid,
        "symbolic inputs: 3 devices, allowed: 1 to 2, or 0 for all");
  FAILS(kvManagerSymbolicInputs(manager, 0, -1, &list), Invalid,
        "symbolic inputs: -1 layers, allowed: 1 or more, or 0 for those of the "
        "spec");
  OK(kvSymbolicInputs(&spec, "draft.", 3, &list));
  EXPECT(kvSymbolicInputsNumDevices(list) == 1);
  OK(kvSymbolicInputsGet(list, 0, 0, &input));
  EXPECT(strcmp(input.name, "draft.kv.blocks") == 0 && input.sizes[2] == 3 &&
         strcmp(input.symbols[0], "draft.kv.pages") == 0);
  kvSymbolicInputsDestroy(list);
  EXPECT(kvSymbolicInputsNumDevices(NULL) == 0);
  EXPECT(strcmp(kvErrorMessage(), "kvSymbolicInputsNumDevices: list is null") ==
         0);
  FAILS(kvManagerFork(manager, 1, 2, 0), KV_STATUS_UNSUPPORTED,
        "kvManagerFork needs a paged cache manager");
  // A tensor keeps what it looks at, whatever inputs are made after it.
  OK(kvManagerRuntimeInputs(manager, NULL, 0, 1));
  struct DLManagedTensor *tensor = NULL;
  OK(kvManagerGetInputDLPack(manager, 0, 0, KV_COMPONENT_MAX_LENGTHS, &tensor));
  OK(kvManagerRuntimeInputs(manager, NULL, 0, 100000));
  const int32_t *lengths = (const int32_t *)tensor->dl_tensor.data;
  EXPECT(lengths[0] == 0 && lengths[1] == 0);
  tensor->deleter(tensor);
  KvTensorView second;
  OK(kvManagerGetInput(manager, 1, 0, KV_COMPONENT_LOOKUP_TABLE, &second));
  EXPECT(second.rank == 2 && second.sizes[0] == 0);
  FAILS(kvManagerRuntimeInputs(manager, NULL, 0, INT32_MAX), Invalid,
        "runtime inputs of 2147483647 steps, allowed: 1 to 1048576");
  kvManagerDestroy(manager);
}

static void parameters(void) {
  KvCollectionSpec one = collection();
  KvCacheSpec spec = cache(&one, 1);
  int64_t value = 0, shape[6];
  spec.numDevices = 2;
  OK(kvBytesPerRecord(&spec, &value));
  EXPECT(value == 2 * 2 * 2 * 4);
  spec.numDevices = 0; // one, as a page of 0 tokens is one of 128
  OK(kvTensorParallelDegree(&spec, &value));
  EXPECT(value == 1);
  FAILS(kvBlockShape(&spec, 1, 3, shape), Invalid,
        "kvBlockShape: collection 1, allowed: 0 to 0");
  FAILS(kvScaleShape(&spec, 1, 3, shape), Invalid,
        "kvScaleShape: collection 1, allowed: 0 to 0");
  OK(kvScaleShape(&spec, 0, 3, shape));
  EXPECT(shape[5] == 0);
  FAILS(kvNullInferOptimalBatchSize(&spec, 1000, 1 << 30, NULL), Invalid,
        "kvNullInferOptimalBatchSize: there is no place for the result");
  OK(kvPagedNumBlocks(&spec, 4, 16, 1 << 30, NULL, &value));
  EXPECT(value == 32);
  spec.connector = 4;
  FAILS(kvPageSize(&spec, &value), Invalid, "connector is 4, allowed: 0 to 3");
  spec.connector = KV_CONNECTOR_NULL; // keeps nothing, so nothing is missing
  KvManagerOptions given = options();
  KvManager *manager = NULL;
  OK(kvManagerCreate(&spec, &given, &manager));
  EXPECT(kvManagerTotalNumHostPages(manager) == 0);
  EXPECT(kvManagerHostCommittedBlockPct(manager) == 0.0);
  kvManagerDestroy(manager);
}

static void append(void *context, int32_t replica, const char *line) {
  char *text = (char *)context;
  size_t length = strlen(text);
  snprintf(text + length, 256 - length, "%d: %s\n", (int)replica, line);
}

static void logs(void) {
  KvCollectionSpec one = collection();
  KvCacheSpec spec = cache(&one, 1);
  spec.numDevices = spec.dataParallelDegree = 2;
  KvManagerOptions given = options();
  char text[256] = "";
  given.command = append;
  given.commandContext = text;
  KvManager *manager = NULL;
  OK(kvManagerCreate(&spec, &given, &manager));
  EXPECT(kvManagerNumPagesPerReplica(manager) == 8);
  KvRequest *own = request(3, 5, 3);
  KvAllocation allocation;
  OK(kvManagerClaim(manager, 3, 1));
  OK(kvManagerAlloc(manager, own, 1, &allocation));
  OK(kvManagerRelease(manager, 3));
  kvRequestDestroy(own);
  kvManagerDestroy(manager);
  EXPECT(strcmp(text, "1: open 0\n1: tokens 0 5 6 7\n"
                      "1: reserve 0 a=3 b=2305843009213693951 d=1 "
                      "prompt=3\n1: release 0\n") == 0);
}

static void refusesCalls(KvManager *manager) {
  // Calls without a status.
  EXPECT(kvManagerNumReplicas(NULL) == 0 && kvManagerPoolBytes(NULL) == 0);
  EXPECT(strcmp(kvErrorMessage(), "kvManagerPoolBytes: manager is null") == 0);
  EXPECT(kvManagerFreeBlocksPct(NULL) == 0 && kvRequestActive(NULL) == 0);
  EXPECT(strcmp(kvErrorMessage(), "kvRequestActive: request is null") == 0);

  FAILS(kvManagerClaim(NULL, 1, 0), Invalid, "kvManagerClaim: manager is null");
  OK(kvManagerClaim(manager, 1, -1));
  KvRequest *long_ = request(1, 0, 16);
  int32_t more[3] = {0, 0, 0};
  OK(kvRequestAppend(long_, more, 3));
  KvAllocation allocation = {0};
  FAILS(kvManagerAlloc(manager, long_, 1, &allocation), KV_STATUS_OUT_OF_RANGE,
        "request 1 needs room for 19 tokens, the longest sequence is 16");
  EXPECT(allocation.refusal == KV_REFUSAL_NEVER_FITS);
  const KvRequest *batch[] = {long_, NULL};
  FAILS(kvManagerStep(manager, batch, 2), Invalid,
        "kvManagerStep: request 1 of the batch is null");
  FAILS(kvManagerRuntimeInputs(manager, NULL, 1, 1), Invalid,
        "kvManagerRuntimeInputs: a batch of 1 at null");
  int64_t count = 0;
  FAILS(kvManagerNumFreeBlocks(manager, 1, &count), Invalid,
        "kvManagerNumFreeBlocks: replica 1, allowed: 0 to 0, or less for all");

  KvRequest *bad = NULL;
  FAILS(kvRequestCreate(3, NULL, 2, &bad), Invalid,
        "kvRequestCreate: 2 tokens at null");
  FAILS(kvRequestLimitActive(long_, -1), Invalid,
        "request 1: at most -1 tokens a step, allowed: 0 (all) or more");
  KvRetention retention = {.priority = 128};
  FAILS(kvRequestSetRetention(long_, &retention), Invalid,
        "request 1: priority is 128, allowed: 0 to 127");
  retention.priority = 100;
  retention.duration = -1;
  FAILS(kvRequestSetRetention(long_, &retention), Invalid,
        "request 1: duration is -1 ns, allowed: 0 (for good) or more");
  KvRequest *kept = request(2, 0, 4);
  retention.duration = 4095000000000;
  OK(kvRequestSetRetention(kept, &retention));
  OK(kvManagerClaim(manager, 2, -1));
  FAILS(kvManagerAlloc(manager, kept, 1, &allocation), Invalid,
        "request 2: cache engine: a priority lasts 4095000000000 ns, allowed: "
        "0 (for good) to 4094000000000");
  retention.duration = 0;
  retention.prefixTokens = INT64_MAX; // all of them
  OK(kvRequestSetRetention(kept, &retention));
  OK(kvManagerAlloc(manager, kept, 1, &allocation));
  OK(kvManagerRelease(manager, 2));
  kvRequestDestroy(kept);
  OK(kvManagerSetTime(manager, 5));
  FAILS(kvManagerSetTime(manager, 4), Invalid,
        "cache manager: cache engine: the time is 4 ns, allowed: 5 to "
        "4611686018427387904");
  OK(kvRequestAddImage(long_, 2, 3, "x", 1));
  FAILS(kvRequestAddImage(long_, 4, 3, "y", 1), Invalid,
        "request 1: an image of 3 tokens at 4 with a hash of 1 bytes, allowed: "
        "1 or more tokens from 5 to 19, and a hash");
  kvRequestDestroy(long_);
}

static void refuses(void) {
  KvCollectionSpec one = collection();
  KvCacheSpec spec = cache(&one, 1);
  KvManagerOptions given = options();
  KvManager *manager = NULL;
  FAILS(kvManagerCreate(NULL, &given, &manager), Invalid, "spec is null");
  FAILS(kvManagerCreate(&spec, NULL, &manager), Invalid,
        "kvManagerCreate: options is null");
  FAILS(kvManagerCreate(&spec, &given, NULL), Invalid,
        "kvManagerCreate: manager is null");
  given.metrics = "nobody";
  FAILS(kvManagerCreate(&spec, &given, &manager), Invalid,
        "metrics: the address is 'nobody', allowed: HOST:PORT, PORT from 0 to "
        "65535");
  given.metrics = NULL;
  one.strategy = KV_STRATEGY_CONTINUOUS;
  spec.enablePrefixCaching = 0;
  given.events = "ipc:///tmp/nobody";
  FAILS(kvManagerCreate(&spec, &given, &manager), Invalid,
        "events or resets are asked for, allowed: with paged collections on "
        "real devices, which alone cache prefixes");
  given.events = NULL;
  spec.enablePrefixCaching = 1;
  one = collection();
  one.layout = 3;
  FAILS(kvManagerCreate(&spec, &given, &manager), Invalid,
        "layout is 3, allowed: 0 to 2");
  one = collection();
  const char *device = "tpu";
  given.devices = &device;
  given.numDevices = 1;
  FAILS(kvManagerCreate(&spec, &given, &manager), Invalid,
        "device \"tpu\": expected cpu, cpu:N, cuda, cuda:N, virtual:TARGET or "
        "virtual:TARGET:N");
  given = options();
  given.numDevices = 2;
  FAILS(kvManagerCreate(&spec, &given, &manager), Invalid,
        "kvManagerCreate: 2 devices at null");
  given.numDevices = 0;
  OK(kvManagerCreate(&spec, &given, &manager));
  refusesCalls(manager);
  kvManagerDestroy(manager);
}

int main(void) {
  serves();
  sharesMemory();
  symbols();
  parameters();
  logs();
  refuses();
  return report();
}
