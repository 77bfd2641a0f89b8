//===- ProductRegisters.h - What Products look at ---------------*- C++ -*-===//

#ifndef KV_KERNELS_EMULATOR_BASE_PRODUCTREGISTERS_H
#define KV_KERNELS_EMULATOR_BASE_PRODUCTREGISTERS_H

#include <cstdint>
#include <string>

namespace kv::cuda {

/// Registers are locals of a body, which may have left their scope.
__attribute__((no_sanitize("address"))) inline uint32_t
wordAt(const void *registers, int i) {
  return static_cast<const volatile uint32_t *>(registers)[i];
}

inline std::string atLine(unsigned line) {
  return "the product at line " + std::to_string(line);
}

} // namespace kv::cuda

#endif // KV_KERNELS_EMULATOR_BASE_PRODUCTREGISTERS_H
