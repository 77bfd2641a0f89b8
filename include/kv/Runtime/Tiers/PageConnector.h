//===- PageConnector.h - Pages outside the devices --------------*- C++ -*-===//
//
// A connector keeps copies of pages outside of the devices: in host memory, on
// a disk, on other machines. A copy is a *record*: one full page of a prefix,
// in all layers and groups, of all shards of a replica. Records are found by
// the name of their prefix and compared with the page that is asked for, so a
// hit is exact.
//
// The memory of records is divided into slots, which a manager allocates where
// its devices can copy from and to it. A manager calls:
//
//   store   slot = reserve(page); copy the page into it; publish(slot)
//   load    find(page): Memory -> slot = acquire(page); copy; release(slot)
//                       Disk, Store -> fetch(page); later, after poll(), Memory
//                       Asked  -> later, after poll(), one of the others
//
// A refused store is lost, a refused or failed load is a miss: what is not
// loaded is computed. Only reset() waits for a disk, or a store that machines
// share.
//
// One thread calls a connector, but for figures(), which any thread may.
//
//===----------------------------------------------------------------------===//

#ifndef KV_RUNTIME_TIERS_PAGECONNECTOR_H
#define KV_RUNTIME_TIERS_PAGECONNECTOR_H

#include "kv/Runtime/Base/Error.h"
#include "kv/Runtime/Engine/CacheEvents.h"
#include "kv/Runtime/Engine/Metrics.h"
#include "kv/Runtime/Engine/Sequence.h"

#include <array>
#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace kv {

/// The name of a prefix in every process that names prefixes in the same way:
/// SHA-256 of its scope and tokens (runtime/hash/BlockHash.h), which cache
/// events publish too.
using PrefixName = std::array<std::byte, 32>;

/// A full page of a prefix. Its pointers are valid during a call.
struct PrefixPage {
  /// Of the prefix up to the end of this page. A record with a payload
  /// (PagedOptions::payloadRanks), at its end, has the bit 0 inverted.
  PrefixName name;
  PrefixName parent; // of the prefix before this page; its first page: `scope`
  PrefixName scope;  // of the empty prefix
  std::span<const int32_t> tokens;        // on this page
  std::span<const std::byte> images = {}; // on this page, as ScopeBytes frames
};

/// How long a record should be kept: those of higher priority are evicted
/// later.
struct RecordWorth {
  uint8_t priority = Retention::Default;
  int64_t duration = 0; // nanoseconds of a raised priority; 0: for good
};

/// Figures of a connector since it was opened.
struct TierMetrics {
  Gauge hostPages,
      usedHostPages; // slots of host memory, and those with records
  Gauge diskPages, usedDiskPages;
  Gauge diskOperations;  // reads and writes in flight
  Counter storedPages;   // published to host memory
  Counter refusedStores; // no slot was free, or the images are too many
  Counter evictedHostPages, evictedDiskPages;
  Counter writtenPages, readPages; // to and from the disk
  Counter failedWrites;            // the record is lost; nothing else is
  Counter unindexedPages; // written, but a later process will not find them
  Counter failedReads;    // the record was not what it should be: it is dropped
  // Figures of the store that machines share.
  Gauge storeIsUp;                // 1: it answers
  Gauge storeOperations;          // reads and writes in flight
  Counter storeHits, storeMisses; // pages that it was asked for
  Counter failedStoreQuestions;   // it did not answer
  Counter storeReadPages, storeWrittenPages;
  Counter storeReadBytes, storeWrittenBytes;
  Counter failedStoreReads, failedStoreWrites;
  Counter skippedStoreWrites; // it was not there, or too slow
  Counter storeLosses; // how often it did not answer in time, or nonsense
};

class PageConnector {
public:
  /// Where a record is, or will be.
  enum class Place : uint8_t {
    Absent,
    Asked,  // a store is asked for it: find() knows more after some poll()
    Disk,   // fetch() brings it to memory
    Store,  // the same: machines share it
    Coming, // on its way from the disk or the store to memory
    Memory
  };

  /// A slot of memory that stays as it is until it is given back.
  struct Slot {
    std::byte *data = nullptr;
    int32_t index = -1;
    explicit operator bool() const { return data != nullptr; }
  };

  struct Options {
    /// The slots: numSlots of recordBytes each. The caller owns the memory,
    /// which outlives the connector.
    std::byte *memory = nullptr;
    size_t recordBytes = 0;
    int32_t numSlots = 0;
    int32_t pageSize = 0; // tokens
    /// Where records are kept on a disk; empty: nowhere. A directory belongs to
    /// one process at a time, and to the geometry that it was made for, which
    /// this text describes.
    std::string directory = {};
    std::string geometry = {};
    /// Which program and weights compute the pages: part of their names, so
    /// that those of another model are never found. Empty: the scopes say it,
    /// or there is only one.
    std::string model = {};
    int64_t diskBytes = 0; // that records may take there
    int32_t ioThreads = 4;
    /// A Redis or Valkey server that machines share; empty: none. The text is
    /// redis://[[user]:password@]host[:port][/db] or unix:///path, with
    /// ?timeout=MILLISECONDS of a call (500) and &ttl=SECONDS of a record. A
    /// server that does not answer is no error, but misses.
    std::string blockStoreEndpoint = {};
    /// Whether somebody calls takeChanges().
    bool tellsChanges = false;
  };

  /// The connector of libkv_tiers.so: host memory, and a disk if a directory is
  /// given, to which everything is written behind, as to a store that machines
  /// share. Errors: libkv_tiers.so is not there; the directory cannot be used,
  /// belongs to another process, or to another cache or model; the store's
  /// address is none.
  static Expected<std::unique_ptr<PageConnector>> open(const Options &options);

  virtual ~PageConnector() = default;

  //===--- Names ----------------------------------------------------------===//

  /// The name of the empty prefix of a scope, which ScopeBytes has framed.
  virtual PrefixName nameScope(std::span<const std::byte> scope) = 0;
  /// The name of the prefix that is one page longer than `parent`.
  virtual PrefixName namePage(const PrefixName &parent,
                              std::span<const std::byte> images,
                              std::span<const int32_t> tokens) = 0;

  //===--- Records --------------------------------------------------------===//

  virtual Place find(const PrefixPage &page) = 0;
  /// The record has just been used, by a request that gives it this worth.
  virtual void touch(const PrefixName &name, const RecordWorth &worth) = 0;

  /// A record that is in memory, and stays there until release(). Empty: it is
  /// not, or is not that of this page.
  virtual Slot acquire(const PrefixPage &page) = 0;
  virtual void release(Slot slot) = 0;

  /// Begins to bring a record from the disk or the store to memory. False:
  /// there is none any more, or no slot is free and none will be. True as well
  /// if a slot will be free when something in flight is over: to be asked again
  /// then.
  virtual bool fetch(const PrefixPage &page) = 0;

  /// A slot for a new record. Empty: there is such a record, or no slot is
  /// free.
  virtual Slot reserve(const PrefixPage &page, const RecordWorth &worth) = 0;
  /// The slot has been written: the record can be found. Not `written`: it is
  /// given up.
  virtual void publish(Slot slot, bool written) = 0;

  //===--- Progress -------------------------------------------------------===//

  /// Takes note of what is over, and asks a store for what find() has not
  /// known. Does not wait.
  virtual void poll() = 0;
  /// Waits until a read or write is over, or find() knows more, but not longer
  /// than `most`, and polls. False: nothing was in flight, or over in time.
  virtual bool wait(std::chrono::nanoseconds most) = 0;

  /// Forgets all records, for good: when it returns, no later process finds
  /// them either, nor any that shares the store. Error: the disk or the store
  /// could not be told.
  virtual Expected<void> reset() = 0;

  virtual const TierMetrics &metrics() const = 0;

  /// Appends what has changed since the last call; or, with `all`, or if that
  /// is not known any more, all that is there, and returns true. Of a store
  /// that machines share, only what this process has written, or has not found,
  /// is told, and nothing of it is part of `all`.
  virtual bool takeChanges(bool all, std::vector<TierChange> &changes) {
    return all;
  }

protected:
  PageConnector() = default;
};

} // namespace kv

#endif // KV_RUNTIME_TIERS_PAGECONNECTOR_H
