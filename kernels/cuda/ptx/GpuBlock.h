//===- GpuBlock.h - A block on a GPU ----------------------------*- C++ -*-===//

#ifndef KV_KERNELS_CUDA_PTX_GPUBLOCK_H
#define KV_KERNELS_CUDA_PTX_GPUBLOCK_H

#include "Cluster.h"
#include "Launch.h"
#include "Matrix.h"
#include "Memory.h"
#include "Tensor.h"
#include "Warpgroup.h"
#include "kernels/block/Block.h"
#ifdef KV_WATCHDOG
#include "Watchdog.h"
#endif

namespace kv::cuda {

/// Atoms of tiles begin at multiples of their size.
extern __shared__ __align__(1024) unsigned char sharedMemory[];

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
  __device__ __forceinline__ int uniform(int i) const {
    return __shfl_sync(0xffffffffu, i, 0);
  }
  __device__ __forceinline__ void
  loadMatrix(uint32_t (&r)[4], Shared<Chunk> from, int row) const {
    ptx::ldmatrixX4(r, from.data + row);
  }
  __device__ __forceinline__ void
  loadMatrixTransposed(uint32_t (&r)[4], Shared<Chunk> from, int row) const {
    ptx::ldmatrixX4Trans(r, from.data + row);
  }
  __device__ __forceinline__ void storeMatrix(const uint32_t (&r)[4],
                                              Shared<Chunk> to, int row) const {
    ptx::stmatrixX4(r, to.data + row);
  }
  template <class T>
  __device__ __forceinline__ void multiplyAdd(float (&c)[4],
                                              const uint32_t (&a)[4],
                                              uint32_t b0, uint32_t b1) const {
    ptx::mma<T>(c, a, b0, b1);
  }

  //===--- From sm_90a on -------------------------------------------------===//

  struct SharedBarrier {
    uint32_t address;
  };
  __device__ __forceinline__ uint32_t sharedAddress(int offset) const {
    return ptx::sharedAddress(sharedMemory) + offset;
  }
  __device__ __forceinline__ SharedBarrier barrier(int offset) const {
    return {sharedAddress(offset)};
  }
  __device__ __forceinline__ void init(SharedBarrier bar, int arrivals) const {
    ptx::barrierInit(bar.address, arrivals);
  }
  __device__ __forceinline__ void fenceInit() const { ptx::barrierInitFence(); }
  __device__ __forceinline__ void arriveAt(SharedBarrier bar) const {
    ptx::barrierArrive(bar.address);
  }
  __device__ __forceinline__ void expectBytes(SharedBarrier bar,
                                              int bytes) const {
    ptx::barrierExpect(bar.address, bytes);
  }
  __device__ __forceinline__ void awaitPhase(SharedBarrier bar,
                                             int parity) const {
#ifdef KV_WATCHDOG
    int warp = int(threadIdx.x) / WarpLanes;
    ptx::watchedWait(
        bar.address,
        {block(), warp, int(bar.address - sharedAddress(0)), parity, leaf});
#else
    ptx::barrierWait(bar.address, parity);
#endif
  }
#ifdef KV_WATCHDOG
  int leaf = -1;
  __device__ __forceinline__ void atLeaf(int at) { leaf = at; }
#else
  __device__ __forceinline__ void atLeaf(int) const {}
#endif
  __device__ __forceinline__ void copyTile(const TensorMap &map, int offset,
                                           const TileAt &from,
                                           SharedBarrier bar) const {
    ptx::copyTile(sharedAddress(offset), &map, from, bar.address);
  }
  __device__ __forceinline__ void fenceAsync() const { ptx::asyncFence(); }
  __device__ __forceinline__ void syncWarp() const { __syncwarp(); }
  __device__ __forceinline__ void syncNamed(int id, int threads) const {
    ptx::namedSync(id, threads);
  }
  __device__ __forceinline__ void arriveNamed(int id, int threads) const {
    ptx::namedArrive(id, threads);
  }
  template <int Count> __device__ __forceinline__ void registersUp() const {
    ptx::registersUp<Count>();
  }
  template <int Count> __device__ __forceinline__ void registersDown() const {
    ptx::registersDown<Count>();
  }

  template <int Tiles>
  __device__ __forceinline__ void forget(float (&acc)[Tiles][4]) const {
    ptx::forget(acc);
  }
  template <class... Registers>
  __device__ __forceinline__ void fenceProducts(Registers &...x) const {
    (ptx::pin(x), ...);
    ptx::productsFence();
  }
  template <class T, Major MajorB, int Tiles>
    requires Multiplied<T, MajorB>
  __device__ __forceinline__ void multiplyGroup(float (&acc)[Tiles][4],
                                                Descriptor a, Descriptor b,
                                                bool accumulates) const {
    ptx::wgmma<T, MajorB>(acc, a, b, accumulates);
  }
  template <class T, Major MajorB, int Tiles>
    requires Multiplied<T, MajorB>
  __device__ __forceinline__ void
  multiplyGroup(float (&acc)[Tiles][4], const uint32_t (&a)[4], Descriptor b,
                bool accumulates) const {
    ptx::wgmma<T, MajorB>(acc, a, b, accumulates);
  }
  __device__ __forceinline__ void commitProducts() const {
    ptx::productsCommit();
  }
  template <int Pending, class... Accumulators>
  __device__ __forceinline__ void awaitProducts(Accumulators &...acc) const {
    ptx::productsWait<Pending>();
    (ptx::pin(acc), ...);
  }

  //===--- Of clusters ----------------------------------------------------===//

  struct RemoteBarrier {
    uint32_t address; // in the cluster
  };
  __device__ __forceinline__ int clusterRank() const {
    return ptx::clusterRank();
  }
  __device__ __forceinline__ int clusterBlocks() const {
    return ptx::clusterBlocks();
  }
  __device__ __forceinline__ void syncCluster() const { ptx::clusterSync(); }
  __device__ __forceinline__ RemoteBarrier remote(SharedBarrier bar,
                                                  int rank) const {
    return {ptx::clusterAddress(bar.address, rank)};
  }
  __device__ __forceinline__ void arriveAt(RemoteBarrier bar) const {
    ptx::clusterArrive(bar.address);
  }
  __device__ __forceinline__ void releaseAt(SharedBarrier bar, int rank,
                                            bool arrives) const {
    ptx::clusterRelease(bar.address, rank, arrives);
  }
  template <class T>
  __device__ __forceinline__ void storeRemote(Shared<T> view, int rank, int i,
                                              T x) const {
    ptx::clusterStore(
        ptx::clusterAddress(ptx::sharedAddress(view.data + i), rank),
        bitsAs<uint32_t>(x));
  }
  __device__ __forceinline__ void copyTileTo(uint32_t blocks,
                                             const TensorMap &map, int offset,
                                             const TileAt &from,
                                             SharedBarrier bar) const {
    ptx::copyTileTo(blocks, sharedAddress(offset), &map, from, bar.address);
  }
};

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_PTX_GPUBLOCK_H
