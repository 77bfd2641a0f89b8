//===- LoadBackend.h - Finds libkv_cuda.so ----------------------*- C++ -*-===//

#ifndef KV_RUNTIME_DEVICE_LOADBACKEND_H
#define KV_RUNTIME_DEVICE_LOADBACKEND_H

#include "kv/Runtime/Device/DeviceBackend.h"

namespace kv {

/// The backend of CUDA device `index`, which is opened by the first call for
/// it. May be called by any thread. Errors: those of Device::backend(); the
/// next call tries again.
Expected<DeviceBackend *> loadCudaBackend(int index);

} // namespace kv

#endif // KV_RUNTIME_DEVICE_LOADBACKEND_H
