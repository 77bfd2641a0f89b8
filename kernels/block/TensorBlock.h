//===- TensorBlock.h - A block with tensor memory ---------------*- C++ -*-===//
//
// The members of a Block that only kernels for sm_100a use. One thread issues
// products, which run next to all threads and have their sums in tensor memory.
// A warp's number in its warpgroup says which lanes of it the warp reaches.
//
//   elect()                     by a warp: true for one lane, which may issue.
//                               If one lane is chosen in another way, ptxas
//                               issues for each lane, in a loop
//   allocateTensor(offset, columns)
//                               by one warp: `columns` columns, whose address
//                               is stored at that offset of shared memory
//   relinquishTensor()          by that warp: it allocates no more
//   freeTensor(address, columns)
//                               by one warp: frees an allocation; none may be
//                               left when the block ends
//   loadTensor(r, address)      by a warp: a lane's word of as many columns as
//                               r has, from `address` on, whose lane is the
//                               warp's first. Where r is float[Tiles][4], of
//                               sixteen lanes, as groupFragmentC says
//   awaitLoads(r...)            until the loads are done; names their registers
//   storeTensor(address, r)     the opposite of loadTensor
//   awaitStores()               until the stores are done
//   multiplyTensor<kind>(d, a, b, instruction, accumulates)
//                               by one thread: D += A B, as TensorProduct says,
//                               without `accumulates` from zero. a is a
//                               TensorDescriptor or the address of A in tensor
//                               memory, b a TensorDescriptor; no kind: of 16
//                               bits
//   commitTensor(bar)           by that thread: one arrival at an mbarrier once
//                               all its products until now are complete
//   fenceBefore()               orders accesses of tensor memory that this
//                               thread awaited before its next arrival; a
//                               commit does so for products
//   fenceAfter()                orders this thread's accesses of tensor memory
//                               after the arrivals that it has waited for
//
//   anyLane(condition)          by a warp: whether it holds for any lane
//   multiply(x, y) fusedMultiplyAdd(x, y, z)
//                               of two numbers at once, each as plan/Fold.h has
//                               it of one
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_BLOCK_TENSORBLOCK_H
#define KV_KERNELS_BLOCK_TENSORBLOCK_H

#include "Block.h"
#include "TensorLayout.h"

namespace kv::cuda {

template <class B>
concept TensorBlock =
    RoleBlock<B> &&
    requires(B &b, uint32_t (&words)[16], uint32_t (&fewer)[8],
             float (&sums)[32], float (&fragments)[8][4], TensorAddress at,
             TensorDescriptor d, TensorInstruction what, FloatPair pair) {
      { b.elect() } -> std::same_as<bool>;
      b.allocateTensor(0, FewestColumns);
      b.relinquishTensor();
      b.freeTensor(at, FewestColumns);
      b.loadTensor(sums, at);
      b.awaitLoads(sums);
      b.loadTensor(fragments, at);
      b.awaitLoads(fragments);
      b.storeTensor(at, words);
      b.storeTensor(at, fewer);
      b.awaitStores();
      b.multiplyTensor(at, d, d, what, true);
      b.multiplyTensor(at, at, d, what, true);
      b.template multiplyTensor<TensorKind::F8F6F4>(at, d, d, what, true);
      b.template multiplyTensor<TensorKind::F8F6F4>(at, at, d, what, true);
      b.commitTensor(b.barrier(0));
      { b.anyLane(true) } -> std::same_as<bool>;
      { b.multiply(pair, pair) } -> std::same_as<FloatPair>;
      { b.fusedMultiplyAdd(pair, pair, pair) } -> std::same_as<FloatPair>;
      b.fenceBefore();
      b.fenceAfter();
    };

} // namespace kv::cuda

#endif // KV_KERNELS_BLOCK_TENSORBLOCK_H
