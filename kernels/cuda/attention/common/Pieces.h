//===- Pieces.h - What parts leave of units that they share -----*- C++ -*-===//

#ifndef KV_KERNELS_CUDA_ATTENTION_COMMON_PIECES_H
#define KV_KERNELS_CUDA_ATTENTION_COMMON_PIECES_H

#include "Rows.h"

namespace kv::cuda {

/// Places of a piece in scratch: the values of all rows of the tile, then
/// (maximum, sum) of each. Rows are this block's.
template <Block B, class C> class Pieces {
public:
  KV_BODY explicit Pieces(const AttentionParams &p) : p(p) {}

  KV_BODY float *values(const Rows<B, C> &rows, int64_t slot, int row) const {
    return p.scratch + slot * int64_t(C::SlotFloats) +
           (rows.rowsBefore() + row) * C::HeadDim;
  }
  KV_BODY const FloatQuad *quad(const Rows<B, C> &rows, int32_t slot, int row,
                                int quad) const {
    return reinterpret_cast<const FloatQuad *>(values(rows, slot, row)) + quad;
  }
  KV_BODY FloatPair *state(const Rows<B, C> &rows, int64_t slot,
                           int row) const {
    float *piece = p.scratch + slot * int64_t(C::SlotFloats);
    return reinterpret_cast<FloatPair *>(piece +
                                         PartBlocks<C> * C::Rows * C::HeadDim) +
           (rows.rowsBefore() + row);
  }

private:
  const AttentionParams &p;
};

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_ATTENTION_COMMON_PIECES_H
