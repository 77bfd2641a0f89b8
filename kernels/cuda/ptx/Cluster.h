//===- Cluster.h - Blocks that see one another ------------------*- C++ -*-===//
//
// From sm_90a on; elsewhere a block is alone. A byte of shared memory has one
// address in its own block and another one in the cluster.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_PTX_CLUSTER_H
#define KV_KERNELS_CUDA_PTX_CLUSTER_H

#include "Async.h"
#include "kernels/block/TensorMap.h"

namespace kv::cuda::ptx {

__device__ __forceinline__ int clusterRank() {
  int rank = 0;
#if __CUDA_ARCH__ >= 900
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
#endif
  return rank;
}
__device__ __forceinline__ int clusterBlocks() {
  int count = 1;
#if __CUDA_ARCH__ >= 900
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(count));
#endif
  return count;
}

__device__ __forceinline__ void clusterSync() {
  asm volatile("barrier.cluster.arrive.release.aligned;\n\t"
               "barrier.cluster.wait.acquire.aligned;" ::
                   : "memory");
}

/// Where the same byte of another block's shared memory lies in the cluster.
__device__ __forceinline__ uint32_t clusterAddress(uint32_t address, int rank) {
  uint32_t result;
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(result)
      : "r"(address), "r"(rank));
  return result;
}

/// Arrives at a barrier of any block of the cluster.
__device__ __forceinline__ void clusterArrive(uint32_t barrier) {
  asm volatile(
      "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(
          barrier)
      : "memory");
}

/// Arrives, if `arrives`, for a thread whose products have read operands that
/// another block's copies are to overwrite. The products are done, so no fence
/// of the device is needed, as it is for stores of threads. The predicate
/// avoids a branch between products.
__device__ __forceinline__ void clusterRelease(uint32_t barrier, int rank,
                                               bool arrives) {
  asm volatile(
      "{\n\t.reg .pred arrives;\n\t.reg .b32 remote;\n\t"
      "setp.ne.s32 arrives, %2, 0;\n\t"
      "@arrives mapa.shared::cluster.u32 remote, %0, %1;\n\t"
      "@arrives mbarrier.arrive.release.cta.shared::cluster.b64 _, [remote];"
      "\n\t}" ::"r"(barrier),
      "r"(rank), "r"(int(arrives))
      : "memory");
}

__device__ __forceinline__ void clusterStore(uint32_t address, uint32_t x) {
  asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(address), "r"(x)
               : "memory");
}

/// A box to the same place of each block of a mask, whose bytes complete on the
/// same barrier of each.
__device__ __forceinline__ void copyTileTo(uint32_t blocks, uint32_t target,
                                           const TensorMap *map,
                                           const TileAt &from,
                                           uint32_t barrier) {
  asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier"
               "::complete_tx::bytes.multicast::cluster "
               "[%0], [%1, {%3, %4, %5, %6}], [%2], %7;" ::"r"(target),
               "l"(map), "r"(barrier), "r"(from.at[0]), "r"(from.at[1]),
               "r"(from.at[2]), "r"(from.at[3]), "h"(uint16_t(blocks))
               : "memory");
}

} // namespace kv::cuda::ptx

#endif // KV_KERNELS_CUDA_PTX_CLUSTER_H
