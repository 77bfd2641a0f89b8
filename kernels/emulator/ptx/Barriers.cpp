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
const Operation *dropBarrier(const Operation *op, ThreadState &t) {
  t.async(op).barriers.invalidate(t.self, placeOf(op, t, 0));
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
  t.beforeSync(op);
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
  t.afterSync(op);
  t.put(t.place(op, 0), true);
  return op + 1;
}

/// The tensor map that the i-th operand names, or null and a report.
const TensorMap *mapAt(const Operation *op, ThreadState &t, int i) {
  auto address = t.operand<uint64_t>(op, i);
  const auto *map = reinterpret_cast<const TensorMap *>(address);
  bool found =
      t.isParameter(address, sizeof(TensorMap)) ||
      t.at(op).globalAllowed(t.self, map, sizeof(TensorMap), Access::Read);
  return found ? map : nullptr;
}

/// [target], [map, {coordinates}], [barrier], and perhaps blocks of the
/// cluster.
template <int Dims, bool Multicast>
const Operation *copyTile(const Operation *op, ThreadState &t) {
  TileAt from{};
  for (int d = 0; d < Dims; ++d)
    from.at[d] = t.operand<int>(op, 2 + d);
  int target = placeOf(op, t, 0), barrier = placeOf(op, t, 2 + Dims);
  const TensorMap *map = mapAt(op, t, 1);
  if (!map)
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

/// [map, {coordinates}], [source].
template <int Dims>
const Operation *storeTile(const Operation *op, ThreadState &t) {
  TileAt to{};
  for (int d = 0; d < Dims; ++d)
    to.at[d] = t.operand<int>(op, 1 + d);
  int source = placeOf(op, t, 1 + Dims);
  if (const TensorMap *map = mapAt(op, t, 0))
    t.async(op).boxes.store(t.self, map, source, to);
  return op + 1;
}
const Operation *commitTiles(const Operation *op, ThreadState &t) {
  t.async(op).boxes.commit(t.self);
  return op + 1;
}
const Operation *awaitTiles(const Operation *op, ThreadState &t) {
  t.async(op).boxes.await(t.self, t.operand<int>(op, 0));
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
    forms[b + "inval" + space] = {dropBarrier, "4", true};
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
              bytes = ".global.mbarrier::complete_tx::bytes",
              many = "d.shared::cluster" + bytes + ".multicast::cluster",
              out = "d.global.shared::cta.bulk_group";
  for (const char *space : {"d.shared::cluster", "d.shared::cta"}) {
    forms[copy + "2" + space + bytes] = {copyTile<2, false>, "", true};
    forms[copy + "3" + space + bytes] = {copyTile<3, false>, "", true};
    forms[copy + "4" + space + bytes] = {copyTile<4, false>, "", true};
  }
  forms[copy + "2" + out] = {storeTile<2>, "", true};
  forms[copy + "3" + out] = {storeTile<3>, "", true};
  forms[copy + "4" + out] = {storeTile<4>, "", true};
  forms["cp.async.bulk.commit_group"] = {commitTiles, "", true};
  forms["cp.async.bulk.wait_group"] = {awaitTiles, "4", true};
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
