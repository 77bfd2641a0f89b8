//===- TensorIssuer.h - The thread that multiplies --------------*- C++ -*-===//

#ifndef KV_KERNELS_CUDA_ATTENTION_TCGEN05_TENSORISSUER_H
#define KV_KERNELS_CUDA_ATTENTION_TCGEN05_TENSORISSUER_H

#include "TensorOperands.h"
#include "kernels/cuda/parameters/AttentionTensor.h"

namespace kv::cuda {

/// Issues the products of a block's part, by one thread.
template <TensorBlock B, class C> class TensorIssuer {
  using Work = kv::plan::Work;

public:
  KV_BODY TensorIssuer(B &b, const TileParams &p, TensorAddress memory)
      : b(b), p(p), memory(memory) {}

  KV_BODY void run() {
    forEachWork(b, p, [&](const Work &work, const kv::plan::Tile &rows) {
      if (work.leafBegin >= work.leafEnd)
        return;
      tiles = liveTiles(sequenceOf(p, rows.sequence).added * p.shape.group -
                        rows.row);
      multiplyUnit(tiles * (work.leafEnd - work.leafBegin));
    });
    // Of the last tiles too, that they were read is known before the block's
    // shared memory is another's.
    KV_UNROLL_BY(1)
    for (int i = 0; i < C::Stages; ++i) {
      b.awaitPhase(b.barrier(C::empty(keys.stage)), keys.phase ^ 1);
      keys.move(1);
    }
  }

private:
  KV_BODY void multiplyUnit(int count) {
    b.awaitPhase(b.barrier(C::asked()), asked);
    asked ^= 1;
    multiplyQueries(0);
    if (count > 1)
      multiplyQueries(tiles - 1);
    KV_UNROLL_BY(1)
    for (int n = 0; n < count; ++n) {
      const int tile = n & (tiles - 1);
      awaitFold(0);
      // While the weights of this tile are still computed, to where those
      // multiplied before were.
      if (n + 2 < count) {
        if (C::Slices > 1 && any)
          b.awaitPhase(b.barrier(C::multiplied(lastTile, C::Slices - 1)),
                       folded >> lastTile & 1);
        multiplyQueries(tile);
      }
      multiplyWeights(tile);
      folded ^= any ? 1 << lastTile : 0;
      lastTile = tile;
      any = true;
    }
  }

  /// Until a slice of the values multiplied before is folded and, with the
  /// first one, the sums of their weights.
  KV_BODY void awaitFold(int slice) {
    if (any)
      b.awaitPhase(b.barrier(C::folded(lastTile, slice)),
                   folded >> lastTile & 1);
  }

  static KV_BODY int placeBehind(int place) {
    return place == C::ScorePlaces - 1 ? 0 : place + 1;
  }
  /// Whether a tile of rows is the last one that reads a tile of the ring.
  KV_BODY bool isLast(int tile) const { return tile == tiles - 1; }
  /// Its products were the last to read that tile.
  KV_BODY void releaseTile(RingCursor<C::Stages> &cursor) {
    b.commitTensor(b.barrier(C::empty(cursor.stage)));
    cursor.move(2);
  }
  template <class OperandA>
  KV_BODY void multiply(TensorAddress to, OperandA a, TensorDescriptor with,
                        Major major, int columns, bool accumulates) {
    b.template multiplyTensor<TensorKindOf<typename C::Product>>(
        to, a, with, instruction<C, TensorLanes>(major, columns), accumulates);
  }

  /// The scores of a tile of rows with the next keys.
  KV_BODY void multiplyQueries(int tile) {
    if (tile == 0)
      b.awaitPhase(b.barrier(C::full(keys.stage)), keys.phase);
    b.fenceAfter();
    TensorAddress scores = memory.behind(scorePlace * C::ScoreColumns);
    TensorDescriptor q = operandAt<C>(b, OffsetOf<C, slot::Queries> +
                                             tile * TensorLanes * SlabRowBytes);
    TensorDescriptor k =
        operandAt<C>(b, OffsetOf<C, slot::Ring> + keys.stage * C::TileBytes);
    KV_UNROLL for (int d = 0; d < C::KeySteps; ++d) {
      constexpr int SlabSteps = SlabRowBytes / C::StepBytes;
      int within = d % SlabSteps * C::StepBytes, slab = d / SlabSteps;
      multiply(scores, q.behind(slab * C::QuerySlabBytes + within),
               k.behind(slab * C::SlabBytes + within), Major::K, C::Leaf,
               d > 0);
    }
    b.commitTensor(b.barrier(C::scored(scorePlace)));
    scorePlace = placeBehind(scorePlace);
    if (isLast(tile))
      releaseTile(keys);
  }

  /// A tile's weights with the next values, and their sums, a part as soon as
  /// its weights are there.
  KV_BODY void multiplyWeights(int tile) {
    TensorAddress weights = memory.behind(weightPlace * C::ScoreColumns);
    weightPlace = placeBehind(weightPlace);
    KV_UNROLL for (int part = 0; part < C::WeightParts; ++part) {
      const bool last = part == C::WeightParts - 1;
      b.awaitPhase(b.barrier(C::weighed(tile, part)), weighed >> tile & 1);
      if (part == 0 && tile == 0)
        b.awaitPhase(b.barrier(C::full(values.stage)), values.phase);
      b.fenceAfter();
      sumWeights(weights, part);
      KV_UNROLL for (int slice = 0; slice < C::Slices; ++slice) {
        // The sums that were there are folded.
        if (part == 0 && slice > 0) {
          awaitFold(slice);
          b.fenceAfter();
        }
        multiplySlice(weights, tile, part, slice);
        if (last)
          b.commitTensor(b.barrier(C::multiplied(tile, slice)));
      }
    }
    weighed ^= 1 << tile;
    if (isLast(tile))
      releaseTile(values);
  }

  /// The sums of a part of the weights.
  KV_BODY void sumWeights(TensorAddress weights, int part) {
    constexpr int Steps = C::Leaf / C::StepElements / C::WeightParts;
    TensorDescriptor ones =
        encodeTensor({b.sharedAddress(OffsetOf<C, slot::Ones>), 0, AtomBytes});
    KV_UNROLL for (int k = part * Steps; k < (part + 1) * Steps; ++k)
      multiply(weights.behind(C::Sums),
               weights.behind(C::weightsOf(k * C::StepElements)), ones,
               Major::K, C::SumColumns, k > 0);
  }
  KV_BODY void multiplySlice(TensorAddress weights, int tile, int part,
                             int slice) {
    constexpr int Steps = C::Leaf / C::StepElements / C::WeightParts;
    TensorAddress to = memory.behind(C::valuesOf(tile, slice));
    TensorDescriptor v =
        operandAt<C>(b, OffsetOf<C, slot::Ring> + values.stage * C::TileBytes +
                            slice * C::SlabBytes);
    KV_UNROLL for (int k = part * Steps; k < (part + 1) * Steps; ++k) {
      constexpr int StepAtoms = C::StepElements / AtomRows;
      multiply(to, weights.behind(C::weightsOf(k * C::StepElements)),
               v.behind(k * StepAtoms * AtomBytes), Major::Other,
               C::SliceColumns, k > 0);
    }
  }

  B &b;
  const TileParams &p;
  const TensorAddress memory;
  RingCursor<C::Stages> keys, values{1};
  int scorePlace = 0, weightPlace = 0;
  int asked = 0;
  int tiles = 0;               // of the unit, that have rows
  int weighed = 0, folded = 0; // one bit per tile: the parity of its next phase
  bool any = false;            // values were multiplied before,
  int lastTile = 0;            // of this tile
};

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTION_TCGEN05_TENSORISSUER_H
