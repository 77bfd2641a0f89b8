//===- TileCopies.cpp - Boxes in flight -----------------------------------===//

#include "TileCopies.h"
#include "Machine.h"

#include <cstring>
#include <utility>

using namespace kv::cuda;

/// The alignment of a box's place in shared memory.
constexpr int BoxAlignment = 128;

void TileCopies::copy(int thread, const TensorMap *map, int offset,
                      const TileAt &at, int barrier) {
  auto refuse = [&](const std::string &why) {
    machine.report("thread " + std::to_string(thread) + " copies a box " + why);
  };
  DescribedMap described;
  std::memcpy(&described, map, sizeof(described));
  const TensorDescription &tensor = described.tensor;
  if (described.mark != DescriptionMark)
    return refuse("by what is no tensor map");
  if (const char *problem = problemOf(tensor))
    return refuse(std::string("by a tensor map that no driver takes: ") +
                  problem);
  int bytes = boxBytes(tensor);
  if (offset % BoxAlignment != 0 || bytes % BoxAlignment != 0)
    return refuse("of " + std::to_string(bytes) + " bytes to byte " +
                  std::to_string(offset) + ": both are multiples of " +
                  std::to_string(BoxAlignment));
  if (!machine.contains(thread, offset, bytes))
    return;
  if (!barriers.beginBox(thread, barrier))
    return;
  words.beginBox(thread, offset, bytes);
  std::memset(machine.sharedData() + offset, 0xff, bytes);
  boxes.push_back({thread, tensor, offset, at, barrier});
}

void TileCopies::fill(const Box &box) {
  const char *data = static_cast<const char *>(box.tensor.data);
  bool reported = false;
  auto copyElements = [&](int first, int count) {
    int64_t from = boxElement(box.tensor, box.at, first);
    // A chunk of sixteen bytes stays one when it is swizzled.
    uint32_t address = SharedBase + box.offset + first * 2;
    unsigned char *to = machine.sharedData() - SharedBase +
                        (box.tensor.plain ? address : swizzled(address));
    if (from < 0)
      return void(std::memset(to, 0, count * 2));
    auto problem = [&](const char *text) {
      if (!std::exchange(reported, true))
        machine.report("the box of thread " + std::to_string(box.thread) +
                       text);
    };
    if (!machine.global().allowed(data + from, count * 2, Access::Read))
      return problem(" leaves global memory");
    // Stores to global memory have no fence for boxes here.
    for (int byte = 0; byte < count * 2; byte += sizeof(uint32_t)) {
      const auto *writer = machine.global().written(data + from + byte);
      if (writer && writer->block >= 0)
        problem(" reads what a thread of this launch wrote");
    }
    std::memcpy(to, data + from, count * 2);
  };
  constexpr int ChunkElements = ChunkBytes / 2;
  for (int i = 0; i < boxBytes(box.tensor) / 2; i += ChunkElements) {
    bool first = boxElement(box.tensor, box.at, i) >= 0,
         last = boxElement(box.tensor, box.at, i + ChunkElements - 1) >= 0;
    if (first && last)
      copyElements(i, ChunkElements);
    else
      for (int e = 0; e < ChunkElements; ++e)
        copyElements(i + e, 1);
  }
}

bool TileCopies::land() {
  if (boxes.empty())
    return false;
  auto box = boxes.begin() + machine.choose(int(boxes.size()));
  Box landed = *box;
  boxes.erase(box);
  fill(landed);
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
}
