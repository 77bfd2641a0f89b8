//===- LoadTiers.h - What libkv_tiers.so exports ----------------*- C++ -*-===//

#ifndef KV_RUNTIME_TIERS_LOADTIERS_H
#define KV_RUNTIME_TIERS_LOADTIERS_H

#include "kv/Runtime/Tiers/PageConnector.h"

namespace kv {

/// Grows with every change of what crosses the border between runtime and
/// library.
inline constexpr uint32_t TiersInterfaceVersion = 3;

/// Null, and the error, if it cannot be opened.
using OpenPageConnector = PageConnector *(*)(uint32_t interfaceVersion,
                                             const PageConnector::Options *,
                                             Error *);

} // namespace kv

#endif // KV_RUNTIME_TIERS_LOADTIERS_H
