//===- Checks.h - What must hold for every module ---------------*- C++ -*-===//

#ifndef KV_TEST_FUZZ_CHECKS_H
#define KV_TEST_FUZZ_CHECKS_H

#include "Generator.h"

#include "mlir/Pass/PassManager.h"
#include <optional>

namespace kv::fuzz {

/// Where a process of checks is, for the one that watches it.
struct Progress {
  static constexpr int64_t kMostLimits = 24;

  uint64_t seed = 0, failures = 0;
  char stage[256] = "";
  int64_t refused[kMostLimits] = {}; // by limitNames()

  void enter(llvm::StringRef what);
  /// Whether a diagnostic speaks of such a limit; counts it.
  bool isLimit(llvm::StringRef diagnostic);
};

/// The limits that passes document: what they may refuse, and no more.
llvm::ArrayRef<llvm::StringRef> limitNames();

/// Keeps a context and the pass managers, which are dear to make.
class Checker {
public:
  /// `everyPass`: a module is given to every pass alone; else to some of
  /// them.
  Checker(Progress &progress, bool everyPass);

  mlir::MLIRContext *context() { return ctx.get(); }

  /// What is wrong with the module of `seed`; nothing if all holds.
  std::optional<std::string> check(uint64_t seed);

private:
  struct Pipeline {
    std::string text;
    std::unique_ptr<mlir::PassManager> manager;
    bool endsInLLVM = false;
    bool roundTrip = false;
  };
  void add(llvm::SmallVectorImpl<Pipeline> &to, llvm::StringRef text,
           bool endsInLLVM = false, bool roundTrip = false);
  std::optional<std::string> run(Pipeline &pipeline, mlir::ModuleOp module);
  std::optional<std::string> roundTrip(mlir::ModuleOp module);

  std::unique_ptr<mlir::MLIRContext> ctx;
  bool everyPass;
  llvm::SmallVector<Pipeline> fixed, single, mixed;
  Progress &progress;
};

} // namespace kv::fuzz

#endif // KV_TEST_FUZZ_CHECKS_H
