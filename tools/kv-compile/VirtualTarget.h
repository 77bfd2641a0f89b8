//===- VirtualTarget.h - Compiling for a machine that is not here -*- C++ -*-=//

#ifndef KV_TOOLS_KVCOMPILE_VIRTUALTARGET_H
#define KV_TOOLS_KVCOMPILE_VIRTUALTARGET_H

#include "kv/Runtime/Device.h"

#include <filesystem>

namespace kv {

/// Whether the cache arguments of every entry of an artifact are what a cache
/// manager of the target would give. Needs neither the target nor memory: the
/// manager is the null one. Errors name the argument and both sides.
Expected<void> checkOnVirtualDevice(const std::filesystem::path &artifact,
                                    const Device &device);

} // namespace kv

#endif // KV_TOOLS_KVCOMPILE_VIRTUALTARGET_H
