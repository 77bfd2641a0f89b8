/*===- Inputs.h - The cache arguments of a step -----------------*- C -*-===*/
/* Runtime inputs as views and as DLPack tensors. */

#ifndef KV_RUNTIME_C_INPUTS_H
#define KV_RUNTIME_C_INPUTS_H

#include "kv/ABI/TensorView.h"
#include "kv/Runtime/C/Managers.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of dlpack/dlpack.h, which this header does not need. */
struct DLManagedTensor;

enum KvComponent {
  KV_COMPONENT_BLOCKS = 0,
  KV_COMPONENT_CACHE_LENGTHS = 1,
  KV_COMPONENT_LOOKUP_TABLE = 2,
  KV_COMPONENT_MAX_LENGTHS = 3,
  KV_COMPONENT_SCALES = 4 /* without scales its view has no data */
};
/* Makes the inputs of a step, which the calls below return. */
KV_C_API int32_t kvManagerRuntimeInputs(KvManager *manager,
                                        const KvRequest *const *batch,
                                        int64_t count, int32_t steps);
KV_C_API int32_t kvManagerGetInput(const KvManager *manager, int32_t device,
                                   int32_t collection, int32_t component,
                                   KvTensorView *view);
/* An input as a DLPack tensor, whose deleter the caller must call. Elements of
   8-bit float types are declared as u8. Waits until a GPU has finished what is
   queued. */
KV_C_API int32_t kvManagerGetInputDLPack(const KvManager *manager,
                                         int32_t device, int32_t collection,
                                         int32_t component,
                                         struct DLManagedTensor **tensor);
/* For the latest inputs: 1 if no sequence of the device has tokens in the cache
   before the step, so that the step computes whole prompts, or if there are no
   sequences; otherwise, and after kvManagerIncrementCacheLengths, 0. */
KV_C_API int32_t kvManagerIsCacheEmpty(const KvManager *manager, int32_t device,
                                       int32_t *isEmpty);
/* Moves the latest inputs on to the next step of a multi-step loop; the caller
   gets the views again. Waits for nothing. `rowOffsets`, in host memory, has
   `count` = sequences + 1 entries: sequence b has computed rowOffsets[b + 1] -
   rowOffsets[b] tokens. */
KV_C_API int32_t kvManagerIncrementCacheLengths(KvManager *manager,
                                                const int32_t *rowOffsets,
                                                int64_t count);

#ifdef __cplusplus
}
#endif

#endif /* KV_RUNTIME_C_INPUTS_H */
