/*===- Managers.h - Cache managers ------------------------------*- C -*-===*/
/* What each call means, its units and its errors:
   kv/Runtime/Manager/KVCacheManager.h and the managers' own headers. */

#ifndef KV_RUNTIME_C_MANAGERS_H
#define KV_RUNTIME_C_MANAGERS_H

#include "kv/Runtime/C/Parameters.h"
#include "kv/Runtime/C/Requests.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct KvManager KvManager;

/* Zero everything first: zeros are the defaults. */
typedef struct KvManagerOptions {
  const char *const *devices; /* "cpu:0", "cuda:0", "virtual:sm_90a"; null:
                                 cpu:0 ... */
  int32_t numDevices;
  int32_t maxBatchSize; /* 0: 16 */
  int64_t maxSeqLen;
  int64_t numPages;             /* of a replica; or, one of the two: */
  int64_t availableCacheMemory; /* bytes on all devices */
  int32_t maxSteps;             /* 0: 64 */
  /* Most tokens that a request with windows computes in a step; 0: its whole
     prompt. */
  int64_t maxChunkTokens;
  int32_t withoutPrefixAffinity;
  int32_t enableRuntimeChecks;
  int32_t asynchronous;
  uint64_t key;
  int64_t retentionTick; /* nanoseconds; 0: a second */
  /* If not null: is called with one sentence for each thing that
     kvManagerCreate accepts and that may not be meant, such as fewer pages than
     a sequence of maxSeqLen tokens needs. The sentence is valid during the
     call. */
  void (*warn)(void *context, const char *sentence);
  void *warnContext;
  /* Of paged collections; null: none. ZeroMQ endpoints of events and of resets
     (EventPublisher.h, ResetSocket.h), HOST:PORT of metrics (MetricsServer.h).
     They are open as long as the manager's memory lives. */
  const char *events, *eventsReplay, *eventsTopic;
  int32_t eventsAsMaps;
  int32_t eventsTiers; /* whether pages beside the devices are told, too */
  const char *zmqEndpointBase; /* as MAX's zmq_endpoint_base */
  const char *resetEndpoint;
  const char *metrics;
  const char *metricsVllm; /* a model's name: figures under vLLM's names, too */
  /* If not null: of paged managers is called with every command that changes
     the cache of a replica, a line of text without its end, as
     kv/Runtime/Engine/CommandLog.h has it. The line is valid during the call,
     which must not call the manager. */
  void (*command)(void *context, int32_t replica, const char *line);
  void *commandContext;
  /* With KV_CONNECTOR_TIERED: where pages are kept on a disk, and the bytes of
     records there. The directory outlives the process, and is locked to the
     parameters' geometry. `model` says which program and weights compute the
     pages: those of another one are never found. */
  const char *diskDirectory;
  int64_t diskBytes;
  const char *model; /* null: "" */
  int32_t ioThreads; /* 0: 4 */
  /* With KV_CONNECTOR_TIERED, instead of a directory or with one: a Redis or
     Valkey server that machines share, as
     redis://[[user]:password@]host[:port][/db] or unix:///path, with
     ?timeout=MILLISECONDS of a call (500) and &ttl=SECONDS of a record. One
     that does not answer costs misses. */
  const char *blockStoreEndpoint;
  /* Whether kvManagerAlloc() refuses with KV_REFUSAL_LOADING instead of waiting
     for the disk or the store. */
  int32_t asynchronousLoads;
  /* Nanoseconds after which a page that does not come is computed; 0: 10 s. */
  int64_t mostLoadWait;
  /* Pages that another process computes or reads, with KV_CONNECTOR_HOST or
     KV_CONNECTOR_TIERED: a KvPeerRole, and the endpoint of the control channel,
     which the prefilling side binds. `peerModel` says which weights and which
     kind of code compute the pages, and must be the other side's
     (kvModelGetIdentity). `note`, if not null, is called during calls with one
     sentence, valid during the call, when the peer is lost or back. */
  int32_t peerRole;
  const char *peer;
  const char *peerModel; /* null: "" */
  void (*note)(void *context, const char *sentence);
  void *noteContext;
} KvManagerOptions;

/* A decoding side asks the other one for the pages of its prompts; a
   prefilling one computes what it is asked for, by a server (Serving.h). */
enum KvPeerRole { KV_PEER_NONE = 0, KV_PEER_PREFILL = 1, KV_PEER_DECODE = 2 };

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
  KV_REFUSAL_INVALID = 4,
  /* It has its pages, and some are read from the disk or a store, or a store
     is asked for them: call again, perhaps after kvManagerWaitForLoads(). With
     asynchronousLoads only. */
  KV_REFUSAL_LOADING = 5
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

/* Between the execution of a step and kvManagerStep: of the request's active
   tokens, nodes of a tree of drafts, those at the indices path[0 .. count - 1]
   are accepted, which ascend. Their keys and values move to the positions
   behind the processed tokens; they are processed then, and the other active
   tokens are no longer the request's. Errors: the request is not claimed, or
   is not what the cache holds; no index, or one that does not ascend or is no
   active token's; a model with states. */
KV_C_API int32_t kvManagerAcceptPath(KvManager *manager, KvRequest *request,
                                     const int32_t *path, int64_t count);
KV_C_API int32_t kvManagerStep(KvManager *manager,
                               const KvRequest *const *batch, int64_t count);

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
  KV_REASON_ALWAYS_COMPUTED = 5,
  KV_REASON_OTHER_TIER = 6 /* is loaded from host memory or disk */
};
/* A KvReason a page, of at most `capacity` pages; `count` is of all. */
KV_C_API int32_t kvManagerExplain(const KvManager *manager,
                                  const KvRequest *request, int32_t *reasons,
                                  int64_t capacity, int64_t *count);

/* Brings the prefix of a request that is not claimed from host memory and disk
   to the devices, and waits for it. `tokens` is what is on the devices then. */
KV_C_API int32_t kvManagerPrefetch(KvManager *manager, const KvRequest *request,
                                   int64_t *tokens);
/* Waits until a page that a kvManagerAlloc() waits for has come, but not longer
   than `nanoseconds`; `came` is 0 if none has, or none was on its way. */
KV_C_API int32_t kvManagerWaitForLoads(KvManager *manager, int64_t nanoseconds,
                                       int32_t *came);

/* Figures. Those without a status are 0 for a null pointer. */

KV_C_API int32_t kvManagerNumReplicas(const KvManager *manager);
KV_C_API int32_t kvManagerNumDevices(const KvManager *manager);
/* "cpu:1": the device at `index`, which is replica * devices of a replica +
   shard. Valid until the manager is destroyed. */
KV_C_API int32_t kvManagerGetDevice(const KvManager *manager, int32_t index,
                                    const char **device);
KV_C_API int64_t kvManagerMaxSeqLen(const KvManager *manager);
/* Pages of a request of `tokens` tokens, draft slots not counted: of a window
   only those that it needs at a time; 1 slot of a continuous cache. Error:
   fewer than 0 tokens. */
KV_C_API int32_t kvManagerBlocksFor(const KvManager *manager, int64_t tokens,
                                    int64_t *pages);
/* A negative replica is all of them. */
KV_C_API int32_t kvManagerNumFreeBlocks(const KvManager *manager,
                                        int32_t replica, int64_t *pages);
KV_C_API int64_t kvManagerTotalNumPages(const KvManager *manager);
/* Usable pages, or slots, of each replica. */
KV_C_API int64_t kvManagerNumPagesPerReplica(const KvManager *manager);
KV_C_API double kvManagerFreeBlocksPct(const KvManager *manager);
KV_C_API double kvManagerUsedBlocksPct(const KvManager *manager);
/* Pages of host memory behind the devices' pages, and the fraction of them that
   holds content: 0 and 0.0 without a connector that has some. */
KV_C_API int64_t kvManagerTotalNumHostPages(const KvManager *manager);
KV_C_API double kvManagerHostCommittedBlockPct(const KvManager *manager);
/* The port of the option `metrics`, chosen where that says 0; 0 without it. */
KV_C_API int32_t kvManagerMetricsPort(const KvManager *manager);
/* Bytes on devices, and of host memory beside them. */
KV_C_API int64_t kvManagerPoolBytes(const KvManager *manager);
KV_C_API int64_t kvManagerHostBytes(const KvManager *manager);

typedef struct KvMetrics {
  int64_t inputTokens;  /* active tokens of successful reservations */
  int64_t cachedTokens; /* tokens that the prefix cache saved */
  int64_t evictedPages;
  int64_t refusals;      /* reservations that did not fit */
  int64_t peakUsedPages; /* the sum of the replicas' peaks */
  int64_t promptTokens;  /* inputTokens + cachedTokens */
  double cacheHitRate;   /* cachedTokens / promptTokens; 0 without tokens */
  int64_t loadedPages;   /* copied from host memory to the devices */
  int64_t storedPages;   /* copied from the devices to host memory */
  int64_t diskPagesRead, diskPagesWritten;
  int64_t storePagesRead, storePagesWritten; /* of a store that is shared */
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

#endif /* KV_RUNTIME_C_MANAGERS_H */
