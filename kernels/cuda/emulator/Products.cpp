//===- Products.cpp - wgmma -----------------------------------------------===//

#include "Products.h"
#include "Machine.h"

#include <cstring>

using namespace kv::cuda;

namespace {

/// Registers are locals of a body, which may have left their scope.
__attribute__((no_sanitize("address"))) uint32_t wordAt(const void *registers,
                                                        int i) {
  return static_cast<const volatile uint32_t *>(registers)[i];
}

bool areWords(const void *registers, const void *words, int count) {
  for (int i = 0; i < count; ++i)
    if (wordAt(registers, i) != static_cast<const uint32_t *>(words)[i])
      return false;
  return true;
}

bool allUnfinished(const float *sums, int count) {
  for (int i = 0; i < count; ++i)
    if (wordAt(sums, i) != UnfinishedSum)
      return false;
  return true;
}

std::string atLine(unsigned line) {
  return "the product at line " + std::to_string(line);
}

} // namespace

void Products::report(int thread, const std::string &text) {
  machine.report("thread " + std::to_string(thread) + " " + text);
}

void Products::reset() {
  threads.assign(clocks.threads(), Thread());
  byGroup.clear();
  byGroup.resize((clocks.threads() + GroupThreads - 1) / GroupThreads);
}

void Products::finish() {
  for (int t = 0; t < int(threads.size()); ++t) {
    const Thread &thread = threads[t];
    if (!thread.open.empty())
      return report(t, "leaves with a product that is in no group");
    if (!thread.groups.empty())
      return report(t, "leaves with products under way");
  }
}

void Products::fence(int t, const NamedRegisters *named, int count) {
  Thread &thread = threads[t];
  thread.fenced = ++thread.time;
  thread.atFence.resize(count);
  for (int i = 0; i < count; ++i) {
    auto *words = static_cast<const uint32_t *>(named[i].words);
    thread.atFence[i].registers = words;
    thread.atFence[i].words.assign(words, words + named[i].count);
  }
}

void Products::checkFenced(int t, const void *registers, int count,
                           const char *what, unsigned line) {
  auto *words = static_cast<const uint32_t *>(registers);
  for (const Fenced &fenced : threads[t].atFence) {
    ptrdiff_t first = words - fenced.registers;
    if (std::less<>()(words, fenced.registers) ||
        first + count > ptrdiff_t(fenced.words.size()))
      continue;
    if (!areWords(registers, fenced.words.data() + first, count))
      report(t, std::string("touched ") + what +
                    " between fenceProducts() and " + atLine(line));
    return;
  }
  report(t, std::string("touched ") + what + ", which fenceProducts() before " +
                atLine(line) + " does not name");
}

void Products::commit(int t) {
  Thread &thread = threads[t];
  thread.groups.push_back(std::move(thread.open));
  thread.open.clear();
}

Products::Sums *Products::findSums(int thread, const float *registers) {
  for (Sums &sums : threads[thread].sums)
    if (sums.registers == registers)
      return &sums;
  return nullptr;
}

void Products::multiply(int thread, const ProductRequest &request) {
  int group = thread / GroupThreads;
  byGroup[group].requests[thread % GroupThreads] = request;
  if (!groups.meet(thread, GroupOperation::Multiply, request.line))
    return;
  issue(group);
  groups.release(group, thread);
}

bool Products::agree(int group) {
  const ProductRequest *all = byGroup[group].requests, &first = all[0];
  for (int t = 1; t < GroupThreads; ++t)
    if (all[t].a.bits != first.a.bits || all[t].b.bits != first.b.bits ||
        all[t].accumulates != first.accumulates) {
      report(group * GroupThreads + t,
             "asks for another descriptor or sum than its warpgroup in " +
                 atLine(first.line));
      return false;
    }
  for (auto [descriptor, used] :
       {std::pair(first.a, !first.registersA), std::pair(first.b, true)})
    if (used && !isUnderstood(descriptor)) {
      machine.report("a descriptor of " + atLine(first.line) +
                     " is not of rows of 128 bytes, swizzled, whose atoms "
                     "begin at multiples of 1024 bytes");
      return false;
    }
  return true;
}

void Products::checkSums(int t, const ProductRequest &request) {
  Thread &thread = threads[t];
  int count = request.tiles * 4;
  Sums *sums = findSums(t, request.sums);
  if (sums && sums->unfinished) {
    if (int(sums->values.size()) != count)
      report(t, "adds to an accumulator under way by a product of another "
                "shape: " +
                    atLine(request.line));
    else if (!allUnfinished(request.sums, count))
      report(t, "touched the accumulator of a product under way before " +
                    atLine(request.line));
    if (int(sums->values.size()) == count)
      return;
    sums->values.resize(count);
    return;
  }
  bool touched = !sums || int(sums->values.size()) != count ||
                 !areWords(request.sums, sums->values.data(), count);
  if (thread.fenced <= (sums ? sums->touched : 0))
    report(t, "needs fenceProducts() before " + atLine(request.line) +
                  ": its accumulator may have been touched since the last one");
  else if (touched && request.accumulates)
    checkFenced(t, request.sums, count, "the accumulator", request.line);
  if (!sums) {
    sums = &thread.sums.emplace_back();
    sums->registers = request.sums;
  }
  sums->values.assign(request.sums, request.sums + count);
}

void Products::checkRegistersA(int t, const ProductRequest &request) {
  Thread &thread = threads[t];
  RegistersA *found = nullptr;
  for (RegistersA &a : thread.registersA)
    if (a.registers == request.registersA)
      found = &a;
  if (!found || !areWords(request.registersA, found->words, 4)) {
    if (thread.fenced <= (found ? found->used : 0))
      report(t, "needs fenceProducts() before " + atLine(request.line) +
                    ": A's registers were touched since the last one");
    else
      checkFenced(t, request.registersA, 4, "A's registers", request.line);
  }
  if (!found) {
    found = &thread.registersA.emplace_back();
    found->registers = request.registersA;
  }
  std::copy_n(request.registersA, 4, found->words);
  found->used = ++thread.time;
}

void Products::readOperands(int group, const Product &product, Moment issued,
                            std::vector<uint32_t> &a,
                            std::vector<uint32_t> &b) {
  const ProductRequest &what = product.what[0];
  const Knowledge &known =
      clocks.knownToAll(group * GroupThreads, GroupThreads);
  bool good = true; // of many words that are wrong one is reported
  auto wordOf = [&](Operand operand, Major major, int other, int k) {
    int64_t offset =
        int64_t(elementAddress(operand, major, other, k)) - SharedBase;
    if (offset < 0 || offset + 4 > machine.sharedBytes()) {
      if (good && issued)
        machine.report("an operand of " + atLine(what.line) +
                       " leaves shared memory: byte " + std::to_string(offset) +
                       " of " + std::to_string(machine.sharedBytes()));
      good = false;
    }
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
  b.resize(8 * columns);
  Operand operand = decode(what.b);
  if (what.majorB == Major::K) {
    for (int column = 0; column < columns; ++column)
      for (int pair = 0; pair < 8; ++pair)
        b[pair * columns + column] =
            wordOf(operand, Major::K, column, pair * 2);
    return;
  }
  for (int pair = 0; pair < 8; ++pair)
    for (int column = 0; column < columns; column += 2) {
      uint32_t even = wordOf(operand, Major::Other, column, pair * 2),
               odd = wordOf(operand, Major::Other, column, pair * 2 + 1);
      b[pair * columns + column] = (even & 0xffff) | odd << 16;
      b[pair * columns + column + 1] = even >> 16 | (odd & 0xffff0000);
    }
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
      machine.matrixUnit().multiplyAdd(tile, what.f16);
      eachSum([](float sum, float &value) { value = sum; });
    }
  for (Sums *each : sums) {
    each->last = number;
    each->unfinished = true;
    std::fill_n(each->registers, each->values.size(),
                bitsAs<float>(UnfinishedSum));
  }
}

void Products::issue(int number) {
  Group &group = byGroup[number];
  if (!agree(number))
    return;
  Product &product = group.products.emplace_back();
  std::copy_n(group.requests, GroupThreads, product.what);
  Moment issued = group.first + Moment(group.products.size()) - 1;
  for (int t = 0; t < GroupThreads; ++t) {
    int thread = number * GroupThreads + t;
    ++threads[thread].time;
    checkSums(thread, product.what[t]);
    if (product.what[t].registersA)
      checkRegistersA(thread, product.what[t]);
    threads[thread].open.push_back(issued);
  }
  readOperands(number, product, issued, product.a, product.b);
  compute(number, product, issued);
}

void Products::completeProduct(int t, Moment number) {
  int group = t / GroupThreads;
  Product &done = product(group, number);
  const ProductRequest &own = done.what[t % GroupThreads];
  if (!done.complete) {
    done.complete = true;
    std::vector<uint32_t> a, b;
    readOperands(group, done, /*issued=*/0, a, b);
    if (own.registersA)
      a = done.a; // whose threads look at their own
    if (a != done.a || b != done.b)
      machine.report("the operands of " + atLine(own.line) +
                     " changed before it was waited for");
  }
  if (own.registersA)
    for (int i = 0; i < 4; ++i) {
      Place place = groupFragmentA(t % GroupThreads, i, 0);
      if (wordAt(own.registersA, i) !=
          done.a[place.row * 8 + place.column / 2]) {
        report(t, "touched A's registers of " + atLine(own.line) +
                      " before it was waited for");
        break;
      }
    }
  ++done.waited;
  threads[t].complete = std::max(threads[t].complete, number);
}

void Products::finishSums(int t, const NamedRegisters &named) {
  Thread &thread = threads[t];
  auto *registers = static_cast<float *>(named.words);
  Sums *sums = findSums(t, registers);
  if (!sums || !sums->unfinished)
    return;
  if (sums->last > thread.complete) {
    int group = t / GroupThreads;
    bool open = !thread.open.empty() && thread.open.back() >= sums->last;
    return report(t, "waits for the accumulator of " +
                         atLine(product(group, sums->last).what[0].line) +
                         (open ? ", which is in no group: commitProducts() is "
                                 "missing"
                               : ", which the wait leaves under way: " +
                                     std::to_string(thread.groups.size()) +
                                     " groups may be pending"));
  }
  int count = std::min(int(sums->values.size()), named.count);
  if (!allUnfinished(registers, count))
    report(t, "touched an accumulator before it was waited for");
  std::copy_n(sums->values.begin(), count, registers);
  sums->unfinished = false;
  sums->touched = ++thread.time;
}

void Products::await(int t, int pending, const NamedRegisters *named,
                     int count) {
  Thread &thread = threads[t];
  for (; int(thread.groups.size()) > pending; thread.groups.pop_front())
    for (Moment number : thread.groups.front())
      completeProduct(t, number);
  int number = t / GroupThreads;
  clocks.change(t).seen[clocks.groupActor(number)] = thread.complete;
  for (int i = 0; i < count; ++i)
    finishSums(t, named[i]);
  Group &group = byGroup[number];
  while (!group.products.empty() &&
         group.products.front().waited == GroupThreads) {
    group.products.pop_front();
    ++group.first;
  }
}
