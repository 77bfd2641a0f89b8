//===- GpuBlock.h - A block on a GPU ----------------------------*- C++ -*-===//

#ifndef KV_KERNELS_CUDA_GPUBLOCK_H
#define KV_KERNELS_CUDA_GPUBLOCK_H

#include "Block.h"
#include "ptx/Launch.h"
#include "ptx/Matrix.h"
#include "ptx/Memory.h"

namespace kv::cuda {

extern __shared__ __align__(128) unsigned char sharedMemory[];

struct GpuBlock {
  template <class T> struct Shared {
    T *data;
    __device__ __forceinline__ T load(int i) const { return data[i]; }
    __device__ __forceinline__ void store(int i, T x) const { data[i] = x; }
  };

  __device__ __forceinline__ int thread() const { return threadIdx.x; }
  __device__ __forceinline__ int block() const { return blockIdx.x; }
  __device__ __forceinline__ int blocks() const { return gridDim.x; }
  __device__ __forceinline__ bool waitForEarlier() const {
    ptx::waitForEarlier();
    return true;
  }
  __device__ __forceinline__ void letLaterBegin() const {
    ptx::letLaterBegin();
  }
  __device__ __forceinline__ void sync() const { __syncthreads(); }

  template <class T>
  __device__ __forceinline__ Shared<T> shared(int offset, int count) const {
    return {reinterpret_cast<T *>(sharedMemory + offset)};
  }

  template <class T> __device__ __forceinline__ T load(const T *p) const {
    return *p;
  }
  template <class T> __device__ __forceinline__ void store(T *p, T x) const {
    *p = x;
  }
  template <class T>
  __device__ __forceinline__ T loadScratch(const T *p) const {
    return ptx::loadGlobal(p);
  }
  template <class T>
  __device__ __forceinline__ void storeScratch(T *p, T x) const {
    ptx::storeGlobal(p, x);
  }
  template <Order order>
  __device__ __forceinline__ uint32_t arrive(uint32_t *counter,
                                             uint32_t count) const {
    static_assert(order == Order::AcquireRelease, "kernels need both");
    return ptx::addAcquireRelease(counter, count);
  }
  __device__ __forceinline__ void storeLargest(uint64_t *p, uint64_t x) const {
    atomicMax(reinterpret_cast<unsigned long long *>(p), x);
  }

  __device__ __forceinline__ void copyAsync(Shared<Chunk> target, int index,
                                            int64_t address,
                                            int further = 0) const {
    ptx::cpAsync(target.data + index, address, further);
  }
  __device__ __forceinline__ void commit() const { ptx::cpAsyncCommit(); }
  template <int Pending> __device__ __forceinline__ void wait() const {
    ptx::cpAsyncWait<Pending>();
  }

  __device__ __forceinline__ float shuffleXor(float x, int mask) const {
    return __shfl_xor_sync(0xffffffffu, x, mask);
  }
  __device__ __forceinline__ void
  loadMatrix(uint32_t (&r)[4], Shared<Chunk> from, int row) const {
    ptx::ldmatrixX4(r, from.data + row);
  }
  __device__ __forceinline__ void
  loadMatrixTransposed(uint32_t (&r)[4], Shared<Chunk> from, int row) const {
    ptx::ldmatrixX4Trans(r, from.data + row);
  }
  template <class T>
  __device__ __forceinline__ void multiplyAdd(float (&c)[4],
                                              const uint32_t (&a)[4],
                                              uint32_t b0, uint32_t b1) const {
    ptx::mma<T>(c, a, b0, b1);
  }
};

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_GPUBLOCK_H
