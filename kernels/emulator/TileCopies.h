//===- TileCopies.h - Boxes in flight ---------------------------*- C++ -*-===//
//
// A box is NaN from when a thread asks for it until it lands. A box lands when
// no thread can run any more. The schedule says which of several lands first.
// A box that a thread stores is written when the thread waits for it.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_EMULATOR_TILECOPIES_H
#define KV_KERNELS_EMULATOR_TILECOPIES_H

#include "SharedBarriers.h"
#include "kernels/block/TensorMap.h"
#include "kernels/emulator/base/GlobalMemory.h"

#include <map>

namespace kv::cuda {

class TileCopies {
public:
  TileCopies(Machine &machine, OrderedWords &words, SharedBarriers &barriers)
      : machine(machine), words(words), barriers(barriers) {}

  void reset() {
    boxes.clear();
    stores.clear();
  }
  void copy(int thread, const TensorMap *map, int offset, const TileAt &at,
            int barrier);
  /// The other way, in a group that the thread commits. Waits for all but
  /// `pending` of its groups.
  void store(int thread, const TensorMap *map, int offset, const TileAt &at);
  void commit(int thread) { ++stores[thread].groups; }
  void await(int thread, int pending);
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
    int barrier; // of one that is stored: its group
  };
  struct Stores {
    int groups = 0;
    std::vector<std::pair<Box, std::vector<unsigned char>>> boxes;
  };

  /// Whether a thread may copy a box, which becomes `box`.
  bool begin(int thread, const TensorMap *map, int offset, const TileAt &at,
             Box &box);
  /// Calls f(global memory or null, shared memory, bytes) for all parts of a
  /// box that lie together.
  template <class F> void forParts(const Box &box, Access access, F f);

  Machine &machine;
  OrderedWords &words;
  SharedBarriers &barriers;
  std::vector<Box> boxes;       // the oldest first
  std::map<int, Stores> stores; // by thread
};

} // namespace kv::cuda

#endif // KV_KERNELS_EMULATOR_TILECOPIES_H
