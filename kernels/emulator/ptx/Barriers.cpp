//===- Barriers.cpp - mbarriers, fences, tile copies, control -------------===//

#include "Program.h"
#include "kernels/emulator/base/Earlier.h"

#include <bit>

using namespace kv::ptx;
using namespace kv::cuda;

namespace {

/// The byte that the i-th operand, an address, means.
int placeOf(const Operation *op, ThreadState &t, int i) {
  return t.clusterAt(op, t.operand<uint32_t>(op, i));
}

const Operation *initBarrier(const Operation *op, ThreadState &t) {
  t.async(op).barriers.init(t.self, placeOf(op, t, 0), t.operand<int>(op, 1));
  return op + 1;
}
const Operation *fenceBarriers(const Operation *op, ThreadState &t) {
  t.async(op).barriers.fenceInit(t.self);
  return op + 1;
}
const Operation *fenceAsync(const Operation *op, ThreadState &t) {
  t.async(op).clocks.fence(t.self);
  return op + 1;
}
/// mbarrier.arrive state, [place], count.
const Operation *arriveBarrier(const Operation *op, ThreadState &t) {
  int count = op->arity > 2 ? t.operand<int>(op, 2) : 1;
  for (int i = 0, place = placeOf(op, t, 1); i < count; ++i)
    t.async(op).barriers.arrive(t.self, place);
  return op + 1;
}
const Operation *expectBytes(const Operation *op, ThreadState &t) {
  t.async(op).barriers.expectBytes(t.self, placeOf(op, t, 1),
                                   t.operand<int>(op, 2));
  return op + 1;
}
/// Waits for as long as it takes.
const Operation *awaitBarrier(const Operation *op, ThreadState &t) {
  t.async(op).barriers.awaitPhase(t.self, placeOf(op, t, 1),
                                  t.operand<int>(op, 2));
  t.put(t.place(op, 0), true);
  return op + 1;
}

/// [target], [map, {coordinates}], [barrier], and perhaps blocks of the
/// cluster.
template <int Dims, bool Multicast>
const Operation *copyTile(const Operation *op, ThreadState &t) {
  auto address = t.operand<uint64_t>(op, 1);
  TileAt from{};
  for (int d = 0; d < Dims; ++d)
    from.at[d] = t.operand<int>(op, 2 + d);
  int target = placeOf(op, t, 0), barrier = placeOf(op, t, 2 + Dims);
  const auto *map = reinterpret_cast<const TensorMap *>(address);
  if (!t.isParameter(address, sizeof(TensorMap)) &&
      !t.machine->globalAllowed(t.self, map, sizeof(TensorMap), Access::Read))
    return op + 1;
  AsyncBlock &async = t.async(op);
  if constexpr (!Multicast) {
    async.boxes.copy(t.self, map, target, from, barrier);
  } else {
    auto blocks = t.operand<uint16_t>(op, 3 + Dims);
    for (int to = 0; blocks >> to; ++to)
      if (int distance = t.machine->partBegin(to) - t.begin;
          blocks >> to & 1 && async.cluster.touch(t.self, to))
        async.boxes.copy(t.self, map, target + distance, from,
                         barrier + distance);
  }
  return op + 1;
}

template <bool Up>
const Operation *setRegisters(const Operation *op, ThreadState &t) {
  t.async(op).registers.change(t.self, t.operand<int>(op, 0), Up, op->line);
  return op + 1;
}

const Operation *awaitEarlier(const Operation *op, ThreadState &) {
  return EarlyRun::passWait() ? op + 1 : nullptr;
}
const Operation *nothing(const Operation *op, ThreadState &) { return op + 1; }
const Operation *leave(const Operation *, ThreadState &) { return nullptr; }
const Operation *trap(const Operation *op, ThreadState &t) {
  t.report(op, "comes to a trap");
  return nullptr;
}

const Operation *branch(const Operation *op, ThreadState &t) {
  if (++t.branches > t.launch->mostBranches) [[unlikely]] {
    t.report(op, "has taken " + std::to_string(t.launch->mostBranches) +
                     " branches, and goes no further");
    return nullptr;
  }
  return t.program->operations.data() + op->target;
}
template <bool When>
const Operation *branchIf(const Operation *op, ThreadState &t) {
  return t.get<bool>(op->at[0]) == When ? branch(op, t) : op + 1;
}

// A vector as one register, and back.
uint64_t joinWords(uint32_t low, uint32_t high) {
  return low | uint64_t(high) << 32;
}
uint32_t joinHalves(uint16_t low, uint16_t high) {
  return low | uint32_t(high) << 16;
}
template <class T, class Half>
const Operation *split(const Operation *op, ThreadState &t) {
  T x = t.get<T>(op->at[2]);
  t.put(op->at[0], Half(x));
  t.put(op->at[1], Half(x >> sizeof(Half) * 8));
  return op + 1;
}

} // namespace

void kv::ptx::addBarrierForms(Forms &forms) {
  for (const char *space : {".shared::cta.b64", ".shared.b64"}) {
    std::string b = "mbarrier.";
    forms[b + "init" + space] = {initBarrier, "44", true};
    for (const char *order : {"", ".release.cta"}) {
      forms[b + "arrive" + order + space] = {arriveBarrier, "", true};
      forms[b + "arrive.expect_tx" + order + space] = {expectBytes, "", true};
    }
    for (const char *wait : {"try_wait", "test_wait"})
      for (const char *order : {"", ".acquire.cta"})
        forms[b + wait + ".parity" + order + space] = {awaitBarrier, "", true};
  }
  for (const char *scope : {"cta", "cluster"})
    forms["mbarrier.arrive.release." + std::string(scope) +
          ".shared::cluster.b64"] = {arriveBarrier, "", true};
  forms["fence.mbarrier_init.release.cluster"] = {fenceBarriers, "", true};
  forms["fence.proxy.async.shared::cta"] = {fenceAsync, "", true};
  std::string copy = "cp.async.bulk.tensor.",
              rest = "d.shared::cluster.global.mbarrier::complete_tx::bytes",
              many = rest + ".multicast::cluster";
  forms[copy + "2" + rest] = {copyTile<2, false>, "", true};
  forms[copy + "3" + rest] = {copyTile<3, false>, "", true};
  forms[copy + "4" + rest] = {copyTile<4, false>, "", true};
  forms[copy + "4" + many] = {copyTile<4, true>, "", true};
  forms["setmaxnreg.inc.sync.aligned.u32"] = {setRegisters<true>, "4", true};
  forms["setmaxnreg.dec.sync.aligned.u32"] = {setRegisters<false>, "4", true};
  forms["griddepcontrol.wait"] = {awaitEarlier, ""};
  forms["griddepcontrol.launch_dependents"] = {nothing, ""};
  forms["nanosleep.u32"] = {nothing, "4"};
  forms["ret"] = forms["exit"] = {leave, ""};
  forms["trap"] = {trap, ""};
  // Translation says `if` and `unless` where there is a guard.
  forms["bra"] = forms["bra.uni"] = {branch, ""};
  forms["if"] = {branchIf<true>, ""};
  forms["unless"] = {branchIf<false>, ""};
  // And which side of a mov is a vector.
  forms["join.b64"] = pure<joinWords>();
  forms["join.b32"] = pure<joinHalves>();
  forms["split.b64"] = {split<uint64_t, uint32_t>, "448"};
  forms["split.b32"] = {split<uint32_t, uint16_t>, "224"};
}

const Forms &kv::ptx::allForms() {
  static const Forms forms = [] {
    Forms made;
    for (auto *add :
         {addIntegerForms, addFloatForms, addConversionForms, addAccessForms,
          addWarpForms, addBarrierForms, addProductForms, addTensorForms})
      add(made);
    return made;
  }();
  return forms;
}
