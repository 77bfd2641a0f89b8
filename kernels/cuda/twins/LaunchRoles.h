//===- LaunchRoles.h - Launches with a kernel's shapes ----------*- C++ -*-===//

#ifndef KV_KERNELS_CUDA_TWINS_LAUNCHROLES_H
#define KV_KERNELS_CUDA_TWINS_LAUNCHROLES_H

#include "kernels/cuda/parameters/Attention.h"
#include "kernels/emulator/Machine.h"

namespace kv::cuda {

/// Runs body(machine, thread) as a kernel whose warps do the same. Kernels with
/// products of 8 bits are 12.0's alone.
template <class Config, class Body>
void launchWarps(Machine &machine, int blocks, Body body) {
  machine.launch({.blocks = blocks,
                  .threads = Config::Threads,
                  .sharedBytes = Config::SharedBytes,
                  .chip = ByteProducts<Config> ? 120 : 0},
                 body);
}

/// Runs body(machine, thread) as a kernel with the shapes of a TileConfig or
/// its like.
template <class Config, class Body>
void launchRoles(Machine &machine, int blocks, Body body) {
  machine.launch({blocks, Config::LaunchThreads, Config::SharedBytes,
                  Config::LaunchRegisters, PartBlocks<Config>},
                 body);
}

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_TWINS_LAUNCHROLES_H
