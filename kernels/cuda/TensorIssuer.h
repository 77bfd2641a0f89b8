//===- TensorIssuer.h - The thread that multiplies --------------*- C++ -*-===//

#ifndef KV_KERNELS_CUDA_TENSORISSUER_H
#define KV_KERNELS_CUDA_TENSORISSUER_H

#include "AttentionTensor.h"
#include "Body.h"
#include "Faults.h"
#include "Unit.h"

namespace kv::cuda {

/// Issues the products of a block's part, by one thread.
template <TensorBlock B, class C, Fault F> class TensorIssuer {
  using Work = kv::plan::Work;

public:
  KV_BODY TensorIssuer(B &b, const TileParams &p, TensorAddress memory)
      : b(b), p(p), memory(memory), values(1) {}

  KV_BODY void run() {
    forEachWork(b, p, [&](const Work &work, const kv::plan::Tile &) {
      if (work.leafBegin < work.leafEnd)
        multiplyUnit(2 * (work.leafEnd - work.leafBegin));
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
  /// A tile of the ring: keys and values take turns.
  struct Cursor {
    int stage, phase = 0;
    KV_BODY explicit Cursor(int stage) : stage(stage) {}
    KV_BODY void move(int count) {
      stage += count;
      if (stage >= C::Stages) {
        stage -= C::Stages;
        phase ^= 1;
      }
    }
  };

  KV_BODY void multiplyUnit(int count) {
    b.awaitPhase(b.barrier(C::Asked), asked);
    asked ^= 1;
    multiplyQueries(0);
    multiplyQueries(1);
    KV_UNROLL_BY(1)
    for (int n = 0; n < count; ++n) {
      const int tile = n & 1;
      awaitFold(1 - tile, 0);
      // While the weights of this tile are still computed, to where the other
      // one's were.
      if (n + 2 < count) {
        if (C::Slices > 1 && F != Fault::MissingSliceWait && any)
          b.awaitPhase(b.barrier(C::multiplied(1 - tile, C::Slices - 1)),
                       folded >> (1 - tile) & 1);
        multiplyQueries(tile);
      }
      multiplyWeights(tile);
      folded ^= any ? 1 << (1 - tile) : 0;
      any = true;
    }
  }

  /// Until a slice of a tile's last values is folded and, with the first one,
  /// the sums of their weights.
  KV_BODY void awaitFold(int tile, int slice) {
    if (F != Fault::MissingFoldWait && any)
      b.awaitPhase(b.barrier(C::folded(tile, slice)), folded >> tile & 1);
  }

  KV_BODY TensorAddress nextPlace(int &place) const {
    TensorAddress at = memory.behind(place * C::ScoreColumns);
    constexpr int Places = F == Fault::ScoresTooEarly ? 2 : C::ScorePlaces;
    place = place == Places - 1 ? 0 : place + 1;
    return at;
  }
  KV_BODY TensorDescriptor operandAt(int offset) const {
    return encodeTensor({b.sharedAddress(offset), C::SlabBytes, AtomBytes});
  }
  /// The second tile's products were the last to read that tile of the ring.
  KV_BODY void releaseTile(Cursor &cursor) {
    b.commitTensor(b.barrier(C::empty(cursor.stage)));
    cursor.move(2);
  }

  /// The scores of a tile of rows with the next keys.
  KV_BODY void multiplyQueries(int tile) {
    if (tile == 0 && F != Fault::MissingTileWait)
      b.awaitPhase(b.barrier(C::full(keys.stage)), keys.phase);
    b.fenceAfter();
    TensorAddress scores = nextPlace(scorePlace);
    TensorDescriptor q = operandAt(
        C::Queries + (F == Fault::QueriesOfOtherRows ? 1 - tile : tile) *
                         TensorLanes * SlabRowBytes);
    TensorDescriptor k = operandAt(C::Ring + keys.stage * C::TileBytes);
    KV_UNROLL
    for (int d = 0; d < C::KeyDim / 16; ++d) {
      constexpr int SlabSteps = SlabRowBytes / 32;
      int within = d % SlabSteps * 32, slab = d / SlabSteps;
      b.multiplyTensor(scores, q.behind(slab * C::QuerySlabBytes + within),
                       k.behind(slab * C::SlabBytes + within),
                       instruction(Major::K, C::Leaf), d > 0);
    }
    b.commitTensor(b.barrier(C::scored(tile)));
    if (tile == 1)
      releaseTile(keys);
  }

  /// A tile's weights with the next values, and their sums, a part as soon as
  /// its weights are there.
  KV_BODY void multiplyWeights(int tile) {
    TensorAddress weights = nextPlace(weightPlace);
    KV_UNROLL
    for (int part = 0; part < C::WeightParts; ++part) {
      const bool last = part == C::WeightParts - 1;
      if (F != Fault::MissingPartWait || part == 0)
        b.awaitPhase(b.barrier(C::weighed(tile, part)), weighed >> tile & 1);
      if (part == 0 && tile == 0 && F != Fault::MissingTileWait)
        b.awaitPhase(b.barrier(C::full(values.stage)), values.phase);
      if constexpr (F != Fault::MissingIssuersFence)
        b.fenceAfter();
      sumWeights(weights, part);
      if (F == Fault::EarlyRelease && tile == 1 && part == 0)
        b.commitTensor(b.barrier(C::empty(values.stage)));
      KV_UNROLL
      for (int slice = 0; slice < C::Slices; ++slice) {
        // What the other tile had there is folded.
        if (part == 0 && slice > 0) {
          awaitFold(1 - tile, slice);
          b.fenceAfter();
        }
        multiplySlice(weights, tile, part, slice);
        if (last)
          b.commitTensor(b.barrier(C::multiplied(tile, slice)));
      }
    }
    weighed ^= 1 << tile;
    if (F == Fault::EarlyRelease && tile == 1)
      values.move(2);
    else if (tile == 1)
      releaseTile(values);
  }

  static constexpr int PartSteps = C::Leaf / 16 / C::WeightParts;

  /// The sums of a part of the weights.
  KV_BODY void sumWeights(TensorAddress weights, int part) {
    TensorDescriptor ones =
        encodeTensor({b.sharedAddress(C::Ones), 0, AtomBytes});
    KV_UNROLL
    for (int k = part * PartSteps; k < (part + 1) * PartSteps; ++k)
      b.multiplyTensor(weights.behind(C::Sums),
                       weights.behind(C::weightsOf(k * 16)), ones,
                       instruction(Major::K, C::SumColumns), k > 0);
  }
  KV_BODY void multiplySlice(TensorAddress weights, int tile, int part,
                             int slice) {
    TensorAddress to = memory.behind(
        C::Values + (C::Slices > 1 ? slice : tile) * C::SliceColumns);
    TensorDescriptor v =
        operandAt(C::Ring + values.stage * C::TileBytes + slice * C::SlabBytes);
    KV_UNROLL
    for (int k = part * PartSteps; k < (part + 1) * PartSteps; ++k) {
      int step = F == Fault::ValuesOneAtomShort && k ? k * 2 - 1 : k * 2;
      b.multiplyTensor(to, weights.behind(C::weightsOf(k * 16)),
                       v.behind(step * AtomBytes),
                       instruction(Major::Other, C::SliceColumns), k > 0);
    }
  }

  static KV_BODY constexpr TensorInstruction instruction(Major majorB,
                                                         int columns) {
    return encode(TensorProduct{std::is_same_v<typename C::Product, F16>,
                                majorB, columns});
  }

  B &b;
  const TileParams &p;
  const TensorAddress memory;
  Cursor keys{0}, values;
  int scorePlace = 0, weightPlace = 0;
  int asked = 0;
  int weighed = 0, folded = 0; // a bit a tile: the parity of its next phase
  bool any = false;            // values were multiplied before
};

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_TENSORISSUER_H
