/*===- Invocations.h - Entries with their arguments -------------*- C -*-===*/
/* An entry of a model that is ready to run. Arguments are bound by name, for
   this and all later executions. Tensors are dense and row-major, at most
   KV_MAX_RANK dimensions. Those in host memory may be bound on any device: an
   input is copied to a GPU before the entry runs, an output back after it. Of
   all models of a session, one invocation executes at a time. */

#ifndef KV_RUNTIME_C_INVOCATIONS_H
#define KV_RUNTIME_C_INVOCATIONS_H

#include "kv/Runtime/C/Sessions.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct KvInvocation KvInvocation;

/* Of dlpack/dlpack.h, which this header does not need. */
struct DLManagedTensor;
struct DLManagedTensorVersioned;

/* Errors: no such entry; weights that are not bound. */
KV_C_API int32_t kvModelPrepare(KvModel *model, const char *entry,
                                KvInvocation **invocation);
/* Waits for a GPU first, and then gives back the tensors that it owns. */
KV_C_API void kvInvocationDestroy(KvInvocation *invocation);

/* Binds host memory of the caller, which must stay valid until it is bound to
   something else or the invocation is destroyed. `shape` has `rank` sizes in
   elements; it is copied. Errors of all calls that bind: no input or output of
   this name, or it is a weight; another element type or rank than the entry
   takes. Sizes are checked by kvInvocationExecute. */
KV_C_API int32_t kvInvocationBind(KvInvocation *invocation, const char *name,
                                  int32_t dtype, const int64_t *shape,
                                  int32_t rank, void *data);
/* Binds a tensor in host memory or on the session's device; what other streams
   write to it must be there. With `owned`, the invocation calls its deleter
   (which may be null) once the argument is bound to something else, or when it
   is destroyed; otherwise, and if the call fails, the tensor stays the
   caller's, who keeps it valid as above. 8-bit floats may be declared as such
   or as u8. Errors, beside those above: another device; a tensor that is not
   dense. */
KV_C_API int32_t kvInvocationBindDLPack(KvInvocation *invocation,
                                        const char *name,
                                        struct DLManagedTensor *tensor,
                                        int32_t owned);
/* The same of DLPack 1.x. Errors: another major version; a read-only tensor for
   what the entry writes. */
KV_C_API int32_t kvInvocationBindDLPackVersioned(
    KvInvocation *invocation, const char *name,
    struct DLManagedTensorVersioned *tensor, int32_t owned);

/* Binds all cache arguments: each execution takes what kvManagerRuntimeInputs,
   or kvManagerIncrementCacheLengths after it, made last for the device at
   `index` (kvManagerGetDevice). Nothing is copied. Keeps the manager's memory
   alive. Errors: the manager's caches are not the entry's; no such device, or
   not the session's. */
KV_C_API int32_t kvInvocationSetManager(KvInvocation *invocation,
                                        const KvManager *manager,
                                        int32_t index);

/* Runs the entry. Outputs that are not bound get memory of the session's
   device. On a CPU, or if an output is bound to host memory, the step is over
   when this returns; otherwise it is queued. Errors: inputs that are not bound,
   by name; sizes that do not fit the entry or each other; what the entry
   reports. */
KV_C_API int32_t kvInvocationExecute(KvInvocation *invocation);
/* Waits for the device. Error: what a queued step found wrong. */
KV_C_API int32_t kvInvocationWait(KvInvocation *invocation);

/* An output of the latest execution, on the session's device or where it is
   bound; valid until the next execution. Error: there was none. */
KV_C_API int32_t kvInvocationGetOutput(const KvInvocation *invocation,
                                       const char *name, KvTensorView *view);
/* The same as a DLPack tensor, whose deleter the caller must call. It keeps its
   memory: a later execution writes elsewhere. Waits for a GPU. Error, beside
   the above: an output that the caller has bound, who has it already. */
KV_C_API int32_t kvInvocationGetOutputDLPack(const KvInvocation *invocation,
                                             const char *name,
                                             struct DLManagedTensor **tensor);

#ifdef __cplusplus
}
#endif

#endif /* KV_RUNTIME_C_INVOCATIONS_H */
