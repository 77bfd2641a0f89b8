//===- PlanCase.h - Random batches and their plans --------------*- C++ -*-===//

#ifndef KV_TEST_KERNELS_PLANCASE_H
#define KV_TEST_KERNELS_PLANCASE_H

#include "kv/Definition/Plan.h"

#include <random>
#include <vector>

namespace kv::plan::test {

/// A batch with its plan.
struct Planned {
  std::vector<int32_t> cached, offsets;
  Shape shape;
  Batch batch;
  std::vector<Tile> tiles;
  std::vector<Cut> cuts;
  Header header;

  void make() {
    batch.cacheLengths = cached.data();
    batch.rowOffsets = offsets.data();
    batch.sequences = cached.size();
    tiles.resize(maxTiles(shape, batch.sequences, batch.tokens));
    cuts.resize(shape.parts + 1);
    header = makePlan(shape, batch, tiles.data(), cuts.data());
  }
};

/// A random batch: short and long, decode and prefill, and now and then
/// lengths that no host would send.
inline Planned randomPlan(std::mt19937 &random) {
  auto below = [&](int64_t n) -> int64_t { return random() % n; };
  Planned p;
  Shape &s = p.shape;
  s.heads = 1 + below(4);
  s.group = 1 + below(9);
  s.tileRows = below(2) ? 16 : 64;
  s.leaf = below(2) ? GpuLeaf : CpuLeaf;
  s.mask = below(5);
  int64_t windows[] = {1, 7, 128, 1000, INT64_MAX};
  s.window = windows[below(5)];
  s.rowsFrom = 0;
  s.rowsTo = INT64_MAX;
  if (below(4) == 0)
    (below(2) ? s.rowsFrom : s.rowsTo) = 1 + below(64);
  s.parts = 1 + below(below(2) ? 8 : 300);
  int64_t length = int64_t(1) << below(16);
  int64_t sequences = below(8), tokens = 0;
  bool hostile = below(16) == 0;
  for (int64_t b = 0; b < sequences; ++b) {
    int64_t added = below(3) ? below(3) : below(400);
    p.offsets.push_back(hostile && below(3) == 0 ? int32_t(random()) : tokens);
    p.cached.push_back(hostile && below(3) == 0 ? int32_t(random())
                                                : below(length));
    tokens += added;
  }
  p.offsets.push_back(tokens);
  p.batch.tokens = tokens;
  p.batch.capacity = hostile ? 1 + below(2 * length) : 2 * length + 512;
  p.make();
  // Enough for any cut, or so little that some must not be made.
  s.slots = below(2) ? slotsFor(p.header.payload) : 2 * below(40);
  p.make();
  return p;
}

} // namespace kv::plan::test

#endif // KV_TEST_KERNELS_PLANCASE_H
