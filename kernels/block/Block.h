//===- Block.h - What a kernel body may do with others ----------*- C++ -*-===//
//
// A kernel is a function template over a Block: one thread's view of its
// thread block. On a GPU (GpuBlock) every member is one instruction; on a CPU
// (CpuBlock) a thread is a fiber and every member is checked. A body keeps its
// registers in plain locals and says `b.` for whatever touches another thread,
// shared memory, global memory or the copy engine.
//
//   thread() block() blocks()   the thread, its block, the number of blocks
//   waitForEarlier()            earlier kernels on the stream are done; false
//                               where a thread is to end here (Earlier.h)
//   letLaterBegin()             the next kernel may begin, and wait
//   sync()                      barrier of the whole block
//   shared<T>(offset, count)    a typed view of shared memory
//   load(p) store(p, x)         global memory, this kernel's arguments
//   loadScratch storeScratch    global memory that blocks exchange
//   arrive<Order>(counter, n)   counts n; release and acquire between blocks
//   storeLargest(p, x)          *p becomes x if that is larger, atomically
//   copyAsync commit wait<N>    16-byte copies to shared memory, from an
//                               address and an offset; zeros if the address
//                               is negative, as NoAddress is
//   shuffleXor(x, mask)         all 32 lanes of the warp together
//   loadMatrix loadMatrixTransposed multiplyAdd<T>   all 32 lanes together
//   storeMatrix                 all 32 lanes together, from sm_90a on
//
//   uniform(i)                  i, which is the same in all lanes of the warp:
//                               a compiler may branch by it, and know it
//
// From sm_90a on, of kernels with warps of different roles:
//
//   sharedAddress(offset)       the address of a byte in descriptors
//   barrier(offset)             an mbarrier, in eight bytes of shared memory
//   init(bar, arrivals)         by one thread, then fenceInit() by it, before a
//                               sync() after which others use it
//   arriveAt(bar)               one arrival, what happened before included
//   expectBytes(bar, bytes)     one arrival, and `bytes` more in the phase
//   awaitPhase(bar, parity)     until the phase of that parity is complete
//   atLeaf(leaf)                notes where this warp stands, for the report of
//                               a wait that does not end (Watchdog.h)
//   copyTile(map, offset, at, bar)
//                               one thread: a box from TileAt `at` on,
//                               swizzled, to shared memory; its bytes complete
//                               on `bar`
//   fenceAsync()                makes this thread's stores to shared memory
//                               visible to tile copies and wgmma
//   syncWarp()                  a barrier of the warp's lanes, after which each
//                               sees the others' stores to shared memory
//   syncNamed(id, threads)      a barrier of `threads` threads, whole warps, id
//                               1 to 15; arriveNamed does not wait
//   registersUp<N> registersDown<N>   all warps of a warpgroup together
//   forget(acc)                 the accumulators' values are needed no more
//   fenceProducts(registers...) before the first wgmma, and wherever registers
//                               of A or D were touched since: names these
//                               registers, or none if an earlier fence did
//   multiplyGroup<T, MajorB>(acc, a, b, accumulates)
//                               64 x 8 Tiles += 64 x 16 * 16 x 8 Tiles, by the
//                               warpgroup, where acc is float[Tiles][4], as
//                               groupFragmentC says; without `accumulates` from
//                               zero. a is a Descriptor of A with neighbours
//                               along K, or four registers; b a Descriptor.
//                               Of F8E4M3 32 are summed at a time, and B has
//                               neighbours along K, too
//   commitProducts()            makes a group of the products since the last
//                               commit
//   awaitProducts<Pending>(acc...)
//                               until at most `Pending` groups are in flight;
//                               acc are the accumulators that may be read now
//
// For blocks of a cluster, which see one another's shared memory. No block may
// leave before the others touch its memory for the last time:
//
//   clusterRank() clusterBlocks()   the block in its cluster, and their number
//   syncCluster()               barrier of all threads of all of them
//   remote(bar, rank)           that mbarrier of another block, to arrive at
//   releaseAt(bar, rank, arrives)   an arrival there by threads with `arrives`.
//                               After it, copies of that block may overwrite
//                               operands that awaited products have read.
//                               Stores of threads are not published
//   storeRemote(view, rank, i, x)   four bytes, to that of another block
//   copyTileTo(blocks, map, offset, at, bar)
//                               copyTile() for each block of a mask, to its
//                               own place and barrier
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_BLOCK_BLOCK_H
#define KV_KERNELS_BLOCK_BLOCK_H

#include "Numbers.h"
#include "TensorMap.h"
#include "Tiles.h"

#include <concepts>
#include <type_traits>

namespace kv::cuda {

constexpr int WarpLanes = 32;

struct alignas(8) FloatPair {
  float x, y;
};
struct alignas(16) FloatQuad {
  float x, y, z, w;
};
struct alignas(8) IntPair {
  int32_t x, y;
};
struct alignas(16) LongPair {
  int64_t x, y;
};

/// An address as a number. NoAddress is none, whatever is added to it.
constexpr int64_t NoAddress = INT64_MIN;
KV_HD int64_t addressOf(const void *p) { return reinterpret_cast<int64_t>(p); }

/// The order that an arrival makes. A release publishes the caller's earlier
/// accesses to later arrivals, an acquire sees those of earlier ones.
enum class Order { Release, Acquire, AcquireRelease };

template <class B>
concept Block =
    requires(B &b, float x, float (&c)[4], uint32_t (&r)[4], uint32_t *counter,
             uint64_t *word, const void *source) {
      { b.thread() } -> std::same_as<int>;
      { b.block() } -> std::same_as<int>;
      { b.blocks() } -> std::same_as<int>;
      { b.waitForEarlier() } -> std::same_as<bool>;
      b.letLaterBegin();
      b.sync();
      { b.template shared<float>(0, 1).load(0) } -> std::same_as<float>;
      b.template shared<float>(0, 1).store(0, x);
      { b.load(&x) } -> std::same_as<float>;
      b.store(&x, x);
      { b.loadScratch(&x) } -> std::same_as<float>;
      b.storeScratch(&x, x);
      {
        b.template arrive<Order::AcquireRelease>(counter, 1u)
      } -> std::same_as<uint32_t>;
      b.storeLargest(word, *word);
      b.copyAsync(b.template shared<Chunk>(0, 1), 0, addressOf(source), 16);
      b.commit();
      b.template wait<0>();
      { b.shuffleXor(x, 1) } -> std::same_as<float>;
      b.loadMatrix(r, b.template shared<Chunk>(0, 1), 0);
      b.loadMatrixTransposed(r, b.template shared<Chunk>(0, 1), 0);
      b.template multiplyAdd<Bf16>(c, r, 0u, 0u);
    };

/// Elements of 8 bits have no transposed operand.
template <class T, Major M>
concept Multiplied = !std::is_same_v<T, F8E4M3> || M == Major::K;

/// A block of sm_90a, whose warps may have roles.
template <class B>
concept RoleBlock =
    Block<B> && requires(B &b, float (&c)[8][4], uint32_t (&r)[4], Descriptor d,
                         const TensorMap &map, TileAt at) {
      { b.sharedAddress(0) } -> std::same_as<uint32_t>;
      b.init(b.barrier(0), 1);
      b.fenceInit();
      b.arriveAt(b.barrier(0));
      b.expectBytes(b.barrier(0), 1);
      b.awaitPhase(b.barrier(0), 0);
      b.atLeaf(0);
      b.copyTile(map, 0, at, b.barrier(0));
      b.fenceAsync();
      b.syncWarp();
      b.syncNamed(1, WarpLanes);
      b.arriveNamed(1, WarpLanes);
      b.template registersUp<240>();
      b.template registersDown<24>();
      { b.uniform(0) } -> std::same_as<int>;
      b.forget(c);
      b.fenceProducts();
      b.fenceProducts(c, r);
      b.template multiplyGroup<Bf16, Major::K>(c, d, d, true);
      b.template multiplyGroup<F16, Major::Other>(c, r, d, true);
      b.template multiplyGroup<F8E4M3, Major::K>(c, r, d, true);
      b.storeMatrix(r, b.template shared<Chunk>(0, 1), 0);
      b.commitProducts();
      b.template awaitProducts<0>(c);
    };

/// A block of a cluster.
template <class B>
concept ClusterBlock =
    RoleBlock<B> && requires(B &b, const TensorMap &map, TileAt at) {
      { b.clusterRank() } -> std::same_as<int>;
      { b.clusterBlocks() } -> std::same_as<int>;
      b.syncCluster();
      b.arriveAt(b.remote(b.barrier(0), 0));
      b.releaseAt(b.barrier(0), 0, true);
      b.storeRemote(b.template shared<float>(0, 1), 0, 0, 0.0f);
      b.copyTileTo(1u, map, 0, at, b.barrier(0));
    };

} // namespace kv::cuda

#endif // KV_KERNELS_BLOCK_BLOCK_H
