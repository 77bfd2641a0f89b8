//===- AttentionTwins.h - The attention kernels of one type -----*- C++ -*-===//
//
// Declared here, instantiated in a source file a type, so that they compile
// side by side.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_TWINS_ATTENTIONTWINS_H
#define KV_KERNELS_CUDA_TWINS_ATTENTIONTWINS_H

#include "kernels/cuda/parameters/KernelTable.h"
#include "kernels/emulator/Machine.h"

namespace kv::cuda {

template <class Query, class Cache, Scales S>
void runAttentionTwin(Machine &machine, const AttentionKernel &kernel,
                      int blocks, const AttentionParams &params);

/// Runs a kernel of drafts; `params`, an AttentionParams, may lie anywhere.
void runDraftTwin(Machine &machine, const AttentionKernel &kernel, int blocks,
                  const void *params);

/// Runs a kernel with products of 8 bits; `params` as above.
void runByteTwin(Machine &machine, const AttentionKernel &kernel, int blocks,
                 const void *params);

/// Run kernels that copy tiles: without tensor memory, with products of 8 bits,
/// and with tensor memory. `params`, a TileParams, may lie anywhere.
void runTileTwin(Machine &machine, const AttentionKernel &kernel, int blocks,
                 const void *params);
void runByteTileTwin(Machine &machine, const AttentionKernel &kernel,
                     int blocks, const void *params);
void runTensorTwin(Machine &machine, const AttentionKernel &kernel, int blocks,
                   const void *params);

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_TWINS_ATTENTIONTWINS_H
