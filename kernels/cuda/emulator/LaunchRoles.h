//===- LaunchRoles.h - Launches of warps that have roles --------*- C++ -*-===//

#ifndef KV_KERNELS_CUDA_EMULATOR_LAUNCHROLES_H
#define KV_KERNELS_CUDA_EMULATOR_LAUNCHROLES_H

#include "../Attention.h"
#include "Machine.h"

namespace kv::cuda {

/// Runs body(machine, thread) as a kernel with the shapes of a TileConfig or
/// its like.
template <class Config, class Body>
void launchRoles(Machine &machine, int blocks, Body body) {
  machine.launch({blocks, Config::LaunchThreads, Config::SharedBytes,
                  Config::LaunchRegisters, PartBlocks<Config>},
                 body);
}

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_EMULATOR_LAUNCHROLES_H
