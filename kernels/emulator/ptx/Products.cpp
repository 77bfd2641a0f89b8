//===- Products.cpp - wgmma and tcgen05 -----------------------------------===//
//
// What runs beside a thread writes to an Accumulator, and not to its frame:
// registers hold marks until a wait, so a mov may rename them as compilers do.
// A mark is a NaN that the machine knows as one of an unfinished sum.
//
//===----------------------------------------------------------------------===//

#include "Program.h"

using namespace kv::ptx;
using namespace kv::cuda;

namespace {

constexpr uint32_t FirstMark = UnfinishedSum & 0xffff0000;
constexpr uint32_t MostMarks = UnfinishedSum & 0xffff;

bool isMark(uint32_t word) {
  return word >= FirstMark && word < FirstMark + MostMarks;
}

/// One that nothing under way writes, of so many words.
Accumulator &acquire(ThreadState &t, int count, bool loads) {
  uint32_t next = FirstMark;
  for (Accumulator &each : t.accumulators) {
    if (!each.busy && int(each.count) == count && each.loads == loads) {
      each.busy = true;
      return each;
    }
    next = each.firstMark + each.count;
  }
  if (next + count > FirstMark + MostMarks)
    t.report(t.current, "has more accumulators under way than are modelled");
  return t.accumulators.emplace_back(std::make_unique<float[]>(count),
                                     uint32_t(count), next, loads, true, 0);
}

void mark(const Operation *op, ThreadState &t, const Accumulator &sums,
          int first) {
  for (uint32_t i = 0; i < sums.count; ++i)
    t.put(t.place(op, first + i), sums.firstMark + i);
}

/// Registers get what accumulators hold that nothing writes any more.
void settle(ThreadState &t) {
  for (uint32_t at : t.program->unfinished) {
    uint32_t word = t.get<uint32_t>(at);
    if (!isMark(word))
      continue;
    for (const Accumulator &each : t.accumulators)
      if (!each.busy && word - each.firstMark < each.count)
        t.put(at, each.words[word - each.firstMark]);
  }
}

/// The accumulators for which `ends` says that nothing writes them any more.
std::vector<NamedRegisters> finish(ThreadState &t, auto ends) {
  std::vector<NamedRegisters> named;
  for (Accumulator &each : t.accumulators)
    if (each.busy && ends(each)) {
      named.push_back({each.words.get(), int(each.count)});
      each.busy = false;
    }
  return named;
}

/// That which the sums of a product are already, or a new one with their
/// values.
Accumulator &accumulatorOf(const Operation *op, ThreadState &t) {
  int count = op->count;
  uint32_t first = t.operand<uint32_t>(op, 0);
  for (Accumulator &each : t.accumulators) {
    if (!each.busy || each.firstMark != first || int(each.count) != count)
      continue;
    bool whole = true;
    for (int i = 1; i < count; ++i)
      whole &= t.operand<uint32_t>(op, i) == first + i;
    if (whole)
      return each;
    t.report(op, "touched the accumulator of a product under way");
  }
  Accumulator &sums = acquire(t, count, /*loads=*/false);
  for (int i = 0; i < count; ++i)
    sums.words[i] = t.operand<float>(op, i);
  return sums;
}

/// wgmma {sums}, a, b, accumulates, sign of a, of b, transposes...
template <MatrixElement E>
const Operation *multiply(const Operation *op, ThreadState &t) {
  t.current = op;
  bool registers = op->vectors & 2;
  int n = op->count, b = n + (registers ? 4 : 1);
  const uint32_t *words = nullptr;
  if (registers) {
    auto &a = t.registersA[op];
    for (int i = 0; i < 4; ++i)
      a[i] = t.operand<uint32_t>(op, n + i);
    words = a.data();
  }
  bool transposesA =
      !registers && op->arity > b + 5 && t.operand<int>(op, b + 4);
  int last = op->arity - 1;
  bool transposesB = op->arity > b + 4 && t.operand<int>(op, last);
  if (t.operand<int>(op, b + 2) != 1 || t.operand<int>(op, b + 3) != 1 ||
      transposesA)
    t.report(op, "negates or transposes an operand, which is not modelled");
  Accumulator &sums = accumulatorOf(op, t);
  sums.group = t.groups;
  Descriptor none{};
  t.async(op).products.multiply(
      t.self, {sums.words.get(), n / 4, words,
               registers ? none : Descriptor{t.operand<uint64_t>(op, n)},
               Descriptor{t.operand<uint64_t>(op, b)},
               transposesB ? Major::Other : Major::K,
               t.operand<bool>(op, b + 1), E, op->line, /*fencesName=*/false});
  mark(op, t, sums, 0);
  return op + 1;
}

const Operation *fence(const Operation *op, ThreadState &t) {
  t.async(op).products.fence(t.self, nullptr, 0);
  return op + 1;
}
const Operation *commit(const Operation *op, ThreadState &t) {
  t.async(op).products.commit(t.self);
  ++t.groups;
  return op + 1;
}
const Operation *await(const Operation *op, ThreadState &t) {
  int pending = t.operand<int>(op, 0);
  // Products see whether registers of A are as they were.
  for (auto &[product, words] : t.registersA)
    for (int i = 0; i < 4; ++i)
      words[i] = t.operand<uint32_t>(product, product->count + i);
  auto named = finish(t, [&](const Accumulator &each) {
    return !each.loads && each.group < t.groups - pending;
  });
  t.async(op).products.await(t.self, pending, named.data(), int(named.size()));
  settle(t);
  return op + 1;
}

//===--- tcgen05 ----------------------------------------------------------===//

const Operation *allocate(const Operation *op, ThreadState &t) {
  t.async(op).tensor.allocate(t.self, t.sharedAt(t.operand<uint32_t>(op, 0)),
                              t.operand<int>(op, 1), op->line);
  if (t.launch->ofTriton) // a box may lie over the word without a fence
    t.async(op).clocks.fence(t.self);
  return op + 1;
}
const Operation *relinquish(const Operation *op, ThreadState &t) {
  t.async(op).tensor.relinquish(t.self, op->line);
  return op + 1;
}
const Operation *release(const Operation *op, ThreadState &t) {
  t.async(op).tensor.free(t.self, {t.operand<uint32_t>(op, 0)},
                          t.operand<int>(op, 1), op->line);
  return op + 1;
}
const Operation *awaitLoads(const Operation *op, ThreadState &t) {
  auto named = finish(t, [](const Accumulator &each) { return each.loads; });
  t.async(op).tensor.awaitLoads(t.self, named.data(), int(named.size()),
                                op->line);
  settle(t);
  return op + 1;
}
template <bool Fragments>
const Operation *loadTensor(const Operation *op, ThreadState &t) {
  Accumulator &words = acquire(t, op->count, /*loads=*/true);
  t.async(op).tensor.load(t.self, {t.operand<uint32_t>(op, op->count)},
                          words.words.get(), op->count, Fragments, op->line);
  mark(op, t, words, 0);
  return t.launch->ofTriton ? awaitLoads(op, t) : op + 1;
}
const Operation *storeTensor(const Operation *op, ThreadState &t) {
  uint32_t words[128];
  int count = op->arity - 1;
  for (int i = 0; i < count; ++i)
    words[i] = t.operand<uint32_t>(op, 1 + i);
  t.async(op).tensor.store(t.self, {t.operand<uint32_t>(op, 0)}, words, count,
                           op->line);
  return op + 1;
}
const Operation *awaitStores(const Operation *op, ThreadState &t) {
  t.async(op).tensor.awaitStores(t.self, op->line);
  return op + 1;
}
/// [sums], a, b, instruction, accumulates; a is an address or a descriptor.
template <TensorKind K>
const Operation *multiplyTensor(const Operation *op, ThreadState &t) {
  bool fromTensor = op->addresses & 2;
  TensorAddress a{fromTensor ? t.operand<uint32_t>(op, 1) : 0};
  TensorDescriptor described{fromTensor ? 0 : t.operand<uint64_t>(op, 1)};
  t.async(op).tensorProducts.multiply(t.self, {{t.operand<uint32_t>(op, 0)},
                                               fromTensor,
                                               a,
                                               described,
                                               {t.operand<uint64_t>(op, 2)},
                                               K,
                                               {t.operand<uint32_t>(op, 3)},
                                               t.operand<bool>(op, 4),
                                               op->line});
  return op + 1;
}
const Operation *commitTensor(const Operation *op, ThreadState &t) {
  t.async(op).tensorProducts.commit(t.self,
                                    t.sharedAt(t.operand<uint32_t>(op, 0)));
  return op + 1;
}
const Operation *fenceBefore(const Operation *op, ThreadState &t) {
  t.async(op).tensor.fenceBefore(t.self);
  return op + 1;
}
const Operation *fenceAfter(const Operation *op, ThreadState &t) {
  t.async(op).tensor.fenceAfter(t.self);
  return op + 1;
}

} // namespace

void kv::ptx::addProductForms(Forms &forms) {
  std::string wgmma = "wgmma.mma_async.sync.aligned.m64n";
  for (int columns = 8; columns <= 256; columns += 8) {
    std::string n = wgmma + std::to_string(columns);
    forms[n + "k16.f32.bf16.bf16"] = {multiply<MatrixElement::Bf16>, "", true};
    forms[n + "k16.f32.f16.f16"] = {multiply<MatrixElement::F16>, "", true};
    forms[n + "k32.f32.e4m3.e4m3"] = {multiply<MatrixElement::F8E4M3>, "",
                                      true};
  }
  forms["wgmma.fence.sync.aligned"] = {fence, "", true};
  forms["wgmma.commit_group.sync.aligned"] = {commit, "", true};
  forms["wgmma.wait_group.sync.aligned"] = {await, "4", true};
}

void kv::ptx::addTensorForms(Forms &forms) {
  std::string t = "tcgen05.", one = ".cta_group::1", all = ".sync.aligned";
  for (const char *space : {".shared::cta.b32", ".b32"})
    forms[t + "alloc" + one + all + space] = {allocate, "44", true};
  forms[t + "relinquish_alloc_permit" + one + all] = {relinquish, "", true};
  forms[t + "dealloc" + one + all + ".b32"] = {release, "44", true};
  for (int count = 1; count <= 128; count *= 2) {
    std::string x = all + ".32x32b.x" + std::to_string(count) + ".b32";
    forms[t + "ld" + x] = {loadTensor<false>, "", true};
    forms[t + "st" + x] = {storeTensor, "", true};
  }
  forms[t + "ld" + all + ".16x256b.x8.b32"] = {loadTensor<true>, "", true};
  forms[t + "wait::ld" + all] = {awaitLoads, "", true};
  forms[t + "wait::st" + all] = {awaitStores, "", true};
  forms[t + "mma" + one + ".kind::f16"] = {multiplyTensor<TensorKind::F16>, "",
                                           true};
  forms[t + "mma" + one + ".kind::f8f6f4"] = {
      multiplyTensor<TensorKind::F8F6F4>, "", true};
  for (const char *space : {".shared::cluster", ""})
    forms[t + "commit" + one + ".mbarrier::arrive::one" + space + ".b64"] = {
        commitTensor, "", true};
  forms[t + "fence::before_thread_sync"] = {fenceBefore, "", true};
  forms[t + "fence::after_thread_sync"] = {fenceAfter, "", true};
}
