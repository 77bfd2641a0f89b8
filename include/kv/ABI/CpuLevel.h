//===- CpuLevel.h - The x86-64 level of this machine ------------*- C++ -*-===//
//
// The compiler uses it to generate code for this machine, and the runtime
// checks it before it loads code.
//
//===----------------------------------------------------------------------===//

#ifndef KV_ABI_CPULEVEL_H
#define KV_ABI_CPULEVEL_H

namespace kv {

/// The levels that code is generated for and checked against, the lowest first:
/// the micro-architecture levels of the x86-64 ABI, and what all processors of
/// the last one have that multiply bytes in one instruction.
inline constexpr const char *kCpuLevels[] = {"x86-64", "x86-64-v2", "x86-64-v3",
                                             "x86-64-v4", "x86-64-v4-vnni"};

/// The number of this machine's level: 1 is the first of kCpuLevels; 0 on other
/// machines.
inline int hostCpuLevelNumber() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("x86-64-v4"))
    return __builtin_cpu_supports("avx512vnni") ? 5 : 4;
  if (__builtin_cpu_supports("x86-64-v3"))
    return 3;
  return __builtin_cpu_supports("x86-64-v2") ? 2 : 1;
#else
  return 0;
#endif
}

} // namespace kv

#endif // KV_ABI_CPULEVEL_H
