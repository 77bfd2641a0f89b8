//===- kv-compile.cpp - A module to an artifact ---------------------------===//

#include "Target.h"
#include "VirtualTarget.h"
#include "kv/Compiler/Compiler.h"
#include "kv/Compiler/Progress.h"
#include "kv/Passes/Raise.h"
#include "kv/Registration/Registration.h"
#include "tools/StandardStreams.h"

#include "lld/Common/Driver.h"
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

LLD_HAS_DRIVER(elf)

/// The file of this program.
static std::string ownFile(const char *argv0) {
  return llvm::sys::fs::getMainExecutable(argv0,
                                          reinterpret_cast<void *>(&ownFile));
}

/// Where a GPU's device code is: ../lib/kv-cuda from this program's folder,
/// else in the wheel kvmlir-cuda, whose package lies next to the package
/// kvmlir.
static std::string installedKernels(const char *argv0) {
  std::string program = ownFile(argv0);
  auto find = [&](llvm::StringRef relative) {
    llvm::SmallString<256> folder = llvm::sys::path::parent_path(program);
    llvm::sys::path::append(folder, relative);
    llvm::sys::path::remove_dots(folder, /*remove_dot_dot=*/true);
    return folder.str().str();
  };
  std::string own = find("../lib/kv-cuda");
  std::string wheel = find("../../kvmlir_cuda");
  namespace fs = llvm::sys::fs;
  return fs::is_directory(wheel) && !fs::is_directory(own) ? wheel : own;
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

namespace {
struct CommandLine {
  cl::OptionCategory category{"kv-compile options"};
  cl::opt<std::string> input{cl::Positional, cl::desc("<module.mlir>"),
                             cl::Required, cl::cat(category)};
  cl::opt<std::string> output{"o", cl::desc("The artifact to write"),
                              cl::value_desc("model.so"), cl::Required,
                              cl::cat(category)};
  cl::opt<std::string> pipeline{"pipeline",
                                cl::desc("kv-cpu (default) or kv-reference; a "
                                         "GPU's is kv-cuda"),
                                cl::init("kv-cpu"), cl::cat(category)};
  cl::opt<std::string> mcpu{
      "mcpu",
      cl::desc("x86-64-v3, x86-64-v4, x86-64-v4-vnni, x86-64-v4-amx or native "
               "(default; x86-64-v3 "
               "for the host code of a GPU)"),
      cl::init("native"), cl::cat(category)};
  cl::opt<std::string> target{
      "target",
      cl::desc(
          "cpu (default); cuda:CHIP,... for GPUs, such as "
          "cuda:sm_80,sm_90a; virtual:LEVEL for a machine that is not this "
          "one, which is compiled for and checked with a cache manager "
          "without memory, as GPUs always are"),
      cl::init("cpu"), cl::cat(category)};
  cl::opt<unsigned> optLevel{"O", cl::Prefix, cl::desc("Optimisation level"),
                             cl::init(3), cl::cat(category)};
  cl::opt<int64_t> pageSize{
      "page-size", cl::desc("Tokens of a page, instead of the module's"),
      cl::init(0), cl::cat(category)};
  cl::opt<int64_t> ranks{
      "ranks",
      cl::desc("Processes that compute the model together, each with its shard "
               "(default: 1; mpirun -n N kv-run ...)"),
      cl::init(1), cl::cat(category)};
  cl::opt<std::string> layout{
      "layout",
      cl::desc("Order of caches in memory: nhd, hnd or cpu, instead "
               "of their types'"),
      cl::cat(category)};
  cl::opt<std::string> kernels{
      "kernels",
      cl::desc("Where a GPU's device code is (default: lib/kv-cuda beside this "
               "program's folder, or the wheel kvmlir-cuda)"),
      cl::value_desc("folder"), cl::cat(category)};
  cl::opt<bool> raise{"raise",
                      cl::desc("The module is a graph without a cache: give it "
                               "one first (kv-raise)"),
                      cl::cat(category)};
  cl::opt<std::string> cacheDtype{
      "cache-dtype",
      cl::desc("With --raise: elements of the cache, f32, bf16 (default) or "
               "f16"),
      cl::init("bf16"), cl::cat(category)};
  cl::opt<bool> timing{"timing", cl::desc("Print the seconds of each stage"),
                       cl::cat(category)};

  /// What is wrong with the options, if something is.
  std::string problem(const kv::Target &machine) const;
  kv::CompileOptions compileOptions(const kv::Target &machine,
                                    const char *program) const;

private:
  std::string outputProblem() const;
};
} // namespace

std::string CommandLine::problem(const kv::Target &machine) const {
  auto given = [](const cl::Option &option) {
    return option.getNumOccurrences() > 0;
  };
  if (!machine.level.empty() && given(mcpu))
    return "--target is " + target + ", which says what --mcpu=" + mcpu +
           " says";
  if (machine.isGPU() && given(pipeline))
    return "--target is " + target + ", whose pipeline is kv-cuda, not " +
           pipeline;
  if (!machine.isGPU() && pipeline == "kv-cuda")
    return "the pipeline kv-cuda needs chips: use --target=cuda:CHIP,...";
  if (optLevel > 3)
    return "-O is " + std::to_string(optLevel) + ", allowed: 0 to 3";
  if (given(pageSize) && pageSize < 1)
    return "--page-size is " + std::to_string(pageSize) +
           ", allowed: 1 or more";
  if (std::string wrong = outputProblem(); !wrong.empty())
    return wrong;
  if (given(kernels) && !machine.isGPU())
    return "--kernels is for the device code of GPUs, and --target is " +
           target;
  if (given(cacheDtype) && !raise)
    return "--cache-dtype is for --raise; a module's own collections say "
           "their element type";
  return "";
}

std::string CommandLine::outputProblem() const {
  if (output.empty())
    return "-o is empty, a file is needed";
  if (llvm::sys::fs::equivalent(input, output))
    return "-o is " + output + ", the module itself";
  llvm::SmallString<256> folder = llvm::sys::path::parent_path(output);
  llvm::sys::path::append(folder, ".");
  std::error_code writes =
      llvm::sys::fs::is_directory(output)
          ? make_error_code(std::errc::is_a_directory)
          : llvm::sys::fs::access(folder, llvm::sys::fs::AccessMode::Write);
  return writes ? "-o is " + output + ": " + writes.message() : "";
}

kv::CompileOptions CommandLine::compileOptions(const kv::Target &machine,
                                               const char *program) const {
  kv::CompileOptions options;
  options.pipeline = machine.isGPU() ? "kv-cuda" : pipeline.getValue();
  options.mcpu = !machine.level.empty() ? machine.level
                 : machine.isGPU() && !mcpu.getNumOccurrences()
                     ? "x86-64-v3"
                     : mcpu.getValue();
  options.chips = machine.chips;
  options.kernelFolder =
      kernels.empty() ? installedKernels(program) : kernels.getValue();
  options.linker = ownFile(program);
  options.optLevel = optLevel;
  options.pageSize = pageSize;
  options.layout = layout;
  options.ranks = ranks;
  options.timing = timing;
  return options;
}

static int fail(const std::string &problem) {
  llvm::errs() << "kv-compile: error: " << problem << '\n';
  return 1;
}

/// Reads the module and writes the artifact. The exit status.
static int compile(const CommandLine &given, const kv::Target &machine,
                   const char *program) {
  mlir::DialectRegistry registry;
  kv::registerCompilerDialects(registry);
  mlir::MLIRContext context(registry);
  // Attention of an exporter's dialect, in generic form.
  context.allowUnregisteredDialects(given.raise);
  // The line of the source is shown; an operation may be the whole model.
  context.printOpOnDiagnostic(false);
  std::string problem;
  std::unique_ptr<llvm::MemoryBuffer> text =
      mlir::openInputFile(given.input, &problem);
  if (!text)
    return fail(problem);
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(text), llvm::SMLoc());
  mlir::SourceMgrDiagnosticHandler diagnostics(sources, &context);
  mlir::ScopedDiagnosticHandler withoutLine(
      &context, [](mlir::Diagnostic &diagnostic) {
        if (!llvm::isa<mlir::UnknownLoc>(diagnostic.getLocation()) ||
            diagnostic.getSeverity() != mlir::DiagnosticSeverity::Error)
          return mlir::failure();
        fail(diagnostic.str());
        return mlir::success();
      });
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(sources, &context);
  if (!module)
    return 1;
  std::optional<kv::Progress> progress;
  if (llvm::sys::Process::StandardErrIsDisplayed())
    progress.emplace(&context);
  kv::Progress *shown = progress ? &*progress : nullptr;
  if (given.raise && failed(raiseGraph(*module, given.cacheDtype, shown)))
    return 1;
  kv::CompileOptions options = given.compileOptions(machine, program);
  options.progress = shown;
  if (failed(kv::compileModule(*module, options, given.output)))
    return 1;
  if (std::string device = machine.virtualDevice(); !device.empty())
    if (std::string problem =
            kv::checkOnVirtualDevice(given.output.getValue(), device);
        !problem.empty())
      return fail(problem);
  return 0;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  kv::reportFileLimits();
  // compileModule starts this program as its linker: lld's options are global,
  // and it ends the process where it cannot write.
  if (argc > 1 && llvm::StringRef(argv[1]) == "-flavor")
    return lld::lldMain({argv, static_cast<size_t>(argc)}, llvm::outs(),
                        llvm::errs(), {{lld::Gnu, &lld::elf::link}})
        .retCode;
  CommandLine given;
  cl::HideUnrelatedOptions(given.category);
  mlir::registerPassManagerCLOptions();
  kv::registerVersion("kv-compile");
  cl::ParseCommandLineOptions(argc, argv, "kv-mlir compiler\n");

  llvm::Expected<kv::Target> machine = kv::Target::parse(given.target);
  if (!machine)
    return fail("--target: " + llvm::toString(machine.takeError()));
  if (std::string wrong = given.problem(*machine); !wrong.empty())
    return fail(wrong);
  return compile(given, *machine, argv[0]);
}
