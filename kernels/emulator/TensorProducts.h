//===- TensorProducts.h - tcgen05.mma ---------------------------*- C++ -*-===//
//
// A product that one thread issues reads its operands then, and is looked at
// again when it is complete, which is as late as possible: when no thread can
// run any more, or never, if it was not committed. Its sums in tensor memory
// are NaN until then. Only products of one shape with the same sums are known
// to run in the order in which they are issued.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_EMULATOR_TENSORPRODUCTS_H
#define KV_KERNELS_EMULATOR_TENSORPRODUCTS_H

#include "SharedBarriers.h"
#include "TensorMemory.h"

namespace kv::cuda {

/// A product, as a thread asks for it.
struct TensorRequest {
  TensorAddress d;
  bool fromTensor; // where A is
  TensorAddress addressA;
  TensorDescriptor descriptorA, b;
  TensorKind kind;
  TensorInstruction instruction;
  bool accumulates;
  unsigned line;
};

class TensorProducts {
public:
  TensorProducts(Machine &machine, ThreadClocks &clocks, OrderedWords &words,
                 SharedBarriers &barriers, TensorMemory &memory)
      : machine(machine), clocks(clocks), words(words), barriers(barriers),
        memory(memory) {}

  void reset();
  /// All threads have left.
  void finish();
  void multiply(int thread, const TensorRequest &request);
  void commit(int thread, int barrier);
  /// Whether a commit is in flight; land() completes one.
  bool canLand() const;
  void land();

private:
  struct IssuedProduct {
    TensorRequest what;
    TensorProduct shape;
    Moment number;
    // Pairs, or fours of 8 bits: A's [rows][8], B's [8][columns].
    std::vector<uint32_t> a, b;
  };
  struct Commit {
    Moment last; // the product up to which it goes
    int barrier;
    Knowledge known; // that it passes on
  };
  /// The issued products of a warpgroup.
  struct TensorGroup {
    int issuer = -1;
    Moment count = 0, committed = 0;
    std::deque<IssuedProduct> products; // in flight
    /// Of all products, also complete ones: where the sums are, and how many
    /// columns.
    std::vector<std::pair<uint32_t, int>> sums;
    std::deque<Commit> commits;
  };

  bool isIssuer(int thread);
  /// Reads operands as they are now; when a product is issued, its words are
  /// checked.
  void readOperands(int thread, IssuedProduct &product, bool issued,
                    std::vector<uint32_t> &a, std::vector<uint32_t> &b);
  void compute(const IssuedProduct &product);
  void complete(int group, IssuedProduct &product);
  float &sum(int lane, int column) {
    return sums[size_t(lane) * TensorColumns + column];
  }

  Machine &machine;
  ThreadClocks &clocks;
  OrderedWords &words;
  SharedBarriers &barriers;
  TensorMemory &memory;
  std::vector<TensorGroup> groups;
  std::vector<float> sums; // what tensor memory will be
};

} // namespace kv::cuda

#endif // KV_KERNELS_EMULATOR_TENSORPRODUCTS_H
