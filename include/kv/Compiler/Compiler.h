//===- Compiler.h - Compiles a module to an artifact ------------*- C++ -*-===//
//
// Ahead of time: LLVM runs in this process, the linker as a process of its own.
// docs/reference/artifact.md describes the artifact.
//
//===----------------------------------------------------------------------===//

#ifndef KV_COMPILER_COMPILER_H
#define KV_COMPILER_COMPILER_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/LogicalResult.h"

#include <string>
#include <vector>

namespace kv {

class Progress;

struct CompileOptions {
  /// "kv-cpu", "kv-cuda" or "kv-reference".
  std::string pipeline = "kv-cpu";
  /// x86-64-v3, x86-64-v4, x86-64-v4-vnni, x86-64-v4-amx or native.
  std::string mcpu = "native";
  /// LLVM's optimisation level, 0 to 3.
  unsigned optLevel = 3;
  /// Tokens of a page, for every paged collection; 0: as the module says.
  int64_t pageSize = 0;
  /// nhd, hnd or cpu: the order of every cache in memory, instead of its
  /// type's. Not kv-reference.
  std::string layout;
  /// Processes that compute the model together, each with its shard.
  int64_t ranks = 1;
  /// For kv-cuda: the chips that its device code is for ("sm_80", "sm_90a"), at
  /// least one, and the folder that contains the kernels' images.
  std::vector<std::string> chips;
  std::string kernelFolder;
  /// The linker, LLD or a program that is LLD when its first argument is
  /// -flavor; empty: ld.lld of LLVM's folder or PATH.
  std::string linker;
  /// Whether the seconds of each stage are printed to standard error.
  bool timing = false;
  /// Shows what is worked on, and before that what the module needs; null:
  /// nothing is shown.
  Progress *progress = nullptr;
};

/// Registers the dialects and translations that parsing and compiling a module
/// need.
void registerCompilerDialects(mlir::DialectRegistry &registry);

/// Compiles `module`, which is changed, and writes the shared object `path`.
/// Errors are emitted as diagnostics.
llvm::LogicalResult compileModule(mlir::ModuleOp module,
                                  const CompileOptions &options,
                                  llvm::StringRef path);

} // namespace kv

#endif // KV_COMPILER_COMPILER_H
