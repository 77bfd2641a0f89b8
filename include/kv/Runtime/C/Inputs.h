/*===- Inputs.h - What a step is given --------------------------*- C -*-===*/
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
/* Makes the inputs of a step; the calls below give them. */
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
/* Whether none of the device's sequences has anything in its cache before the
   step, so that it encodes whole prompts: 1 or 0, of the latest inputs. 1
   without sequences; 0 after kvManagerIncrementCacheLengths. */
KV_C_API int32_t kvManagerIsCacheEmpty(const KvManager *manager, int32_t device,
                                       int32_t *isEmpty);
/* Moves the latest inputs on to the next step of a multi-step loop: get views
   again. Nothing is copied and nobody waits. `rowOffsets`, on the host, has
   `count` = sequences + 1 entries. */
KV_C_API int32_t kvManagerIncrementCacheLengths(KvManager *manager,
                                                const int32_t *rowOffsets,
                                                int64_t count);

#ifdef __cplusplus
}
#endif

#endif /* KV_RUNTIME_C_INPUTS_H */
