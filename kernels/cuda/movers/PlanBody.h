//===- PlanBody.h - A step's plan, made on the device -----------*- C++ -*-===//
//
// plan/Plan.h's makePlan by one block, with the same result: a captured graph
// makes its plan anew from the lengths of the step, and no length leaves the
// device.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_MOVERS_PLANBODY_H
#define KV_KERNELS_CUDA_MOVERS_PLANBODY_H

#include "kernels/block/Body.h"
#include "kernels/cuda/parameters/Movers.h"
#include "kernels/cuda/parameters/StepErrors.h"

namespace kv::cuda {

/// The sum of `value` over the threads before this one; `value` becomes the sum
/// over all threads.
template <class B> KV_BODY int64_t sumBefore(B &b, int64_t &value) {
  auto sums = b.template shared<int64_t>(0, 2 * MoverThreads);
  int t = b.thread(), from = 0;
  sums.store(t, value);
  for (int distance = 1; distance < MoverThreads; distance *= 2) {
    b.sync();
    int64_t sum = sums.load(from + t);
    if (t >= distance)
      sum += sums.load(from + t - distance);
    from = MoverThreads - from;
    sums.store(from + t, sum);
  }
  b.sync();
  int64_t before = t ? sums.load(from + t - 1) : 0;
  value = sums.load(from + MoverThreads - 1);
  b.sync();
  return before;
}

/// Entry `index` of row_offsets against the one before, and the ends.
template <class B>
KV_BODY void checkRowOffset(B &b, const PlanParams &p, int32_t index) {
  int32_t offset = b.load(p.batch.rowOffsets + index);
  int32_t before = index ? b.load(p.batch.rowOffsets + index - 1) : 0;
  bool last = index == p.batch.sequences;
  if (offset < before || (index == 0 && offset != 0) ||
      (last && offset != p.batch.tokens))
    raiseStepError(b, p.errors, StepErrorKind::RowOffset, index, offset);
}

template <class B> KV_BODY void planBody(B &b, const PlanParams &p) {
  using namespace kv::plan;
  int64_t room = maxTiles(p.shape, p.batch.sequences, p.batch.tokens);
  for (int32_t i = b.thread(); p.errors && i <= p.batch.sequences;
       i += MoverThreads)
    checkRowOffset(b, p, i);
  // First each thread counts the tiles of one sequence. Then each thread makes
  // one tile, so that all threads share a long prompt.
  auto ends = b.template shared<int64_t>(2 * MoverThreads * 8, MoverThreads);
  int64_t tilesBefore = 0, costBefore = 0;
  for (int32_t base = 0; base < p.batch.sequences; base += MoverThreads) {
    int32_t own = base + b.thread();
    int64_t count = own < p.batch.sequences
                        ? tilesOf(p.shape, sequenceAt(p.batch, own))
                        : 0;
    int64_t tiles = count;
    ends.store(b.thread(), count + sumBefore(b, tiles));
    b.sync();
    for (int64_t first = 0; first < tiles && tilesBefore + first < room;
         first += MoverThreads) {
      int64_t i = first + b.thread(), cost = 0;
      Tile tile{};
      if (i < tiles) {
        int low = -1, high = MoverThreads - 1; // whose last tile is i or later
        while (high - low > 1) {
          int middle = (low + high) / 2;
          (ends.load(middle) > i ? high : low) = middle;
        }
        int64_t number = i - (high ? ends.load(high - 1) : 0);
        tile = makeTile(p.shape, sequenceAt(p.batch, base + high), base + high,
                        number, costBefore);
        cost = unitCost(tile) * p.shape.heads;
      }
      tile.start += sumBefore(b, cost);
      if (i < tiles && tilesBefore + i < room)
        b.store(p.tiles + tilesBefore + i, tile);
      costBefore += cost;
    }
    tilesBefore += tiles;
  }
  b.sync(); // all tiles are there
  Header header{0, 0, int32_t(lesser(tilesBefore, room))};
  if (header.tiles) {
    Tile last = b.load(p.tiles + header.tiles - 1);
    header.total = last.start + unitCost(last) * p.shape.heads;
  }
  header.payload = payloadOf(header.total, p.shape.parts);
  if (b.thread() == 0)
    b.store(p.header, header);
  for (int32_t part = b.thread(); part <= p.shape.parts; part += MoverThreads)
    b.store(p.cuts + part, partBegin(p.shape, header, p.tiles, part));
}

} // namespace kv::cuda

#endif // KV_KERNELS_CUDA_MOVERS_PLANBODY_H
