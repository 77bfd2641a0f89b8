//===- TileCopies.h - Boxes in flight ---------------------------*- C++ -*-===//
//
// A box is NaN from when a thread asks for it until it lands. A box lands when
// no thread can run any more. The schedule says which of several lands first.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_EMULATOR_TILECOPIES_H
#define KV_KERNELS_EMULATOR_TILECOPIES_H

#include "SharedBarriers.h"
#include "kernels/block/TensorMap.h"

namespace kv::cuda {

class TileCopies {
public:
  TileCopies(Machine &machine, OrderedWords &words, SharedBarriers &barriers)
      : machine(machine), words(words), barriers(barriers) {}

  void reset() { boxes.clear(); }
  void copy(int thread, const TensorMap *map, int offset, const TileAt &at,
            int barrier);
  bool canLand() const { return !boxes.empty(); }
  /// Lets one box land; false if none is in flight.
  bool land();
  /// All threads have left.
  void finish();

private:
  struct Box {
    int thread;
    TensorDescription tensor;
    int offset;
    TileAt at;
    int barrier;
  };

  void fill(const Box &box);

  Machine &machine;
  OrderedWords &words;
  SharedBarriers &barriers;
  std::vector<Box> boxes; // the oldest first
};

} // namespace kv::cuda

#endif // KV_KERNELS_EMULATOR_TILECOPIES_H
