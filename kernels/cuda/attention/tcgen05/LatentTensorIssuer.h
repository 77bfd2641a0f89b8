//===- LatentTensorIssuer.h - The thread that multiplies --------*- C++ -*-===//

#ifndef KV_KERNELS_CUDA_ATTENTION_TCGEN05_LATENTTENSORISSUER_H
#define KV_KERNELS_CUDA_ATTENTION_TCGEN05_LATENTTENSORISSUER_H

#include "TensorOperands.h"
#include "kernels/cuda/parameters/LatentTensor.h"

namespace kv::cuda {

/// Issues the products of a block's part over a latent cache, by one thread.
template <TensorBlock B, class C> class LatentTensorIssuer {
  using Work = kv::plan::Work;

public:
  KV_BODY LatentTensorIssuer(B &b, const TileParams &p, TensorAddress memory)
      : b(b), p(p), memory(memory) {}

  KV_BODY void run() {
    forEachWork(b, p, [&](const Work &work, const kv::plan::Tile &) {
      // Consumers wait for nobody in a work without leaves.
      const int count = work.leafEnd - work.leafBegin;
      if (count <= 0)
        return;
      b.awaitPhase(b.barrier(C::asked()), asked);
      asked ^= 1;
      KV_UNROLL_BY(1)
      for (int leaf = 0; leaf < count; ++leaf) {
        b.atLeaf(work.leafBegin + leaf);
        if (leaf % 2 == 0)
          KV_UNROLL_BY(1)
        for (int i = leaf; i < kv::plan::lesser(leaf + 2, count); ++i)
          multiplyQueries();
        multiplyWeights();
      }
    });
    // Of the last tiles too, that they were read is known before the block's
    // shared memory is another's.
    b.commitTensor(b.barrier(C::drained()));
    b.awaitPhase(b.barrier(C::drained()), 0);
  }

private:
  /// The scores of the next leaf. The scores that were in their place have been
  /// weighed: the values of that leaf were multiplied since.
  KV_BODY void multiplyQueries() {
    TensorDescriptor q = operandAt<C>(b, OffsetOf<C, slot::Queries>),
                     k = operandAt<C>(b, OffsetOf<C, slot::Ring> +
                                             keys.stage * C::TileBytes);
    b.fenceAfter();
    KV_UNROLL_BY(1)
    for (int slab = 0; slab < C::Slabs; ++slab) {
      b.awaitPhase(b.barrier(C::full(keys.stage, slab)), keys.phase);
      KV_UNROLL for (int byte = 0; byte < SlabRowBytes; byte += 32)
        b.multiplyTensor(memory.behind(keys.stage * C::ScoreColumns),
                         q.behind(slab * C::QuerySlabBytes + byte),
                         k.behind(slab * C::SlabBytes + byte),
                         instruction<C, C::Rows>(Major::K, C::ScoreColumns),
                         slab + byte > 0);
    }
    b.commitTensor(b.barrier(C::scored(keys.stage)));
    keys.move(1);
  }

  /// The values of the next leaf.
  KV_BODY void multiplyWeights() {
    b.awaitPhase(b.barrier(C::weighed(values.stage)), values.phase);
    b.fenceAfter();
    TensorDescriptor tile =
        operandAt<C>(b, OffsetOf<C, slot::Ring> + values.stage * C::TileBytes);
    TensorDescriptor weights = tile.behind(C::StageWeights);
    KV_UNROLL_BY(1)
    for (int i = 0; i < C::Groups * C::Slices; ++i) {
      multiplySlice(weights, tile, i % C::Groups,
                    i % C::Groups * (C::ValueSlabs / C::Groups) +
                        i / C::Groups * C::SliceSlabs);
      slices += i % C::Groups;
    }
    b.commitTensor(b.barrier(C::empty(values.stage, C::ValueSlabs)));
    values.move(1);
  }

  KV_BODY void multiplySlice(TensorDescriptor weights, TensorDescriptor tile,
                             int half, int slab) {
    // The consumers have loaded the sums that were there.
    b.awaitPhase(b.barrier(C::folded(place)), placePhase ^ 1);
    b.fenceAfter();
    KV_UNROLL for (int k = 0; k < C::Leaf / 16; ++k) {
      b.multiplyTensor(memory.behind(C::Values + place * C::SliceColumns),
                       weights.behind(k * 32),
                       tile.behind(slab * C::SlabBytes + k * 2 * AtomBytes),
                       instruction<C, C::Rows>(Major::Other, C::SliceColumns),
                       k > 0);
    }
    b.commitTensor(b.barrier(C::multiplied(half, slices & 1)));
    KV_UNROLL for (int i = 0; i < C::SliceSlabs; ++i)
      b.commitTensor(b.barrier(C::empty(values.stage, slab + i)));
    if (++place == C::ValuePlaces) {
      place = 0;
      placePhase ^= 1;
    }
  }

  B &b;
  const TileParams &p;
  const TensorAddress memory;
  RingCursor<C::Stages> keys, values;
  int asked = 0;
  int place = 0, placePhase = 0; // of the next slice
  int slices = 0;                // that each warpgroup had
};

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTION_TCGEN05_LATENTTENSORISSUER_H
