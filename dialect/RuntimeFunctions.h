//===- RuntimeFunctions.h - Symbols.def as data -----------------*- C++ -*-===//

#ifndef KV_DIALECT_RUNTIMEFUNCTIONS_H
#define KV_DIALECT_RUNTIMEFUNCTIONS_H

#include "mlir/IR/Types.h"

namespace kv {

/// A row of Symbols.def. Kinds and places are spelled as there; the first
/// parameter is the context.
struct RuntimeFunction {
  llvm::StringRef name;
  llvm::StringRef result;
  llvm::StringRef where;
  llvm::SmallVector<llvm::StringRef> parameters;
  int64_t index;

  /// Whether a device computes it.
  bool runsOnDevices() const {
    return where == "Device" || where == "CpuAndDevice";
  }
};

/// Null when no row has this name.
const RuntimeFunction *lookupRuntimeFunction(llvm::StringRef name);

/// The LLVM type of a kind.
mlir::Type typeOfKind(mlir::MLIRContext *context, llvm::StringRef kind);

} // namespace kv

#endif // KV_DIALECT_RUNTIMEFUNCTIONS_H
