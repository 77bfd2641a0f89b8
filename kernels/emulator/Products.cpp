//===- Products.cpp - wgmma -----------------------------------------------===//

#include "Products.h"
#include "Machine.h"
#include "kernels/emulator/base/ProductRegisters.h"

using namespace kv::cuda;

namespace {

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

} // namespace

void Products::report(int thread, const std::string &text) {
  machine.report("thread " + std::to_string(thread) + " " + text);
}

void Products::reset() {
  threads.assign(clocks.threads(), ProductThread());
  byGroup.clear();
  byGroup.resize((clocks.threads() + GroupThreads - 1) / GroupThreads);
}

void Products::finish() {
  for (int t = 0; t < int(threads.size()); ++t) {
    const ProductThread &thread = threads[t];
    if (!thread.open.empty())
      return report(t, "leaves with a product that is in no group");
    if (!thread.groups.empty())
      return report(t, "leaves with products under way");
  }
}

void Products::fence(int t, const NamedRegisters *named, int count) {
  ProductThread &thread = threads[t];
  thread.fenced = ++thread.time;
  if (!count)
    return; // what an earlier one named has to be as it was
  thread.atFence.resize(count);
  for (int i = 0; i < count; ++i) {
    auto *words = static_cast<const uint32_t *>(named[i].words);
    thread.atFence[i].registers = words;
    thread.atFence[i].words.assign(words, words + named[i].count);
  }
}

void Products::checkFenced(int t, const void *registers, int count,
                           const char *what, unsigned line) {
  for (const Fenced &fenced : threads[t].atFence) {
    // For other registers, `first` is some number.
    intptr_t first = (reinterpret_cast<intptr_t>(registers) -
                      reinterpret_cast<intptr_t>(fenced.registers)) /
                     intptr_t(sizeof(uint32_t));
    if (first < 0 || first + count > intptr_t(fenced.words.size()))
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
  ProductThread &thread = threads[t];
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
  ProductThread &thread = threads[t];
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
  else if (touched && request.accumulates && request.fencesName)
    checkFenced(t, request.sums, count, "the accumulator", request.line);
  if (!sums) {
    sums = &thread.sums.emplace_back();
    sums->registers = request.sums;
  }
  sums->values.assign(request.sums, request.sums + count);
}

void Products::checkRegistersA(int t, const ProductRequest &request) {
  ProductThread &thread = threads[t];
  RegistersA *found = nullptr;
  for (RegistersA &a : thread.registersA)
    if (a.registers == request.registersA)
      found = &a;
  if (!found || !areWords(request.registersA, found->words, 4)) {
    if (thread.fenced <= (found ? found->used : 0))
      report(t, "needs fenceProducts() before " + atLine(request.line) +
                    ": A's registers were touched since the last one");
    else if (request.fencesName)
      checkFenced(t, request.registersA, 4, "A's registers", request.line);
  }
  if (!found) {
    found = &thread.registersA.emplace_back();
    found->registers = request.registersA;
  }
  std::copy_n(request.registersA, 4, found->words);
  found->used = ++thread.time;
}

void Products::issue(int number) {
  ProductGroup &group = byGroup[number];
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
  ProductThread &thread = threads[t];
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
  ProductThread &thread = threads[t];
  for (; int(thread.groups.size()) > pending; thread.groups.pop_front())
    for (Moment number : thread.groups.front())
      completeProduct(t, number);
  int number = t / GroupThreads;
  clocks.change(t).seen[clocks.groupActor(number)] = thread.complete;
  for (int i = 0; i < count; ++i)
    finishSums(t, named[i]);
  ProductGroup &group = byGroup[number];
  while (!group.products.empty() &&
         group.products.front().waited == GroupThreads) {
    group.products.pop_front();
    ++group.first;
  }
}
