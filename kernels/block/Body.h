//===- Body.h - How kernel bodies are written -------------------*- C++ -*-===//

#ifndef KV_KERNELS_BLOCK_BODY_H
#define KV_KERNELS_BLOCK_BODY_H

#include <cstdint>

#ifdef __CUDACC__
#define KV_BODY __device__ __forceinline__
#define KV_PRAGMA(TEXT) _Pragma(#TEXT)
#define KV_UNROLL KV_PRAGMA(unroll)
#define KV_UNROLL_BY(COUNT) KV_PRAGMA(unroll COUNT)
#else
#define KV_BODY inline
#define KV_UNROLL
#define KV_UNROLL_BY(COUNT)
#endif

namespace kv::cuda {

/// x, of which a compiler knows nothing: it computes it once, and what is added
/// to it stays a constant distance, a part of the access.
KV_BODY int opaque(int x) {
#ifdef __CUDA_ARCH__
  asm("" : "+r"(x));
#endif
  return x;
}
KV_BODY int64_t opaque(int64_t x) {
#ifdef __CUDA_ARCH__
  asm("" : "+l"(x));
#endif
  return x;
}

/// A pointer to global memory that the compiler cannot see through, like
/// opaque().
template <class T> KV_BODY const T *opaqueGlobal(const T *p) {
#ifdef __CUDA_ARCH__
  size_t address = __cvta_generic_to_global(p);
  asm("" : "+l"(address));
  p = static_cast<const T *>(__cvta_global_to_generic(address));
#endif
  return p;
}

/// An opaque number. Values made of it are computed after this place, so that
/// no register holds them during the leaves.
KV_BODY int late(int x) {
#ifdef __CUDA_ARCH__
  asm volatile("" : "+r"(x));
#endif
  return x;
}

/// A fence for the instruction scheduler: arithmetic after it stays after it.
/// The branch is never taken, because `number` is not negative.
KV_BODY void divide(int number) {
#ifdef __CUDA_ARCH__
  if (late(number) < 0)
    __trap();
#endif
}

/// Comes first in every kernel, since it may have begun before earlier kernels
/// have written what it reads, or read what it writes. False: it does nothing.
template <class B> KV_BODY bool beginKernel(B &b) {
  if (!b.waitForEarlier())
    return false;
  b.letLaterBegin();
  return true;
}

} // namespace kv::cuda

#endif // KV_KERNELS_BLOCK_BODY_H
