//===- Rows.h - The rows of a unit ------------------------------*- C++ -*-===//

#ifndef KV_KERNELS_CUDA_ATTENTION_COMMON_ROWS_H
#define KV_KERNELS_CUDA_ATTENTION_COMMON_ROWS_H

#include "Works.h"
#include "kernels/cuda/parameters/Latent.h"

namespace kv::cuda {

/// Which rows of which KV head a block computes: packed rows of a sequence, of
/// which a token has as many as query heads share the KV head.
template <Block B, class C> class Rows {
public:
  KV_BODY Rows(B &b, const AttentionParams &p) : b(b), p(p) {}

  KV_BODY void see(const kv::plan::Work &work, const kv::plan::Tile &tile,
                   const kv::plan::Sequence &sequence) {
    head = work.head;
    firstRow = tile.row;
    if constexpr (PartBlocks<C> > 1)
      firstRow += b.clusterRank() * C::Rows;
    firstToken = int32_t(sequence.token);
    liveRows = int32_t(kv::plan::lesser<int64_t>(
        C::Rows, sequence.added * p.shape.group - firstRow));
  }
  /// The same from memory: leaves need the registers more.
  KV_BODY void seeAgain(const kv::plan::Work &work) {
    const kv::plan::Tile tile = b.load(p.tiles + late(work.tile));
    see(work, tile, sequenceOf(p, tile.sequence));
  }

  /// The keys that a row sees.
  KV_BODY IntPair visible(const kv::plan::Sequence &sequence, int row) const {
    kv::plan::Keys seen = kv::plan::visibleKeys<HasChunks<C>>(
        p.shape.mask, p.shape.window,
        sequence.cached + p.shape.group.quotient(firstRow + row),
        sequence.length);
    return {int32_t(kv::plan::lesser<int64_t>(seen.first, INT32_MAX)),
            int32_t(seen.last)};
  }
  /// The path of a row of a tree, whose window `seen` begins where that says.
  KV_BODY uint64_t pathOf(const kv::plan::Sequence &sequence, int row,
                          IntPair &seen) const {
    int token = p.shape.group.quotient(firstRow + row);
    kv::plan::TreeNode node =
        kv::plan::nodeAt(sequence.cached, sequence.added, token,
                         b.load(p.ancestors + firstToken + token));
    kv::plan::Keys keys = kv::plan::visibleKeys<HasChunks<C>>(
        p.shape.mask, p.shape.window, node.position, sequence.length);
    seen.x = int32_t(kv::plan::lesser<int64_t>(keys.first, seen.y));
    return node.path();
  }

  KV_BODY int64_t tokenOf(int row) const {
    return firstToken + p.shape.group.quotient(firstRow + row);
  }
  KV_BODY int queryHeadOf(int row) const {
    return head * p.shape.group + p.shape.group.remainder(firstRow + row);
  }
  /// Where a row's result begins, in elements.
  KV_BODY int64_t outPlace(int row) const {
    return tokenOf(row) * p.outTokenStride + queryHeadOf(row) * p.outHeadStride;
  }

  /// The part of the plan, which this block may have with others.
  KV_BODY int part() const { return b.block() / PartBlocks<C>; }
  /// Rows of the tile that blocks before this one have. A tile begins at a
  /// multiple of all of them.
  KV_BODY int rowsBefore() const {
    return firstRow & (PartBlocks<C> - 1) * C::Rows;
  }
  static_assert((PartBlocks<C> & (PartBlocks<C> - 1)) == 0 &&
                (PartBlocks<C> == 1 || (C::Rows & (C::Rows - 1)) == 0));

  /// Whether a row tile has rows of accumulators 0, 1 (side 0) or 2, 3: most
  /// decode steps have at most eight rows, and need half of the work.
  KV_BODY bool hasRows(int side) const {
    return C::RowTiles > 1 || LatentRows<C> || side == 0 || liveRows > 8;
  }

  B &b;
  const AttentionParams &p;
  int32_t head, firstToken, firstRow, liveRows;
};

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTION_COMMON_ROWS_H
