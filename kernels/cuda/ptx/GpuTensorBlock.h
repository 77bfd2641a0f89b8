//===- GpuTensorBlock.h - A block with tensor memory on a GPU ---*- C++ -*-===//

#ifndef KV_KERNELS_CUDA_PTX_GPUTENSORBLOCK_H
#define KV_KERNELS_CUDA_PTX_GPUTENSORBLOCK_H

#include "GpuBlock.h"
#include "TensorMemory.h"
#include "kernels/block/TensorBlock.h"

namespace kv::cuda {

struct GpuTensorBlock : GpuBlock {
  __device__ __forceinline__ bool elect() const { return ptx::elect(); }
  __device__ __forceinline__ void allocateTensor(int offset,
                                                 int columns) const {
    ptx::tensorAllocate(sharedAddress(offset), columns);
  }
  __device__ __forceinline__ void relinquishTensor() const {
    ptx::tensorRelinquish();
  }
  __device__ __forceinline__ void freeTensor(TensorAddress address,
                                             int columns) const {
    ptx::tensorFree(address, columns);
  }
  template <int Count>
  __device__ __forceinline__ void loadTensor(float (&r)[Count],
                                             TensorAddress at) const {
    ptx::tensorLoad(r, at);
  }
  __device__ __forceinline__ void loadTensor(float (&r)[8][4],
                                             TensorAddress at) const {
    ptx::tensorLoad(r, at);
  }
  template <class... Registers>
  __device__ __forceinline__ void awaitLoads(Registers &...r) const {
    ptx::tensorAwaitLoads();
    (ptx::pin(r), ...);
  }
  template <int Count>
  __device__ __forceinline__ void
  storeTensor(TensorAddress at, const uint32_t (&r)[Count]) const {
    ptx::tensorStore(at, r);
  }
  __device__ __forceinline__ void awaitStores() const {
    ptx::tensorAwaitStores();
  }
  template <TensorKind Kind = TensorKind::F16, class OperandA>
  __device__ __forceinline__ void
  multiplyTensor(TensorAddress d, OperandA a, TensorDescriptor b,
                 TensorInstruction instruction, bool accumulates) const {
    ptx::tensorMultiply<Kind>(d, a, b, instruction, accumulates);
  }
  __device__ __forceinline__ void commitTensor(SharedBarrier bar) const {
    ptx::tensorCommit(bar.address);
  }
  __device__ __forceinline__ bool anyLane(bool condition) const {
    return __any_sync(0xffffffffu, condition);
  }
  __device__ __forceinline__ FloatPair multiply(FloatPair x,
                                                FloatPair y) const {
    return ptx::multiplyTwo(x, y);
  }
  __device__ __forceinline__ FloatPair fusedMultiplyAdd(FloatPair x,
                                                        FloatPair y,
                                                        FloatPair z) const {
    return ptx::fusedMultiplyAddTwo(x, y, z);
  }
  __device__ __forceinline__ void fenceBefore() const {
    ptx::tensorFenceBefore();
  }
  __device__ __forceinline__ void fenceAfter() const {
    ptx::tensorFenceAfter();
  }
};

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_PTX_GPUTENSORBLOCK_H
