//===- HostDevice.h - Functions for both sides ------------------*- C++ -*-===//
//
// KV_HD marks functions that are compiled for the host and for a GPU: nvcc does
// not accept unmarked constexpr functions in device code.
//
//===----------------------------------------------------------------------===//

#ifndef KV_DEFINITION_HOSTDEVICE_H
#define KV_DEFINITION_HOSTDEVICE_H

#include <cstdint>

#ifdef __CUDACC__
#define KV_HD __host__ __device__ __forceinline__
#else
#define KV_HD inline
#endif

namespace kv::plan {

template <class T> KV_HD constexpr T lesser(T a, T b) { return b < a ? b : a; }
template <class T> KV_HD constexpr T greater(T a, T b) { return a < b ? b : a; }
KV_HD constexpr int64_t ceilDivide(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

} // namespace kv::plan

#endif // KV_DEFINITION_HOSTDEVICE_H
