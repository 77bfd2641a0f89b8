//===- HostBackend.h - A CPU as a device ------------------------*- C++ -*-===//

#ifndef KV_RUNTIME_DEVICE_HOSTBACKEND_H
#define KV_RUNTIME_DEVICE_HOSTBACKEND_H

#include "kv/Runtime/Device/DeviceBackend.h"

namespace kv {

/// The backend of all devices cpu:n: host memory, and nothing is ever queued.
DeviceBackend &hostBackend();

} // namespace kv

#endif // KV_RUNTIME_DEVICE_HOSTBACKEND_H
