//===- Compiler.h - A module to an artifact ---------------------*- C++ -*-===//
//
// Ahead of time only: LLVM in the process, then the linker as a process. The
// artifact is described in docs/artifact.md.
//
//===----------------------------------------------------------------------===//

#ifndef KV_COMPILER_COMPILER_H
#define KV_COMPILER_COMPILER_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/LogicalResult.h"

#include <string>
#include <vector>

namespace kv {

struct CompileOptions {
  /// "kv-cpu", "kv-cuda" or "kv-reference".
  std::string pipeline = "kv-cpu";
  /// x86-64-v3, x86-64-v4 or native.
  std::string mcpu = "native";
  /// LLVM's optimisation level, 0 to 3.
  unsigned optLevel = 3;
  /// Pages of every collection get this many tokens instead of the module's;
  /// 0 keeps the module's.
  int64_t pageSize = 0;
  /// nhd, hnd or cpu: the order of every cache in memory, instead of its
  /// type's. Not kv-reference.
  std::string layout;
  /// Of kv-cuda: what its device code is for ("sm_80", "sm_90a"), at least one,
  /// and the folder where that code is.
  std::vector<std::string> chips;
  std::string kernelFolder;
  /// Seconds of each stage to standard error.
  bool timing = false;
};

/// Loads what parsing a module and compiling it need.
void registerCompilerDialects(mlir::DialectRegistry &registry);

/// Writes `module`, which is consumed, to the shared object `path`.
/// Errors are emitted as diagnostics.
llvm::LogicalResult compileModule(mlir::ModuleOp module,
                                  const CompileOptions &options,
                                  llvm::StringRef path);

} // namespace kv

#endif // KV_COMPILER_COMPILER_H
