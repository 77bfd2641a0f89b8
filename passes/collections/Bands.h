//===- Bands.h - The page ids of a band -------------------------*- C++ -*-===//

#ifndef KV_PASSES_COLLECTIONS_BANDS_H
#define KV_PASSES_COLLECTIONS_BANDS_H

#include "passes/common/Emitter.h"

namespace kv {

/// The columns of a lookup table, i32 [B, pitch], that hold the page ids of
/// `band` (an index) of `geometry`: [B, pitch / bands()], a view. The table
/// itself where the geometry has one band.
mlir::Value sliceBand(Emitter &b, mlir::Value table,
                      const CacheGeometry &geometry, mlir::Value band);

} // namespace kv

#endif // KV_PASSES_COLLECTIONS_BANDS_H
