//===- HostBackend.h - A CPU as a device ------------------------*- C++ -*-===//

#ifndef KV_RUNTIME_HOSTBACKEND_H
#define KV_RUNTIME_HOSTBACKEND_H

#include "kv/Runtime/DeviceBackend.h"

namespace kv {

/// The host's memory; what is queued is done at once. Shared by all cpu:n.
DeviceBackend &hostBackend();

} // namespace kv

#endif // KV_RUNTIME_HOSTBACKEND_H
