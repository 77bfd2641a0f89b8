//===- ObjectFile.cpp - LLVM IR to a shared object ------------------------===//

#include "ObjectFile.h"

#include "kv/Compiler/Progress.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

Expected<std::unique_ptr<TargetMachine>>
kv::makeTargetMachine(StringRef cpu, unsigned optLevel) {
  InitializeNativeTarget();
  InitializeNativeTargetAsmPrinter();
  Triple triple(sys::getDefaultTargetTriple());
  std::string message;
  const Target *target = TargetRegistry::lookupTarget(triple, message);
  if (!target)
    return createStringError(message);
  TargetOptions options;
  // Multiplications and additions are fused only where the IR says so
  // (vector.fma), never by the backend.
  options.AllowFPOpFusion = FPOpFusion::Strict;
  std::string features = cpu.starts_with("x86-64-v4") ? "-prefer-256-bit" : "";
  bool hasMatrices = cpu.consume_back("-amx");
  if (hasMatrices)
    features += ",+amx-tile,+amx-bf16,+amx-int8";
  if (hasMatrices || cpu.consume_back("-vnni"))
    features += ",+avx512vnni";
  return std::unique_ptr<TargetMachine>(target->createTargetMachine(
      triple, cpu, features, options, Reloc::PIC_, CodeModel::Small,
      *CodeGenOpt::getLevel(optLevel)));
}

void kv::embedSection(Module &module, StringRef section, StringRef symbol,
                      StringRef bytes, Align alignment) {
  Constant *data = ConstantDataArray::getString(module.getContext(), bytes,
                                                /*AddNull=*/false);
  auto *global =
      new GlobalVariable(module, data->getType(), /*isConstant=*/true,
                         GlobalValue::InternalLinkage, data, symbol);
  global->setSection(section);
  global->setAlignment(alignment);
  appendToUsed(module, {global});
}

namespace {
/// Shows the function that it gets to, and changes nothing.
struct ShowFunction : PassInfoMixin<ShowFunction> {
  kv::Progress *progress;
  std::shared_ptr<size_t> number; // of calls
  size_t all;

  PreservedAnalyses run(Function &function, FunctionAnalysisManager &) {
    *number = std::min(*number + 1, all);
    progress->show("optimize", *number, all, function.getName());
    return PreservedAnalyses::all();
  }
};
} // namespace

/// LLVM gets to each function twice, and may do so again where it has changed
/// what the function calls.
static void watchFunctions(PassBuilder &builder, const Module &module,
                           kv::Progress &progress) {
  size_t all = 2 * llvm::count_if(module, [](const Function &function) {
                 return !function.isDeclaration();
               });
  ShowFunction show{{}, &progress, std::make_shared<size_t>(0), all};
  auto add = [show](FunctionPassManager &passes, OptimizationLevel) {
    passes.addPass(ShowFunction(show));
  };
  builder.registerScalarOptimizerLateEPCallback(add);
  builder.registerVectorizerStartEPCallback(add);
}

void kv::optimize(Module &module, TargetMachine &machine, unsigned optLevel,
                  Progress *progress) {
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager components;
  ModuleAnalysisManager modules;
  PipelineTuningOptions tuning;
  tuning.LoopVectorization = optLevel >= 2;
  tuning.SLPVectorization = optLevel >= 2;
  PassBuilder builder(&machine, tuning);
  if (progress)
    watchFunctions(builder, module, *progress);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  OptimizationLevel levels[] = {OptimizationLevel::O0, OptimizationLevel::O1,
                                OptimizationLevel::O2, OptimizationLevel::O3};
  OptimizationLevel level = levels[std::min(optLevel, 3u)];
  ModulePassManager passes = optLevel == 0
                                 ? builder.buildO0DefaultPipeline(level)
                                 : builder.buildPerModuleDefaultPipeline(level);
  passes.run(module, modules);
}

static Error emitObject(Module &module, TargetMachine &machine,
                        StringRef path) {
  std::error_code code;
  raw_fd_ostream out(path, code);
  if (code)
    return createStringError(code, "cannot write %s", path.str().c_str());
  legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, out, nullptr,
                                  CodeGenFileType::ObjectFile))
    return createStringError("this target cannot emit objects");
  passes.run(module);
  out.close();
  if (std::error_code problem = out.error()) {
    out.clear_error(); // it is fatal to a stream that is destroyed
    return createStringError(Twine("cannot write ") + path + ": " +
                             problem.message());
  }
  return Error::success();
}

/// Makes an empty file of a name that no other has.
static Error makeTemporaryFile(StringRef ending, SmallVectorImpl<char> &path) {
  std::error_code code =
      sys::fs::createTemporaryFile("kv-compile", ending, path);
  return code ? createStringError(Twine("cannot make a temporary file: ") +
                                  code.message())
              : Error::success();
}

/// The first line that a linker wrote to the file `path`, without its name.
static std::string linkerError(StringRef path) {
  auto text = MemoryBuffer::getFile(path);
  StringRef line = text ? (*text)->getBuffer().split('\n').first : "";
  line.consume_front("ld.lld: ");
  line.consume_front("error: ");
  line.consume_front("LLVM ERROR: IO failure on output stream: ");
  return line.str();
}

/// Runs the linker; what it wrote to standard error is in the error.
static Error runLinker(StringRef linker, StringRef object, StringRef output) {
  SmallString<128> errors;
  if (Error error = makeTemporaryFile("txt", errors))
    return error;
  FileRemover remover(errors);
  // A mapped output on a full file system would end the linker by a signal.
  StringRef arguments[] = {linker,
                           "-flavor",
                           "gnu",
                           "-shared",
                           "--build-id=sha1",
                           "-z",
                           "noexecstack",
                           "--gc-sections",
                           "--no-mmap-output-file",
                           "-o",
                           output,
                           object};
  std::string message;
  int status = sys::ExecuteAndWait(linker, arguments, std::nullopt,
                                   {std::nullopt, std::nullopt, errors.str()},
                                   0, 0, &message);
  if (status == 0)
    return Error::success();
  std::string said = linkerError(errors);
  return createStringError(
      Twine("ld.lld could not write ") + output + ": " +
      (!said.empty() ? said
                     : "status " + std::to_string(status) + " " + message));
}

/// Where ld.lld is.
static Expected<std::string> findLinker() {
  ErrorOr<std::string> linker =
      sys::findProgramByName("ld.lld", {KV_LLVM_BINDIR});
  if (!linker)
    linker = sys::findProgramByName("ld.lld");
  if (!linker)
    return createStringError("no ld.lld in " KV_LLVM_BINDIR
                             " nor on PATH: install lld-22");
  return *linker;
}

Error kv::emitSharedObject(Module &module, TargetMachine &machine,
                           StringRef path, StringRef linker) {
  SmallString<128> object;
  if (Error error = makeTemporaryFile("o", object))
    return error;
  FileRemover remover(object);
  if (Error error = emitObject(module, machine, object))
    return error;

  if (!linker.empty())
    return runLinker(linker, object, path);
  Expected<std::string> found = findLinker();
  return found ? runLinker(*found, object, path) : found.takeError();
}
