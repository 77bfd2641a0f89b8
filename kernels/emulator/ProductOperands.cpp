//===- ProductOperands.cpp - What a wgmma reads and computes --------------===//

#include "Machine.h"
#include "Products.h"
#include "kernels/emulator/base/OperandWords.h"
#include "kernels/emulator/base/ProductRegisters.h"

#include <cstring>

using namespace kv::cuda;

void Products::readOperands(int group, const Product &product, Moment issued,
                            std::vector<uint32_t> &a,
                            std::vector<uint32_t> &b) {
  const ProductRequest &what = product.what[0];
  const Knowledge &known =
      clocks.knownToAll(group * GroupThreads, GroupThreads);
  const int own = machine.partBegin(machine.rankOf(group * GroupThreads));
  bool good = true; // of many words that are wrong one is reported
  auto wordOf = [&](Operand operand, Major major, int other, int k) {
    // Descriptors are of the block's own shared memory.
    int64_t offset =
        int64_t(elementAddress(operand, major, other, k)) - SharedBase;
    if (offset < 0 || offset + 4 > machine.sharedBytes()) {
      if (good && issued)
        machine.report("an operand of " + atLine(what.line) +
                       " leaves shared memory: byte " + std::to_string(offset) +
                       " of " + std::to_string(machine.sharedBytes()));
      good = false;
    }
    offset += own;
    if (good && issued && machine.watches())
      good = words.readByProduct(known, clocks.groupActor(group), issued,
                                 int(offset));
    uint32_t word = 0xffffffff;
    if (good)
      std::memcpy(&word, machine.sharedData() + offset, sizeof(word));
    return word;
  };
  a.resize(GroupThreads / 2 * 8);
  if (what.registersA) {
    for (int t = 0; t < GroupThreads; ++t)
      for (int i = 0; i < 4; ++i) {
        Place place = groupFragmentA(t, i, 0);
        a[place.row * 8 + place.column / 2] =
            wordAt(product.what[t].registersA, i);
      }
  } else {
    Operand operand = decode(what.a);
    for (int row = 0; row < GroupThreads / 2; ++row)
      for (int pair = 0; pair < 8; ++pair)
        a[row * 8 + pair] = wordOf(operand, Major::K, row, pair * 2);
  }
  int columns = what.tiles * 8;
  Operand operand = decode(what.b);
  // Operands of 8 bits lie along K.
  readColumns(b, columns, what.majorB, /*elementBytes=*/2,
              [&](Major major, int column, int k) {
                return wordOf(operand, major, column, k);
              });
}

void Products::compute(int group, const Product &product, Moment number) {
  const ProductRequest &what = product.what[0];
  Sums *sums[GroupThreads];
  for (int t = 0; t < GroupThreads; ++t)
    sums[t] = findSums(group * GroupThreads + t, product.what[t].sums);
  int columns = what.tiles * 8;
  for (int warp = 0; warp < GroupWarps; ++warp)
    for (int n = 0; n < what.tiles; ++n) {
      MatrixTile tile;
      auto eachSum = [&](auto f) {
        for (int t = warp * WarpLanes; t < (warp + 1) * WarpLanes; ++t)
          for (int i = 0; i < 4; ++i) {
            Place place = groupFragmentC(t, n, i);
            f(tile.sums[place.row % 16 * 8 + place.column % 8],
              sums[t]->values[n * 4 + i]);
          }
      };
      std::memcpy(tile.a, product.a.data() + warp * 16 * 8, sizeof(tile.a));
      for (int pair = 0; pair < 8; ++pair)
        std::memcpy(tile.b + pair * 8,
                    product.b.data() + pair * columns + n * 8,
                    8 * sizeof(uint32_t));
      eachSum(
          [&](float &sum, float value) { sum = what.accumulates ? value : 0; });
      machine.multiplyAdd(tile, what.element, MatrixInstruction::Wgmma);
      eachSum([](float sum, float &value) { value = sum; });
    }
  for (Sums *each : sums) {
    each->last = number;
    each->unfinished = true;
    std::fill_n(each->registers, each->values.size(),
                bitsAs<float>(UnfinishedSum));
  }
}
