//===- VisibleKeys.h - What a row sees, as code -----------------*- C++ -*-===//

#ifndef KV_PASSES_VISIBLEKEYS_H
#define KV_PASSES_VISIBLEKEYS_H

#include "Emitter.h"

namespace kv {

/// The keys [first, end) that the row at `position` of a sequence of `length`
/// keys sees. No sum of these leaves 64 bits, however wide the window.
std::pair<mlir::Value, mlir::Value> visibleKeys(Emitter &b, MaskAttr mask,
                                                mlir::Value position,
                                                mlir::Value length);

} // namespace kv

#endif // KV_PASSES_VISIBLEKEYS_H
