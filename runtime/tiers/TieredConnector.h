//===- TieredConnector.h - Records in memory, on disk and shared -*- C++ -*-==//
//
// One flow of data. A stored record goes to a slot of host memory, and from
// there, later, to the disk and to the store that machines share. A loaded
// record comes from a slot of host memory, into which the disk has been read
// before, or the store if the disk has no record. A record from the store goes
// to the disk as well. All tiers evict on their own.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_TIERS_TIEREDCONNECTOR_H
#define KV_RUNTIME_TIERS_TIEREDCONNECTOR_H

#include "DiskStore.h"
#include "RespStore.h"
#include "runtime/hash/BlockHash.h"

namespace kv {

class TieredConnector final : public PageConnector {
public:
  /// Errors: those of PageConnector::open(). The calls, for tests, outlive the
  /// connector.
  static Expected<std::unique_ptr<TieredConnector>>
  open(const Options &options, SystemCalls &calls, StoreCalls &storeCalls);
  static Expected<std::unique_ptr<TieredConnector>> open(const Options &options,
                                                         SystemCalls &calls);
  static Expected<std::unique_ptr<TieredConnector>>
  open(const Options &options);

  PrefixName nameScope(std::span<const std::byte> scope) override {
    return mark(hasher.root(scope));
  }
  PrefixName namePage(const PrefixName &parent,
                      std::span<const std::byte> images,
                      std::span<const int32_t> tokens) override {
    return mark(hasher.block(mark(parent), images, tokens));
  }

  Place find(const PrefixPage &page) override;
  void touch(const PrefixName &name, const RecordWorth &worth) override;
  Slot acquire(const PrefixPage &page) override;
  void release(Slot slot) override;
  bool fetch(const PrefixPage &page) override;
  Slot reserve(const PrefixPage &page, const RecordWorth &worth) override;
  void publish(Slot slot, bool written) override;
  void poll() override;
  bool wait(std::chrono::nanoseconds most) override;
  Expected<void> reset() override;
  const TierMetrics &metrics() const override { return figures; }
  bool takeChanges(bool all, std::vector<TierChange> &changes) override;

private:
  enum class State : uint8_t {
    Free,
    Reserved, // the caller writes it
    Coming,   // the disk or the store is read into it
    Ready
  };
  struct HostSlot {
    OwnedPage page;
    int32_t users = 0; // acquired, reserved, or in flight from or to a store
    State state = State::Free;
    bool isKnown = false; // in `known`: find() sees it
  };

  explicit TieredConnector(const Options &options);

  /// A record's name is its prefix's name in events, combined with the model's
  /// digest by exclusive or. So models have no names in common, and events can
  /// tell of a record of which only the name is known. mark() is its own
  /// inverse.
  PrefixName mark(PrefixName name) const {
    for (size_t i = 0; i < name.size(); ++i)
      name[i] ^= modelMark[i];
    return name;
  }
  std::span<std::byte> data(int32_t slot) const {
    return {options.memory + size_t(slot) * options.recordBytes,
            options.recordBytes};
  }
  static int64_t endOf(const RecordWorth &worth) {
    return worth.duration ? DiskStore::now() + worth.duration : 0;
  }
  /// A slot that is free, or becomes so by an eviction; -1: there is none.
  int32_t take(const PrefixPage &page, State state, const RecordWorth &worth);
  void forget(int32_t slot);
  void drop(int32_t slot); // one user less
  /// Begins to write a record that is ready to the disk, which uses the slot
  /// then.
  void writeToDisk(int32_t slot);
  /// Takes a finished job of the disk or of the store. Returns whether there
  /// was one.
  bool takeNote(bool isStore);
  /// Does the work of poll(). Returns whether a job was over.
  bool pollAll();

  Options options;
  TierMetrics figures;
  BlockHasher hasher;
  PrefixName modelMark = {};
  ChangeList told;
  std::vector<HostSlot> slots;
  std::vector<int32_t> unused;
  std::unordered_map<PrefixName, int32_t, HashName> known;
  Recency recency;
  std::vector<DiskStore::Finished> finished; // scratch of poll()
  Waker waker;
  uint64_t seen = 0; // signals of the waker that poll() has followed
  // End first: their threads use all of the above.
  std::unique_ptr<DiskStore> disk;
  std::unique_ptr<RespStore> store;
};

} // namespace kv

#endif // KV_RUNTIME_TIERS_TIEREDCONNECTOR_H
