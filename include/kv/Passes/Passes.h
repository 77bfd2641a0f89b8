//===- Passes.h - Passes and pipelines of kv-mlir ---------------*- C++ -*-===//

#ifndef KV_PASSES_PASSES_H
#define KV_PASSES_PASSES_H

#include "kv/Dialect/KV.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassOptions.h"
#include "llvm/Support/Error.h"

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace kv {

#define GEN_PASS_DECL
#include "kv/Passes/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "kv/Passes/Passes.h.inc"

/// Options of every pipeline that ends in the LLVM dialect.
template <typename Options>
struct RankOptions : public mlir::PassPipelineOptions<Options> {
  mlir::detail::PassOptions::Option<int64_t> ranks{
      *this, "ranks", llvm::cl::desc("processes that compute together"),
      llvm::cl::init(1)};
};

/// Options of those for a machine.
template <typename Options>
struct MachineOptions : public RankOptions<Options> {
  mlir::detail::PassOptions::Option<std::string> layout{
      *this, "layout",
      llvm::cl::desc("order of caches in memory: nhd, hnd or cpu; by default "
                     "what their types say"),
      llvm::cl::init("")};
};

struct CPUPipelineOptions : public MachineOptions<CPUPipelineOptions> {
  Option<std::string> mcpu{
      *this, "mcpu",
      llvm::cl::desc("x86-64 level: x86-64-v3, x86-64-v4, x86-64-v4-vnni, "
                     "x86-64-v4-amx or native"),
      llvm::cl::init("native")};
};

/// The pipeline kv-cpu: lowers a module to the LLVM dialect, for a CPU. Error,
/// and no pass is added: what resolveCPULevel says of `mcpu`.
llvm::Error buildCPUPipeline(mlir::OpPassManager &pm,
                             const CPUPipelineOptions &options);

struct CUDAPipelineOptions : public MachineOptions<CUDAPipelineOptions> {
  ListOption<std::string> chips{
      *this, "chips",
      llvm::cl::desc("what device code is for: sm_80, sm_90a, ...")};
};

/// The pipeline kv-cuda: lowers a module to the LLVM dialect, as host code that
/// launches kernels on a GPU. That code allocates nothing, waits for nothing
/// and reads no device memory.
void buildCUDAPipeline(mlir::OpPassManager &pm,
                       const CUDAPipelineOptions &options);

struct ReferencePipelineOptions : public RankOptions<ReferencePipelineOptions> {
};

/// The pipeline kv-reference: lowers a module to the LLVM dialect, with every
/// operation decomposed and nothing tiled. The pipeline defines the meaning of
/// a module, and is slow.
void buildReferencePipeline(mlir::OpPassManager &pm,
                            const ReferencePipelineOptions &options = {});

struct AttentionPipelineOptions
    : public mlir::PassPipelineOptions<AttentionPipelineOptions> {
  Option<std::string> target{*this, "target",
                             llvm::cl::desc("whose attention: iree, linalg or "
                                            "tm_tensor"),
                             llvm::cl::init("linalg")};
};

/// The pipeline kv-to-attention: a module for compilers that know no paged
/// cache.
void buildAttentionPipeline(mlir::OpPassManager &pm,
                            const AttentionPipelineOptions &options);

/// Registers the pipelines by name.
void registerPipelines();

/// The x86-64 level that `mcpu` stands for: the highest of this machine for
/// "native", otherwise the level itself. Error: it is none that code can be
/// for.
llvm::Expected<std::string> resolveCPULevel(llvm::StringRef mcpu);

} // namespace kv

#endif // KV_PASSES_PASSES_H
