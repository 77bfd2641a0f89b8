/*===- Sessions.h - Sessions and models -------------------------*- C -*-===*/
/* A session is the device, the threads and the scratch memory that models run
   on; a model is an artifact that it has loaded. Each handle keeps alive what
   it needs of the others, so that they may be destroyed in any order. All
   handles of a session are used by one thread at a time. */

#ifndef KV_RUNTIME_C_SESSIONS_H
#define KV_RUNTIME_C_SESSIONS_H

#include "kv/Runtime/C/Managers.h"
#include "kv/Runtime/C/Manifests.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct KvSession KvSession;
typedef struct KvModel KvModel;

/* Zero everything first: zeros are the defaults. */
typedef struct KvSessionOptions {
  const char *device;    /* "cpu", "cuda:0"; null: cpu */
  int32_t threads;       /* of a CPU; 0: one for each core */
  int32_t deterministic; /* 1: on a GPU, too, a row's bits do not depend on the
                            other rows of the batch; on a CPU they never do */
  int32_t mapWeights; /* 1: on a CPU, weights stay in the file's memory, which
                         processes share, instead of a copy in huge pages */
  int64_t arenaBytes; /* of an entry's temporaries; 0: the device's default */
  /* If not null: receives notes of bindings and loads, one sentence each, valid
     during the call. */
  void (*log)(void *context, const char *sentence);
  void *logContext;
} KvSessionOptions;

/* Null options are the defaults. Errors: no such device; no memory. */
KV_C_API int32_t kvSessionCreate(const KvSessionOptions *options,
                                 KvSession **session);
KV_C_API void kvSessionDestroy(KvSession *session);
/* 0 for a null pointer. */
KV_C_API int32_t kvSessionThreads(const KvSession *session);

/* Loads the file `artifact`. Errors name the field of the manifest, what the
   artifact says and what this runtime and this machine allow. */
KV_C_API int32_t kvSessionLoad(KvSession *session, const char *artifact,
                               KvModel **model);
KV_C_API void kvModelDestroy(KvModel *model);

/* Owned by the model: valid until the model is destroyed. */
KV_C_API int32_t kvModelGetManifest(const KvModel *model,
                                    const KvManifest **manifest);
/* Binds every weight of every entry to a tensor of the safetensors file, which
   must not change while the model lives. Only once. Errors name the tensor,
   what the file holds and what the artifact takes. */
KV_C_API int32_t kvModelBindWeights(KvModel *model, const char *file);
/* Bytes of the weights that entries use; 0 before they are bound, and for a
   null pointer. */
KV_C_API int64_t kvModelWeightsBytes(const KvModel *model);

/* The names under which pages of the model are kept, for
   KvManagerOptions::model, and exchanged, for peerModel: kv-run and kv-serve
   have the same ones. The first call reads the artifact and the weights' file
   whole. The texts are valid until the model is destroyed. Errors: weights are
   not bound; a file cannot be read. */
typedef struct KvModelIdentity {
  const char *pages, *peers;
} KvModelIdentity;
KV_C_API int32_t kvModelGetIdentity(KvModel *model, KvModelIdentity *identity);

/* The manager of the model's caches, on the session's device. Where the options
   have 0, maxSeqLen is the model's (of a continuous cache at most a slot's
   tokens), and devices are the session's. Paged caches reuse prefixes. For
   other caches and more devices: kvManifestGetCacheSpec and kvManagerCreate,
   whose errors this call has, too. The caller destroys the manager. */
KV_C_API int32_t kvModelCreateManager(const KvModel *model,
                                      const KvManagerOptions *options,
                                      KvManager **manager);

#ifdef __cplusplus
}
#endif

#endif /* KV_RUNTIME_C_SESSIONS_H */
