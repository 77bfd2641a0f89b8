//===- Compiler.cpp - A module to an artifact -----------------------------===//

#include "kv/Compiler/Compiler.h"

#include "KernelImages.h"
#include "Manifest.h"
#include "Needs.h"
#include "ObjectFile.h"
#include "kv/ABI/KernelImages.h"
#include "kv/Compiler/Progress.h"
#include "kv/Passes/Passes.h"
#include "kv/Registration/Registration.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Support/FormatVariadic.h"
#include <chrono>

using namespace mlir;
using namespace kv;

void kv::registerCompilerDialects(DialectRegistry &registry) {
  registerDialectsAndTranslations(registry);
}

namespace {
/// Prints the seconds since the last stage ended.
class StageClock {
public:
  StageClock(bool enabled, Progress *progress)
      : enabled(enabled), progress(progress) {}
  void ended(StringRef stage) {
    if (progress)
      progress->clear();
    auto now = std::chrono::steady_clock::now();
    if (enabled)
      llvm::errs() << llvm::formatv(
          "kv-compile: {0,-10} {1:f3} s\n", stage,
          std::chrono::duration<double>(now - last).count());
    last = now;
  }

private:
  bool enabled;
  Progress *progress;
  std::chrono::steady_clock::time_point last = std::chrono::steady_clock::now();
};
} // namespace

/// Replaces the page size of every collection that has one.
static LogicalResult setPageSize(ModuleOp module, int64_t page, Location loc) {
  std::string problem;
  auto withPage = [&](auto type) -> std::optional<Type> {
    CacheGeometry geometry = type.getGeometry();
    if (geometry.isPaged() || geometry.isRecurrent())
      geometry.page = page;
    if (std::string now = geometry.problem(); !now.empty()) {
      problem = now;
      return type;
    }
    return decltype(type)::get(type.getContext(), geometry);
  };
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](CollectionType type) { return withPage(type); });
  replacer.addReplacement([&](CacheType type) { return withPage(type); });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
  if (!problem.empty())
    return emitError(loc) << "pages of " << page << " tokens: " << problem;
  return success();
}

/// Hides every symbol but the entries.
static void hideFunctions(ModuleOp module) {
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (!function->hasAttr("kv.interface") && !function.isExternal())
      function.setLinkage(LLVM::Linkage::Internal);
}

/// Checks that the artifact needs no symbol but the memory functions. MLIR
/// lowers some copies to a function of its own runtime library; with an error
/// here, no artifact is written that could not be loaded.
static LogicalResult checkSelfContained(const llvm::Module &ir, Location loc) {
  for (const llvm::Function &function : ir) {
    bool memory = llvm::is_contained({"memcpy", "memmove", "memset", "memcmp"},
                                     function.getName());
    if (function.isDeclaration() && !function.isIntrinsic() && !memory &&
        !function.use_empty())
      return emitError(loc)
             << "the graph needs the function '" << function.getName()
             << "', and an artifact has none but mem*";
  }
  return success();
}

/// The section with the images that `kv.device_code` names, for its chips;
/// empty if the module has no such attribute.
static LogicalResult embedDeviceCode(ModuleOp module, StringRef folder,
                                     llvm::Module &ir, Location loc) {
  auto code =
      module->getAttrOfType<DictionaryAttr>(KVDialect::getDeviceCodeAttrName());
  if (!code)
    return success();
  auto names = [&](StringRef field) {
    return llvm::to_vector(
        code.getAs<ArrayAttr>(field).getAsValueRange<StringAttr>());
  };
  llvm::Expected<std::string> section =
      collectKernelImages(folder, names("images"), names("chips"));
  if (!section)
    return emitError(loc) << llvm::toString(section.takeError());
  embedSection(ir, KV_KERNEL_IMAGES_SECTION, "kv_kernels", *section,
               llvm::Align(16));
  return success();
}

static LogicalResult buildPipeline(PassManager &pm,
                                   const CompileOptions &options,
                                   const std::string &cpu, Location loc) {
  if (options.pipeline == "kv-cpu") {
    CPUPipelineOptions cpuOptions;
    cpuOptions.mcpu = cpu;
    cpuOptions.layout = options.layout;
    cpuOptions.ranks = options.ranks;
    llvm::cantFail(buildCPUPipeline(pm, cpuOptions)); // the level is known
  } else if (options.pipeline == "kv-cuda") {
    CUDAPipelineOptions cudaOptions;
    cudaOptions.chips = options.chips;
    cudaOptions.layout = options.layout;
    cudaOptions.ranks = options.ranks;
    buildCUDAPipeline(pm, cudaOptions);
  } else if (options.pipeline == "kv-reference") {
    ReferencePipelineOptions referenceOptions;
    referenceOptions.ranks = options.ranks;
    buildReferencePipeline(pm, referenceOptions);
  } else {
    return emitError(loc) << "unknown pipeline '" << options.pipeline
                          << "': use kv-cpu, kv-cuda or kv-reference";
  }
  return success();
}

LogicalResult kv::compileModule(ModuleOp module, const CompileOptions &options,
                                StringRef path) {
  // Of options, files and the machine: no line of the module is shown.
  Location loc = UnknownLoc::get(module.getContext());
  llvm::Expected<std::string> level = resolveCPULevel(options.mcpu);
  if (!level)
    return emitError(loc) << llvm::toString(level.takeError());
  const std::string &cpu = *level;
  Progress *progress = options.progress;
  StageClock clock(options.timing, progress);
  if (options.pageSize && failed(setPageSize(module, options.pageSize, loc)))
    return failure();
  if (progress)
    if (std::string needs = describeNeeds(module); !needs.empty())
      llvm::errs() << "kv-compile: " << needs << '\n';

  // The pipeline sets this attribute; one in the module's text is ignored.
  module->removeAttr(KVDialect::getDeviceCodeAttrName());
  PassManager pm(module.getContext());
  // Fails only if the program has not registered these options.
  (void)applyPassManagerCLOptions(pm);
  if (failed(buildPipeline(pm, options, cpu, loc)))
    return failure();
  if (progress)
    progress->watch(pm, "passes");
  if (failed(pm.run(module)))
    return failure();
  hideFunctions(module);
  clock.ended("passes");

  auto machine = makeTargetMachine(cpu, options.optLevel);
  if (!machine)
    return emitError(loc) << llvm::toString(machine.takeError());
  FailureOr<std::string> manifest =
      makeManifest(module, (*machine)->getTargetTriple().str(), cpu);
  if (failed(manifest))
    return failure();

  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> ir = translateModuleToLLVMIR(module, context);
  if (!ir)
    return emitError(loc) << "translation to LLVM IR failed";
  ir->setTargetTriple((*machine)->getTargetTriple());
  ir->setDataLayout((*machine)->createDataLayout());
  for (llvm::Function &function : *ir) {
    function.addFnAttr("target-cpu", (*machine)->getTargetCPU());
    function.addFnAttr("target-features", (*machine)->getTargetFeatureString());
    function.addFnAttr("prefer-vector-width", "512");
    function.addFnAttr(llvm::Attribute::NoUnwind);
  }
  if (failed(checkSelfContained(*ir, loc)))
    return failure();
  embedSection(*ir, ".kv.manifest", "kv_manifest", *manifest);
  if (failed(embedDeviceCode(module, options.kernelFolder, *ir, loc)))
    return failure();
  clock.ended("translate");
  optimize(*ir, **machine, options.optLevel, progress);
  clock.ended("optimize");
  if (progress)
    progress->show("emit", 0, 0, "");
  if (llvm::Error error =
          emitSharedObject(*ir, **machine, path, options.linker))
    return emitError(loc) << llvm::toString(std::move(error));
  clock.ended("emit");
  return success();
}
