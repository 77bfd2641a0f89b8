//===- PlanBody.h - A step's plan, made on the device -----------*- C++ -*-===//
//
// plan/Plan.h's makePlan by one block, with the same result: a captured graph
// makes its plan anew from the lengths of the step, and no length leaves the
// device.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_CUDA_PLANBODY_H
#define KV_KERNELS_CUDA_PLANBODY_H

#include "Body.h"
#include "Faults.h"
#include "Movers.h"
#include "StepErrors.h"

namespace kv::cuda {

/// The sums of `count` and `cost` over the threads before this one; the two
/// become the sums over all threads.
template <class B, Fault F>
KV_BODY void sumBefore(B &b, int64_t &count, int64_t &cost, int64_t &counts,
                       int64_t &costs) {
  auto sums = b.template shared<int64_t>(0, 4 * MoverThreads);
  int t = b.thread(), from = 0;
  sums.store(t, count);
  sums.store(MoverThreads + t, cost);
  for (int distance = 1; distance < MoverThreads; distance *= 2) {
    b.sync();
    int64_t a = sums.load(from + t), c = sums.load(from + MoverThreads + t);
    if (t >= distance) {
      a += sums.load(from + t - distance);
      c += sums.load(from + MoverThreads + t - distance);
    }
    from = 2 * MoverThreads - from;
    sums.store(from + t, a);
    sums.store(from + MoverThreads + t, c);
  }
  if constexpr (F != Fault::MissingStageBarrier)
    b.sync();
  counts = t ? sums.load(from + t - 1) : 0;
  costs = t ? sums.load(from + MoverThreads + t - 1) : 0;
  count = sums.load(from + MoverThreads - 1);
  cost = sums.load(from + 2 * MoverThreads - 1);
  b.sync();
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

template <class B, Fault F = Fault::None>
KV_BODY void planBody(B &b, const PlanParams &p) {
  using namespace kv::plan;
  int64_t room = maxTiles(p.shape, p.batch.sequences, p.batch.tokens);
  for (int32_t i = b.thread(); p.errors && i <= p.batch.sequences;
       i += MoverThreads)
    checkRowOffset(b, p, i);
  int64_t tilesBefore = 0, costBefore = 0;
  for (int32_t base = 0; base < p.batch.sequences; base += MoverThreads) {
    int32_t index = base + b.thread();
    Sequence sequence{};
    int64_t count = 0, cost = 0;
    if (index < p.batch.sequences) {
      sequence = sequenceAt(p.batch, index);
      count = tilesOf(p.shape, sequence);
      for (int64_t i = 0; i < count; ++i)
        cost +=
            unitCost(makeTile(p.shape, sequence, index, i, 0)) * p.shape.heads;
    }
    int64_t own = count, firstTile, start;
    sumBefore<B, F>(b, count, cost, firstTile, start);
    start += costBefore;
    for (int64_t i = 0; i < own; ++i) {
      int64_t place = tilesBefore + firstTile + i;
      if (place >= room)
        break;
      Tile tile = makeTile(p.shape, sequence, index, i, start);
      b.store(p.tiles + place, tile);
      start += unitCost(tile) * p.shape.heads;
    }
    tilesBefore += count;
    costBefore += cost;
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

#endif // KV_KERNELS_CUDA_PLANBODY_H
