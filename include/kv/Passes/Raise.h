//===- Raise.h - Passes that give a graph a cache ---------------*- C++ -*-===//
//
// docs/guides/raise.md says what is proven.
//
//===----------------------------------------------------------------------===//

#ifndef KV_PASSES_RAISE_H
#define KV_PASSES_RAISE_H

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassOptions.h"

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace kv {

#define GEN_PASS_DECL
#include "kv/Passes/RaisePasses.h.inc"

#define GEN_PASS_REGISTRATION
#include "kv/Passes/RaisePasses.h.inc"

struct RaisePipelineOptions
    : public mlir::PassPipelineOptions<RaisePipelineOptions> {
  Option<std::string> dtype{
      *this, "dtype",
      llvm::cl::desc("element type of the cache: f32, bf16 or f16"),
      llvm::cl::init("bf16")};
  Option<std::string> weights{
      *this, "weights",
      llvm::cl::desc("element type of matrices: f32 (as the graph has them) or "
                     "bf16"),
      llvm::cl::init("f32")};
  Option<bool> tables{
      *this, "tables",
      llvm::cl::desc("rotations read tables of angles, which are weights that "
                     "kv-import computes; GPUs take no others"),
      llvm::cl::init(false)};
  Option<int64_t> page{*this, "page", llvm::cl::desc("tokens of a page"),
                       llvm::cl::init(128)};
};

/// The pipeline kv-raise: makes of a graph without a cache a module that kv-cpu
/// takes, or says why it cannot.
void buildRaisePipeline(mlir::OpPassManager &pm,
                        const RaisePipelineOptions &options);

/// The pipeline kv-plain: makes of the same graph an entry that computes all
/// rows of one sequence without a cache, which a raised one is compared with.
void buildPlainPipeline(mlir::OpPassManager &pm);

/// Registers the passes and the pipelines by name.
void registerRaise();

} // namespace kv

#endif // KV_PASSES_RAISE_H
