//===- Progress.h - What a compiler is working on ---------------*- C++ -*-===//
//
// One line on a terminal, which is written anew: "kv-compile: passes 32 of 48:
// kv-vectorize". The line is gone when a diagnostic is printed and at the end.
//
//===----------------------------------------------------------------------===//

#ifndef KV_COMPILER_PROGRESS_H
#define KV_COMPILER_PROGRESS_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"

#include <mutex>
#include <string>

namespace kv {

class Progress {
public:
  /// Handlers of diagnostics that are to print them have been made before.
  explicit Progress(mlir::MLIRContext *context);
  ~Progress() { clear(); }

  /// Shows the passes of `pm` while they run; it has all of them.
  void watch(mlir::PassManager &pm, llvm::StringRef stage);
  /// `number` of `all` is being worked on; `all` is 0 if the number is unknown.
  void show(llvm::StringRef stage, size_t number, size_t all,
            llvm::StringRef what);
  /// Before anything else is printed.
  void clear();

private:
  std::mutex mutex;
  std::string shown;
  mlir::ScopedDiagnosticHandler beforeDiagnostics;
};

} // namespace kv

#endif // KV_COMPILER_PROGRESS_H
