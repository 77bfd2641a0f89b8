//===- AsyncBlock.h - Hardware that runs next to threads --------*- C++ -*-===//
//
// The parts of a block whose warps have roles: clocks a thread, mbarriers,
// boxes, named barriers, a warpgroup's products and registers, tensor memory. A
// machine has one, which a launch uses that says how many registers its threads
// have.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_EMULATOR_ASYNCBLOCK_H
#define KV_KERNELS_EMULATOR_ASYNCBLOCK_H

#include "Cluster.h"
#include "NamedBarriers.h"
#include "Products.h"
#include "Registers.h"
#include "TensorProducts.h"
#include "TileCopies.h"

namespace kv::cuda {

struct AsyncBlock {
  explicit AsyncBlock(Machine &machine);

  /// A cluster of blocks begins, which have `threads` threads and `sharedBytes`
  /// bytes together.
  void reset(int threads, int sharedBytes, const LaunchShape &shape);
  /// Completes one copy, commit or product that runs next to the threads; false
  /// if none is in flight.
  bool land();
  /// All threads have left: what they left undone is reported.
  void finish();
  /// Says what a thread waits for; empty if for nothing.
  std::string waitsFor(int thread) const;

  ThreadClocks clocks;
  OrderedWords words;
  SharedBarriers barriers;
  TileCopies boxes;
  NamedBarriers named;
  Warpgroups groups;
  Products products;
  Registers registers;
  Cluster cluster;
  TensorMemory tensor;
  TensorProducts tensorProducts;

private:
  Machine &machine;
};

} // namespace kv::cuda

#endif // KV_KERNELS_EMULATOR_ASYNCBLOCK_H
