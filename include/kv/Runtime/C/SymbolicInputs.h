/*===- SymbolicInputs.h - Cache arguments of a graph ------------*- C -*-===*/
/* Names, types and symbolic shapes of a graph's cache arguments. */

#ifndef KV_RUNTIME_C_SYMBOLICINPUTS_H
#define KV_RUNTIME_C_SYMBOLICINPUTS_H

#include "kv/Runtime/C/Arguments.h"
#include "kv/Runtime/C/Managers.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A list of the inputs of some devices. */
typedef struct KvSymbolicInputs KvSymbolicInputs;

/* The inputs of the manager's first `devices` devices (0: of all), whose names
   contain replica and shard if there are several; with `layers` layers (0: the
   spec's). Errors: more devices than there are; a negative argument. */
KV_C_API int32_t kvManagerSymbolicInputs(const KvManager *manager,
                                         int32_t devices, int64_t layers,
                                         KvSymbolicInputs **list);
/* The inputs of one device of a spec. Names and symbols begin with `prefix`;
   null: with no prefix. */
KV_C_API int32_t kvSymbolicInputs(const KvCacheSpec *spec, const char *prefix,
                                  int64_t layers, KvSymbolicInputs **list);
KV_C_API void kvSymbolicInputsDestroy(KvSymbolicInputs *list);

/* 0 for a null pointer. */
KV_C_API int32_t kvSymbolicInputsNumDevices(const KvSymbolicInputs *list);
KV_C_API int32_t kvSymbolicInputsCount(const KvSymbolicInputs *list,
                                       int32_t device, int32_t *count);
/* In the order in which a graph takes them. The strings are valid until the
   list is destroyed. */
KV_C_API int32_t kvSymbolicInputsGet(const KvSymbolicInputs *list,
                                     int32_t device, int32_t index,
                                     KvArgument *input);

#ifdef __cplusplus
}
#endif

#endif /* KV_RUNTIME_C_SYMBOLICINPUTS_H */
