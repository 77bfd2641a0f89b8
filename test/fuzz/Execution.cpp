//===- Execution.cpp - A module by both pipelines -------------------------===//

#include "Execution.h"

#include "ArtifactRun.h"

#include "kv/Compiler/Compiler.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;
using namespace kv;
using namespace kv::fuzz;

namespace {

/// A file that goes away.
struct TemporaryFile {
  TemporaryFile() {
    if (std::error_code error =
            llvm::sys::fs::createTemporaryFile("kv-fuzz", "so", path))
      llvm::report_fatal_error(llvm::Twine("kv-fuzz: ") + error.message());
  }
  ~TemporaryFile() { llvm::sys::fs::remove(path); }
  SmallString<64> path;
};

/// Runs the module by one pipeline; what went wrong, or nothing.
std::optional<std::string> runBy(StringRef pipeline, ModuleOp module,
                                 uint64_t seed, ArtifactRun &run) {
  std::string text;
  ScopedDiagnosticHandler handler(
      module.getContext(),
      [&](Diagnostic &diagnostic) { text += diagnostic.str() + "\n"; });
  TemporaryFile file;
  CompileOptions options;
  options.pipeline = pipeline.str();
  // Speed of the code is nothing here, of compiling it much: one of four as
  // users compile it, and the others without LLVM's optimisation.
  options.optLevel = seed % 4 == 0 ? 3 : 0;
  OwningOpRef<ModuleOp> copy = module.clone();
  if (failed(compileModule(*copy, options, file.path)))
    return (pipeline + " does not compile: " + text).str();
  if (auto problem = run.execute(file.path.str().str(), seed))
    return (pipeline + ": " + *problem).str();
  return std::nullopt;
}

} // namespace

std::optional<std::string> kv::fuzz::checkExecution(MLIRContext *context,
                                                    Progress &progress) {
  uint64_t seed = progress.seed;
  DialectRegistry registry;
  registerCompilerDialects(registry);
  context->appendDialectRegistry(registry);
  OwningOpRef<ModuleOp> module =
      generateModule(context, seed, {.executable = true});
  ArtifactRun cpu, reference;
  progress.enter("kv-cpu, executed");
  if (auto problem = runBy("kv-cpu", *module, seed, cpu)) {
    if (progress.isLimit(*problem))
      return std::nullopt;
    return problem;
  }
  progress.enter("kv-reference, executed");
  if (auto problem = runBy("kv-reference", *module, seed, reference))
    return problem;
  return cpu.differenceFrom(reference);
}
