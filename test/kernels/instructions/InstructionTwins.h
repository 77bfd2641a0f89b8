//===- InstructionTwins.h - One instruction on a CPU ------------*- C++ -*-===//

#ifndef KV_TEST_KERNELS_INSTRUCTIONS_INSTRUCTIONTWINS_H
#define KV_TEST_KERNELS_INSTRUCTIONS_INSTRUCTIONTWINS_H

#include "kernels/emulator/Machine.h"

#include <string_view>

namespace kv::cuda::test {

/// Runs a kernel of InstructionKernels.def, TileInstructionKernels.def or
/// TensorInstructionKernels.def; false: there is none of that name.
bool runInstruction(Machine &machine, std::string_view name, int blocks,
                    const void *params);

} // namespace kv::cuda::test

#endif // KV_TEST_KERNELS_INSTRUCTIONS_INSTRUCTIONTWINS_H
