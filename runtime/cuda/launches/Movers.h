//===- Movers.h - How movers are launched -----------------------*- C++ -*-===//

#ifndef KV_RUNTIME_CUDA_LAUNCHES_MOVERS_H
#define KV_RUNTIME_CUDA_LAUNCHES_MOVERS_H

#include "Views.h"

#include <algorithm>

namespace kv::cuda {

/// Queues a mover with `items` items of work, of which a thread block handles
/// MoverThreads at a time. Movers loop over their items, so the grid may have
/// any size; thread blocks beyond a few for each multiprocessor would only
/// wait.
template <class Params>
void move(Call &call, size_t row, int64_t items, const Params &params) {
  constexpr int BlocksPerSM = 8;
  int64_t blocks = (items + MoverThreads - 1) / MoverThreads;
  if (blocks > 0)
    launch(call.state, row,
           std::min<int64_t>(blocks, call.multiprocessors() * BlocksPerSM),
           &params);
}

inline int64_t chunksOf(const Rows &rows) {
  return rows.count * (rows.width / kernels::RowChunk);
}

/// Whether both have as many rows of as many elements; if not, records an error
/// that names `argument`.
bool sameRows(Call &call, std::string_view argument, const Rows &a,
              const Rows &out);

/// Reads a, b and out of a mover of two operands. b may be one row for all of
/// a's: its stride is 0 then. Returns false, with an error in the call, unless
/// all have as many rows of as many elements.
bool pairedRows(Call &call, const KvTensorView &a, const KvTensorView &b,
                const KvTensorView &out, Rows &x, Rows &y, Rows &made);

/// Where rows of one layer of a cache lie, in a step of `tokens` rows; k and v
/// of the store are left as they are. Returns false, with an error in the call,
/// where kernels cannot find them.
bool placesOf(Call &call, const KvTensorView &blocks,
              const KvTensorView *scales, const KvTensorView &cacheLengths,
              const KvTensorView &lookupTable, const KvTensorView &rowOffsets,
              int64_t layer, int64_t tokens, Cache &cache,
              StoreScaledParams &scaled);

} // namespace kv::cuda

#endif // KV_RUNTIME_CUDA_LAUNCHES_MOVERS_H
