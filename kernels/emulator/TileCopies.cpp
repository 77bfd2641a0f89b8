//===- TileCopies.cpp - Boxes in flight -----------------------------------===//

#include "TileCopies.h"
#include "Machine.h"

#include <cstring>
#include <utility>

using namespace kv::cuda;

/// The alignment of a box's place in shared memory.
constexpr int BoxAlignment = 128;

bool TileCopies::begin(int thread, const TensorMap *map, int offset,
                       const TileAt &at, Box &box) {
  auto refuse = [&](const std::string &why) {
    machine.report("thread " + std::to_string(thread) + " copies a box " + why);
    return false;
  };
  DescribedMap described;
  std::memcpy(&described, map, sizeof(described));
  if (described.mark != DescriptionMark)
    return refuse("by what is no tensor map");
  if (const char *problem = problemOf(described.tensor))
    return refuse(std::string("by a tensor map that no driver takes: ") +
                  problem);
  int bytes = boxBytes(described.tensor);
  if (offset % BoxAlignment != 0 || bytes % BoxAlignment != 0)
    return refuse("of " + std::to_string(bytes) + " bytes to byte " +
                  std::to_string(offset) + ": both are multiples of " +
                  std::to_string(BoxAlignment));
  box = {thread, described.tensor, offset, at, 0};
  return machine.contains(thread, offset, bytes);
}

void TileCopies::copy(int thread, const TensorMap *map, int offset,
                      const TileAt &at, int barrier) {
  Box box;
  if (!begin(thread, map, offset, at, box) ||
      !barriers.beginBox(thread, barrier))
    return;
  box.barrier = barrier;
  words.beginBox(thread, offset, boxBytes(box.tensor));
  std::memset(machine.sharedData() + offset, 0xff, boxBytes(box.tensor));
  boxes.push_back(box);
}

template <class F>
void TileCopies::forParts(const Box &box, Access access, F f) {
  char *data = static_cast<char *>(const_cast<void *>(box.tensor.data));
  const int size = box.tensor.elementBytes;
  bool reported = false;
  auto copyElements = [&](int first, int count) {
    int64_t from = boxElement(box.tensor, box.at, first);
    // A chunk of sixteen bytes stays one when it is swizzled.
    uint32_t address = SharedBase + box.offset + first * size;
    unsigned char *shared = machine.sharedData() - SharedBase +
                            (box.tensor.plain ? address : swizzled(address));
    if (from < 0)
      return f(nullptr, shared, count * size);
    if (machine.global().allowed(data + from, count * size, access))
      return f(data + from, shared, count * size);
    if (!std::exchange(reported, true))
      machine.report("the box of thread " + std::to_string(box.thread) +
                     " leaves global memory");
  };
  const int ChunkElements = ChunkBytes / size;
  for (int i = 0; i < boxBytes(box.tensor) / size; i += ChunkElements) {
    bool first = boxElement(box.tensor, box.at, i) >= 0,
         last = boxElement(box.tensor, box.at, i + ChunkElements - 1) >= 0;
    if (first && last)
      copyElements(i, ChunkElements);
    else
      for (int e = 0; e < ChunkElements; ++e)
        copyElements(i + e, 1);
  }
}

void TileCopies::store(int thread, const TensorMap *map, int offset,
                       const TileAt &at) {
  Box box;
  if (!begin(thread, map, offset, at, box))
    return;
  int bytes = boxBytes(box.tensor);
  words.readByBox(thread, offset, bytes);
  box.barrier = stores[thread].groups;
  const unsigned char *data = machine.sharedData() + offset;
  stores[thread].boxes.emplace_back(box, std::vector(data, data + bytes));
}

void TileCopies::await(int thread, int pending) {
  Stores &own = stores[thread];
  std::erase_if(own.boxes, [&](auto &stored) {
    auto &[box, before] = stored;
    if (box.barrier >= own.groups - pending)
      return false;
    int bytes = boxBytes(box.tensor);
    words.read(thread, box.offset, bytes); // which lasts until now
    if (std::memcmp(machine.sharedData() + box.offset, before.data(), bytes))
      machine.report("the box that thread " + std::to_string(thread) +
                     " stores changed before it was waited for");
    forParts(box, Access::Write, [&](char *to, unsigned char *from, int count) {
      if (to && machine.plainStore(thread, to, count))
        std::memcpy(to, from, count);
    });
    return true;
  });
}

bool TileCopies::land() {
  if (boxes.empty())
    return false;
  auto box = boxes.begin() + machine.choose(int(boxes.size()));
  Box landed = *box;
  boxes.erase(box);
  bool reported = false;
  forParts(landed, Access::Read, [&](char *from, unsigned char *to, int count) {
    if (!from)
      return void(std::memset(to, 0, count));
    // Stores to global memory have no fence for boxes here.
    for (int byte = 0; byte < count; byte += sizeof(uint32_t)) {
      const auto *writer = machine.global().written(from + byte);
      if (writer && writer->block >= 0 && !std::exchange(reported, true))
        machine.report("the box of thread " + std::to_string(landed.thread) +
                       " reads what a thread of this launch wrote");
    }
    std::memcpy(to, from, count);
  });
  int bytes = boxBytes(landed.tensor);
  auto [actor, phase] = barriers.landBox(landed.barrier, bytes);
  words.landBox(actor, phase, landed.offset, bytes);
  return true;
}

void TileCopies::finish() {
  // A box that a thread waited for has landed.
  if (!boxes.empty())
    machine.report("all have left with the box of thread " +
                   std::to_string(boxes[0].thread) + " to byte " +
                   std::to_string(boxes[0].offset) + " under way");
  for (const auto &[thread, own] : stores)
    if (!own.boxes.empty())
      return machine.report("thread " + std::to_string(thread) +
                            " leaves with a box that it stores under way");
}
