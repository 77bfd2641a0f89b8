//===- TensorView.h - A tensor as generated code sees it --------*- C -*-===//
//
// Plain data that generated code and the runtime pass to each other by pointer.
//
//===----------------------------------------------------------------------===//

#ifndef KV_ABI_TENSORVIEW_H
#define KV_ABI_TENSORVIEW_H

#include <stdint.h>

#define KV_MAX_RANK 8

/// Element types. Values are stable.
enum KvDType {
#define KV_DTYPE(Name, Value, Spelling, Bytes) KV_DTYPE_##Name = Value,
#include "kv/ABI/DTypes.def"
};

/// A strided, non-owning view. Element (i0, ..., in) lies at
/// data + (offset + sum(ik * strides[k])) * sizeof(element).
/// offset and strides count elements. Entries past `rank` are unspecified.
typedef struct KvTensorView {
  void *data;
  int64_t offset;
  int64_t rank;
  int64_t dtype; // a KvDType
  int64_t sizes[KV_MAX_RANK];
  int64_t strides[KV_MAX_RANK];
} KvTensorView;

#ifdef __cplusplus
static_assert(sizeof(KvTensorView) == 160, "KvTensorView is part of the ABI");
#endif

#endif // KV_ABI_TENSORVIEW_H
