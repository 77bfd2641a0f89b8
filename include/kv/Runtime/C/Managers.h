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

/* Zero everything first: zeros are the defaults. What functions receive is
   valid during the call. scripts/options.py makes the fields of
   kv/ABI/ManagerOptions.def; docs/reference/options.md has them in a table. */
typedef struct KvManagerOptions {
  /* Replica by replica, such as cpu:0, cuda:0, virtual:sm_90a; default: cpu:0,
     cpu:1 and so on. */
  const char *const *devices;
  int32_t numDevices;
  /* Requests at a time, of all replicas (1 to 1048576; default: 16). */
  int32_t maxBatchSize;
  /* Tokens of a request (1 to 2147483647). */
  int64_t maxSeqLen;
  /* Usable pages of each replica, instead of bytes (1 to 1073741823). */
  int64_t numPages;
  /* Bytes of all replicas together, tables included (1 or more). */
  int64_t availableCacheMemory;
  /* Most steps of a multi-step loop (1 to 1048576; default: 64). */
  int32_t maxSteps;
  /* Most tokens of a step of a request with windows; default: its prompt (1 to
     2147483647). */
  int64_t maxChunkTokens;
  /* A new request goes to the replica with the fewest requests, wherever its
     prefix is cached. */
  int32_t withoutPrefixAffinity;
  /* Checks the engine after every call: slow. */
  int32_t enableRuntimeChecks;
  /* A step may still run on the device while the next calls are made. */
  int32_t asynchronous;
  /* Secret key of the hash of prefixes (0 or more). */
  uint64_t key;
  /* Nanoseconds that durations of priorities are rounded up to (1 to
     1125899906842624; default: 1000000000). */
  int64_t retentionTick;
  /* Receives a sentence for each thing that is accepted and may not be meant,
     such as fewer pages than the longest request needs; in Python a
     UserWarning. */
  void (*warn)(void *context, const char *sentence);
  void *warnContext;
  /* ZeroMQ endpoint on which cached prefixes are published, in vLLM's format:
     bound with *, :: or ipc, else connected to; replica r has port + r. */
  const char *events;
  /* ZeroMQ endpoint, bound, for replay, status and snapshot of events. */
  const char *eventsReplay;
  /* First frame of each message of events; it may be empty. */
  const char *eventsTopic;
  /* Events are maps instead of arrays. */
  int32_t eventsAsMaps;
  /* Events also tell of pages in host memory, on the disk and in the store. */
  int32_t eventsTiers;
  /* MAX's zmq_endpoint_base: resets come from the socket that a frontend has
     bound there. */
  const char *zmqEndpointBase;
  /* ZeroMQ endpoint, bound, for requests to forget all cached prefixes. */
  const char *resetEndpoint;
  /* HOST:PORT for Prometheus, which asks for /metrics. */
  const char *metrics;
  /* Name of the model: figures also under vLLM's names. */
  const char *metricsVllm;
  /* Receives every command that changes the cache of a replica, a line of
     kv/Runtime/Engine/CommandLog.h; must not call the manager. */
  void (*command)(void *context, int32_t replica, const char *line);
  void *commandContext;
  /* Folder in which computed pages are kept, also for the next process that
     has this model. */
  const char *diskDirectory;
  /* Bytes of pages on the disk (1 or more; default: 8589934592). */
  int64_t diskBytes;
  /* Which program and weights compute the pages on the disk and in the store,
     such as a model's identity: those of others are not found. */
  const char *model;
  /* Threads that read and write the disk (1 to 256; default: 4). */
  int32_t ioThreads;
  /* Redis or Valkey server in which machines that run this model share
     computed pages: redis://[[user]:password@]host[:port][/db] or
     unix:///path, with ?timeout=MILLISECONDS of a call (500) and &ttl=SECONDS
     of a page. */
  const char *blockStoreEndpoint;
  /* An allocation is refused because pages are loading, instead of waiting for
     the disk or the store. */
  int32_t asynchronousLoads;
  /* Nanoseconds after which a page that does not come is computed (0 or more;
     default: 10000000000). */
  int64_t mostLoadWait;
  /* Prefill: computes prompts for others and lets them read the pages; decode:
     reads the pages of prompts from such a process. */
  int32_t peerRole;
  /* ZeroMQ endpoint between the two, which prefill binds. */
  const char *peer;
  /* Which weights and kind of code compute the pages, such as a model's
     identity: the same on both sides. */
  const char *peerModel;
  /* Receives a sentence when the peer is lost or back. */
  void (*note)(void *context, const char *sentence);
  void *noteContext;
  /* Most likely tokens of which log probabilities are kept with each token of
     a cached page, so that requests for those of their prompts use the cache;
     default: such prompts are computed whole (1 to 20). */
  int32_t cachedLogprobs;
  /* A request holds a page that an equal one has replaced until its release,
     for callers who have passed the page's id on. */
  int32_t keepReplacedPages;
} KvManagerOptions;

/* peerRole. A decoding side asks the other one for the pages of its prompts; a
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
  KV_REASON_OTHER_TIER = 6,      /* is loaded from host memory or disk */
  KV_REASON_WITHOUT_LOGPROBS = 7 /* is cached without a payload */
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
/* Bytes of payload that are kept with each token (kvRequestSetPayload): 8 for
   the token and for each of cachedLogprobs; 0: none. */
KV_C_API int64_t kvManagerPayloadBytesPerToken(const KvManager *manager);
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
