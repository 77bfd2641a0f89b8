//===- kv-compile.cpp - A module to an artifact ---------------------------===//

#include "VirtualTarget.h"
#include "kv/Compiler/Compiler.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"

namespace cl = llvm::cl;

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::OptionCategory category("kv-compile options");
  cl::opt<std::string> input(cl::Positional, cl::desc("<module.mlir>"),
                             cl::Required, cl::cat(category));
  cl::opt<std::string> output("o", cl::desc("The artifact to write"),
                              cl::value_desc("model.so"), cl::Required,
                              cl::cat(category));
  cl::opt<std::string> pipeline("pipeline",
                                cl::desc("kv-cpu (default) or kv-reference"),
                                cl::init("kv-cpu"), cl::cat(category));
  cl::opt<std::string> mcpu(
      "mcpu", cl::desc("x86-64-v3, x86-64-v4 or native (default)"),
      cl::init("native"), cl::cat(category));
  cl::opt<std::string> target(
      "target",
      cl::desc("cpu (default), or virtual:LEVEL for a machine that is not "
               "this one: compiled for LEVEL and checked with a cache manager "
               "without memory"),
      cl::init("cpu"), cl::cat(category));
  cl::opt<unsigned> optLevel("O", cl::Prefix, cl::desc("Optimisation level"),
                             cl::init(3), cl::cat(category));
  cl::opt<int64_t> pageSize(
      "page-size", cl::desc("Tokens of a page, instead of the module's"),
      cl::init(0), cl::cat(category));
  cl::opt<std::string> layout(
      "layout",
      cl::desc("Order of caches in memory: nhd, hnd or cpu, instead "
               "of their types'"),
      cl::cat(category));
  cl::opt<bool> timing("timing", cl::desc("Print the seconds of each stage"),
                       cl::cat(category));
  cl::HideUnrelatedOptions(category);
  mlir::registerPassManagerCLOptions();
  cl::ParseCommandLineOptions(argc, argv, "kv-mlir compiler\n");

  kv::Expected<kv::Device> device = kv::Device::parse(target);
  if (!device) {
    llvm::errs() << "kv-compile: error: --target: " << device.error().message
                 << '\n';
    return 1;
  }
  if (device->isVirtual() && mcpu.getNumOccurrences()) {
    llvm::errs() << "kv-compile: error: --target is " << device->str()
                 << ", which says what --mcpu=" << mcpu << " says\n";
    return 1;
  }

  mlir::DialectRegistry registry;
  kv::registerCompilerDialects(registry);
  mlir::MLIRContext context(registry);
  llvm::SourceMgr sources;
  mlir::SourceMgrDiagnosticHandler diagnostics(sources, &context);
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(input, sources, &context);
  if (!module)
    return 1;
  kv::CompileOptions options;
  options.pipeline = pipeline;
  options.mcpu = device->isVirtual() ? device->target : mcpu;
  options.optLevel = optLevel;
  options.pageSize = pageSize;
  options.layout = layout;
  options.timing = timing;
  if (failed(kv::compileModule(*module, options, output)))
    return 1;
  if (device->isVirtual())
    if (kv::Expected<void> fits =
            kv::checkOnVirtualDevice(output.getValue(), *device);
        !fits) {
      llvm::errs() << "kv-compile: error: " << fits.error().message << '\n';
      return 1;
    }
  return 0;
}
