//===- VirtualTarget.h - Compiling for a machine that is not here -*- C++ -*-=//

#ifndef KV_TOOLS_KVCOMPILE_VIRTUALTARGET_H
#define KV_TOOLS_KVCOMPILE_VIRTUALTARGET_H

#include <filesystem>
#include <string>

namespace kv {

/// Whether the cache arguments of every entry of an artifact are what a cache
/// manager of the target, a level or a chip, would give: the empty string, or
/// else a sentence that names the argument and both sides. Needs neither the
/// target nor memory: the manager is the null one.
std::string checkOnVirtualDevice(const std::filesystem::path &artifact,
                                 const std::string &target);

} // namespace kv

#endif // KV_TOOLS_KVCOMPILE_VIRTUALTARGET_H
