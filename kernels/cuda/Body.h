//===- Body.h - How kernel bodies are written -------------------*- C++ -*-===//

#ifndef KV_KERNELS_CUDA_BODY_H
#define KV_KERNELS_CUDA_BODY_H

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

#endif // KV_KERNELS_CUDA_BODY_H
