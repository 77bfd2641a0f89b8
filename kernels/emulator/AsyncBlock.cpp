//===- AsyncBlock.cpp - Hardware that runs next to threads ----------------===//

#include "AsyncBlock.h"
#include "Machine.h"

using namespace kv::cuda;

AsyncBlock::AsyncBlock(Machine &machine)
    : words(clocks,
            [&machine](std::string text) { machine.report(std::move(text)); }),
      barriers(machine, clocks, words), boxes(machine, words, barriers),
      named(machine, clocks), groups(machine),
      products(machine, clocks, words, groups), registers(machine, groups),
      cluster(machine, clocks, words), tensor(machine, clocks),
      tensorProducts(machine, clocks, words, barriers, tensor),
      machine(machine) {}

void AsyncBlock::reset(int threads, int sharedBytes, const LaunchShape &shape) {
  clocks.reset(threads, shape.cluster);
  words.reset(sharedBytes);
  barriers.reset(sharedBytes);
  boxes.reset();
  named.reset(shape.cluster);
  groups.reset(threads);
  products.reset();
  registers.reset(shape);
  cluster.reset();
  tensor.reset(threads);
  tensorProducts.reset();
}

void AsyncBlock::finish() {
  boxes.finish();
  barriers.finish();
  named.finish();
  products.finish();
  cluster.finish();
  tensorProducts.finish();
  tensor.finish();
}

bool AsyncBlock::land() {
  if (tensorProducts.canLand() && (!boxes.canLand() || machine.choose(2))) {
    tensorProducts.land();
    return true;
  }
  return boxes.land();
}

std::string AsyncBlock::waitsFor(int thread) const {
  for (const std::string &text :
       {barriers.waitsFor(thread), named.waitsFor(thread),
        registers.waitsFor(thread), groups.waitsFor(thread),
        tensor.waitsFor(thread)})
    if (!text.empty())
      return text;
  return {};
}
