//===- LoadMpi.h - What libkv_mpi.so exports --------------------*- C++ -*-===//

#ifndef KV_RUNTIME_DEVICE_LOADMPI_H
#define KV_RUNTIME_DEVICE_LOADMPI_H

#include "kv/Runtime/Device/Communicator.h"

namespace kv {

/// Grows with every change of what crosses the border between runtime and
/// library.
inline constexpr uint32_t MpiInterfaceVersion = 2;

/// Null, and the error, if there are no ranks.
using OpenCommunicator = Communicator *(*)(uint32_t interfaceVersion,
                                           const Communicator::Options *,
                                           Error *);

} // namespace kv

#endif // KV_RUNTIME_DEVICE_LOADMPI_H
