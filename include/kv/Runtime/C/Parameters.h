/*===- Parameters.h - What caches are ---------------------------*- C -*-===*/
/* Specs of caches, and what follows from them: sizes of pages, shapes, shards.
   kv/Runtime/Manager/KVCacheParams.h says what each field means. */

#ifndef KV_RUNTIME_C_PARAMETERS_H
#define KV_RUNTIME_C_PARAMETERS_H

#include "kv/ABI/TensorView.h"
#include "kv/Runtime/C/Api.h"

#ifdef __cplusplus
extern "C" {
#endif

enum KvStrategy {
  KV_STRATEGY_PAGED = 0,
  KV_STRATEGY_CONTINUOUS = 1,
  KV_STRATEGY_RECURRENT = 2
};
enum KvLayout { KV_LAYOUT_NHD = 0, KV_LAYOUT_HND = 1, KV_LAYOUT_CPU = 2 };
enum KvSpeculativeMethod {
  KV_SPECULATIVE_NONE = 0,
  KV_SPECULATIVE_EAGLE = 1,
  KV_SPECULATIVE_MTP = 2,
  KV_SPECULATIVE_DFLASH = 3
};

enum KvConnector {
  KV_CONNECTOR_NONE = 0,
  KV_CONNECTOR_NULL = 1,
  KV_CONNECTOR_HOST = 2,
  KV_CONNECTOR_TIERED = 3 /* a diskDirectory, a blockStoreEndpoint, or both */
};

/* One collection; zero everything first. KVCacheParams says what fields mean.
 */
typedef struct KvCollectionSpec {
  const char *name; /* null: "kv" */
  int32_t strategy; /* a KvStrategy */
  int32_t dtype;    /* a KvDType */
  int64_t layers, heads, dim;
  int64_t page;   /* 0: 128; continuous: max_seq, which has no default */
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
  int32_t speculativeMethod;  /* a KvSpeculativeMethod */
  int32_t numDraftTokens;     /* a step; a method may have none */
  int32_t connector;          /* a KvConnector */
  double hostSwapSpaceGB;     /* GiB of host memory for pages; 0: not given */
} KvCacheSpec;

/* What follows from a spec. A spec that does not validate is an error of every
   call that takes one. */

/* Tokens of a page, or of a slot. */
KV_C_API int32_t kvPageSize(const KvCacheSpec *spec, int64_t *tokens);
/* What one page id costs one device, and all devices of a replica. Collections
   of different windows share memory where their pages have equally many bytes.
 */
KV_C_API int32_t kvBytesPerPage(const KvCacheSpec *spec, int64_t *bytes);
KV_C_API int32_t kvBytesPerBlock(const KvCacheSpec *spec, int64_t *bytes);
/* What one page of a prefix takes in host memory and on a disk, of all devices
   of a replica: rows of collections of every window. Of paged collections. */
KV_C_API int32_t kvBytesPerRecord(const KvCacheSpec *spec, int64_t *bytes);
/* Devices of a replica. */
KV_C_API int32_t kvTensorParallelDegree(const KvCacheSpec *spec,
                                        int64_t *degree);
/* 1 if every collection is latent and a replica has several devices, which then
   hold the same rows; else 0. */
KV_C_API int32_t kvReplicatesKVAcrossTP(const KvCacheSpec *spec,
                                        int32_t *replicates);
/* Positions that a reservation keeps for draft tokens. */
KV_C_API int32_t kvDraftSlots(const KvCacheSpec *spec, int64_t *slots);
/* The blocks on one device of the collection at `index`, with `count` pages
   (the null page is added) or slots; and its scales, whose last dimension is 0
   where it has none. */
KV_C_API int32_t kvBlockShape(const KvCacheSpec *spec, int32_t index,
                              int64_t count, int64_t shape[6]);
KV_C_API int32_t kvScaleShape(const KvCacheSpec *spec, int32_t index,
                              int64_t count, int64_t shape[6]);
/* KV heads of one of `degree` devices: heads / degree, or 1 where `replicate`
   allows that several devices hold the same head. Error: neither is possible.
 */
KV_C_API int32_t kvShardHeads(int64_t heads, int64_t degree, int32_t replicate,
                              int64_t *shardHeads);

#ifdef __cplusplus
}
#endif

#endif /* KV_RUNTIME_C_PARAMETERS_H */
