/*===- CacheManager.h - The cache managers in C -----------------*- C -*-===*\
|*                                                                          *|
|* The way in for every other language: opaque handles, plain structs, views. *|
|*                                                                          *|
|* A function returns a KvStatus; anything but KV_STATUS_OK has changed       *|
|* nothing, and kvErrorMessage() says what was asked and what is allowed.     *|
|* Results are written through the last arguments, on success only. No        *|
|* exception crosses this interface. One thread at a time uses a manager and  *|
|* its requests.                                                             *|
|*                                                                          *|
|* What each call means, its units and its errors:                           *|
|* kv/Runtime/Manager/KVCacheManager.h and the managers' own headers. *|
|*                                                                          *|
\*===----------------------------------------------------------------------===*/

#ifndef KV_RUNTIME_C_CACHEMANAGER_H
#define KV_RUNTIME_C_CACHEMANAGER_H

#include "kv/ABI/Context.h"
#include "kv/ABI/TensorView.h"

#include <stdint.h>

#if defined(__GNUC__)
#define KV_C_API __attribute__((visibility("default")))
#else
#define KV_C_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Of dlpack/dlpack.h, which this header does not need. */
struct DLManagedTensor;

/* The message of the calling thread's last call that failed. */
KV_C_API const char *kvErrorMessage(void);

/*===----------------------------------------------------------------------===*\
|* Parameters                                                                 *|
\*===----------------------------------------------------------------------===*/

enum KvStrategy { KV_STRATEGY_PAGED = 0, KV_STRATEGY_CONTINUOUS = 1 };
enum KvLayout { KV_LAYOUT_NHD = 0, KV_LAYOUT_HND = 1, KV_LAYOUT_CPU = 2 };
enum KvSpeculativeMethod {
  KV_SPECULATIVE_NONE = 0,
  KV_SPECULATIVE_EAGLE = 1,
  KV_SPECULATIVE_MTP = 2,
  KV_SPECULATIVE_DFLASH = 3
};

/* One collection; zero everything first. KVCacheParams says what fields mean.
 */
typedef struct KvCollectionSpec {
  const char *name; /* null: "kv" */
  int32_t strategy; /* a KvStrategy */
  int32_t dtype;    /* a KvDType */
  int64_t layers, heads, dim;
  int64_t page;   /* continuous: max_seq */
  int64_t vDim;   /* 0: not latent */
  int32_t layout; /* a KvLayout */
  int32_t scaleDType;
  int64_t scaleGroup; /* 0: no scales */
  int64_t window;     /* tokens that a query sees; 0: full */
  int64_t pageLayers; /* layers of a page; 0: all */
} KvCollectionSpec;

/* Of all collections together; zero everything first. */
typedef struct KvCacheSpec {
  const KvCollectionSpec *collections;
  int32_t numCollections;
  int32_t enablePrefixCaching;
  int64_t numDevices;         /* 0: 1 */
  int64_t dataParallelDegree; /* 0: 1 */
  int32_t speculativeMethod;
  int32_t numDraftTokens;
} KvCacheSpec;

/* Zero everything first: zeros are the defaults. */
typedef struct KvManagerOptions {
  const char *const *devices; /* "cpu:0", "cuda:0", "virtual:sm_90a"; null:
                                 cpu:0 ... */
  int32_t numDevices;
  int32_t maxBatchSize; /* 0: 16 */
  int64_t maxSeqLen;
  int64_t numPages; /* of a replica; 0: from availableCacheMemory */
  int64_t availableCacheMemory;
  int32_t maxSteps;       /* 0: 1 */
  int64_t maxChunkTokens; /* of a request with windows in a step; 0: all */
  int32_t withoutPrefixAffinity;
  int32_t enableRuntimeChecks;
  int32_t asynchronous;
  uint64_t key;
  int64_t retentionTick; /* nanoseconds; 0: a second */
} KvManagerOptions;

/* Sizes, without a manager. */
KV_C_API int32_t kvBytesPerPage(const KvCacheSpec *spec, int64_t *bytes);
KV_C_API int32_t kvBytesPerBlock(const KvCacheSpec *spec, int64_t *bytes);
/* Of the collection at `index`. */
KV_C_API int32_t kvBlockShape(const KvCacheSpec *spec, int32_t index,
                              int64_t count, int64_t shape[6]);
KV_C_API int32_t kvPagedNumBlocks(const KvCacheSpec *spec, int64_t maxBatchSize,
                                  int64_t maxSeqLen,
                                  int64_t availableCacheMemory, int64_t *pages);
KV_C_API int32_t kvPagedEstimatedMemorySize(const KvCacheSpec *spec,
                                            int64_t maxBatchSize,
                                            int64_t maxSeqLen,
                                            int64_t availableCacheMemory,
                                            int64_t *bytes);
KV_C_API int32_t kvPagedInferOptimalBatchSize(const KvCacheSpec *spec,
                                              int64_t maxSeqLen,
                                              int64_t availableCacheMemory,
                                              int64_t *batch);
KV_C_API int32_t kvPagedMaxSupportedSequenceLength(const KvCacheSpec *spec,
                                                   int64_t availableCacheMemory,
                                                   int64_t *tokens);
KV_C_API int32_t kvContinuousEstimatedMemorySize(const KvCacheSpec *spec,
                                                 int64_t maxBatchSize,
                                                 int64_t *bytes);
KV_C_API int32_t kvContinuousInferOptimalBatchSize(const KvCacheSpec *spec,
                                                   int64_t availableCacheMemory,
                                                   int64_t *batch);

/*===----------------------------------------------------------------------===*\
|* Requests                                                                   *|
\*===----------------------------------------------------------------------===*/

/* A request's tokens and how far they have been processed. Owns copies of what
   it is given. */
typedef struct KvRequest KvRequest;

KV_C_API int32_t kvRequestCreate(uint64_t id, const int32_t *tokens,
                                 int64_t count, KvRequest **request);
KV_C_API void kvRequestDestroy(KvRequest *request);

/* 0 for a null pointer, as are the figures of a manager that have no status. */
KV_C_API uint64_t kvRequestId(const KvRequest *request);
KV_C_API int64_t kvRequestLength(const KvRequest *request);
KV_C_API int64_t kvRequestProcessed(const KvRequest *request);
KV_C_API int64_t kvRequestActive(const KvRequest *request);

/* Before the first alloc. A null string is an absent field, which differs from
   an empty one. */
KV_C_API int32_t kvRequestSetScope(KvRequest *request, const char *model,
                                   const char *adapter, const char *salt);
/* Images in the order of their positions. */
KV_C_API int32_t kvRequestAddImage(KvRequest *request, int64_t begin,
                                   int64_t length, const void *hash,
                                   int64_t hashBytes);
/* How long a request's pages should outlive it. Priorities are 0 to 127; 64 is
   usual, and what one above it becomes when its duration is over: nanoseconds
   from the release on, at most 4094 of the manager's retentionTick; 0: for
   good. Pages with any of the first prefixTokens tokens have the prefix's. */
typedef struct KvRetention {
  int32_t priority;
  int32_t prefixPriority;
  int64_t prefixTokens;
  int64_t duration;
  int64_t prefixDuration;
} KvRetention;
KV_C_API int32_t kvRequestSetRetention(KvRequest *request,
                                       const KvRetention *retention);
KV_C_API int32_t kvRequestSetReusesPrefix(KvRequest *request, int32_t reuses);
/* At most so many tokens a step; 0: all. */
KV_C_API int32_t kvRequestLimitActive(KvRequest *request, int64_t count);

/* New tokens at the end, known and not computed. */
KV_C_API int32_t kvRequestAppend(KvRequest *request, const int32_t *tokens,
                                 int64_t count);
/* The active tokens have been computed. */
KV_C_API int32_t kvRequestAdvance(KvRequest *request);
KV_C_API int32_t kvRequestSkip(KvRequest *request, int64_t count);
KV_C_API int32_t kvRequestRewind(KvRequest *request, int64_t count);

/*===----------------------------------------------------------------------===*\
|* Managers                                                                   *|
\*===----------------------------------------------------------------------===*/

typedef struct KvManager KvManager;

/* Null on virtual devices, else by the collections' strategy. */
KV_C_API int32_t kvManagerCreate(const KvCacheSpec *spec,
                                 const KvManagerOptions *options,
                                 KvManager **manager);
/* The memory lives on while a DLPack tensor looks at it. */
KV_C_API void kvManagerDestroy(KvManager *manager);

/* A negative replica is none. */
KV_C_API int32_t kvManagerClaim(KvManager *manager, uint64_t id,
                                int32_t replica);
KV_C_API int32_t kvManagerContains(const KvManager *manager, uint64_t id,
                                   int32_t *contains);
KV_C_API int32_t kvManagerRelease(KvManager *manager, uint64_t id);
KV_C_API int32_t kvManagerGetReplica(const KvManager *manager, uint64_t id,
                                     int32_t *replica);
KV_C_API int32_t kvManagerGetOrRecommendReplica(const KvManager *manager,
                                                const KvRequest *request,
                                                int32_t *replica);
/* `splits` has room for kvManagerNumReplicas + 1. */
KV_C_API int32_t kvManagerGetDataParallelSplits(const KvManager *manager,
                                                const KvRequest *const *batch,
                                                int64_t count, int64_t *splits);
/* Valid until the request's next call. */
KV_C_API int32_t kvManagerGetReqBlocks(const KvManager *manager, uint64_t id,
                                       const int32_t **pages, int64_t *count);

/* Why a reservation was refused. */
enum KvRefusal {
  KV_REFUSAL_NONE = 0,
  KV_REFUSAL_WAIT = 1,
  KV_REFUSAL_FULL = 2,
  KV_REFUSAL_NEVER_FITS = 3,
  KV_REFUSAL_INVALID = 4
};
typedef struct KvAllocation {
  int64_t cachedTokens;
  int32_t newPages;
  int32_t refusal; /* written when the call fails, too */
} KvAllocation;
typedef struct KvAllocationPlan {
  int64_t cachedTokens;
  int32_t pages;
  int32_t fits;
} KvAllocationPlan;

KV_C_API int32_t kvManagerAlloc(KvManager *manager, KvRequest *request,
                                int32_t steps, KvAllocation *allocation);
KV_C_API int32_t kvManagerProbe(const KvManager *manager,
                                const KvRequest *request, int32_t steps,
                                KvAllocationPlan *plan);

enum KvComponent {
  KV_COMPONENT_BLOCKS = 0,
  KV_COMPONENT_CACHE_LENGTHS = 1,
  KV_COMPONENT_LOOKUP_TABLE = 2,
  KV_COMPONENT_MAX_LENGTHS = 3,
  KV_COMPONENT_SCALES = 4 /* without scales its view has no data */
};
/* Makes the inputs of a step; the two calls below give them. */
KV_C_API int32_t kvManagerRuntimeInputs(KvManager *manager,
                                        const KvRequest *const *batch,
                                        int64_t count, int32_t steps);
KV_C_API int32_t kvManagerGetInput(const KvManager *manager, int32_t device,
                                   int32_t collection, int32_t component,
                                   KvTensorView *view);
/* As DLPack; the caller calls its deleter. f8 elements are given as u8. Waits
   for what a GPU has queued. */
KV_C_API int32_t kvManagerGetInputDLPack(const KvManager *manager,
                                         int32_t device, int32_t collection,
                                         int32_t component,
                                         struct DLManagedTensor **tensor);
/* Of the latest inputs. */
KV_C_API int32_t kvManagerIncrementCacheLengths(KvManager *manager,
                                                const int32_t *rowOffsets,
                                                int64_t count);
KV_C_API int32_t kvManagerStep(KvManager *manager,
                               const KvRequest *const *batch, int64_t count);

typedef struct KvSymbolicInput {
  const char *name;
  const char *kind; /* "kv.blocks" */
  int32_t dtype;
  int32_t rank;
  int32_t onHost;
  int64_t sizes[KV_MAX_RANK];       /* -1 where there is a symbol */
  const char *symbols[KV_MAX_RANK]; /* null where there is a size */
} KvSymbolicInput;
KV_C_API int32_t kvManagerNumSymbolicInputs(const KvManager *manager,
                                            int32_t device, int32_t *count);
/* The strings are valid until the manager is destroyed. */
KV_C_API int32_t kvManagerGetSymbolicInput(const KvManager *manager,
                                           int32_t device, int32_t index,
                                           KvSymbolicInput *input);

/* Paged managers only; the others say KV_STATUS_UNSUPPORTED. */
KV_C_API int32_t kvManagerFork(KvManager *manager, uint64_t source, uint64_t id,
                               int64_t tokens);
KV_C_API int32_t kvManagerTruncate(KvManager *manager, uint64_t id,
                                   int64_t tokens);
KV_C_API int32_t kvManagerSynchronize(KvManager *manager);
/* Of any clock that never goes back: priorities whose duration is over end. */
KV_C_API int32_t kvManagerSetTime(KvManager *manager, int64_t nanoseconds);
enum KvReason {
  KV_REASON_HIT = 0,
  KV_REASON_NEVER_SEEN = 1,
  KV_REASON_EVICTED = 2,
  KV_REASON_OTHER_SCOPE = 3,
  KV_REASON_GROUP_LACKS_IT = 4,
  KV_REASON_ALWAYS_COMPUTED = 5
};
/* A KvReason a page, of at most `capacity` pages; `count` is of all. */
KV_C_API int32_t kvManagerExplain(const KvManager *manager,
                                  const KvRequest *request, int32_t *reasons,
                                  int64_t capacity, int64_t *count);

KV_C_API int32_t kvManagerNumReplicas(const KvManager *manager);
KV_C_API int64_t kvManagerMaxSeqLen(const KvManager *manager);
/* A negative replica is all of them. */
KV_C_API int32_t kvManagerNumFreeBlocks(const KvManager *manager,
                                        int32_t replica, int64_t *pages);
KV_C_API int64_t kvManagerTotalNumPages(const KvManager *manager);
KV_C_API double kvManagerFreeBlocksPct(const KvManager *manager);
KV_C_API double kvManagerUsedBlocksPct(const KvManager *manager);
KV_C_API int64_t kvManagerTotalNumHostPages(const KvManager *manager);
KV_C_API double kvManagerHostCommittedBlockPct(const KvManager *manager);
/* Bytes on devices, and of host memory beside them. */
KV_C_API int64_t kvManagerPoolBytes(const KvManager *manager);
KV_C_API int64_t kvManagerHostBytes(const KvManager *manager);

typedef struct KvMetrics {
  int64_t inputTokens, cachedTokens, evictedPages, refusals, peakUsedPages;
} KvMetrics;
KV_C_API int32_t kvManagerGetMetrics(const KvManager *manager,
                                     KvMetrics *metrics);
KV_C_API int32_t kvManagerResetMetrics(KvManager *manager);
KV_C_API int32_t kvManagerResetPrefixCache(KvManager *manager);
/* Compares all bookkeeping: the error is the first contradiction. */
KV_C_API int32_t kvManagerCheck(const KvManager *manager);

#ifdef __cplusplus
}
#endif

#endif /* KV_RUNTIME_C_CACHEMANAGER_H */
