//===- Dlpack.h - Tensors that others own or get ----------------*- C++ -*-===//

#ifndef KV_CAPI_DLPACK_H
#define KV_CAPI_DLPACK_H

#include "kv/Runtime/C/Dlpack.h"
#include "kv/Runtime/Device/Buffer.h"

#include <memory>

namespace kv::capi {

/// A tensor in the memory of `device`, or of the host, that keeps `owner` alive
/// until its deleter is called. Waits for what a GPU has queued: who gets the
/// tensor knows nothing of the queue. Errors: those of the device.
Expected<DLManagedTensor *> exportTensor(const KvTensorView &view,
                                         const Device &device, bool onHost,
                                         std::shared_ptr<void> owner);

struct ImportedTensor {
  KvTensorView view;
  bool onHost;
};

/// `tensor` as a view for a session on `device` of elements of the type
/// `dtype`. Errors: another type; more than KV_MAX_RANK dimensions; not dense;
/// memory that is neither the device's nor the host's.
Expected<ImportedTensor> importTensor(const DLTensor &tensor, DType dtype,
                                      const Device &device);

} // namespace kv::capi

#endif // KV_CAPI_DLPACK_H
