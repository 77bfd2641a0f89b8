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
      multiplyWeights(n & 1);
      if (n + 2 < count)
        multiplyQueries(n & 1);
    }
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

  /// A tile's weights with the next values, and their sums.
  KV_BODY void multiplyWeights(int tile) {
    b.awaitPhase(b.barrier(C::weighed(tile)), weighed >> tile & 1);
    weighed ^= 1 << tile;
    // What the other tile had there is folded.
    if (F != Fault::MissingFoldWait && any)
      b.awaitPhase(b.barrier(C::folded(1 - tile)), folded >> (1 - tile) & 1);
    folded ^= any ? 1 << (1 - tile) : 0;
    any = true;
    if (tile == 0 && F != Fault::MissingTileWait)
      b.awaitPhase(b.barrier(C::full(values.stage)), values.phase);
    if constexpr (F != Fault::MissingIssuersFence)
      b.fenceAfter();
    TensorAddress weights = nextPlace(weightPlace);
    TensorDescriptor ones =
        encodeTensor({b.sharedAddress(C::Ones), 0, AtomBytes});
    TensorDescriptor v = operandAt(C::Ring + values.stage * C::TileBytes);
    KV_UNROLL
    for (int k = 0; k < C::Leaf / 16; ++k)
      b.multiplyTensor(weights.behind(C::Sums), weights.behind(k * 8), ones,
                       instruction(Major::K, C::SumColumns), k > 0);
    if (F == Fault::EarlyRelease && tile == 1)
      releaseTile(values);
    KV_UNROLL
    for (int k = 0; k < C::Leaf / 16; ++k) {
      int step = F == Fault::ValuesOneAtomShort && k ? k * 2 - 1 : k * 2;
      b.multiplyTensor(memory.behind(C::Values), weights.behind(k * 8),
                       v.behind(step * AtomBytes),
                       instruction(Major::Other, C::HeadDim), k > 0);
    }
    b.commitTensor(b.barrier(C::multiplied(tile)));
    if (F != Fault::EarlyRelease && tile == 1)
      releaseTile(values);
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
