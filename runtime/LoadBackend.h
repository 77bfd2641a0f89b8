//===- LoadBackend.h - Finds libkv_cuda.so ----------------------*- C++ -*-===//

#ifndef KV_RUNTIME_LOADBACKEND_H
#define KV_RUNTIME_LOADBACKEND_H

#include "kv/Runtime/DeviceBackend.h"

namespace kv {

/// CUDA device `index`, opened once. Any thread. Errors as Device::backend's;
/// they are not remembered.
Expected<DeviceBackend *> loadCudaBackend(int index);

} // namespace kv

#endif // KV_RUNTIME_LOADBACKEND_H
