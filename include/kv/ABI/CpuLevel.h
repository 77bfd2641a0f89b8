//===- CpuLevel.h - The x86-64 level of this machine ------------*- C++ -*-===//
//
// The compiler uses it to generate code for this machine, and the runtime
// checks it before it loads code.
//
//===----------------------------------------------------------------------===//

#ifndef KV_ABI_CPULEVEL_H
#define KV_ABI_CPULEVEL_H

#ifdef __x86_64__
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace kv {

/// The levels that code is generated for and checked against, the lowest first.
/// The first ones are the micro-architecture levels of the x86-64 ABI. Then
/// come processors that also multiply bytes in one instruction, and those that
/// also multiply matrices of bf16 and of bytes (AMX).
inline constexpr const char *kCpuLevels[] = {"x86-64",         "x86-64-v2",
                                             "x86-64-v3",      "x86-64-v4",
                                             "x86-64-v4-vnni", "x86-64-v4-amx"};

#ifdef __x86_64__
/// The number of the tiles' contents among the states of a thread that the
/// system keeps, and the requests of arch_prctl(2) about such states.
inline constexpr int kTileState = 18;
inline constexpr int kGetSupportedStates = 0x1021, kRequestState = 0x1023;

/// Whether this machine multiplies matrices of bf16 and of bytes and the system
/// knows.
inline bool hostHasMatrixUnit() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  // AMX-BF16, AMX-TILE, AMX-INT8.
  constexpr unsigned needed = 1u << 22 | 1u << 24 | 1u << 25;
  if (!__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) ||
      (edx & needed) != needed)
    return false;
  unsigned long states = 0;
  return syscall(SYS_arch_prctl, kGetSupportedStates, &states) == 0 &&
         states >> kTileState & 1;
}
#endif

/// The number of this machine's level: 1 is the first of kCpuLevels; 0 on other
/// machines.
inline int hostCpuLevelNumber() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("x86-64-v4"))
    return !__builtin_cpu_supports("avx512vnni") ? 4
           : hostHasMatrixUnit()                 ? 6
                                                 : 5;
  if (__builtin_cpu_supports("x86-64-v3"))
    return 3;
  return __builtin_cpu_supports("x86-64-v2") ? 2 : 1;
#else
  return 0;
#endif
}

} // namespace kv

#endif // KV_ABI_CPULEVEL_H
