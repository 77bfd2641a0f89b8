//===- Pipelines.cpp - Which passes run in which order --------------------===//

#include "kv/Passes/Passes.h"

#include "kv/ABI/CpuLevel.h"
#include "kv/Passes/Raise.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ConvertToLLVM/ToLLVMPass.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace kv;

llvm::Expected<std::string> kv::resolveCPULevel(StringRef mcpu) {
  // The levels that have fma.
  SmallVector<StringRef> levels(llvm::drop_begin(kCpuLevels, 2));
  if (llvm::is_contained(levels, mcpu))
    return mcpu.str();
  int level = mcpu == "native" ? hostCpuLevelNumber() : 0;
  if (level >= 3)
    return kCpuLevels[level - 1];
  return llvm::createStringError(
      "unknown CPU '" + mcpu + "': use " + llvm::join(levels, ", ") +
      ", or native on a machine that has at least " + levels.front());
}

static void simplify(OpPassManager &pm) {
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

static void addLayout(OpPassManager &pm, const std::string &layout) {
  if (layout.empty())
    return;
  KVAssignLayoutOptions assign;
  assign.layout = layout;
  pm.addPass(createKVAssignLayout(assign));
}

/// For several ranks, or to find the heads that a module leaves open. Helpers
/// that projections share would have to have one width, so they go first.
static void addSharding(OpPassManager &pm, int64_t ranks,
                        const char *target = "cpu") {
  if (ranks != 1) {
    pm.addPass(createKVInlineHelpers());
    pm.addPass(createSymbolDCEPass());
  }
  KVShardOptions shard;
  shard.ranks = ranks;
  shard.target = target;
  pm.addPass(createKVShard(shard));
  if (ranks != 1)
    simplify(pm);
}

/// Collections to their components.
static void addResolution(OpPassManager &pm, bool device = false) {
  pm.addPass(createKVAssignPageLayers());
  pm.addPass(createKVExpandCollections());
  KVResolveCollectionsOptions resolve;
  resolve.device = device;
  pm.addPass(createKVResolveCollections(resolve));
  simplify(pm);
}

/// Resolves collections, and packs weights: kv-cpu and kv-reference take the
/// same weights file.
static void addFrontPasses(OpPassManager &pm) {
  addResolution(pm);
  pm.addPass(createKVRoundActivations());
  pm.addPass(createKVPackQuantized());
  pm.addPass(createKVPackWeights());
}

/// Entries, then buffers.
static void addBufferization(OpPassManager &pm) {
  pm.addPass(createKVFormEntries());
  simplify(pm);
  pm.addPass(createSymbolDCEPass());
  pm.addPass(createKVSplitDestinations());
  pm.addPass(bufferization::createEmptyTensorEliminationPass());
  bufferization::OneShotBufferizePassOptions options;
  options.bufferizeFunctionBoundaries = true;
  options.allowReturnAllocsFromLoops = true;
  options.functionBoundaryTypeConversion =
      bufferization::LayoutMapOption::IdentityLayoutMap;
  options.unknownTypeConversion =
      bufferization::LayoutMapOption::IdentityLayoutMap;
  pm.addPass(bufferization::createOneShotBufferizePass(options));
  simplify(pm);
}

/// Loops on buffers to the LLVM dialect.
static void addBackPasses(OpPassManager &pm) {
  pm.addPass(createKVThreadContext());
  pm.addPass(createKVOutlineParallel());
  pm.addPass(createConvertKVToRuntime());
  simplify(pm);
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createConvertVectorToLLVMPass());
  pm.addPass(createConvertToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  simplify(pm);
}

llvm::Error kv::buildCPUPipeline(OpPassManager &pm,
                                 const CPUPipelineOptions &options) {
  llvm::Expected<std::string> resolved = resolveCPULevel(options.mcpu);
  if (!resolved)
    return resolved.takeError();
  StringRef level = *resolved;
  pm.addPass(createKVCheckIndices());
  addSharding(pm, options.ranks);
  addLayout(pm, options.layout);
  addFrontPasses(pm);
  pm.addPass(createKVSelectKernel());
  pm.addPass(createKVCheckSteps());
  pm.addPass(createKVResolveBands());
  // After the weights are packed: both pipelines take the same file.
  pm.addPass(createKVInlineHelpers());
  simplify(pm);
  pm.addPass(createKVFuse());
  // Decomposes operations without a kernel, except those that kv-vectorize
  // knows. Fusion would move reads of the cache past stores, so operations that
  // touch a cache are decomposed after it.
  KVDecomposeOptions decompose;
  decompose.except = {"matmul"};
  decompose.keepKernels = true;
  decompose.pure = true;
  pm.addPass(createKVDecompose(decompose));
  pm.addNestedPass<func::FuncOp>(createLinalgElementwiseOpFusionPass());
  decompose.pure = false;
  pm.addPass(createKVDecompose(decompose));
  addBufferization(pm);
  pm.addPass(createKVExpandCopies());
  pm.addPass(createKVOutlineKernels());
  // 24 accumulators of 512 bits, or 12 of 256.
  KVVectorizeOptions vectorize;
  bool wide = level.starts_with("x86-64-v4");
  vectorize.rows = wide ? 12 : 6;
  vectorize.blocks = wide ? 2 : 1;
  vectorize.matrix = level.ends_with("-amx");
  vectorize.dot = vectorize.matrix           ? "amx"
                  : level.ends_with("-vnni") ? "vnni"
                  : wide                     ? "avx512"
                                             : "avx2";
  vectorize.wide = wide;
  pm.addPass(createKVVectorize(vectorize));
  pm.addPass(createKVExpandMath());
  simplify(pm);
  addBackPasses(pm);
  return llvm::Error::success();
}

void kv::buildCUDAPipeline(OpPassManager &pm,
                           const CUDAPipelineOptions &options) {
  addSharding(pm, options.ranks, "cuda");
  pm.addPass(createKVAddSampler());
  addLayout(pm, options.layout);
  addResolution(pm, /*device=*/true);
  pm.addPass(createKVPackQuantized());
  KVSelectKernelOptions select;
  select.target = "cuda";
  pm.addPass(createKVSelectKernel(select));
  pm.addPass(createKVCheckSteps());
  pm.addPass(createKVResolveBands());
  pm.addPass(createKVInlineHelpers());
  // Helpers without callers need no kernel.
  pm.addPass(createSymbolDCEPass());
  simplify(pm);
  KVFormLaunchesOptions launches;
  launches.chips.assign(options.chips.begin(), options.chips.end());
  pm.addPass(createKVFormLaunches(launches));
  simplify(pm);
  pm.addPass(createKVFuseLaunches());
  simplify(pm);
  pm.addPass(createKVFormDestinations());
  addBufferization(pm);
  pm.addPass(bufferization::createDropEquivalentBufferResultsPass());
  simplify(pm);
  pm.addPass(createKVCheckHostCode());
  addBackPasses(pm);
}

void kv::buildReferencePipeline(OpPassManager &pm,
                                const ReferencePipelineOptions &options) {
  pm.addPass(createKVCheckIndices());
  addSharding(pm, options.ranks);
  addFrontPasses(pm);
  pm.addPass(createKVCheckSteps());
  pm.addPass(createKVResolveBands());
  pm.addPass(createKVDecompose());
  addBufferization(pm);
  pm.addPass(createKVExpandCopies());
  pm.addNestedPass<func::FuncOp>(createConvertLinalgToLoopsPass());
  pm.addPass(createKVExpandMath());
  addBackPasses(pm);
}

void kv::buildAttentionPipeline(OpPassManager &pm,
                                const AttentionPipelineOptions &options) {
  addSharding(pm, /*ranks=*/1);
  pm.addPass(createKVExpandCollections());
  pm.addPass(createKVResolveCollections());
  pm.addPass(createInlinerPass());
  pm.addPass(createSymbolDCEPass());
  simplify(pm);
  KVCachesToTensorsOptions tensors;
  tensors.target = options.target;
  pm.addPass(createKVCachesToTensors(tensors));
  simplify(pm);
}

/// Registers a pipeline like PassPipelineRegistration, but one that may refuse
/// its options.
static void registerCPUPipeline() {
  registerPassPipeline(
      "kv-cpu", "to the LLVM dialect, for the CPU",
      [](OpPassManager &pm, StringRef text,
         function_ref<LogicalResult(const Twine &)> fail) -> LogicalResult {
        CPUPipelineOptions options;
        if (failed(options.parseFromString(text)))
          return failure();
        if (llvm::Error error = buildCPUPipeline(pm, options))
          return fail(llvm::toString(std::move(error)));
        return success();
      },
      [](function_ref<void(const mlir::detail::PassOptions &)> show) {
        show(CPUPipelineOptions());
      });
}

void kv::registerPipelines() {
  registerCPUPipeline();
  PassPipelineRegistration<CUDAPipelineOptions>(
      "kv-cuda", "to the LLVM dialect, as host code of a GPU's kernels",
      buildCUDAPipeline);
  PassPipelineRegistration<ReferencePipelineOptions>(
      "kv-reference", "to the LLVM dialect, by decomposition only",
      buildReferencePipeline);
  PassPipelineRegistration<AttentionPipelineOptions>(
      "kv-to-attention",
      "to linalg or another project's attention, on caches as tensors",
      buildAttentionPipeline);
  registerRaise();
}
