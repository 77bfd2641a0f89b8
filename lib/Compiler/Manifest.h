//===- Manifest.h - What an artifact says of itself -------------*- C++ -*-===//

#ifndef KV_LIB_COMPILER_MANIFEST_H
#define KV_LIB_COMPILER_MANIFEST_H

#include "mlir/IR/BuiltinOps.h"

namespace kv {

/// The manifest of a lowered module as JSON text. Read from the entries'
/// `kv.interface` and the module's `kv.model` and `kv.device_code`.
llvm::FailureOr<std::string> makeManifest(mlir::ModuleOp module,
                                          llvm::StringRef triple,
                                          llvm::StringRef cpu);

} // namespace kv

#endif // KV_LIB_COMPILER_MANIFEST_H
