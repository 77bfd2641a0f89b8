/*===- Sizes.h - Estimates of memory and of batches -------------*- C -*-===*/
/* Estimators of each kind of manager, without a manager. */

#ifndef KV_RUNTIME_C_SIZES_H
#define KV_RUNTIME_C_SIZES_H

#include "kv/Runtime/C/Parameters.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The limits of a manager's steps, which its tables and, where there are
   windows, a request's pages depend on. Zeros and a null pointer are the
   defaults. */
typedef struct KvStepLimits {
  int32_t maxSteps;       /* as in KvManagerOptions */
  int64_t maxChunkTokens; /* as there; of paged caches */
} KvStepLimits;

/* Of paged caches. Memory is that of all devices, in bytes, and is divided
   evenly among the replicas. Errors: a spec of continuous collections; lengths,
   batches or memory that make no sense. */

/* Usable pages of a replica: what its memory holds, but no more than its share
   of `maxBatchSize` sequences of `maxSeqLen` tokens needs. Error: no page. */
KV_C_API int32_t kvPagedNumBlocks(const KvCacheSpec *spec, int64_t maxBatchSize,
                                  int64_t maxSeqLen,
                                  int64_t availableCacheMemory,
                                  const KvStepLimits *limits, int64_t *pages);
/* Bytes of those pages on all devices. */
KV_C_API int32_t kvPagedEstimatedMemorySize(
    const KvCacheSpec *spec, int64_t maxBatchSize, int64_t maxSeqLen,
    int64_t availableCacheMemory, const KvStepLimits *limits, int64_t *bytes);
/* The batch to serve with if the user gives none. */
KV_C_API int32_t kvPagedInferOptimalBatchSize(const KvCacheSpec *spec,
                                              int64_t maxSeqLen,
                                              int64_t availableCacheMemory,
                                              int64_t *batch);
/* Tokens of the longest sequence that a replica's memory holds alone, in whole
   pages. */
KV_C_API int32_t kvPagedMaxSupportedSequenceLength(const KvCacheSpec *spec,
                                                   int64_t availableCacheMemory,
                                                   const KvStepLimits *limits,
                                                   int64_t *tokens);

/* Slots of host memory beside `pages` usable pages of each replica: as many as
   the devices have pages and states, but no more than fit into `mostBytes`; a
   page and a state at least. Errors: fewer than 0 pages or bytes; fewer
   requests than replicas. */
KV_C_API int32_t kvPagedHostPages(const KvCacheSpec *spec, int64_t maxBatchSize,
                                  int64_t pages, int64_t mostBytes,
                                  int64_t *hostPages);

/* Of continuous caches. Errors: a spec of paged collections; fewer slots than
   replicas; negative memory. */

/* Bytes of blocks, lengths and tables of `maxBatchSize` slots. */
KV_C_API int32_t kvContinuousEstimatedMemorySize(const KvCacheSpec *spec,
                                                 int64_t maxBatchSize,
                                                 const KvStepLimits *limits,
                                                 int64_t *bytes);
/* Slots of all replicas that the memory of all devices holds. */
KV_C_API int32_t kvContinuousInferOptimalBatchSize(const KvCacheSpec *spec,
                                                   int64_t availableCacheMemory,
                                                   const KvStepLimits *limits,
                                                   int64_t *batch);

/* Of the null manager, which has no memory: 0 bytes and a batch of 1, whatever
   is asked. */
KV_C_API int32_t kvNullEstimatedMemorySize(const KvCacheSpec *spec,
                                           int64_t maxBatchSize,
                                           int64_t maxSeqLen,
                                           int64_t availableCacheMemory,
                                           int64_t *bytes);
KV_C_API int32_t kvNullInferOptimalBatchSize(const KvCacheSpec *spec,
                                             int64_t maxSeqLen,
                                             int64_t availableCacheMemory,
                                             int64_t *batch);

#ifdef __cplusplus
}
#endif

#endif /* KV_RUNTIME_C_SIZES_H */
