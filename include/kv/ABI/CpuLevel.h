//===- CpuLevel.h - The x86-64 level of this machine ------------*- C++ -*-===//
//
// The compiler uses it to generate code for this machine, and the runtime
// checks it before it loads code.
//
//===----------------------------------------------------------------------===//

#ifndef KV_ABI_CPULEVEL_H
#define KV_ABI_CPULEVEL_H

namespace kv {

/// The micro-architecture level: 1 is "x86-64", 4 is "x86-64-v4"; 0 on other
/// machines.
inline int hostCpuLevelNumber() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("x86-64-v4"))
    return 4;
  if (__builtin_cpu_supports("x86-64-v3"))
    return 3;
  return __builtin_cpu_supports("x86-64-v2") ? 2 : 1;
#else
  return 0;
#endif
}

} // namespace kv

#endif // KV_ABI_CPULEVEL_H
