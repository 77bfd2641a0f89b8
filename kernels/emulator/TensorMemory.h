//===- TensorMemory.h - Tensor memory, watched ------------------*- C++ -*-===//
//
// Words of 128 lanes and 512 columns. Loads, stores and products run next to
// the threads. A later access must have awaited an earlier one. In another
// warp, an arrival after fenceBefore() must tell of it, and the access must
// come after fenceAfter(). A warp's lanes of a column are one part, which
// remembers who wrote it last and who has read it since.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_EMULATOR_TENSORMEMORY_H
#define KV_KERNELS_EMULATOR_TENSORMEMORY_H

#include "Products.h"
#include "kernels/block/TensorLayout.h"

namespace kv::cuda {

class TensorMemory {
public:
  TensorMemory(Machine &machine, ThreadClocks &clocks)
      : machine(machine), clocks(clocks) {}

  void reset(int threads);
  /// All threads have left.
  void finish();

  /// By the lanes of a warp together; each waits for the others.
  void allocate(int thread, int offset, int columns, unsigned line);
  void relinquish(int thread, unsigned line);
  void free(int thread, TensorAddress address, int columns, unsigned line);
  /// The registers are NaN until a wait names them. As fragments they are of
  /// the first half of the warp's lanes, as groupFragmentC says.
  void load(int thread, TensorAddress address, float *registers, int count,
            bool fragments, unsigned line);
  void store(int thread, TensorAddress address, const uint32_t *registers,
             int count, unsigned line);
  void awaitLoads(int thread, const NamedRegisters *named, int count,
                  unsigned line);
  void awaitStores(int thread, unsigned line);

  void fenceBefore(int thread);
  void fenceAfter(int thread);
  /// Says what a thread waits for.
  std::string waitsFor(int thread) const;

  // Members that products call, which a thread of a warpgroup issues.

  /// Who touched a part: a warp, or the products of a warpgroup.
  enum class Kind { Load, Store, Product };
  struct Access {
    Kind kind;
    int actor;
    Moment moment; // of the actor's
    Moment at = 0; // and when that was for the warp's first thread
  };
  /// All lanes of some columns; false, and a report, where they are not
  /// allocated.
  bool areAllocated(const std::string &who, int column, int columns);
  /// A product reads or writes the columns, and comes only after accesses that
  /// it knows of. `follows` says that it need not know of an access, because it
  /// runs after it.
  void readByProduct(int thread, Moment product, int column, int columns);
  template <class Function>
  void writeByProduct(int thread, Moment product, int column, int columns,
                      Function follows);
  /// Who wrote a column last, or null.
  const Access *writer(int column) const {
    const MemoryPart &part = parts[column];
    return part.written ? &part.writer : nullptr;
  }
  uint32_t &word(int lane, int column) {
    return words[size_t(lane) * TensorColumns + column];
  }
  /// Index of a group's products in the knowledge that a phase of an mbarrier
  /// passes on.
  int productIndex(int group) const { return 2 * clocks.threads() + group; }

private:
  static constexpr int Quarters = TensorLanes / WarpReach;

  struct MemoryPart {
    bool written = false;
    Access writer{};
    std::vector<Access> readers; // since then
  };
  struct Loaded {
    float *registers;
    std::vector<float> values;
    unsigned line;
  };
  struct Thread {
    std::vector<Loaded> loads; // not awaited yet
    Moment done[2] = {0, 0};   // loads, stores that it awaited: the warp's
    ClockVector view;          // what the last fenceAfter() showed
    const uint32_t *words;     // of the request in flight
    float *registers;
    TensorAddress address;
  };
  struct Warp {
    int waiting = 0;
    unsigned line = 0, lines[32] = {};
    bool mixed = false;
    Moment accesses = 0;
  };
  struct Allocation {
    int column, columns;
  };

  static std::string warpName(int warp) {
    return "warp " + std::to_string(warp);
  }
  static std::string columnsName(int column, int columns) {
    return "columns " + std::to_string(column) + " to " +
           std::to_string(column + columns - 1) + " of tensor memory";
  }
  MemoryPart &part(int quarter, int column) {
    return parts[quarter * TensorColumns + column];
  }
  /// Whether this is the last thread of its warp to come; it then acts for all
  /// and calls release(). The others return when it has.
  bool meet(int thread, unsigned line);
  void release(int thread);
  /// Whether the lanes name one address, of lanes that the warp reaches, and of
  /// allocated columns.
  bool agree(int warp, int count, const char *what);
  void access(int warp, Kind kind, int count);
  /// Whether a thread that acts now comes after an access.
  bool isBehind(int thread, const Access &before) const;
  bool isIn(const ClockVector &view, const Access &before) const;
  void checkBehind(int thread, const std::string &what, const Access &before,
                   int column);
  static std::string nameOf(const Access &access);

  Machine &machine;
  ThreadClocks &clocks;
  std::vector<uint32_t> words;
  std::vector<MemoryPart> parts; // a quarter's columns, in order
  std::vector<Thread> threads;
  std::vector<Warp> warps;
  std::vector<Allocation> allocations;
  bool used = false, relinquished = false;
};

template <class Function>
void TensorMemory::writeByProduct(int thread, Moment product, int column,
                                  int columns, Function follows) {
  int group = thread / GroupThreads;
  for (int q = 0; q < Quarters; ++q)
    for (int c = column; c < column + columns; ++c) {
      MemoryPart &each = part(q, c);
      if (each.written && !follows(each.writer))
        checkBehind(thread, "a product writes", each.writer, c);
      for (const Access &reader : each.readers)
        checkBehind(thread, "a product writes", reader, c);
      each.written = true;
      each.writer = {Kind::Product, group, product};
      each.readers.clear();
    }
}

} // namespace kv::cuda

#endif // KV_KERNELS_EMULATOR_TENSORMEMORY_H
