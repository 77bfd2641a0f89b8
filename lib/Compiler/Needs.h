//===- Needs.h - What a module takes of a machine ---------------*- C++ -*-===//

#ifndef KV_LIB_COMPILER_NEEDS_H
#define KV_LIB_COMPILER_NEEDS_H

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace kv {

/// One sentence, as far as the module says it. Empty: it has neither weights
/// nor collections.
std::string describeNeeds(mlir::ModuleOp module);

} // namespace kv

#endif // KV_LIB_COMPILER_NEEDS_H
