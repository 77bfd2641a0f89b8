//===- VerifyTwins.h - Kernels of tests on a CPU ----------------*- C++ -*-===//

#ifndef KV_TEST_GPU_VERIFYTWINS_H
#define KV_TEST_GPU_VERIFYTWINS_H

#include "kernels/emulator/Machine.h"

#include <string_view>

namespace kv::cuda::test {

/// kernels/cuda/twins/Twins.h for the kernels of VerifyKernels.h. Those of
/// one instruction and those with tensor memory run on the machine, the others
/// are loops of the host.
bool runVerifyTwin(Machine &machine, std::string_view name, int blocks,
                   const void *params);

} // namespace kv::cuda::test

#endif // KV_TEST_GPU_VERIFYTWINS_H
