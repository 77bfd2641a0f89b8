//===- TensorScores.h - Scores of a row in tensor memory --------*- C++ -*-===//

#ifndef KV_KERNELS_CUDA_ATTENTION_TCGEN05_TENSORSCORES_H
#define KV_KERNELS_CUDA_ATTENTION_TCGEN05_TENSORSCORES_H

#include "TensorUnit.h"

namespace kv::cuda {

/// Weighs a row's scores of a leaf: they come from tensor memory, and their
/// weights go there.
template <class U> class TensorScores {
  using B = typename U::B;
  using C = typename U::C;
  /// Piece: the number of columns that are loaded at once. Pieces: the number
  /// of loads for a row of scores.
  static constexpr int Piece = C::Piece, Pieces = C::ScoreColumns / Piece;

public:
  KV_BODY explicit TensorScores(U &u) : place(u.tile()) {}

  /// `maximum` is the group's; returns how the leaf folds into it.
  KV_BODY kv::plan::Weights weigh(U &u, int leaf, float &groupMaximum) {
    B &b = u.b;
    b.awaitPhase(b.barrier(C::scored(place)), phase);
    b.fenceAfter();
    const TensorAddress scores = at(u);
    const int first = leaf * C::Leaf;
    if (b.anyLane(settles(u, first)))
      settleScores(u, scores, first);
    // From the last piece to the first, each loaded while the one before is
    // compared: the first two stay in registers until they are weighed.
    float pieces[2][Piece], largest = kv::plan::NoScore;
    b.loadTensor(pieces[(Pieces - 1) % 2], scores.behind((Pieces - 1) * Piece));
    KV_UNROLL for (int i = Pieces - 1; i >= 0; --i) {
      b.awaitLoads(pieces[i % 2]);
      if (i > 0)
        b.loadTensor(pieces[(i - 1) % 2], scores.behind((i - 1) * Piece));
      largest = largestOf(largest, pieces[i % 2]);
    }
    float maximum = largest * u.factor(), base = kv::plan::scoreBase(maximum);
    kv::plan::Weights weights = kv::plan::foldMaximum(groupMaximum, maximum);
    if constexpr (ByteProducts<C>) { // weights are 2^WeightLog times as large
      base -= WeightLog;
      weights.right =
          kv::plan::multiply(weights.right, 1.0f / (1 << WeightLog));
    }
    KV_UNROLL for (int i = 0; i < Pieces; ++i) {
      auto &piece = pieces[i % 2];
      if (i == 2) // and what is loaded after them
        b.awaitLoads(pieces);
      uint32_t words[Piece / C::WordWeights];
      KV_UNROLL for (int j = 0; j < Piece / C::WordWeights; ++j)
        words[j] = weightWord(u, piece + j * C::WordWeights, base);
      if (i + 2 < Pieces)
        b.loadTensor(piece, scores.behind((i + 2) * Piece));
      // Scores that lay there are no longer needed.
      b.storeTensor(scores.behind(C::weightsOf(i * Piece)), words);
      if ((i + 1) % (Pieces / C::WeightParts) == 0)
        announceWeights(u, (i + 1) / (Pieces / C::WeightParts) - 1);
      // Without this division, all powers would come before the first part is
      // passed on, and find no registers. A compiler asks once of a number;
      // another one divides where products take most of the time and should not
      // wait for more powers.
      divide(C::Slices > 1 && i == 1 ? u.p.tableColumns : int(u.p.layer));
    }
    return weights;
  }

  /// Where the scores of this leaf are, and the sums of their weights.
  KV_BODY TensorAddress at(U &u) const {
    return u.ownTensor().behind(place * C::ScoreColumns);
  }
  /// Moves on by `places` places, to this tile's next scores.
  KV_BODY void move(int places) {
    const int at = place + places;
    phase ^= at / C::ScorePlaces & 1;
    place = at % C::ScorePlaces;
  }

private:
  /// Whether scores of this row cannot be weighed as they are.
  static KV_BODY bool settles(U &u, int first) {
    const IntPair seen = u.sight().seen;
    return u.scale.comesFirst ||
           (u.row() < u.rows.liveRows &&
            (first < seen.x || first > seen.y - C::Leaf ||
             (u.p.ancestors && first + C::Leaf > seen.y - KV_TREE_ROWS)));
  }
  /// Scales and masks scores of this row of keys from `first` on, where they
  /// lie: seldom, so that what weighs has no branch.
  static KV_BODY void settleScores(U &u, TensorAddress at, int first) {
    KV_UNROLL_BY(1)
    for (int i = 0; i < C::ScoreColumns; i += Piece) {
      float scores[Piece];
      u.b.loadTensor(scores, at.behind(i));
      u.b.awaitLoads(scores);
      settlePiece(u, scores, first + i);
      KV_UNROLL for (int half = 0; half < Piece; half += Piece / 2) {
        uint32_t words[Piece / 2];
        KV_UNROLL for (int j = 0; j < Piece / 2; ++j)
          words[j] = bitsAs<uint32_t>(scores[half + j]);
        u.b.storeTensor(at.behind(i + half), words);
      }
    }
    u.b.awaitStores();
  }
  static KV_BODY void settlePiece(U &u, float (&scores)[Piece], int first) {
    const auto [seen, path] = u.sight();
    if (u.scale.comesFirst) {
      float before = u.scale.before() * u.scale.scoreFactor(u.row());
      KV_UNROLL for (float &score : scores)
        score = kv::plan::multiply(score, before);
      if (u.p.softcap > 0) KV_UNROLL
        for (float &score : scores)
          score = kv::plan::multiply(hyperbolicTangent(score), u.p.softcap);
    }
    if (first < seen.x || first > seen.y - Piece) KV_UNROLL
      for (int i = 0; i < Piece; ++i)
        if (first + i < seen.x || first + i >= seen.y)
          scores[i] = kv::plan::NoScore;
    if (u.p.ancestors && first + Piece > seen.y - KV_TREE_ROWS) KV_UNROLL
      for (int i = 0; i < Piece; ++i) {
        int behind = seen.y - 1 - (first + i);
        if (uint32_t(behind) < KV_TREE_ROWS &&
            !(path >> (KV_TREE_ROWS - 1 - behind) & 1))
          scores[i] = kv::plan::NoScore;
      }
  }

  /// Weights of neighbouring keys.
  static KV_BODY uint32_t weightWord(U &u, const float *scores, float base) {
    float w[C::WordWeights];
    KV_UNROLL for (int i = 0; i < C::WordWeights; i += 2) {
      FloatPair two = u.b.fusedMultiplyAdd(
          {scores[i], scores[i + 1]}, {u.factor(), u.factor()}, {-base, -base});
      w[i] = kv::plan::powerOfTwo(two.x);
      w[i + 1] = kv::plan::powerOfTwo(two.y);
    }
    if constexpr (ByteProducts<C>) {
      return narrowFour<typename C::Product>(w[0], w[1], w[2], w[3]);
    } else {
      return narrowPair<typename C::Product>(w[0], w[1]);
    }
  }

  /// The largest of a piece and `largest`, in short chains.
  static KV_BODY float largestOf(float largest, const float (&piece)[Piece]) {
    constexpr int Chains = 4;
    float chain[Chains] = {largest, piece[1], piece[2], piece[3]};
    chain[0] = kv::plan::larger(chain[0], piece[0]);
    KV_UNROLL for (int i = Chains; i < Piece; ++i)
      chain[i % Chains] = kv::plan::larger(chain[i % Chains], piece[i]);
    return kv::plan::larger(kv::plan::larger(chain[0], chain[1]),
                            kv::plan::larger(chain[2], chain[3]));
  }

  /// That a part of the weights is there.
  static KV_BODY void announceWeights(U &u, int part) {
    u.b.awaitStores();
    u.b.fenceBefore();
    u.b.arriveAt(u.b.barrier(C::weighed(u.tile(), part)));
  }

  int place, phase = 0; // of this tile's next scores
};

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTION_TCGEN05_TENSORSCORES_H
