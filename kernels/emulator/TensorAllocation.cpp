//===- TensorAllocation.cpp - Columns of tensor memory --------------------===//

#include "Machine.h"
#include "TensorMemory.h"

#include <algorithm>
#include <utility>

using namespace kv::cuda;

void TensorMemory::allocate(int thread, int offset, int columns,
                            unsigned line) {
  if (!meet(thread, line))
    return;
  std::string who = warpName(thread / WarpLanes);
  if (!std::exchange(used, true)) {
    parts.assign(Quarters * TensorColumns, MemoryPart());
    words.resize(size_t(TensorLanes) * TensorColumns);
  }
  // The last place there is: who believes to know where it lies is wrong, if
  // only it leaves room.
  int place = TensorColumns - columns;
  auto isFree = [&] {
    for (const Allocation &each : allocations)
      if (place < each.column + each.columns && each.column < place + columns)
        return false;
    return true;
  };
  bool valid = columns >= FewestColumns && columns <= TensorColumns &&
               (columns & (columns - 1)) == 0;
  if (!valid)
    machine.report(who + " allocates " + std::to_string(columns) +
                   " columns of tensor memory; powers of two from 32 to 512 "
                   "are allowed");
  else if (relinquished)
    machine.report(who + " allocates tensor memory behind relinquishTensor()");
  else {
    while (place >= 0 && !isFree())
      place -= columns;
    if (place < 0) {
      machine.report(who + " allocates " + std::to_string(columns) +
                     " columns of tensor memory, which nobody frees: it waits "
                     "for ever");
    } else {
      allocations.push_back({place, columns});
      for (int q = 0; q < Quarters; ++q)
        for (int c = place; c < place + columns; ++c)
          part(q, c) = {};
      TensorAddress address = tensorAt(0, place);
      machine.sharedWrite(thread / WarpLanes * WarpLanes, offset,
                          sizeof(address), &address);
    }
  }
  release(thread);
}

void TensorMemory::relinquish(int thread, unsigned line) {
  if (!meet(thread, line))
    return;
  relinquished = true;
  release(thread);
}

void TensorMemory::free(int thread, TensorAddress address, int columns,
                        unsigned line) {
  if (!meet(thread, line))
    return;
  auto found = std::find_if(
      allocations.begin(), allocations.end(), [&](const Allocation &each) {
        return each.column == address.column() && each.columns == columns;
      });
  if (address.lane() != 0 || found == allocations.end()) {
    machine.report(warpName(thread / WarpLanes) + " frees " +
                   columnsName(address.column(), columns) +
                   ", which are no allocation");
  } else {
    size_t before = machine.reports().size(); // of many one is reported
    for (int q = 0; q < Quarters; ++q)
      for (int c = found->column; c < found->column + columns; ++c) {
        MemoryPart &each = part(q, c);
        if (each.written && machine.reports().size() == before)
          checkBehind(thread, "frees", each.writer, c);
        for (const Access &reader : each.readers)
          if (machine.reports().size() == before)
            checkBehind(thread, "frees", reader, c);
      }
    allocations.erase(found);
  }
  release(thread);
}

bool TensorMemory::areAllocated(const std::string &who, int column,
                                int columns) {
  for (const Allocation &each : allocations)
    if (column >= each.column && column + columns <= each.column + each.columns)
      return true;
  machine.report(who + " touches " + columnsName(column, columns) +
                 ", which are not allocated");
  return false;
}
