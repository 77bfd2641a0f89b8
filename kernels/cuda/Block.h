//===- Block.h - What a kernel body may do with others ----------*- C++ -*-===//
//
// A kernel is a function template over a Block: one thread's view of its
// thread block. On a GPU (GpuBlock) every member is one instruction; on a CPU
// (CpuBlock) a thread is a fiber and every member is checked. A body keeps its
// registers in plain locals and says `b.` for whatever touches another thread,
// shared memory, global memory or the copy engine.
//
//   thread() block() blocks()   who am I
//   waitForEarlier()            earlier kernels on the stream are done; false
//                               where a thread is to end here (Earlier.h)
//   letLaterBegin()             the next kernel may begin, and wait
//   sync()                      barrier of the whole block
//   shared<T>(offset, count)    a typed view of shared memory
//   load(p) store(p, x)         global memory, this kernel's arguments
//   loadScratch storeScratch    global memory that blocks exchange
//   arrive<Order>(counter, n)   counts n; release and acquire between blocks
//   storeLargest(p, x)          *p becomes x if that is larger, atomically
//   copyAsync commit wait<N>    16-byte copies to shared memory, from so many
//                               bytes behind an address; of zeros where the
//                               address is negative, as NoAddress is
//   shuffleXor(x, mask)         all 32 lanes of the warp together
//   loadMatrix loadMatrixTransposed multiplyAdd<T>   likewise
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_BLOCK_H
#define KV_KERNELS_CUDA_BLOCK_H

#include "Numbers.h"
#include "ptx/Layout.h"

#include <concepts>

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

/// An address as a number. So much and what is added to it is none.
constexpr int64_t NoAddress = INT64_MIN;
KV_HD int64_t addressOf(const void *p) { return reinterpret_cast<int64_t>(p); }

/// What an arrival passes on: what happened before it, to who arrives later; to
/// the caller, what happened before the earlier ones.
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

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_BLOCK_H
