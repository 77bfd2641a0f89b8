//===- Products.h - wgmma ---------------------------------------*- C++ -*-===//
//
// A product of a warpgroup reads its operands when it is issued, and they are
// compared when it is waited for: if an operand changed in between, the product
// may have read either value. The accumulators are NaN until a wait names them.
// No thread may touch them, or registers of A, while the product is in flight.
//
//===----------------------------------------------------------------------===//

#ifndef KV_KERNELS_EMULATOR_PRODUCTS_H
#define KV_KERNELS_EMULATOR_PRODUCTS_H

#include "Warpgroups.h"
#include "kernels/emulator/base/MatrixUnit.h"
#include "kernels/emulator/base/OrderedWords.h"

#include <deque>

namespace kv::cuda {

/// A NaN of which accumulators consist while they must not be touched. The NaN
/// signals, so arithmetic makes it quiet, which is seen as well.
constexpr uint32_t UnfinishedSum = 0x7fa5a5a5;
/// Whether a value comes from one, or from another with its upper half: the
/// lower half may say which sum.
constexpr bool isUnfinished(uint32_t word) {
  constexpr uint32_t Quiet = 0x00400000, Sign = 0x80000000;
  return ((word & ~Sign) | Quiet) >> 16 == (UnfinishedSum | Quiet) >> 16;
}
/// The NaN of accumulators that are not read any more (forget).
constexpr uint32_t ForgottenSum = 0x7fc3c3c3;

/// A product, as a thread asks for it.
struct ProductRequest {
  float *sums;                // tiles * 4
  int tiles;                  // of eight columns
  const uint32_t *registersA; // four, or null
  Descriptor a, b;
  Major majorB;
  bool accumulates;
  MatrixElement element;
  unsigned line;
  bool fencesName = true; // fences say which registers they are for
};

/// Registers that a wait or a fence names.
struct NamedRegisters {
  void *words;
  int count;
};

class Products {
public:
  Products(Machine &machine, ThreadClocks &clocks, OrderedWords &words,
           Warpgroups &groups)
      : machine(machine), clocks(clocks), words(words), groups(groups) {}

  void reset();
  /// All threads have left.
  void finish();
  void fence(int thread, const NamedRegisters *named, int count);
  void multiply(int thread, const ProductRequest &request);
  void commit(int thread);
  void await(int thread, int pending, const NamedRegisters *named, int count);

private:
  /// A product of a warpgroup.
  struct Product {
    ProductRequest what[GroupThreads];
    // Its operands' pairs, or fours of 8 bits, as they were read: A's [64][8],
    // B's [8][8 tiles].
    std::vector<uint32_t> a, b;
    bool complete = false;
    int waited = 0; // threads that waited for it
  };
  struct ProductGroup {
    std::deque<Product> products; // those that not all have waited for
    Moment first = 1;             // the number of the first of them
    ProductRequest requests[GroupThreads];
  };
  /// Registers that products add to, as far as they are known.
  struct Sums {
    float *registers;
    std::vector<float> values; // what they will be
    Moment last = 0;           // the product that makes them so
    bool unfinished = false;   // they are NaN, as no wait named them
    uint64_t touched = 0;      // since when its thread may touch them
  };
  struct RegistersA {
    const uint32_t *registers;
    uint32_t words[4]; // what they were at their last product
    uint64_t used = 0; // when that was
  };
  /// The values of registers that the last fence names.
  struct Fenced {
    const uint32_t *registers;
    std::vector<uint32_t> words;
  };
  struct ProductThread {
    uint64_t time = 0;   // counts fences, products and waits
    uint64_t fenced = 0; // when the last fence was
    std::vector<Fenced> atFence;
    std::vector<Sums> sums;
    std::vector<RegistersA> registersA;
    std::vector<Moment> open;               // products in no group yet
    std::deque<std::vector<Moment>> groups; // committed
    Moment complete = 0;                    // up to this product
  };

  Product &product(int group, Moment number) {
    return byGroup[group].products[number - byGroup[group].first];
  }
  Sums *findSums(int thread, const float *registers);
  void issue(int group);
  /// Whether all threads ask for one thing.
  bool agree(int group);
  /// Whether registers that were touched are named by the last fence and as
  /// they were then; says so, if not.
  void checkFenced(int thread, const void *registers, int count,
                   const char *what, unsigned line);
  void checkSums(int thread, const ProductRequest &request);
  void checkRegistersA(int thread, const ProductRequest &request);
  /// The operands as they are now; of a product that is issued words are
  /// checked, and NaN where it does not see them.
  void readOperands(int group, const Product &product, Moment issued,
                    std::vector<uint32_t> &a, std::vector<uint32_t> &b);
  void compute(int group, const Product &product, Moment number);
  void completeProduct(int thread, Moment number);
  void finishSums(int thread, const NamedRegisters &named);
  void report(int thread, const std::string &text);

  Machine &machine;
  ThreadClocks &clocks;
  OrderedWords &words;
  Warpgroups &groups;
  std::vector<ProductGroup> byGroup;
  std::vector<ProductThread> threads;
};

} // namespace kv::cuda

#endif // KV_KERNELS_EMULATOR_PRODUCTS_H
