/*===- Manifests.h - What an artifact says of itself ------------*- C -*-===*/
/* docs/reference/artifact.md, section Manifest, describes the fields. A
   manifest does not change, so that any number of threads may read it. */

#ifndef KV_RUNTIME_C_MANIFESTS_H
#define KV_RUNTIME_C_MANIFESTS_H

#include "kv/Runtime/C/Arguments.h"
#include "kv/Runtime/C/Parameters.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct KvManifest KvManifest;

/* Reads the manifest of the file `artifact` without loading its code: any
   machine can. The caller destroys it. Errors: no such file; damaged; another
   ABI version. */
KV_C_API int32_t kvManifestRead(const char *artifact, KvManifest **manifest);
/* Not for the manifest of a model, which owns it. */
KV_C_API void kvManifestDestroy(KvManifest *manifest);

/* Strings and lists are valid as long as the manifest. */
typedef struct KvManifestInfo {
  int64_t abiVersion;
  const char *producer;
  const char *targetKind; /* "cpu" or "cuda" */
  const char *targetTriple;
  const char *targetCpu;          /* "x86-64-v4" */
  const char *const *targetChips; /* of device code: "sm_90a" */
  int32_t numTargetChips;
  /* The module's attribute kv.model. Absent strings are empty, absent sizes 0.
   */
  const char *modelName;
  const char *modelArchitecture;
  int64_t modelVocabSize;
  int64_t modelMaxSeqLen; /* tokens of a request */
  const char *modelJson;  /* the whole attribute, for other fields */
  int32_t numCollections;
  int32_t numEntries;
} KvManifestInfo;
KV_C_API int32_t kvManifestGetInfo(const KvManifest *manifest,
                                   KvManifestInfo *info);

/* The caches as a spec, whose other fields are zero, that is, the defaults: for
   kvManagerCreate and for the calls of Parameters.h and Sizes.h. Its lists and
   strings are valid as long as the manifest. */
KV_C_API int32_t kvManifestGetCacheSpec(const KvManifest *manifest,
                                        KvCacheSpec *spec);

typedef struct KvEntryInfo {
  const char *name;
  const char *symbol; /* of the function in the shared object */
  int32_t numInputs;  /* weights and cache arguments among them */
  int32_t numOutputs;
} KvEntryInfo;
/* The entry at `index`, which counts from 0. */
KV_C_API int32_t kvManifestGetEntry(const KvManifest *manifest, int32_t index,
                                    KvEntryInfo *entry);
/* An input or an output of an entry, in the order in which it takes them. */
KV_C_API int32_t kvManifestGetInput(const KvManifest *manifest,
                                    const char *entry, int32_t index,
                                    KvArgument *input);
KV_C_API int32_t kvManifestGetOutput(const KvManifest *manifest,
                                     const char *entry, int32_t index,
                                     KvArgument *output);

#ifdef __cplusplus
}
#endif

#endif /* KV_RUNTIME_C_MANIFESTS_H */
