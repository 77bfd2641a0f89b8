//===- TensorMemory.cpp - Tensor memory, watched --------------------------===//

#include "TensorMemory.h"
#include "Machine.h"
#include "kernels/emulator/base/ProductRegisters.h"

#include <algorithm>

using namespace kv::cuda;

static std::string lineOf(unsigned line) {
  return " at line " + std::to_string(line);
}

void TensorMemory::reset(int count) {
  threads.assign(count, Thread());
  warps.assign((count + WarpLanes - 1) / WarpLanes, Warp());
  allocations.clear();
  used = relinquished = false;
}

void TensorMemory::finish() {
  for (const Allocation &each : allocations)
    machine.report("all have left with " +
                   columnsName(each.column, each.columns) + " allocated");
  for (size_t t = 0; t < threads.size(); ++t)
    if (!threads[t].loads.empty())
      return machine.report("thread " + std::to_string(t) +
                            " leaves without awaitLoads() behind its load" +
                            lineOf(threads[t].loads[0].line));
}

bool TensorMemory::meet(int thread, unsigned line) {
  Warp &warp = warps[thread / WarpLanes];
  if (warp.waiting == 0)
    warp.line = line;
  warp.mixed |= warp.line != line;
  warp.lines[thread % WarpLanes] = line;
  if (++warp.waiting == WarpLanes && !warp.mixed)
    return true;
  machine.yield();
  return false;
}

void TensorMemory::release(int thread) {
  int number = thread / WarpLanes;
  Warp &warp = warps[number];
  warp.waiting = 0;
  std::fill_n(warp.lines, WarpLanes, 0);
  for (int t = number * WarpLanes; t < (number + 1) * WarpLanes; ++t)
    if (t != thread)
      machine.resume(t);
}

std::string TensorMemory::waitsFor(int thread) const {
  const Warp &warp = warps[thread / WarpLanes];
  unsigned line = warp.lines[thread % WarpLanes];
  if (line == 0)
    return {};
  return "for its warp" + lineOf(line) + ", where " +
         std::to_string(warp.waiting) + " of 32 lanes use tensor memory" +
         (warp.mixed ? " in different ways" : "");
}

//===--- Who comes after whom ---------------------------------------------===//

std::string TensorMemory::nameOf(const Access &access) {
  switch (access.kind) {
  case Kind::Load:
    return "a load of " + warpName(access.actor);
  case Kind::Store:
    return "a store of " + warpName(access.actor);
  case Kind::Product:
    return "a product of warpgroup " + std::to_string(access.actor);
  }
  return {};
}

bool TensorMemory::isIn(const ClockVector &view, const Access &before) const {
  auto has = [&](int index) {
    return index < int(view.size()) && view[index] >= before.moment;
  };
  if (before.kind == Kind::Product)
    return has(productIndex(before.actor));
  for (int t = before.actor * WarpLanes; t < (before.actor + 1) * WarpLanes;
       ++t)
    if (!has(2 * t + (before.kind == Kind::Store)))
      return false;
  return true;
}

bool TensorMemory::isBehind(int thread, const Access &before) const {
  if (before.kind != Kind::Product && before.actor == thread / WarpLanes)
    return threads[thread].done[before.kind == Kind::Store] >= before.moment;
  return isIn(threads[thread].view, before);
}

void TensorMemory::checkBehind(int thread, const std::string &what,
                               const Access &before, int column) {
  if (!machine.watches() || isBehind(thread, before))
    return;
  const Knowledge &known = clocks.of(thread);
  bool own = before.kind != Kind::Product && before.actor == thread / WarpLanes;
  const char *why =
      own                            ? " before it awaited "
      : isIn(known.tensor, before)   ? " without fenceAfter() behind "
      : before.kind == Kind::Product ? " before it awaited a commit of "
      : known.seen[before.actor * WarpLanes] >= before.at
          ? ", not awaited and passed on by fenceBefore(), behind "
          : " unordered with ";
  machine.report("race: thread " + std::to_string(thread) + ", " + what +
                 " column " + std::to_string(column) + " of tensor memory" +
                 why + nameOf(before));
}

void TensorMemory::fenceBefore(int thread) {
  Knowledge &known = clocks.change(thread);
  known.tensor.resize(
      std::max(known.tensor.size(), size_t(2 * clocks.threads())));
  for (int kind : {0, 1})
    known.tensor[2 * thread + kind] = threads[thread].done[kind];
}

void TensorMemory::fenceAfter(int thread) {
  threads[thread].view = clocks.of(thread).tensor;
}

//===--- Loads and stores -------------------------------------------------===//

bool TensorMemory::agree(int warp, int count, const char *what) {
  TensorAddress address = threads[warp * WarpLanes].address;
  std::string who = warpName(warp);
  for (int l = 1; l < WarpLanes; ++l)
    if (threads[warp * WarpLanes + l].address.bits != address.bits) {
      machine.report("the lanes of " + who + " " + what +
                     " different addresses of tensor memory");
      return false;
    }
  int reach = warp % GroupWarps * WarpReach;
  if (address.lane() != reach) {
    machine.report(who + " " + what + " lanes of tensor memory from " +
                   std::to_string(address.lane()) +
                   " on; it reaches those from " + std::to_string(reach) +
                   " on");
    return false;
  }
  return areAllocated(who, address.column(), count);
}

void TensorMemory::access(int warp, Kind kind, int count) {
  bool store = kind == Kind::Store;
  int first = warp * WarpLanes, column = threads[first].address.column();
  Access own = {kind, warp, ++warps[warp].accesses, clocks.now(first)};
  const char *what = store ? "a store, writes" : "a load, reads";
  bool good = true;
  size_t before = machine.reports().size();
  Access last{}; // neighbours were touched together
  int behind = -1;
  auto check = [&](const Access &each, int c) {
    if (last.moment == each.moment && last.kind == each.kind &&
        last.actor == each.actor && behind == 1)
      return;
    for (int l = 0; l < WarpLanes && machine.reports().size() == before; ++l)
      checkBehind(first + l, what, each, c);
    last = each;
    behind = machine.reports().size() == before;
  };
  for (int c = column; c < column + count; ++c) {
    MemoryPart &each = part(warp % GroupWarps, c);
    if (each.written)
      check(each.writer, c);
    else if (!store && good) {
      machine.report(warpName(warp) + " loads column " + std::to_string(c) +
                     " of tensor memory, which nobody wrote");
      good = false;
    }
    if (store) {
      for (const Access &reader : each.readers)
        check(reader, c);
      each.written = true;
      each.writer = own;
      each.readers.clear();
    } else {
      std::erase_if(each.readers, [&](const Access &reader) {
        return reader.kind == Kind::Load && reader.actor == warp;
      });
      each.readers.push_back(own);
    }
  }
}

void TensorMemory::load(int thread, TensorAddress address, float *registers,
                        int count, bool fragments, unsigned line) {
  threads[thread].address = address;
  threads[thread].registers = registers;
  if (!meet(thread, line))
    return;
  int warp = thread / WarpLanes, columns = fragments ? count * 2 : count;
  if (agree(warp, columns, "loads")) {
    access(warp, Kind::Load, columns);
    for (int l = 0; l < WarpLanes; ++l) {
      Thread &each = threads[warp * WarpLanes + l];
      Loaded loaded{each.registers, std::vector<float>(count), line};
      for (int i = 0; i < count; ++i) {
        Place p = fragments ? fragmentC(l, i % 4) : Place{l, 0};
        p.column += fragments ? i / 4 * 8 : i;
        loaded.values[i] = bitsAs<float>(
            word(address.lane() + p.row, address.column() + p.column));
      }
      std::fill_n(each.registers, count, bitsAs<float>(UnfinishedSum));
      each.loads.push_back(std::move(loaded));
    }
  }
  release(thread);
}

void TensorMemory::awaitLoads(int t, const NamedRegisters *named, int count,
                              unsigned line) {
  if (meet(t, line))
    release(t);
  Thread &thread = threads[t];
  thread.done[0] = warps[t / WarpLanes].accesses;
  auto report = [&](const Loaded &loaded, const char *text) {
    machine.report("thread " + std::to_string(t) + text + lineOf(loaded.line));
  };
  for (Loaded &loaded : thread.loads) {
    int values = int(loaded.values.size());
    bool isNamed = false, touched = false;
    for (int i = 0; i < count; ++i) {
      auto *first = static_cast<float *>(named[i].words);
      isNamed |= first <= loaded.registers &&
                 loaded.registers + values <= first + named[i].count;
    }
    for (int i = 0; i < values; ++i)
      touched |= wordAt(loaded.registers, i) != UnfinishedSum;
    if (!isNamed) // they stay NaN
      report(loaded, " awaits, and does not name, the registers of its load");
    else if (touched)
      report(loaded, " touched registers before it awaited its load");
    else
      std::copy_n(loaded.values.begin(), values, loaded.registers);
  }
  thread.loads.clear();
}

void TensorMemory::store(int thread, TensorAddress address,
                         const uint32_t *registers, int count, unsigned line) {
  threads[thread].address = address;
  threads[thread].words = registers;
  if (!meet(thread, line))
    return;
  int warp = thread / WarpLanes;
  if (agree(warp, count, "stores")) {
    access(warp, Kind::Store, count);
    for (int l = 0; l < WarpLanes; ++l) {
      const uint32_t *from = threads[warp * WarpLanes + l].words;
      machine.checkFinished(warp * WarpLanes + l, from, count * 4);
      for (int i = 0; i < count; ++i)
        word(address.lane() + l, address.column() + i) = wordAt(from, i);
    }
  }
  release(thread);
}

void TensorMemory::awaitStores(int t, unsigned line) {
  if (meet(t, line))
    release(t);
  threads[t].done[1] = warps[t / WarpLanes].accesses;
}

//===--- Products ---------------------------------------------------------===//

void TensorMemory::readByProduct(int thread, Moment product, int column,
                                 int columns) {
  int group = thread / GroupThreads;
  for (int q = 0; q < Quarters; ++q)
    for (int c = column; c < column + columns; ++c) {
      MemoryPart &each = part(q, c);
      if (each.written)
        checkBehind(thread, "a product reads", each.writer, c);
      else
        machine.report("a product reads column " + std::to_string(c) +
                       " of tensor memory, which nobody wrote");
      std::erase_if(each.readers, [&](const Access &reader) {
        return reader.kind == Kind::Product && reader.actor == group;
      });
      each.readers.push_back({Kind::Product, group, product});
    }
}
