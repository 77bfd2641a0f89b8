//===- kv-compile.cpp - A module to an artifact ---------------------------===//

#include "Target.h"
#include "VirtualTarget.h"
#include "kv/Compiler/Compiler.h"
#include "kv/Compiler/Progress.h"
#include "kv/Passes/Raise.h"
#include "kv/Registration/Registration.h"
#include "tools/StandardStreams.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/SourceMgr.h"

namespace cl = llvm::cl;

/// ../lib/kv-cuda, from where this program is.
static std::string kernelFolderBeside(const char *argv0) {
  std::string program = llvm::sys::fs::getMainExecutable(
      argv0, reinterpret_cast<void *>(&kernelFolderBeside));
  llvm::SmallString<256> folder = llvm::sys::path::parent_path(program);
  llvm::sys::path::append(folder, "..", "lib", "kv-cuda");
  llvm::sys::path::remove_dots(folder, /*remove_dot_dot=*/true);
  return folder.str().str();
}

/// Gives a graph without a cache one.
static llvm::LogicalResult raiseGraph(mlir::ModuleOp module,
                                      llvm::StringRef dtype,
                                      kv::Progress *progress) {
  mlir::PassManager pm(module.getContext());
  (void)applyPassManagerCLOptions(pm);
  kv::RaisePipelineOptions options;
  options.dtype = dtype.str();
  kv::buildRaisePipeline(pm, options);
  if (progress)
    progress->watch(pm, "raise");
  return pm.run(module);
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  kv::reportFileLimits();
  cl::OptionCategory category("kv-compile options");
  cl::opt<std::string> input(cl::Positional, cl::desc("<module.mlir>"),
                             cl::Required, cl::cat(category));
  cl::opt<std::string> output("o", cl::desc("The artifact to write"),
                              cl::value_desc("model.so"), cl::Required,
                              cl::cat(category));
  cl::opt<std::string> pipeline("pipeline",
                                cl::desc("kv-cpu (default) or kv-reference; a "
                                         "GPU's is kv-cuda"),
                                cl::init("kv-cpu"), cl::cat(category));
  cl::opt<std::string> mcpu(
      "mcpu",
      cl::desc("x86-64-v3, x86-64-v4, x86-64-v4-vnni, x86-64-v4-amx or native "
               "(default; x86-64-v3 "
               "for the host code of a GPU)"),
      cl::init("native"), cl::cat(category));
  cl::opt<std::string> target(
      "target",
      cl::desc(
          "cpu (default); cuda:CHIP,... for GPUs, such as "
          "cuda:sm_80,sm_90a; virtual:LEVEL for a machine that is not this "
          "one, which is compiled for and checked with a cache manager "
          "without memory, as GPUs always are"),
      cl::init("cpu"), cl::cat(category));
  cl::opt<unsigned> optLevel("O", cl::Prefix, cl::desc("Optimisation level"),
                             cl::init(3), cl::cat(category));
  cl::opt<int64_t> pageSize(
      "page-size", cl::desc("Tokens of a page, instead of the module's"),
      cl::init(0), cl::cat(category));
  cl::opt<int64_t> ranks(
      "ranks",
      cl::desc("Processes that compute the model together, each with its shard "
               "(default: 1; mpirun -n N kv-run ...)"),
      cl::init(1), cl::cat(category));
  cl::opt<std::string> layout(
      "layout",
      cl::desc("Order of caches in memory: nhd, hnd or cpu, instead "
               "of their types'"),
      cl::cat(category));
  cl::opt<std::string> kernels(
      "kernels",
      cl::desc("Where a GPU's device code is (default: lib/kv-cuda beside this "
               "program's folder)"),
      cl::value_desc("folder"), cl::cat(category));
  cl::opt<bool> raise("raise",
                      cl::desc("The module is a graph without a cache: give it "
                               "one first (kv-raise)"),
                      cl::cat(category));
  cl::opt<std::string> cacheDtype(
      "cache-dtype",
      cl::desc("With --raise: elements of the cache, f32, bf16 (default) or "
               "f16"),
      cl::init("bf16"), cl::cat(category));
  cl::opt<bool> timing("timing", cl::desc("Print the seconds of each stage"),
                       cl::cat(category));
  cl::HideUnrelatedOptions(category);
  mlir::registerPassManagerCLOptions();
  kv::registerVersion("kv-compile");
  cl::ParseCommandLineOptions(argc, argv, "kv-mlir compiler\n");

  llvm::Expected<kv::Target> machine = kv::Target::parse(target.getValue());
  if (!machine) {
    llvm::errs() << "kv-compile: error: --target: "
                 << llvm::toString(machine.takeError()) << '\n';
    return 1;
  }
  if (!machine->level.empty() && mcpu.getNumOccurrences()) {
    llvm::errs() << "kv-compile: error: --target is " << target
                 << ", which says what --mcpu=" << mcpu << " says\n";
    return 1;
  }
  if (machine->isGPU() && pipeline.getNumOccurrences()) {
    llvm::errs() << "kv-compile: error: --target is " << target
                 << ", whose pipeline is kv-cuda, not " << pipeline << '\n';
    return 1;
  }

  if (!machine->isGPU() && pipeline == "kv-cuda") {
    llvm::errs() << "kv-compile: error: the pipeline kv-cuda needs chips: use "
                    "--target=cuda:CHIP,...\n";
    return 1;
  }

  if (optLevel > 3) {
    llvm::errs() << "kv-compile: error: -O is " << optLevel
                 << ", allowed: 0 to 3\n";
    return 1;
  }
  if (pageSize.getNumOccurrences() && pageSize < 1) {
    llvm::errs() << "kv-compile: error: --page-size is " << pageSize
                 << ", allowed: 1 or more\n";
    return 1;
  }
  if (output.empty()) {
    llvm::errs() << "kv-compile: error: -o is empty, a file is needed\n";
    return 1;
  }
  if (llvm::sys::fs::equivalent(input, output)) {
    llvm::errs() << "kv-compile: error: -o is " << output
                 << ", the module itself\n";
    return 1;
  }

  llvm::SmallString<256> folder = llvm::sys::path::parent_path(output);
  llvm::sys::path::append(folder, ".");
  std::error_code writes =
      llvm::sys::fs::is_directory(output)
          ? make_error_code(std::errc::is_a_directory)
          : llvm::sys::fs::access(folder, llvm::sys::fs::AccessMode::Write);
  if (writes) {
    llvm::errs() << "kv-compile: error: -o is " << output << ": "
                 << writes.message() << '\n';
    return 1;
  }
  if (kernels.getNumOccurrences() && !machine->isGPU()) {
    llvm::errs() << "kv-compile: error: --kernels is for the device code of "
                    "GPUs, and --target is "
                 << target << '\n';
    return 1;
  }

  if (cacheDtype.getNumOccurrences() && !raise) {
    llvm::errs() << "kv-compile: error: --cache-dtype is for --raise; a "
                    "module's own collections say their element type\n";
    return 1;
  }

  mlir::DialectRegistry registry;
  kv::registerCompilerDialects(registry);
  mlir::MLIRContext context(registry);
  // Attention of an exporter's dialect, in generic form.
  context.allowUnregisteredDialects(raise);
  // The line of the source is shown; an operation may be the whole model.
  context.printOpOnDiagnostic(false);
  std::string problem;
  std::unique_ptr<llvm::MemoryBuffer> text =
      mlir::openInputFile(input, &problem);
  if (!text) {
    llvm::errs() << "kv-compile: error: " << problem << '\n';
    return 1;
  }
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(text), llvm::SMLoc());
  mlir::SourceMgrDiagnosticHandler diagnostics(sources, &context);
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(sources, &context);
  if (!module)
    return 1;
  std::optional<kv::Progress> progress;
  if (llvm::sys::Process::StandardErrIsDisplayed())
    progress.emplace(&context);
  kv::Progress *shown = progress ? &*progress : nullptr;
  if (raise && failed(raiseGraph(*module, cacheDtype, shown)))
    return 1;
  kv::CompileOptions options;
  options.pipeline = machine->isGPU() ? "kv-cuda" : pipeline.getValue();
  options.mcpu = !machine->level.empty() ? machine->level
                 : machine->isGPU() && !mcpu.getNumOccurrences()
                     ? "x86-64-v3"
                     : mcpu.getValue();
  options.chips = machine->chips;
  options.kernelFolder =
      kernels.empty() ? kernelFolderBeside(argv[0]) : kernels.getValue();
  options.optLevel = optLevel;
  options.pageSize = pageSize;
  options.layout = layout;
  options.ranks = ranks;
  options.timing = timing;
  options.progress = shown;
  if (failed(kv::compileModule(*module, options, output)))
    return 1;
  if (std::string device = machine->virtualDevice(); !device.empty())
    if (std::string problem =
            kv::checkOnVirtualDevice(output.getValue(), device);
        !problem.empty()) {
      llvm::errs() << "kv-compile: error: " << problem << '\n';
      return 1;
    }
  return 0;
}
