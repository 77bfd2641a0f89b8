//===- KernelLoops.h - Loops of generated kernels ---------------*- C++ -*-===//

#ifndef KV_PASSES_COMMON_KERNELLOOPS_H
#define KV_PASSES_COMMON_KERNELLOOPS_H

#include "Emitter.h"

namespace kv {

/// Iterations of `operations` scalar operations each that are worth handing to
/// another thread. An iteration may have none: an inner dimension of 0.
int64_t grainOf(uint64_t operations);

/// An scf.forall over [0, count) whose body `build` fills.
void buildForall(
    mlir::OpBuilder &b, mlir::Location loc, mlir::Value count, int64_t grain,
    llvm::function_ref<void(mlir::OpBuilder &, mlir::Value)> build);

/// Items of the sequences of a step, each of which costs `operations` scalar
/// operations for each of its sequence's rows.
struct StepItems {
  mlir::Value count;
  uint64_t operations;
  mlir::Value rows, sequences; // of the step
};

/// An scf.forall over runs of neighbouring items. A run is long enough to be
/// worth another thread if sequences are equally long. `memory` makes a buffer
/// on the stack for the items of one thread, `build` fills the body.
void buildStepLoop(
    Emitter &b, const StepItems &items,
    llvm::function_ref<mlir::Value(Emitter &)> memory,
    llvm::function_ref<void(Emitter &, mlir::Value item, mlir::Value memory)>
        build);

/// How far ahead of its use memory is asked for, in bytes of each of `streams`
/// that a thread reads at once: together what memory delivers in the time of an
/// access, 30 GB/s times 200 ns. The machine's own prefetching ends with each
/// page of 4 KiB.
constexpr int64_t prefetchDistance(int64_t streams) { return 6144 / streams; }

/// Prefetches `bytes` bytes of `buffer`, which begin `ahead` bytes after the
/// element at `at`. Bytes after the buffer's end are not read.
void prefetch(mlir::OpBuilder &b, mlir::Location loc, mlir::Value buffer,
              mlir::ValueRange at, int64_t ahead, int64_t bytes);

} // namespace kv

#endif // KV_PASSES_COMMON_KERNELLOOPS_H
