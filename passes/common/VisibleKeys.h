//===- VisibleKeys.h - What a row sees, as code -----------------*- C++ -*-===//

#ifndef KV_PASSES_COMMON_VISIBLEKEYS_H
#define KV_PASSES_COMMON_VISIBLEKEYS_H

#include "Emitter.h"

namespace kv {

/// The keys [first, end) that the row at `position` of a sequence of `length`
/// keys sees. No sum of these leaves 64 bits, however wide the window.
std::pair<mlir::Value, mlir::Value> visibleKeys(Emitter &b, MaskAttr mask,
                                                mlir::Value position,
                                                mlir::Value length);

/// The keys of a row for a plan, whose intervals have ends that do not fall
/// from row to row: if `base` is the first position of a tree, rows of the tree
/// begin with what the first of them sees.
std::pair<mlir::Value, mlir::Value> plannedKeys(Emitter &b, MaskAttr mask,
                                                mlir::Value position,
                                                mlir::Value length,
                                                mlir::Value base);

} // namespace kv

#endif // KV_PASSES_COMMON_VISIBLEKEYS_H
