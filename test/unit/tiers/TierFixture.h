//===- TierFixture.h - A connector whose records explain themselves
//-*-C++-*-===//
//
// What a record holds follows from its name, so whoever loads one knows whether
// it is the right one.
//
//===----------------------------------------------------------------------===//

#ifndef KV_TEST_UNIT_TIERS_TIERFIXTURE_H
#define KV_TEST_UNIT_TIERS_TIERFIXTURE_H

#include "runtime/tiers/TieredConnector.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace kv::test {

/// Bytes that only the record of this name has.
inline void fillRecord(std::span<std::byte> data, const PrefixName &name) {
  uint64_t state;
  std::memcpy(&state, name.data(), sizeof state);
  for (std::byte &one : data) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    one = static_cast<std::byte>(state >> 56);
  }
}

inline bool isRecord(std::span<const std::byte> data, const PrefixName &name) {
  std::vector<std::byte> wanted(data.size());
  fillRecord(wanted, name);
  return std::ranges::equal(data, wanted);
}

/// A connector with few slots, and its memory.
struct TestTiers {
  static constexpr int32_t PageSize = 4;
  static constexpr size_t RecordBytes = 5000;
  /// With the header, rounded up to blocks of a disk.
  static constexpr size_t DiskBytes = 8192;

  enum class Found { Nothing, Right, Wrong };

  std::vector<std::byte> memory;
  PageConnector::Options options;
  SystemCalls system;
  StoreCalls network;
  /// Records hold other bytes with other weights. Those that are found may have
  /// the weights from `oldestWeights` on.
  uint32_t weights = 0, oldestWeights = 0;
  std::unique_ptr<TieredConnector> connector;

  explicit TestTiers(const std::string &folder, int32_t slots = 4,
                     int64_t diskSlots = 8)
      : memory(size_t(slots) * RecordBytes) {
    options = {.memory = memory.data(),
               .recordBytes = RecordBytes,
               .numSlots = slots,
               .pageSize = PageSize,
               .directory = folder,
               .geometry = "one",
               .model = "m",
               .diskBytes = diskSlots * int64_t(DiskBytes),
               .ioThreads = 1};
  }
  Expected<void> open() { return open(system); }
  Expected<void> open(SystemCalls &calls) { return open(calls, network); }
  Expected<void> open(StoreCalls &calls) { return open(system, calls); }
  Expected<void> open(SystemCalls &calls, StoreCalls &storeCalls) {
    connector.reset();
    Expected<std::unique_ptr<TieredConnector>> made =
        TieredConnector::open(options, calls, storeCalls);
    if (!made)
      return std::unexpected(made.error());
    connector = std::move(*made);
    return {};
  }

  /// The first page of a prompt that begins with `id`.
  OwnedPage page(int32_t id, const std::string &salt = "a") const {
    OwnedPage made;
    made.tokens = {id, id + 1, 7, 7};
    made.scope = connector->nameScope(
        std::as_bytes(std::span(salt.data(), salt.size())));
    made.parent = made.scope;
    made.name = connector->namePage(made.parent, {}, made.tokens);
    return made;
  }

  static PrefixName contents(PrefixName name, uint32_t weights) {
    for (size_t i = 0; i < 4; ++i)
      name[i] ^= static_cast<std::byte>(weights >> 8 * i);
    return name;
  }

  bool store(int32_t id, const RecordWorth &worth = {},
             const std::string &salt = "a") {
    OwnedPage own = page(id, salt);
    PageConnector::Slot slot = connector->reserve(own.view(), worth);
    if (!slot)
      return false;
    fillRecord({slot.data, RecordBytes}, contents(own.name, weights));
    connector->publish(slot, /*written=*/true);
    return true;
  }
  bool storeAndWrite(int32_t id, const RecordWorth &worth = {}) {
    bool stored = store(id, worth);
    return drain() && stored;
  }

  Found load(int32_t id, const std::string &salt = "a") {
    using Place = PageConnector::Place;
    OwnedPage own = page(id, salt);
    for (;;) {
      Place place = connector->find(own.view());
      if (place == Place::Absent || place == Place::Memory)
        break;
      if ((place == Place::Disk || place == Place::Store) &&
          !connector->fetch(own.view()))
        return Found::Nothing;
      if (!connector->wait(std::chrono::seconds(20)))
        return Found::Wrong; // nobody brings what is coming
    }
    PageConnector::Slot slot = connector->acquire(own.view());
    if (!slot)
      return Found::Nothing;
    bool right = false;
    for (uint32_t with = oldestWeights; with <= weights; ++with)
      right |= isRecord({slot.data, RecordBytes}, contents(own.name, with));
    connector->release(slot);
    return right ? Found::Right : Found::Wrong;
  }

  PageConnector::Place find(int32_t id) {
    return connector->find(page(id).view());
  }

  /// Waits for all reads and writes. False: one does not end.
  bool drain() {
    while (connector->metrics().diskOperations > 0 ||
           connector->metrics().storeOperations > 0)
      if (!connector->wait(std::chrono::seconds(20)))
        return false;
    // A store that refused before the first write has left news, too.
    (void)connector->wait(std::chrono::seconds(0));
    return true;
  }

  /// What is wrong if nothing is under way: every slot can be used again, in
  /// memory and on disk.
  std::string leaks() {
    static std::atomic<int32_t> next = 1'000'000;
    int32_t unique = next += 100'000;
    if (!drain())
      return "a read or write does not end";
    std::vector<PageConnector::Slot> taken;
    for (int32_t i = 0; i < options.numSlots; ++i)
      if (PageConnector::Slot slot =
              connector->reserve(page(++unique).view(), {}))
        taken.push_back(slot);
    for (PageConnector::Slot slot : taken)
      connector->publish(slot, /*written=*/false);
    const TierMetrics &figures = connector->metrics();
    if (static_cast<int32_t>(taken.size()) != options.numSlots)
      return concat(taken.size(), " of ", options.numSlots,
                    " slots can be used");
    if (figures.usedHostPages != 0)
      return "a slot that was given up is in use";
    int32_t first = unique + 1;
    unique += figures.diskPages;
    for (int32_t i = 0; i < figures.diskPages; ++i)
      // Before a record of another process that may have stayed.
      if (!storeAndWrite(first + i, {.priority = Retention::Highest}))
        return "a record cannot be stored any more";
    if (figures.usedDiskPages != figures.diskPages)
      return concat(int(figures.usedDiskPages), " of ", int(figures.diskPages),
                    " slots of the disk can be used");
    for (int32_t i = 0; i < figures.diskPages; ++i)
      if (load(first + i) != Found::Right)
        return concat("record ", i, " of a full disk is not found");
    return {};
  }
};

} // namespace kv::test

#endif // KV_TEST_UNIT_TIERS_TIERFIXTURE_H
