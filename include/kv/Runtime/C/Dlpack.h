/*===- Dlpack.h - DLPack's tensors, of either version -----------*- C -*-===*/
/* For who makes or takes them: DLManagedTensorVersioned too, where the
   installed dlpack.h is older than 1.0. Needs dlpack/dlpack.h; no other header
   does. */

#ifndef KV_RUNTIME_C_DLPACK_H
#define KV_RUNTIME_C_DLPACK_H

#include <dlpack/dlpack.h>

#ifndef DLPACK_MAJOR_VERSION
/* The layout of DLPack 1.x. */
typedef struct DLManagedTensorVersioned {
  struct {
    uint32_t major, minor;
  } version;
  void *manager_ctx;
  void (*deleter)(struct DLManagedTensorVersioned *self);
  uint64_t flags; /* bit 0: read-only */
  DLTensor dl_tensor;
} DLManagedTensorVersioned;
#endif

#endif /* KV_RUNTIME_C_DLPACK_H */
