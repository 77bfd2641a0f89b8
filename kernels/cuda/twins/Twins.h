//===- Twins.h - Every kernel on a CPU, by its name -------------*- C++ -*-===//
//
// The library KVKernelTwins: what a driver does with a kernel's name, its one
// parameter and a grid.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_TWINS_TWINS_H
#define KV_KERNELS_CUDA_TWINS_TWINS_H

#include "kernels/emulator/Machine.h"

#include <string_view>

namespace kv::cuda {

/// Runs `blocks` blocks of the kernel of KernelTable.h that is called `name`
/// with sm_90a's rings (their length changes no bit). `params` is its parameter
/// structure. The body may touch what machine.global() allows; anything else is
/// not touched and is one of machine.reports(). `cluster` blocks form a cluster
/// each: any number for movers, and for kernels that copy tiles the number of
/// blocks per part. False when there is no such kernel.
bool runTwin(Machine &machine, std::string_view name, int blocks,
             const void *params, int cluster = 1);

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_TWINS_TWINS_H
